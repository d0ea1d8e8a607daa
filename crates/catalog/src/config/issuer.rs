//! Issuers of tokens that callers may show, and the rights that scopes and claims give.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::is_safe_address;
use toolcrib_definition::Effect;

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

    /// The first mistake in these settings, with its field; `None` without a mistake.
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
