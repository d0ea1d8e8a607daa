//! The identity for calls to a server: `[server.NAME.auth]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::is_safe_address;

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
