//! Settings of a server that lists tools or runs them: its command or its address, and the identity for calls to the
//! server (`[server.NAME.auth]`).

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use indexmap::IndexMap;
use regex::{Captures, Regex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{is_safe_address, shown_address};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::from_json;
use toolcrib_definition::secret::SecretPolicy;

/// A server: a `command` that speaks MCP over stdio, or the `url` of an MCP server or of an HTTP API, to which the
/// paths of HTTP backends are added. In values of `env` and `headers`, `${NAME}` stands for the environment variable
/// `NAME`; in `headers` for calls, `${caller:NAME}` stands for that header of the caller's request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Server {
    /// The program that speaks MCP over stdio, and its arguments.
    pub command: Vec<String>,
    /// Environment variables of the program, next to a few such as `PATH` and `HOME`.
    pub env: IndexMap<String, String>,
    /// Working folder of the program, relative to the configuration.
    pub cwd: Option<PathBuf>,
    /// The address of a server that speaks streamable HTTP.
    pub url: Option<String>,
    /// HTTP headers of requests to the server.
    pub headers: IndexMap<String, String>,
    /// Seconds for connecting and listing, 30 when absent. When set, also the longest silence during a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u64>,
    /// Most redirects that an HTTP backend follows; each must stay on the same origin.
    pub redirects: usize,
    /// Most times that an HTTP backend repeats a request, if repeating it does no harm.
    pub retries: u32,
    /// The largest result of a call, in bytes.
    #[schemars(range(min = 1))]
    pub max_bytes: usize,
    /// When to start an MCP server.
    pub start: Start,
    /// Whether each client session has its own connection to the MCP server, for servers that keep state.
    pub per_session: bool,
    /// Seconds that the first tool list waits for a new MCP server after the other ones; by default one to five.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds: Option<u64>,
    /// The header in which an HTTP backend expects the idempotency key of a call. With it, writes may be retried too.
    pub idempotency_header: Option<String>,
    /// The identity for calls to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<ServerAuth>,
}

/// When to start an MCP server.
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
            timeout_seconds: None,
            redirects: 0,
            retries: 2,
            max_bytes: 16 << 20,
            start: Start::Eager,
            per_session: false,
            wait_seconds: None,
            idempotency_header: None,
            auth: None,
        }
    }
}

impl Server {
    /// The time that connecting and listing may take.
    pub fn timeout(&self) -> Duration {
        self.longest_silence().unwrap_or(Duration::from_secs(30))
    }

    /// Longest silence during a call, where it has a limit of its own; at most a year.
    pub fn longest_silence(&self) -> Option<Duration> {
        self.timeout_seconds.map(|seconds| Duration::from_secs(seconds.clamp(1, 365 * 86_400)))
    }

    /// The configured time that the first tool list waits for a new server after the others have listed their tools.
    pub fn wait(&self) -> Option<Duration> {
        self.wait_seconds.map(|seconds| Duration::from_secs(seconds.min(3600)))
    }

    /// Returns the first mistake in `auth`, and its field. The field is empty if the whole table is the mistake.
    pub fn auth_problem(&self) -> Option<(&'static str, &'static str)> {
        let auth = self.auth.as_ref()?;
        let has_header = self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        match &self.url {
            None => Some(("", "`auth` is for a server with a `url`")),
            Some(_) if has_header => Some(("", "a server has `auth` or a header `Authorization`, not both")),
            Some(_) => auth.problem(),
        }
    }

    /// Its address or its command, without secrets.
    pub fn shown(&self) -> String {
        let policy = SecretPolicy::default();
        match &self.url {
            Some(url) => policy.text(&shown_address(url)).into_owned(),
            None => clean_line(&policy.command_line(&self.command).join(" ")),
        }
    }

    /// Returns the first mistake in these settings.
    pub fn problem(&self) -> Option<&'static str> {
        let is_web = |url: &String| ["http://", "https://", "${"].iter().any(|start| url.starts_with(start));
        match (self.command.first(), &self.url) {
            (None, None) => Some("a server has a `command` or a `url`"),
            (Some(_), Some(_)) => Some("a server has a `command` or a `url`, not both"),
            (Some(program), None) if program.trim().is_empty() => Some("`command` must begin with a program"),
            (None, Some(url)) if !is_web(url) => Some("`url` must start with http:// or https://"),
            _ => None,
        }
    }
}

/// The identity for calls to a server. Without this table, the operator signs in if the server asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ServerAuth {
    /// Who calls the server: a person who signs in, a service, or the caller.
    #[serde(rename = "as")]
    pub acts_as: ActsAs,
    /// The client id at the authorization server. Without it, toolcrib registers itself if the server allows that.
    pub client_id: Option<String>,
    /// The secret of that client; `${NAME}` is an environment variable.
    pub client_secret: Option<String>,
    /// The scopes to ask for; when empty, the scopes that the server names.
    pub scopes: Vec<String>,
    /// The address of a client metadata document, used as `client_id` if the authorization server accepts it.
    pub client_metadata_url: Option<String>,
    /// The local port to which the browser returns; a free port when absent.
    #[schemars(range(min = 1))]
    pub redirect_port: Option<u16>,
    /// Whether callers with their own name may use the operator's sign-in.
    pub shared: bool,
    /// The token endpoint; discovered when absent.
    pub token_url: Option<String>,
    /// The authorization server; discovered when absent.
    pub issuer: Option<String>,
    /// The `audience` to ask a token for.
    pub audience: Option<String>,
}

