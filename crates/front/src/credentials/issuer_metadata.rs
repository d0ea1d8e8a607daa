//! The metadata of an issuer, such as its token endpoint or its keys.

use serde_json::Value;

use super::http::document;
use super::reasons::SignInError;
use toolcrib_catalog::config::is_safe_address;

/// The reason why the metadata of an issuer cannot be read, with the paths that were asked. Callers see it, and not the host.
pub struct NoMetadata {
    /// Whether nothing is there, so that the address of the issuer is wrong.
    pub(super) is_absent: bool,
    /// Why.
    pub reason: String,
}

/// The metadata of an issuer, and the address that a field of it names, such as `token_endpoint`.
pub async fn issuer_metadata(issuer: &str, field: &str) -> Result<(String, Value), NoMetadata> {
    let mut absent = Vec::new();
    let mut unusable = None;
    for (origin, path) in places(issuer) {
        match document(&format!("{origin}{path}")).await.and_then(|text| named(&text, issuer, field)) {
            Ok(found) => return Ok(found),
            Err(SignInError::Status(404)) => absent.push(path),
            Err(problem) => unusable = unusable.or(Some(format!("{path}: {problem}"))),
        }
    }
    let is_absent = unusable.is_none();
    let reason = unusable.unwrap_or_else(|| format!("it answered 404 to {}", absent.join(" and ")));
    Err(NoMetadata { is_absent, reason })
}

/// The places of the metadata of an issuer, as origin and path: as RFC 8414 has it, then as OpenID Connect has it.
fn places(issuer: &str) -> [(&str, String); 2] {
    let issuer = issuer.trim_end_matches('/');
    let host = issuer.find("://").map_or(0, |at| at + 3);
    let (origin, path) = issuer.split_at(issuer[host..].find('/').map_or(issuer.len(), |at| host + at));
    [
        (origin, format!("/.well-known/oauth-authorization-server{path}")),
        (origin, format!("{path}/.well-known/openid-configuration")),
    ]
}

/// The address in a metadata document. It has to be of this issuer, so that no other one answers for it.
fn named(text: &[u8], issuer: &str, field: &str) -> Result<(String, Value), SignInError> {
    let document: Value = serde_json::from_slice(text).map_err(|_| "it is no JSON")?;
    if document["issuer"].as_str() != Some(issuer) {
        return Err("it is of another issuer".into());
    }
    match document[field].as_str() {
        None => Err(format!("it has no `{field}`").into()),
        Some(url) if !is_safe_address(url) => Err(format!("its `{field}` is not https").into()),
        Some(url) => Ok((url.to_string(), document)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_at_its_usual_places() {
        let with_path = ["/.well-known/oauth-authorization-server/t", "/t/.well-known/openid-configuration"];
        assert_eq!(places("https://a.example/t/"), with_path.map(|path| ("https://a.example", path.into())));
        assert_eq!(places("https://a.example")[0].1, "/.well-known/oauth-authorization-server");
    }

    #[test]
    fn metadata_is_of_its_issuer_and_names_a_safe_address() {
        let issuer = "https://a.example";
        let named = |text: &str| named(text.as_bytes(), issuer, "jwks_uri");
        let good = r#"{"issuer": "https://a.example", "jwks_uri": "https://b.example/keys"}"#;
        assert_eq!(named(good).unwrap().0, "https://b.example/keys");
        for (bad, why) in [
            (good.replace("a.example", "c.example"), "another issuer"),
            (good.replace("https://b", "http://b"), "not https"),
            (r#"{"issuer": "https://a.example"}"#.into(), "no `jwks_uri`"),
            ("{".into(), "no JSON"),
        ] {
            assert!(named(&bad).unwrap_err().to_string().contains(why), "{bad}");
        }
    }
}
