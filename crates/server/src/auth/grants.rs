//! Claims of a token as a caller: its name, which no other issuer or tenant can give, and the rights of its grants.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexSet;

use super::error::AuthError;
use super::jwt::Claims;
use toolcrib_catalog::config::{EVERY_PROFILE, IssuerGrant, ServeIssuer};
use toolcrib_definition::Effect;
use toolcrib_gateway::exec::Caller;

/// Longest name of a caller or tenant, in bytes.
const MAX_NAME: usize = 256;

/// Most combinations of roles that the grants of all issuers can give: each has a catalog view of its own.
const MAX_COMBINATIONS: usize = 256;

/// The caller with these claims.
pub(super) fn caller(issuer: &ServeIssuer, claims: &Claims) -> Result<Caller, AuthError> {
    let name = name(issuer, claims).ok_or(AuthError::Nameless)?;
    let scopes: BTreeSet<&str> = claims.scopes().collect();
    let own: Vec<&IssuerGrant> = issuer.grants.iter().filter(|grant| fits(grant, &scopes, claims)).collect();
    if own.is_empty() && !issuer.grants.is_empty() {
        return Err(AuthError::NoGrant);
    }
    let allow = if issuer.grants.is_empty() {
        Effect::Destructive
    } else {
        own.iter().filter_map(|grant| grant.allow).max().unwrap_or(Effect::Read)
    };
    Ok(Caller {
        name,
        roles: Some(roles(own.iter().copied()).into_iter().map(str::to_string).collect()),
        profiles: profiles(&own),
        allow,
        ..Caller::default()
    })
}

/// The name, which is different for each name, tenant and issuer: `NAME@ISSUER`, or `TENANT/NAME@ISSUER`.
fn name(issuer: &ServeIssuer, claims: &Claims) -> Option<Arc<str>> {
    let part = |claim: &str| claims.text(claim).filter(|text| fits_name(text)).map(escaped);
    let name = part(&issuer.name)?;
    let place = place(&issuer.issuer);
    Some(match &issuer.tenant {
        Some(tenant) => format!("{}/{name}@{place}", part(tenant)?).into(),
        None => format!("{name}@{place}").into(),
    })
}

/// The end of the names of an issuer's callers: its address without `https://`.
pub(super) fn place(issuer: &str) -> &str {
    issuer.strip_prefix("https://").unwrap_or(issuer)
}

pub(super) fn fits_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME
}

/// A part of a name without the signs that divide it, and without invisible ones.
pub fn escaped(part: &str) -> String {
    let mut escaped = String::with_capacity(part.len());
    for sign in part.chars() {
        let is_visible = sign.is_ascii_graphic() || sign.is_alphanumeric();
        if is_visible && !['/', '@', '%'].contains(&sign) {
            escaped.push(sign);
        } else {
            let mut bytes = [0; 4];
            let bytes = sign.encode_utf8(&mut bytes).bytes();
            bytes.for_each(|byte| escaped.push_str(&format!("%{byte:02X}")));
        }
    }
    escaped
}

fn fits(grant: &IssuerGrant, scopes: &BTreeSet<&str>, claims: &Claims) -> bool {
    match (&grant.scope, &grant.claim, &grant.value) {
        (Some(scope), None, None) => scopes.contains(scope.as_str()),
        (None, Some(claim), Some(value)) => claims.texts(claim).any(|own| own == value),
        _ => false,
    }
}

/// The roles of grants, sorted.
pub(super) fn roles<'g>(grants: impl Iterator<Item = &'g IssuerGrant>) -> BTreeSet<&'g str> {
    grants.flat_map(|grant| &grant.roles).map(String::as_str).collect()
}

/// The profiles of grants, the first one for requests that choose none; `None` for every one.
fn profiles(own: &[&IssuerGrant]) -> Option<Arc<[String]>> {
    let named: IndexSet<&str> = own.iter().flat_map(|grant| &grant.profiles).map(String::as_str).collect();
    let is_every_one = named.is_empty() || named.contains(EVERY_PROFILE);
    (!is_every_one).then(|| named.into_iter().map(str::to_string).collect())
}

