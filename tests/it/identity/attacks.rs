//! Attacks on tokens, each refused with its status.

use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use super::resource_server::{GRANTS, asked, mcp, protected, served};
use crate::issuer::Issuer;
use crate::serve::header;

/// An attack with a token: its name, and the token that is shown.
type Attack = (&'static str, String);

#[test]
fn tokens_of_attackers_are_refused() {
    let (issuer, other) = (Issuer::start(), Issuer::start());
    let (server, _folder) = protected(&issuer, GRANTS);
    let good = || issuer.token().audience(&server.url("/mcp")).scope("tools:read");
    let of_other = || other.token().audience(&server.url("/mcp")).scope("tools:read");
    let attacks: Vec<Attack> = vec![
        ("another audience", good().audience("https://other.example.com/mcp").sign()),
        (
            "an address that only begins as ours",
            good().audience(&format!("{}.evil.example/mcp", server.url(""))).sign(),
        ),
        ("no audience", good().claim("aud", Value::Null).sign()),
        ("an empty audience", good().claim("aud", json!([])).sign()),
        ("an audience of another type", good().claim("aud", json!({ "a": server.url("/mcp") })).sign()),
        ("another issuer", of_other().sign()),
        ("the name of our issuer with keys of another", of_other().claim("iss", issuer.url()).sign()),
        ("a list of issuers", good().claim("iss", json!([issuer.url(), other.url()])).sign()),
        ("no issuer", good().claim("iss", Value::Null).sign()),
        ("the issuer with a slash", good().claim("iss", format!("{}/", issuer.url())).sign()),
        ("an expired one", good().seconds(-60).sign()),
        ("one without an end", good().claim("exp", Value::Null).sign()),
        ("one with an end in words", good().claim("exp", "tomorrow").sign()),
        ("one with a negative end", good().claim("exp", -1).sign()),
        ("one of tomorrow", good().claim("nbf", 4_000_000_000_u64).sign()),
        ("no name", good().claim("sub", Value::Null).sign()),
        ("an empty name", good().claim("sub", "").sign()),
        ("a list of names", good().claim("sub", json!(["amy", "root"])).sign()),
        ("the algorithm none", good().unsigned()),
        ("the public key as a secret", good().confused()),
        ("a forged signature", good().forged()),
        ("an unknown key", good().key_id("unknown").sign()),
        ("a key of another type", good().algorithm(Algorithm::ES256).key_id(&rsa_key(&issuer)).sign()),
        ("a changed payload", changed(&good().sign())),
        (
            "no signature",
            good().sign().rsplit_once('.').map(|(rest, _)| format!("{rest}.")).unwrap_or_default(),
        ),
        ("two parts", "eyJhbGciOiJFUzI1NiJ9.e30".into()),
        ("four parts", format!("{}.e30", good().sign())),
        ("a long one", format!("ey{}", "a".repeat(20_000))),
        ("no token at all", String::new()),
    ];
    for (attack, token) in &attacks {
        for path in ["/mcp", "/v1", "/tools/read_note.md", "/"] {
            let refused = asked(&server, path, token);
            // A head that is too long does not come as far as the check of tokens.
            let expected: &[u16] = if token.len() > 8_000 { &[401, 431] } else { &[401] };
            assert!(
                expected.contains(&refused.status().as_u16()),
                "{attack} at {path}: {}",
                refused.status()
            );
            if refused.status() == 401 {
                assert!(header(&refused, "www-authenticate").contains("resource_metadata="), "{attack}");
            }
            let body = refused.text().unwrap();
            assert!(token.is_empty() || !body.contains(token.as_str()), "{attack}: {body}");
        }
    }
    assert_eq!(asked(&server, "/v1", &good().sign()).status(), 200);
    let log = server.log.lock().unwrap().clone();
    for (attack, token) in attacks.iter().filter(|(_, token)| token.len() > 20) {
        assert!(!log.contains(token.as_str()), "{attack} is in the log");
    }
}

/// The id of the issuer's RSA key.
fn rsa_key(issuer: &Issuer) -> String {
    let keys = issuer.key_set();
    let mut keys = keys["keys"].as_array().unwrap().iter();
    keys.find(|key| key["kty"] == "RSA").unwrap()["kid"].as_str().unwrap().to_string()
}

/// The token with another payload, and the old signature.
fn changed(token: &str) -> String {
    let parts: Vec<&str> = token.split('.').collect();
    let last = parts[1].chars().last().unwrap();
    let payload = format!("{}{}", &parts[1][..parts[1].len() - 1], if last == 'A' { 'Q' } else { 'A' });
    format!("{}.{payload}.{}", parts[0], parts[2])
}

#[test]
fn a_token_in_a_url_or_shown_twice_is_no_token() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, "");
    let token = issuer.token().audience(&server.url("/mcp")).sign();
    for path in ["/v1", "/mcp", "/tools/read_note.md", "/"] {
        assert_eq!(server.get(&format!("{path}?access_token={token}"), &[]).status(), 401, "{path}");
    }
    let bearer = format!("Bearer {token}");
    let twice = [("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
    let said = server.get("/v1", &twice);
    assert_eq!(said.status(), 400);
    assert!(said.headers()["www-authenticate"].to_str().unwrap().contains("invalid_request"));
    assert!(said.text().unwrap().contains("several headers `Authorization`"));
    assert!(!server.log.lock().unwrap().contains(&token), "the token is in the log");
}

#[test]
fn a_header_without_a_usable_token_is_told_why() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, "");
    let long = format!("Bearer {}", "a".repeat(20_000));
    for (header, why) in [
        (long.as_str(), "more than 16384 bytes"),
        ("Basic YTpi", "no bearer token"),
        ("Bearer ", "no bearer token"),
        ("Bearer unknown-token", "not known"),
    ] {
        let said = server.get("/v1", &[("authorization", header)]);
        assert_eq!(said.status(), 401, "{why}");
        assert!(said.text().unwrap().contains(why), "{why}");
    }
}

