//! The sign-in itself: its client, its browser, and attacks on it.

use std::process::Stdio;

use super::operator::{Login, Operator, browse, sent_to, until};
use crate::issuer::Issuer;

#[test]
fn a_client_is_the_configured_one_else_a_document_else_registered() {
    let operator =
        Operator::new(true, "client_id = 'ours', client_secret = '${OUR_SECRET}', redirect_port = 0");
    let refused = operator.run(&["login", "hosted"]);
    assert!(
        refused.stderr.contains("redirect_port") || refused.stderr.contains("OUR_SECRET"),
        "{}",
        refused.stderr
    );
    operator.configure("client_metadata_url = 'https://tools.example.com/client.json'");
    operator.login();
    assert_eq!(operator.stored()["client_id"], "https://tools.example.com/client.json");
    assert_eq!(operator.issuer.requests("/register"), 0);
    operator.issuer.behave(|issuer| issuer.takes_metadata_documents = false);
    operator.login();
    assert_eq!(operator.issuer.requests("/register"), 1);
    operator.issuer.behave(|issuer| issuer.registers_clients = false);
    operator.configure("");
    let run = operator.run(&["login", "hosted", "--no-browser"]);
    assert!(run.code == 1 && run.stderr.contains("client_id"), "{}", run.stderr);
}

#[test]
fn an_address_that_was_pasted_ends_a_sign_in_and_a_foreign_one_does_not() {
    let operator = Operator::new(true, "");
    let mut login = Login::start(&operator);
    let ended_at = sent_to(&login.address());
    login.paste("http://127.0.0.1:1/callback?code=stolen&state=foreign");
    login.paste(&ended_at);
    let run = login.end();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("belongs to another sign-in"), "{}", run.stderr);
    assert!(!operator.issuer.received("/token").iter().any(|form| form.contains("stolen")));
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
}

#[test]
fn a_code_of_another_sign_in_or_issuer_is_never_sent() {
    let operator = Operator::new(true, "");
    let mut login = Login::start(&operator);
    let address = login.address();
    let back = sent_to(&address);
    // Login CSRF and code injection: another state, no state, two codes.
    let (at, query) = back.split_once('?').unwrap();
    for foreign in ["code=stolen", "code=stolen&state=x", &format!("{query}&code=stolen")] {
        let page = browse(&format!("{at}?{foreign}"));
        assert!(page.contains("Not this sign-in") && !page.contains("stolen"), "{page}");
    }
    // Mix-up: the answer of another issuer.
    let mixed_up = back.replace("&iss=", "&iss=https%3A%2F%2Fevil.example%2F&was=");
    let page = browse(&mixed_up);
    assert!(page.contains("Not signed in"), "{page}");
    let run = login.end();
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(operator.issuer.requests("/token"), 0);
}

#[test]
fn a_refusal_of_the_person_is_told() {
    let operator = Operator::new(true, "");
    operator.issuer.behave(|issuer| issuer.agrees = false);
    let mut login = Login::start(&operator);
    let page = browse(&login.address());
    let run = login.end();
    assert!(
        page.contains("access_denied") && run.code == 1 && run.stderr.contains("access_denied"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_issuer_that_is_not_the_configured_one_is_refused() {
    let operator = Operator::new(true, "issuer = 'https://login.example.com/'");
    let run = operator.run(&["login", "hosted", "--no-browser"]);
    assert!(run.code == 1 && run.stderr.contains("login.example.com"), "{}", run.stderr);
    assert_eq!(operator.issuer.requests("/authorize"), 0);
    operator.configure("issuer = 'ISSUER'");
    operator.login();
}

#[test]
fn a_metadata_of_another_issuer_and_a_redirected_token_request_are_refused() {
    let operator = Operator::new(true, "");
    operator.issuer.behave(|issuer| issuer.claims_issuer = Some("https://evil.example".into()));
    let run = operator.run(&["login", "hosted", "--no-browser"]);
    assert!(run.code == 1 && run.stderr.contains("issuer mismatch"), "{}", run.stderr);
    let elsewhere = Issuer::start();
    operator.issuer.behave(|issuer| {
        issuer.claims_issuer = None;
        issuer.redirects_token_to = Some(format!("{}/token", elsewhere.url()));
    });
    let mut login = Login::start(&operator);
    let page = browse(&login.address());
    assert!(page.contains("Not signed in") && login.end().code == 1, "{page}");
    assert_eq!(elsewhere.requests("/token"), 0);
}

#[test]
fn the_browser_of_the_variable_is_opened() {
    let operator = Operator::new(true, "");
    let note = operator.state.path().join("opened");
    let script = operator.state.path().join("browser");
    let text = format!("#!/bin/sh\nprintf '%s' \"$1\" > '{0}.part' && mv '{0}.part' '{0}'\n", note.display());
    std::fs::write(&script, text).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut login = operator.program(&["login", "hosted"]);
    let login =
        login.env("BROWSER", &script).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let login = login.spawn().unwrap();
    until("a browser is opened", || note.exists());
    assert!(browse(&std::fs::read_to_string(&note).unwrap()).contains("Signed in"));
    assert!(login.wait_with_output().unwrap().status.success());
}

#[test]
fn a_sign_in_asks_with_pkce_and_the_exact_resource() {
    let operator = Operator::new(true, "");
    operator.login();
    let asked = operator.issuer.received("/authorize").pop().unwrap();
    let field = |name: &str| {
        let mut fields = form_urlencoded::parse(asked.as_bytes());
        fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    assert_eq!(field("code_challenge_method"), "S256");
    assert_eq!(field("resource"), operator.server.url);
    assert_eq!(field("scope"), "tools:read offline_access");
    assert!(field("redirect_uri").starts_with("http://127.0.0.1:"));
}

#[test]
fn an_authorization_server_that_does_not_tell_pkce_is_refused() {
    let operator = Operator::new(true, "");
    operator.issuer.behave(|issuer| issuer.tells_pkce = false);
    let run = operator.run(&["login", "hosted", "--no-browser"]);
    let said = &run.stderr;
    assert!(run.code == 1 && said.contains("code_challenge_methods_supported"), "{said}");
    assert!(said.contains(operator.issuer.url()) && said.contains("give it a token"), "{said}");
    assert_eq!(operator.issuer.requests("/authorize") + operator.issuer.requests("/register"), 0);
}