/// The identity for calls to a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActsAs {
    /// The operator, who signs in with `toolcrib login`.
    #[default]
    Person,
    /// A service with its own credentials (client credentials).
    Service,
    /// The caller, with the token of its request.
    Caller,
}

impl ServerAuth {
    /// The first mistake in these settings, and its field; `None` without a mistake.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        self.missing().or_else(|| self.misplaced()).or_else(|| self.bad_address())
    }

    fn missing(&self) -> Option<(&'static str, &'static str)> {
        let is_service = self.acts_as == ActsAs::Service;
        let of_service = "a service needs a `client_id` and a `client_secret`";
        let is_discovered = self.token_url.is_none() && self.issuer.is_none();
        match (&self.client_id, &self.client_secret) {
            (None, _) if is_service => Some(("client_id", of_service)),
            (_, None) if is_service => Some(("client_secret", of_service)),
            (None, Some(_)) => Some(("client_id", "a `client_secret` needs its `client_id`")),
            _ if is_service && self.audience.is_some() && is_discovered => {
                Some(("audience", "an `audience` needs an `issuer` or a `token_url`"))
            }
            _ => None,
        }
    }

    /// The first setting that only applies to another identity.
    fn misplaced(&self) -> Option<(&'static str, &'static str)> {
        let is_person = self.acts_as == ActsAs::Person;
        let is_caller = self.acts_as == ActsAs::Caller;
        let is_service = self.acts_as == ActsAs::Service;
        let of_person = "it is used only with `as = \"person\"`";
        let of_token = "it is used only with `as = \"service\"`";
        let of_caller = "the caller's token is passed on unchanged, so remove this setting";
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

// Files of environment variables: `NAME=value` on each line, with comments, `export` and quotes.

/// The variables of a file. Lines of any other form are skipped.
pub fn env_variables(text: &str) -> Vec<(String, String)> {
    text.trim_start_matches('\u{feff}').lines().filter_map(variable).collect()
}

fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| (name.to_string(), unquoted(value.trim())))
}

/// A value in double quotes is a JSON string; one in single quotes is taken verbatim.
fn unquoted(value: &str) -> String {
    let quoted = || match from_json(value) {
        Ok(serde_json::Value::String(text)) => Some(text),
        _ => None,
    };
    let plain = || value.strip_prefix('\'')?.strip_suffix('\'').map(str::to_string);
    let begins = value.chars().next();
    let read = if begins == Some('"') { quoted() } else { plain() };
    read.unwrap_or_else(|| value.to_string())
}

/// The line for a variable, without a line break.
pub fn env_line(name: &str, value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'#');
    if value.bytes().all(is_plain) {
        format!("{name}={value}")
    } else {
        format!("{name}={}", serde_json::Value::from(value))
    }
}

// Environment variables, for values of the configuration.

/// Name of a variable that is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is not set")]
pub struct MissingVariable(String);

/// Source of environment variables. Values go to servers only, and are never printed.
#[derive(Clone)]
pub struct Environment(Arc<Variables>);

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// `${NAME}`, or `${NAME:-text}` with a text for a variable that is not set.
static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}").ok());

impl Environment {
    /// Creates an environment that looks up variables with this function.
    pub fn new(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(variable))
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }

    /// Fills in the variables of a text. The error names the first variable that is not set.
    pub fn filled(&self, text: &str) -> Result<String, MissingVariable> {
        let Some(variable) = VARIABLE.as_ref().filter(|_| text.contains("${")) else {
            return Ok(text.into());
        };
        let mut missing = None;
        let filled = variable.replace_all(text, |found: &Captures<'_>| {
            let name = &found[1];
            let otherwise = found.get(2);
            let value = self.get(name).filter(|value| otherwise.is_none() || !value.is_empty());
            value.or_else(|| otherwise.map(|text| text.as_str().to_string())).unwrap_or_else(|| {
                missing.get_or_insert_with(|| name.to_string());
                String::new()
            })
        });
        let filled = filled.into_owned();
        missing.map_or(Ok(filled), |name| Err(MissingVariable(name)))
    }
}

impl Default for Environment {
    /// No variables at all.
    fn default() -> Self {
        Self::new(|_| None)
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Environment")
    }
}

#[cfg(test)]
mod environment_tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_it_was_written() {
        for value in ["", "abc", "a b", "a=b", "\"a\" 'b' \\", "line\nline", "é # x", "${X}"] {
            let text = format!("# a comment\n\n{}\nno variable\n", env_line("NAME", value));
            assert_eq!(env_variables(&text), [("NAME".to_string(), value.to_string())], "{text}");
        }
        assert_eq!(
            env_variables("export A='b c'\r\nB = \"x"),
            [("A".into(), "b c".into()), ("B".into(), "\"x".into())]
        );
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