#[test]
fn an_expired_token_is_refused_though_it_was_accepted_before() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, "");
    let token = issuer.token().audience(&server.url("/mcp")).seconds(-28).sign();
    let mut accepted = asked(&server, "/v1", &token).status().as_u16();
    assert!([200, 401].contains(&accepted));
    // Clocks may differ by 30 seconds, so it ends in two, however slow the machine is.
    while accepted == 200 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        accepted = asked(&server, "/v1", &token).status().as_u16();
    }
    assert_eq!(accepted, 401);
}

#[test]
fn metadata_of_another_issuer_gives_no_keys() {
    let issuer = Issuer::start();
    issuer.behave(|behaviour| behaviour.claims_issuer = Some("https://login.example.com".into()));
    let (server, _folder) = protected(&issuer, "");
    let token = issuer.token().audience(&server.url("/mcp")).sign();
    assert_eq!(asked(&server, "/v1", &token).status(), 503);
    assert_eq!(issuer.requests("/jwks"), 0);
}

#[test]
fn a_header_does_not_raise_the_rights_of_a_token() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, GRANTS);
    let token = issuer.token().audience(&server.url("/mcp")).scope("tools:read").sign();
    let call = json!({ "op": "write_note", "args": {}, "allow": "destructive" });
    let asking = server.posting("/v1/tool_exec", call).header("authorization", format!("Bearer {token}"));
    let refused = asking.header("x-allow", "destructive").header("x-roles", "editor").send().unwrap();
    assert!([400, 403].contains(&refused.status().as_u16()), "{}", refused.status());
}

#[test]
fn the_token_of_a_tenant_is_refused_without_its_tenant() {
    let issuer = Issuer::start();
    let (server, _folder) =
        served(&format!("[[serve.issuer]]\nissuer = \"{}\"\ntenant = \"tid\"", issuer.url()), &[]);
    let token = || issuer.token().audience(&server.url("/mcp"));
    assert_eq!(asked(&server, "/v1", &token().sign()).status(), 401);
    assert_eq!(asked(&server, "/v1", &token().claim("tid", "acme").sign()).status(), 200);
    let listed = mcp(&server, "/mcp", &token().claim("tid", "").sign(), "tools/list", json!({}));
    assert_eq!(listed.status(), 401);
}
