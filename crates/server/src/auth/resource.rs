//! Resources (RFC 8707) and their metadata (RFC 9728). Each MCP endpoint is a resource, and so is everything else of
//! the server or of a profile. `WWW-Authenticate` says why a request was rejected, and how to get a token (RFC 6750).

use http::HeaderValue;
use serde_json::{Value, json};

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
