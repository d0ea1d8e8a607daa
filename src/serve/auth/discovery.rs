//! The metadata of an issuer: OpenID Connect discovery, and RFC 8414.

use serde::Deserialize;

use super::fetch::Fetcher;
use crate::config::is_safe_address;

/// The addresses that an issuer names, each over https or on this machine.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct IssuerMetadata {
    /// Its name.
    pub issuer: String,
    /// The address of its public keys.
    pub jwks_uri: Option<String>,
}

/// The metadata of this issuer. Its own name has to be in it, so that no other issuer answers for it.
pub(super) async fn metadata(fetcher: &Fetcher, issuer: &str) -> Result<IssuerMetadata, String> {
    let mut problem = String::new();
    for place in places(issuer) {
        match fetcher.get(&place).await.and_then(|text| read(&text, issuer)) {
            Ok(metadata) => return Ok(metadata),
            // The first place is the usual one; another one is missing as a rule.
            Err(other) if problem.is_empty() => problem = other,
            Err(_) => {}
        }
    }
    Err(format!("its metadata cannot be read: {problem}"))
}

fn read(text: &[u8], issuer: &str) -> Result<IssuerMetadata, String> {
    let metadata: IssuerMetadata = serde_json::from_slice(text).map_err(|_| "it is no JSON".to_string())?;
    if metadata.issuer != issuer {
        return Err("it is of another issuer".into());
    }
    if !metadata.jwks_uri.as_deref().is_none_or(is_safe_address) {
        return Err("it names an address that is not https".into());
    }
    Ok(metadata)
}

/// The places of the metadata: as OpenID Connect has it, then as RFC 8414 has it, with the path of the issuer at the end.
fn places(issuer: &str) -> Vec<String> {
    let issuer = issuer.trim_end_matches('/');
    let start = issuer.find("://").map_or(0, |at| at + 3);
    let (origin, path) = issuer.split_at(issuer[start..].find('/').map_or(issuer.len(), |at| start + at));
    let mut places = vec![
        format!("{issuer}/.well-known/openid-configuration"),
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}/.well-known/openid-configuration{path}"));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_at_its_usual_places() {
        assert_eq!(
            places("https://a.example/t/"),
            [
                "https://a.example/t/.well-known/openid-configuration",
                "https://a.example/.well-known/oauth-authorization-server/t",
                "https://a.example/.well-known/openid-configuration/t",
            ]
        );
        assert_eq!(places("https://a.example").len(), 2);
    }

    #[test]
    fn metadata_of_another_issuer_and_unsafe_addresses_are_refused() {
        let text = |keys: &str| format!(r#"{{"issuer": "https://a.example", "jwks_uri": "{keys}"}}"#);
        assert!(read(text("https://a.example/keys").as_bytes(), "https://a.example").is_ok());
        assert!(read(text("http://a.example/keys").as_bytes(), "https://a.example").is_err());
        assert!(read(text("https://a.example/keys").as_bytes(), "https://a.example/").is_err());
        assert!(read(b"[]", "https://a.example").is_err());
    }
}