/// A caller for each combination of roles that grants and a proxy can give, so that its catalog view is made ahead.
pub(super) fn combinations<'i>(
    issuers: impl Iterator<Item = &'i ServeIssuer>,
    of_proxy: &[String],
) -> Result<Vec<Caller>, String> {
    let of_issuers = issuers.map(|issuer| {
        let of_grant = |grant: &'i IssuerGrant| roles(std::iter::once(grant));
        (issuer.issuer.as_str(), issuer.grants.iter().map(of_grant).collect())
    });
    let of_proxy: Vec<_> = of_proxy.iter().map(|role| BTreeSet::from([role.as_str()])).collect();
    let mut known = BTreeSet::new();
    for (giver, given) in of_issuers.chain([("the proxy", of_proxy)]) {
        let mut of_giver = BTreeSet::from([BTreeSet::new()]);
        for own in given {
            let joined: Vec<BTreeSet<&str>> = of_giver.iter().map(|other| other | &own).collect();
            of_giver.extend(joined);
            if of_giver.len() > MAX_COMBINATIONS {
                return Err(format!(
                    "the grants of the issuer {giver} give over {MAX_COMBINATIONS} combinations of roles; give fewer roles, each \
                     to more groups"
                ));
            }
        }
        known.extend(of_giver);
    }
    let caller = |roles: BTreeSet<&str>| Caller {
        roles: Some(roles.into_iter().map(str::to_string).collect()),
        ..Caller::default()
    };
    Ok(known.into_iter().map(caller).collect())
}

/// The scopes that the metadata names: those of the grants.
pub(super) fn scopes<'g>(grants: impl Iterator<Item = &'g IssuerGrant>) -> Vec<&'g str> {
    let all: IndexSet<&str> = grants.filter_map(scope).collect();
    all.into_iter().collect()
}

/// The scopes to ask for first: those that change nothing, where there are any. A client asks for more when it needs more.
pub(super) fn first_scopes<'g>(grants: impl Iterator<Item = &'g IssuerGrant> + Clone) -> Vec<&'g str> {
    let changes = |scope: &&str| {
        let mut granting = grants.clone().filter(|grant| grant.scope.as_deref() == Some(*scope));
        granting.any(|grant| grant.allow > Some(Effect::Read))
    };
    let all = scopes(grants.clone());
    let reading: Vec<&str> = all.iter().copied().filter(|scope| !changes(scope)).collect();
    if reading.is_empty() { all } else { reading }
}

/// The scopes that give more than this caller has: its own, and those whose grants add an effect within `most`, or a role.
pub(super) fn wider_scopes<'i>(issuer: &'i ServeIssuer, caller: &Caller, most: Effect) -> Vec<&'i str> {
    let has = |role: &String| caller.roles.as_ref().is_none_or(|roles| roles.contains(role));
    let adds = |grant: &IssuerGrant| {
        grant.allow.is_some_and(|allow| allow.min(most) > caller.allow) || !grant.roles.iter().all(has)
    };
    let wider: Vec<&str> = issuer.grants.iter().filter(|grant| adds(grant)).filter_map(scope).collect();
    // The new token has to have the rights of the old one, too.
    let own = issuer.grants.iter().filter_map(scope).filter(|scope| !wider.contains(scope));
    if wider.is_empty() { wider } else { own.chain(wider.clone()).collect() }
}

/// The scope of a grant, if it has the form of RFC 6749; others would end the header early.
fn scope(grant: &IssuerGrant) -> Option<&str> {
    let fits = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    grant.scope.as_deref().filter(|scope| !scope.is_empty() && scope.bytes().all(fits))
}

#[cfg(test)]
mod tests {

    use serde_json::json;

    use super::*;

    fn grant(scope: &str, roles: &[&str], allow: Option<Effect>) -> IssuerGrant {
        let roles = roles.iter().map(ToString::to_string).collect();
        IssuerGrant { scope: Some(scope.into()), roles, allow, ..IssuerGrant::default() }
    }

    fn issuer(grants: Vec<IssuerGrant>) -> ServeIssuer {
        ServeIssuer { issuer: "https://login.example.com".into(), grants, ..ServeIssuer::default() }
    }

