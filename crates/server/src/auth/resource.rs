//! Resources (RFC 8707) and their metadata (RFC 9728). Each MCP endpoint is a resource, and so is everything else of
//! the server or of a profile. `WWW-Authenticate` says why a request was rejected, and how to get a token (RFC 6750).

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::AuthError;
use super::grants::{self, escaped};
use toolcrib_catalog::config::{Network, ServeProxy};
use toolcrib_definition::Effect;
use toolcrib_gateway::exec::Caller;

/// The path of a resource's metadata, up to the path of the resource.
pub const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The end of the path of an MCP endpoint.
const MCP: &str = "/mcp";

/// The resource of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource<'r> {
    /// The path of the profile, such as `/p/creator`; empty for the whole server.
    pub root: &'r str,
    /// Whether the resource is the MCP endpoint.
    pub is_mcp: bool,
}

impl<'r> Resource<'r> {
    /// The resource at a path; `None` for other paths.
    pub fn at(path: &'r str) -> Option<Self> {
        let (rest, is_mcp) = match path.strip_suffix(MCP) {
            Some(rest) => (rest, true),
            None => (path.strip_suffix('/').unwrap_or(path), false),
        };
        let is_root = |rest: &str| {
            rest.is_empty()
                || rest.strip_prefix("/p/").is_some_and(|name| !name.is_empty() && !name.contains('/'))
        };
        is_root(rest).then_some(Self { root: rest, is_mcp })
    }

    /// The path of the resource.
    fn path(&self) -> String {
        format!("{}{}", self.root, if self.is_mcp { MCP } else { "" })
    }

    /// Returns true if this resource accepts tokens for this audience, which is the exact address. Plain HTTP next to
    /// an MCP endpoint, such as pages and links in results, also accepts the tokens of that endpoint.
    pub(super) fn is(&self, audience: &str, public_url: &str) -> bool {
        let path = audience.strip_prefix(public_url).and_then(|path| path.strip_prefix(self.root));
        match path {
            Some(MCP) => true,
            Some("" | "/") => !self.is_mcp,
            _ => false,
        }
    }

    /// The address of the resource's metadata.
    pub(super) fn metadata_url(&self, public_url: &str) -> String {
        format!("{public_url}{METADATA}{}", self.path())
    }

    /// The metadata of the resource.
    pub(super) fn metadata(&self, public_url: &str, issuers: &[&str], scopes: &[&str]) -> Value {
        let mut metadata = json!({
            "resource": format!("{public_url}{}", self.path()),
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
        });
        if !scopes.is_empty() {
            metadata["scopes_supported"] = json!(scopes);
        }
        metadata
    }
}

/// The header `WWW-Authenticate`: the error code of RFC 6750 if the request had a token, the error in words, the
/// address of the resource's metadata, and the scopes to ask for.
pub(super) fn challenge(
    error: Option<&str>,
    description: &str,
    metadata: Option<&str>,
    scopes: &[&str],
) -> HeaderValue {
    let mut parts = vec!["Bearer realm=\"toolcrib\"".to_string()];
    if let Some(error) = error {
        parts.push(format!("error=\"{error}\""));
        // Without metadata to point to, the error code is enough.
        if metadata.is_some() {
            parts.push(format!("error_description=\"{description}\""));
        }
    }
    parts.extend(metadata.map(|url| format!("resource_metadata=\"{url}\"")));
    if !scopes.is_empty() {
        parts.push(format!("scope=\"{}\"", scopes.join(" ")));
    }
    HeaderValue::try_from(parts.join(", ")).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
}

// A proxy in front of the server, such as oauth2-proxy, that names the person of a request in a header. Such headers
// are trusted only if they come from the proxy, which is recognised by the address of the connection or by a secret.
// From anybody else, they are forged.

/// The header in which the proxy proves itself with its secret.
const SECRET: HeaderName = HeaderName::from_static("x-proxy-secret");
/// Shortest secret, in characters: shorter ones could be guessed.
const MIN_SECRET: usize = 16;
/// Suffix of the names that come from the proxy, which tells these people apart from callers of an issuer.
pub(super) const PLACE: &str = "proxy";

/// The proxy in front.
#[derive(Debug)]
pub(super) struct Proxy {
    user: HeaderName,
    roles: HeaderName,
    /// The roles that it may give.
    known: Vec<String>,
    networks: Vec<Network>,
    secret: Option<blake3::Hash>,
}

impl Proxy {
    /// The configured proxy. In `secret`, variables are already filled in.
    pub(super) fn new(configured: &ServeProxy, secret: Option<&str>) -> Result<Self, String> {
        if secret.is_some_and(|secret| secret.trim().len() < MIN_SECRET) {
            return Err(format!(
                "the `secret` of `[serve.proxy]` must have at least {MIN_SECRET} characters"
            ));
        }
        let name = |name: &str| name.parse().map_err(|_| format!("\"{name}\" is no name of a header"));
        Ok(Self {
            user: name(&configured.user_header)?,
            roles: name(&configured.roles_header)?,
            known: configured.roles.clone(),
            networks: configured.addresses.iter().filter_map(|text| Network::parse(text)).collect(),
            secret: secret.map(|secret| blake3::hash(secret.trim().as_bytes())),
        })
    }

