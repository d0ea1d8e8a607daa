//! A server that is a source of tools or runs them: the command that starts it, or its address; and the identity with which it is called
//! (`[server.NAME.auth]`).

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_safe_address;

/// A server: a `command` that is run and speaks MCP, or a `url`, at which MCP is spoken or to which the paths of HTTP
/// backends are added. In values of `env` and `headers`, `${NAME}` stands for the environment variable `NAME`; in
/// `headers` for calls, `${caller:NAME}` stands for that header of the caller's request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Server {
    /// The program and its arguments; it speaks MCP over stdio.
    pub command: Vec<String>,
    /// Its environment variables, beside a few such as `PATH` and `HOME`.
    pub env: IndexMap<String, String>,
    /// Its working folder, relative to the configuration.
    pub cwd: Option<PathBuf>,
    /// The address of a server that speaks streamable HTTP.
    pub url: Option<String>,
    /// The HTTP headers of requests to it.
    pub headers: IndexMap<String, String>,
    /// Longest time of connecting and listing, or of one call, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_seconds: u64,
    /// Most redirects that an HTTP backend follows, all of them to the same origin.
    pub redirects: usize,
    /// Most times that a request of an HTTP backend is sent again, where repeating it does no harm.
    pub retries: u32,
    /// The largest result of a call, in bytes.
    #[schemars(range(min = 1))]
    pub max_bytes: usize,
    /// The time at which an MCP server is started.
    pub start: Start,
    /// Whether each session of a client has a connection to an MCP server of its own, for servers that keep state.
    pub per_session: bool,
    /// Longest wait of the first list of tools for an MCP server that was never seen before, in seconds.
    pub wait_seconds: u64,
    /// The header in which an HTTP backend expects the idempotency key of a call. With it, writes may be retried too.
    pub idempotency_header: Option<String>,
    /// The identity with which it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<ServerAuth>,
}

/// The time at which an MCP server is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// With toolcrib.
    #[default]
    Eager,
    /// On its first use, if its list of tools is remembered.
    Lazy,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            env: IndexMap::new(),
            cwd: None,
            url: None,
            headers: IndexMap::new(),
            timeout_seconds: 30,
            redirects: 0,
            retries: 2,
            max_bytes: 16 << 20,
            start: Start::Eager,
            per_session: false,
            wait_seconds: 30,
            idempotency_header: None,
            auth: None,
        }
    }
}

impl Server {
    /// Longest time of connecting and listing, or of one call.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.clamp(1, 3600))
    }

    /// Longest wait of the first list of tools for a server that was never seen before.
    pub fn wait(&self) -> Duration {
        Duration::from_secs(self.wait_seconds.min(3600))
    }

    /// The first mistake in `auth`, and its field; an empty field where it is the table itself.
    pub fn auth_problem(&self) -> Option<(&'static str, &'static str)> {
        let auth = self.auth.as_ref()?;
        let has_header = self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        match &self.url {
            None => Some(("", "`auth` is for a server with a `url`")),
            Some(_) if has_header => Some(("", "a server has `auth` or a header `Authorization`, not both")),
            Some(_) => auth.problem(),
        }
    }

    /// The mistake in these settings, if there is one.
    pub fn problem(&self) -> Option<&'static str> {
        let is_web = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        match (self.command.first(), &self.url) {
            (None, None) => Some("a server has a `command` or a `url`"),
            (Some(_), Some(_)) => Some("a server has a `command` or a `url`, not both"),
            (Some(program), None) if program.trim().is_empty() => Some("`command` begins with a program"),
            (None, Some(url)) if !is_web(url) => Some("`url` must start with http:// or https://"),
            _ => None,
        }
    }
}

/// The identity with which a server is called. Without this table, the operator signs in where the server asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ServerAuth {
    /// The identity: of a person who signs in, of a service, or of the caller.
    #[serde(rename = "as")]
    pub acts_as: ActsAs,
    /// The client that is registered at the authorization server. Without one, toolcrib registers itself where that is offered.
    pub client_id: Option<String>,
    /// The secret of that client; `${NAME}` is an environment variable.
    pub client_secret: Option<String>,
    /// The scopes to ask for; those that the server names when empty.
    pub scopes: Vec<String>,
    /// The address of a client metadata document, used as `client_id` where the authorization server takes it.
    pub client_metadata_url: Option<String>,
    /// The port of this machine at which the browser comes back; a free one when absent.
    #[schemars(range(min = 1))]
    pub redirect_port: Option<u16>,
    /// Whether callers with a name of their own may use the operator's sign-in.
    pub shared: bool,
    /// The address that gives tokens; discovered when absent.
    pub token_url: Option<String>,
    /// The authorization server; discovered when absent.
    pub issuer: Option<String>,
    /// The `audience` to ask a token for.
    pub audience: Option<String>,
}