    #[test]
    fn names_of_callers_are_different_for_each_name_tenant_and_issuer() {
        let name = |issuer: &str, tenant: Option<&str>, sub: &str| {
            let issuer = ServeIssuer {
                issuer: issuer.into(),
                tenant: tenant.map(|_| "tid".into()),
                ..ServeIssuer::default()
            };
            let claims = Claims(json!({ "sub": sub, "tid": tenant.unwrap_or_default() }));
            caller(&issuer, &claims).map(|caller| caller.name.to_string())
        };
        assert_eq!(name("https://a.example", None, "amy").unwrap(), "amy@a.example");
        assert_eq!(name("https://a.example", Some("t"), "amy").unwrap(), "t/amy@a.example");
        let tried = [
            ("https://a.example", None, "amy"),
            ("https://a.example/", None, "amy"),
            ("http://a.example", None, "amy"),
            ("https://b.example", None, "amy@a.example"),
            ("https://b.example", None, "amy%40a.example"),
            ("https://b.example", None, "t/amy"),
            ("https://b.example", Some("t"), "amy"),
            ("https://b.example", Some("t/amy"), "x"),
            ("https://b.example", Some("t"), "amy/x"),
            ("https://b.example", None, "Amy"),
            ("https://b.example", None, "amy\u{200b}"),
        ];
        let names: BTreeSet<String> =
            tried.iter().map(|(issuer, tenant, sub)| name(issuer, *tenant, sub).unwrap()).collect();
        assert_eq!(names.len(), tried.len(), "{names:#?}");
        for sub in ["", &"x".repeat(257)] {
            assert_eq!(name("https://a.example", None, sub), Err(AuthError::Nameless));
        }
        assert_eq!(name("https://a.example", Some(""), "amy"), Err(AuthError::Nameless));
    }

    #[test]
    fn a_token_has_the_rights_of_its_grants_together_and_no_others() {
        let group = IssuerGrant {
            claim: Some("groups".into()),
            value: Some("engineers".into()),
            roles: vec!["editor".into()],
            profiles: vec!["creator".into()],
            ..IssuerGrant::default()
        };
        let issuer = issuer(vec![
            grant("tools:read", &[], None),
            grant("tools:write", &["writer"], Some(Effect::Write)),
            group,
        ]);
        let of = |value| caller(&issuer, &Claims(value));
        let reader = of(json!({ "sub": "amy", "scope": "tools:read other" })).unwrap();
        assert_eq!((reader.allow, reader.roles.unwrap().len(), reader.profiles), (Effect::Read, 0, None));
        let both = of(json!({ "sub": "amy", "scope": "tools:write", "groups": ["x", "engineers"] })).unwrap();
        assert_eq!(both.roles.as_deref().unwrap(), ["editor", "writer"]);
        assert_eq!(
            (both.allow, both.profiles.as_deref().unwrap()),
            (Effect::Write, &["creator".to_string()][..])
        );
        for none in
            [json!({ "sub": "amy" }), json!({ "sub": "amy", "scope": "tools:writer", "groups": "engineer" })]
        {
            assert_eq!(of(none), Err(AuthError::NoGrant));
        }
    }

    #[test]
    fn every_combination_of_roles_is_made_ahead_up_to_a_limit() {
        let grants = |count: usize| {
            (0..count).map(|role| grant(&format!("s{role}"), &[&format!("r{role}")], None)).collect()
        };
        let of_issuer = |count: usize| combinations([issuer(grants(count))].iter(), &[]);
        assert_eq!(of_issuer(3).unwrap().len(), 8);
        assert!(of_issuer(9).unwrap_err().contains("256"));
        assert_eq!(combinations([].iter(), &["a".into(), "b".into()]).unwrap().len(), 4);
    }

    #[test]
    fn scopes_that_change_something_are_asked_for_when_they_are_needed() {
        let issuer = issuer(vec![
            grant("tools:read", &[], None),
            grant("tools:write", &[], Some(Effect::Write)),
            grant("bad\" scope", &[], Some(Effect::Write)),
        ]);
        let grants = issuer.grants.iter();
        assert_eq!(scopes(grants.clone()), ["tools:read", "tools:write"]);
        assert_eq!(first_scopes(grants), ["tools:read"]);
        let reader = Caller { allow: Effect::Read, roles: Some(Vec::new()), ..Caller::default() };
        assert_eq!(wider_scopes(&issuer, &reader, Effect::Write), ["tools:read", "tools:write"]);
        assert!(wider_scopes(&issuer, &reader, Effect::Read).is_empty());
        let writer = Caller { allow: Effect::Write, ..reader };
        assert!(wider_scopes(&issuer, &writer, Effect::Destructive).is_empty());
    }
}
