//! `WWW-Authenticate`: the reason of a refusal, and the way to a token that is not refused (RFC 6750 and 9728).

use http::HeaderValue;

/// A challenge.
#[derive(Clone, Debug, Default)]
pub(super) struct Challenge<'c> {
    /// The error code of RFC 6750; none where no token was shown.
    pub(super) error: Option<&'static str>,
    /// The error in words.
    pub(super) description: &'c str,
    /// The address of the metadata of the resource.
    pub(super) metadata: Option<String>,
    /// The scopes to ask for.
    pub(super) scopes: &'c [&'c str],
}

impl Challenge<'_> {
    /// The header.
    pub(super) fn header(&self) -> HeaderValue {
        let mut parts = vec!["Bearer realm=\"toolcrib\"".to_string()];
        if let Some(error) = self.error {
            parts.push(format!("error=\"{error}\""));
            // Clients that look for the metadata alone are spared the words.
            if self.metadata.is_some() {
                parts.push(format!("error_description=\"{}\"", self.description));
            }
        }
        parts.extend(self.metadata.iter().map(|url| format!("resource_metadata=\"{url}\"")));
        if !self.scopes.is_empty() {
            parts.push(format!("scope=\"{}\"", self.scopes.join(" ")));
        }
        HeaderValue::try_from(parts.join(", ")).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_says_where_to_get_a_token() {
        let challenge = Challenge {
            error: Some("invalid_token"),
            description: "this token has expired",
            metadata: Some("https://a.example/m".into()),
            scopes: &["a", "b"],
        };
        assert_eq!(
            challenge.header(),
            "Bearer realm=\"toolcrib\", error=\"invalid_token\", error_description=\"this token has expired\", \
             resource_metadata=\"https://a.example/m\", scope=\"a b\""
        );
        assert_eq!(Challenge::default().header(), "Bearer realm=\"toolcrib\"");
    }
}