/// The identity with which a server is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActsAs {
    /// The operator, who signs in with `toolcrib login`.
    #[default]
    Person,
    /// A service with credentials of its own (client credentials).
    Service,
    /// The caller, with the token of its request.
    Caller,
}

impl ServerAuth {
    /// The first mistake in these settings, and its field; `None` when there is none.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        self.missing().or_else(|| self.misplaced()).or_else(|| self.bad_address())
    }

    fn missing(&self) -> Option<(&'static str, &'static str)> {
        let is_service = self.acts_as == ActsAs::Service;
        let of_service = "a service has a `client_id` and a `client_secret`";
        let is_discovered = self.token_url.is_none() && self.issuer.is_none();
        match (&self.client_id, &self.client_secret) {
            (None, _) if is_service => Some(("client_id", of_service)),
            (_, None) if is_service => Some(("client_secret", of_service)),
            (None, Some(_)) => {
                Some(("client_id", "a `client_secret` needs the `client_id` that it belongs to"))
            }
            _ if is_service && self.audience.is_some() && is_discovered => {
                Some(("audience", "an `audience` needs the `issuer` or the `token_url` that knows it"))
            }
            _ => None,
        }
    }

    /// A setting that another identity has.
    fn misplaced(&self) -> Option<(&'static str, &'static str)> {
        let (is_person, is_caller) = (self.acts_as == ActsAs::Person, self.acts_as == ActsAs::Caller);
        let is_service = self.acts_as == ActsAs::Service;
        let of_person = "it counts only with `as = \"person\"`";
        let of_token = "it counts only with `as = \"service\"`";
        let of_caller = "the token of the caller is passed on as it is, and needs no other setting";
        let fields = [
            ("client_metadata_url", self.client_metadata_url.is_some() && !is_person, of_person),
            ("redirect_port", self.redirect_port.is_some() && !is_person, of_person),
            ("shared", self.shared && !is_person, of_person),
            ("token_url", self.token_url.is_some() && !is_service, of_token),
            ("audience", self.audience.is_some() && !is_service, of_token),
            ("client_id", self.client_id.is_some() && is_caller, of_caller),
            ("scopes", !self.scopes.is_empty() && is_caller, of_caller),
            ("issuer", self.issuer.is_some() && is_caller, of_caller),
        ];
        fields.into_iter().find(|(_, is_misplaced, _)| *is_misplaced).map(|(field, _, why)| (field, why))
    }

    fn bad_address(&self) -> Option<(&'static str, &'static str)> {
        let addresses = [("token_url", &self.token_url), ("issuer", &self.issuer)];
        let bad = addresses.into_iter().find(|(_, at)| at.as_deref().is_some_and(|at| !is_safe_address(at)));
        if let Some((field, _)) = bad {
            return Some((field, "it must start with https://, or with http:// on this machine"));
        }
        let path = |at: &str| at.strip_prefix("https://").and_then(|rest| rest.split_once('/')).is_some();
        let is_document = self.client_metadata_url.as_deref().is_none_or(path);
        (!is_document).then_some(("client_metadata_url", "it must start with https:// and have a path"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> Option<&'static str> {
        toml::from_str::<ServerAuth>(text).unwrap().problem().map(|(field, _)| field)
    }

    #[test]
    fn each_identity_has_its_own_settings() {
        for good in [
            "",
            "as = 'person'\nclient_id = 'a'\nscopes = ['repo']\nredirect_port = 8976\nshared = true",
            "client_metadata_url = 'https://tools.example/client.json'",
            "as = 'service'\nclient_id = 'a'\nclient_secret = '${B}'\ntoken_url = 'http://127.0.0.1:9/token'",
            "as = 'service'\nclient_id = 'a'\nclient_secret = 'b'\nissuer = 'https://login.example/'\naudience = 'api'",
            "as = 'caller'",
        ] {
            assert_eq!(problem(good), None, "{good}");
        }
        for (bad, field) in [
            ("as = 'service'", "client_id"),
            ("as = 'service'\nclient_id = 'a'", "client_secret"),
            ("client_secret = 'x'", "client_id"),
            ("as = 'service'\nclient_id = 'a'\nclient_secret = 'b'\naudience = 'api'", "audience"),
            ("as = 'service'\nclient_id = 'a'\nclient_secret = 'b'\nshared = true", "shared"),
            ("token_url = 'https://login.example/token'", "token_url"),
            ("as = 'caller'\nscopes = ['a']", "scopes"),
            ("issuer = 'http://login.example/'", "issuer"),
            ("issuer = 'http://127.0.0.1.example/'", "issuer"),
            (
                "as = 'service'\nclient_id = 'a'\nclient_secret = 'b'\ntoken_url = 'ftp://127.0.0.1/'",
                "token_url",
            ),
            ("client_metadata_url = 'https://tools.example'", "client_metadata_url"),
            ("client_metadata_url = 'http://127.0.0.1/client.json'", "client_metadata_url"),
        ] {
            assert_eq!(problem(bad), Some(field), "{bad}");
        }
    }
}