    /// The roles that it may give.
    pub(super) fn roles(&self) -> &[String] {
        &self.known
    }

    /// Returns the person whom the proxy names, or `None` if the proxy names nobody.
    pub(super) fn caller(&self, request: &Parts) -> Result<Option<Caller>, AuthError> {
        let headers = &request.headers;
        if ![&self.user, &self.roles, &SECRET].iter().any(|name| headers.contains_key(*name)) {
            return Ok(None);
        }
        let peer = request.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
        if !self.is_from(headers, peer) {
            return Err(AuthError::Forged);
        }
        let user = one(headers, &self.user)?;
        let roles = one(headers, &self.roles)?;
        let Some(user) = user.filter(|user| !user.is_empty()) else { return Ok(None) };
        if !grants::fits_name(user) {
            return Err(AuthError::Nameless);
        }
        let given: Vec<&str> = roles.unwrap_or_default().split(',').map(str::trim).collect();
        let mut roles = self.known.clone();
        roles.retain(|role| given.contains(&role.as_str()));
        roles.sort();
        roles.dedup();
        Ok(Some(Caller {
            name: format!("{}@{PLACE}", escaped(user)).into(),
            roles: Some(roles),
            allow: Effect::Destructive,
            ..Caller::default()
        }))
    }

    /// Returns true if a request comes from the proxy. Checks the address and the secret, if they are configured.
    /// Headers such as `X-Forwarded-For` prove nothing.
    fn is_from(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> bool {
        let peer = peer.map(|peer| peer.to_canonical());
        let is_near = self.networks.is_empty()
            || peer.is_some_and(|peer| self.networks.iter().any(|own| own.has(peer)));
        let mut shown = headers.get_all(SECRET).iter();
        let knows = match (&self.secret, shown.next(), shown.next()) {
            (None, ..) => true,
            // Hashes are compared in constant time.
            (Some(secret), Some(shown), None) => blake3::hash(shown.as_bytes()) == *secret,
            _ => false,
        };
        is_near && knows && (!self.networks.is_empty() || self.secret.is_some())
    }
}

/// Returns the only value of a header. Two values are an error: the proxy may have added its value to a value of the
/// client.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, AuthError> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => std::str::from_utf8(value.as_bytes())
            .map(|value| Some(value.trim()))
            .map_err(|_| AuthError::Forged),
        (None, _) => Ok(None),
        _ => Err(AuthError::Forged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: &str = "https://tools.example.com";

    #[test]
    fn a_token_is_for_the_exact_address() {
        let is = |path: &str, audience: &str| {
            Resource::at(path).unwrap().is(&format!("{PUBLIC}{audience}"), PUBLIC)
        };
        assert!(is("/mcp", "/mcp") && is("/p/a/mcp", "/p/a/mcp") && is("", "") && is("/", "/"));
        assert!(is("/", "/mcp") && is("/p/a", "/p/a/mcp") && is("/p/a/", "/p/a"));
        for (path, audience) in [
            ("/mcp", ""),
            ("/mcp", "/"),
            ("/mcp", "/mcp/"),
            ("/mcp", "/p/a/mcp"),
            ("/p/a/mcp", "/mcp"),
            ("/p/a/mcp", "/p/a"),
            ("/p/a/mcp", "/p/b/mcp"),
            ("/p/a/mcp", "/p/ab/mcp"),
            ("/p/a", "/p/a/b"),
            ("/", "/p/a"),
            ("/", ".evil.example"),
            ("/mcp", ".evil.example/mcp"),
            ("/mcp", "/MCP"),
        ] {
            assert!(!is(path, audience), "{path} {audience}");
        }
        assert!(!Resource::at("/mcp").unwrap().is("https://other.example/mcp", PUBLIC));
    }

    #[test]
    fn metadata_is_at_the_path_of_its_resource() {
        for path in ["/mcp", "/p/creator/mcp", "/p/creator", ""] {
            let resource = Resource::at(path).unwrap();
            assert_eq!(resource.metadata_url(PUBLIC), format!("{PUBLIC}{METADATA}{path}"));
            let metadata = resource.metadata(PUBLIC, &["https://login.example.com"], &[]);
            assert_eq!(metadata["resource"], format!("{PUBLIC}{path}"));
        }
        for none in ["/tools", "/p/", "/p/a/b/mcp", "/p//mcp", "/mcp/mcp", "/x/mcp"] {
            assert_eq!(Resource::at(none), None, "{none}");
        }
    }

    #[test]
    fn a_challenge_says_where_to_get_a_token() {
        assert_eq!(
            challenge(
                Some("invalid_token"),
                "this token has expired",
                Some("https://a.example/m"),
                &["a", "b"]
            ),
            "Bearer realm=\"toolcrib\", error=\"invalid_token\", error_description=\"this token has expired\", \
             resource_metadata=\"https://a.example/m\", scope=\"a b\""
        );
        assert_eq!(challenge(None, "", None, &[]), "Bearer realm=\"toolcrib\"");
    }
}
