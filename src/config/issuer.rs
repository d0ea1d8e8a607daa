//! Issuers of tokens that callers may show: their keys, the audience, and the rights that scopes and claims give.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EVERY_PROFILE;
use crate::tool::Effect;

/// An issuer of tokens: an authorization server or identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["issuer"]))]
pub struct ServeIssuer {
    /// Its name, exactly as the claim `iss` of its tokens has it: an address.
    pub issuer: String,
    /// Its public keys: a file with a JWK set, relative to the configuration, or an address. When absent, the address that
    /// its metadata names.
    pub jwks: Option<String>,
    /// The audiences that its tokens may have, in place of the exact address of the resource.
    pub audience: Vec<String>,
    /// The claim that names the caller.
    pub name: String,
    /// The claim that names the tenant of the caller; its tokens must have it then.
    pub tenant: Option<String>,
    /// Rights of tokens by scopes and claims. Without any, each valid token has the rights of a caller without roles; with
    /// some, a token that none is for is refused.
    #[serde(rename = "grant")]
    pub grants: Vec<IssuerGrant>,
}

/// The rights of tokens with a scope, or with a value of a claim. A token has the rights of all its grants together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct IssuerGrant {
    /// The scope.
    pub scope: Option<String>,
    /// The claim, by its name, or by a JSON pointer such as `/realm_access/roles`.
    pub claim: Option<String>,
    /// The value of the claim, or one of its values.
    pub value: Option<String>,
    /// The roles that it gives.
    pub roles: Vec<String>,
    /// The profiles that it gives; `*` is every profile. A token whose grants name no profile has every one.
    pub profiles: Vec<String>,
    /// The strongest effect that it gives, within `[exec] allow`; `read` when absent.
    pub allow: Option<Effect>,
}

impl Default for ServeIssuer {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            jwks: None,
            audience: Vec::new(),
            name: "sub".into(),
            tenant: None,
            grants: Vec::new(),
        }
    }
}

impl ServeIssuer {
    /// The address of its keys, where `jwks` is one.
    pub fn jwks_url(&self) -> Option<&str> {
        self.jwks.as_deref().filter(|place| place.contains("://"))
    }

    /// The first mistake in these settings, with its field; `None` when there is none.
    pub(super) fn problem(&self) -> Option<(String, &'static str)> {
        let addresses = [("issuer", Some(self.issuer.as_str())), ("jwks", self.jwks_url())];
        let mut addresses = addresses.into_iter();
        if let Some((field, _)) = addresses.find(|(_, url)| url.is_some_and(|url| !is_safe_address(url))) {
            return Some((field.into(), "this should be an https address, or an http one of this machine"));
        }
        if self.issuer.contains(['?', '#']) {
            return Some(("issuer".into(), "an issuer has no query and no fragment"));
        }
        let wrong = self.grants.iter().position(|grant| grant.is_ambiguous());
        wrong.map(|place| (format!("grant/{place}"), "a grant has a `scope`, or a `claim` and its `value`"))
    }
}

impl IssuerGrant {
    fn is_ambiguous(&self) -> bool {
        !matches!((&self.scope, &self.claim, &self.value), (Some(_), None, None) | (None, Some(_), Some(_)))
    }

    /// The profiles that it names, each with its place.
    pub(super) fn named_profiles(&self) -> impl Iterator<Item = (usize, &String)> {
        self.profiles.iter().enumerate().filter(|(_, name)| *name != EVERY_PROFILE)
    }
}

/// Whether nobody on the way can read or change the messages to this address.
pub(crate) fn is_safe_address(url: &str) -> bool {
    let rest = match url.strip_prefix("https://") {
        Some(rest) => return !rest.is_empty() && !rest.starts_with('/') && !has_user(rest),
        None => url.strip_prefix("http://").unwrap_or_default(),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(inside) => inside.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_loopback = || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    !has_user(rest) && (host == "localhost" || is_loopback())
}

fn has_user(rest: &str) -> bool {
    rest.split('/').next().unwrap_or_default().contains('@')
}

/// The mistake in `public_url`: it is an origin, below which all endpoints are.
pub(super) fn public_url_problem(url: &str) -> Option<&'static str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_origin = rest.is_some_and(|rest| {
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        !authority.is_empty() && !authority.contains(['/', '?', '#', '@', ' '])
    });
    (!is_origin).then_some("this should be an address without a path, such as https://tools.example.com")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        let good =
            ["https://login.example.com/", "http://127.0.0.1:8080/a", "http://localhost", "http://[::1]:9/x"];
        for url in good {
            assert!(is_safe_address(url), "{url}");
        }
        let bad = [
            "http://login.example.com/",
            "http://localhost.evil.example/",
            "ftp://localhost/",
            "",
            "https://",
            "http://127.0.0.1@evil.example/",
            "https://user:pw@login.example.com/",
            "login.example.com",
        ];
        for url in bad {
            assert!(!is_safe_address(url), "{url}");
        }
    }

    #[test]
    fn the_public_url_is_an_origin() {
        assert_eq!(public_url_problem("https://tools.example.com"), None);
        assert_eq!(public_url_problem("http://127.0.0.1:7878/"), None);
        for bad in ["tools.example.com", "https://", "https://a/b", "https://a?b", "https://u@a"] {
            assert!(public_url_problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_grant_is_for_a_scope_or_a_claim() {
        let issuer = |grant: IssuerGrant| ServeIssuer {
            issuer: "https://login.example.com".into(),
            grants: vec![grant],
            ..ServeIssuer::default()
        };
        let scope = IssuerGrant { scope: Some("a".into()), ..IssuerGrant::default() };
        assert_eq!(issuer(scope.clone()).problem(), None);
        let both = IssuerGrant { claim: Some("groups".into()), ..scope };
        for wrong in [both, IssuerGrant::default()] {
            assert_eq!(issuer(wrong).problem().unwrap().0, "grant/0");
        }
    }
}
