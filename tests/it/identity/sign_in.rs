//! A person signs in to the servers behind toolcrib.

use serde_json::json;

use super::protected::Protected;
use crate::fixture::{ended, program, text};
use client::Client;
use operator::{Login, Operator, browse};

mod asked;
mod client;
mod flow;
mod operator;
mod over_http;

#[test]
fn a_sign_in_makes_a_protected_server_usable_in_either_protocol() {
    for is_newer in [true, false] {
        let operator = Operator::new(is_newer, "");
        let refused = operator.run(&["check"]);
        assert!(
            refused.stderr.contains("toolcrib login hosted")
                || refused.stdout.contains("toolcrib login hosted")
        );
        let run = operator.login();
        assert!(run.stdout.contains("signed in at"), "{}", run.stdout);
        assert_eq!(operator.call("whoami")["result"], "whoami for amy");
        let doctor = operator.run(&["doctor"]);
        assert!(doctor.stdout.contains("ok    hosted"), "{}", doctor.stdout);
        assert!(doctor.stdout.contains("and is prolonged by itself"), "{}", doctor.stdout);
    }
}

#[test]
fn tokens_lie_in_a_private_file_and_nowhere_else() {
    let operator = Operator::new(true, "");
    let login = operator.login();
    let tokens = operator.stored()["tokens"].clone();
    let (access, refresh) = (tokens["access"].as_str().unwrap(), tokens["refresh"].as_str().unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        assert_eq!(operator.file().metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(operator.file().parent().unwrap().metadata().unwrap().mode() & 0o777, 0o700);
    }
    let mut said = login.stdout + &login.stderr;
    for arguments in [&["doctor", "--json"][..], &["check", "--verbose"], &["doctor"]] {
        let run = operator.run(arguments);
        said.push_str(&format!("{}{}", run.stdout, run.stderr));
    }
    said.push_str(&operator.call("whoami").to_string());
    for secret in [access, refresh] {
        assert!(!said.contains(secret), "{said}");
        for entry in walk(operator.state.path()).into_iter().chain(walk(operator.catalog.path())) {
            let holds =
                std::fs::read(&entry).unwrap().windows(secret.len()).any(|part| part == secret.as_bytes());
            assert_eq!(holds, entry == operator.file(), "{}", entry.display());
        }
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn a_server_without_a_sign_in_says_what_to_do() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.remember();
    assert_eq!(operator.run(&["login", "hosted", "--sign-out"]).code, 0);
    assert_eq!(operator.call("whoami")["error"]["code"], "SIGN_IN_REQUIRED", "also where nothing serves");
    let mut client = Client::start(&operator);
    let listed = client.ask("tools/list", json!({}));
    assert!(listed.to_string().contains("whoami"), "its remembered tools stay in the list: {listed}");
    let answer = client.ask("tools/call", json!({"name": "whoami", "arguments": {}}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text.contains("SIGN_IN_REQUIRED") && text.contains("toolcrib login hosted"), "{answer}");
    // The program that serves takes the sign-in of another one at once.
    operator.login();
    let answer = client.ask("tools/call", json!({"name": "whoami", "arguments": {}}));
    assert!(answer.to_string().contains("whoami for amy"), "{answer}");
}

#[test]
fn a_call_without_a_server_of_ours_says_what_to_do_where_a_sign_in_is_missing() {
    for is_newer in [true, false] {
        let operator = Operator::new(is_newer, "");
        operator.login();
        operator.remember();
        assert_eq!(operator.run(&["login", "hosted", "--sign-out"]).code, 0);
        let answer = operator.call("whoami");
        assert_eq!(answer["error"]["code"], "SIGN_IN_REQUIRED", "{answer}");
        assert!(answer.to_string().contains("toolcrib login hosted"), "{answer}");
    }
}

#[test]
fn a_token_that_is_soon_to_end_is_refreshed_first() {
    let operator = Operator::new(true, "");
    operator.login();
    let before = operator.stored();
    operator.end_token();
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
    let after = operator.stored();
    assert_ne!(before["tokens"]["access"], after["tokens"]["access"]);
    assert_ne!(before["tokens"]["refresh"], after["tokens"]["refresh"]);
    let grants = operator.issuer.received("/token");
    assert!(grants[1].contains("grant_type=refresh_token") && grants[1].contains("resource="), "{grants:?}");
}

#[test]
fn many_processes_refresh_a_rotating_token_once() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.call("whoami");
    operator.issuer.behave(|issuer| issuer.delay_ms = 50);
    operator.end_token();
    let before = operator.issuer.requests("/token");
    let call = ["call", "tool_exec", r#"{"op": "whoami", "args": {}}"#];
    let call = || ended(operator.program(&call).output().unwrap());
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(call)).collect();
        for call in calls {
            let said = call.join().unwrap().stdout;
            assert!(said.contains("whoami for amy"), "{said}");
        }
    });
    assert_eq!(operator.issuer.requests("/token") - before, 1);
}

#[test]
fn a_token_that_the_server_refuses_is_refreshed_once() {
    let operator = Operator::new(false, "");
    operator.login();
    operator.change(|stored| stored["tokens"]["access"] = "revoked-access-token".into());
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
    assert_eq!(operator.issuer.requests("/token"), 2);
}

#[test]
fn a_refused_refresh_ends_the_sign_in_and_a_dead_issuer_does_not() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.remember();
    operator.end_token();
    operator.issuer.behave(|issuer| issuer.is_dead = true);
    let answer = operator.call("whoami");
    assert_ne!(answer["error"]["code"], "SIGN_IN_REQUIRED", "{answer}");
    operator.issuer.behave(|issuer| issuer.is_dead = false);
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
    operator.end_token();
    operator.issuer.behave(|issuer| issuer.refuses_refresh = true);
    let mut client = Client::start(&operator);
    let answer = client.ask("tools/call", json!({"name": "whoami", "arguments": {}}));
    assert!(answer.to_string().contains("SIGN_IN_REQUIRED"), "{answer}");
    assert!(operator.stored().get("tokens").is_none());
    let doctor = operator.run(&["doctor"]);
    assert!(doctor.stdout.contains("it has ended"), "{}", doctor.stdout);
}

#[test]
fn a_refresh_token_goes_to_its_own_issuer_alone() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.end_token();
    operator.change(|stored| stored["issuer"] = "https://other.example".into());
    operator.call("whoami");
    assert_eq!(operator.issuer.requests("/token"), 1);
}

#[test]
fn a_sign_in_survives_a_bad_answer_to_its_refresh() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.remember();
    operator.end_token();
    let tokens = operator.stored()["tokens"].clone();
    operator.issuer.behave(|issuer| issuer.hides_metadata = true);
    assert_ne!(operator.call("whoami")["result"], "whoami for amy");
    assert_eq!(operator.stored()["tokens"], tokens, "its metadata was not found");
    operator.issuer.behave(|issuer| issuer.hides_metadata = false);
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
    for token in ["", "two\nlines", "with space", "\u{7f}"] {
        operator.end_token();
        operator.issuer.behave(|issuer| issuer.token = Some(token.into()));
        assert_ne!(operator.call("whoami")["result"], "whoami for amy", "{token:?}");
        operator.issuer.behave(|issuer| issuer.token = None);
        assert_eq!(operator.call("whoami")["result"], "whoami for amy", "after {token:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_is_asked_to_end_stores_the_tokens_of_a_running_refresh() {
    for signal in ["TERM", "INT"] {
        for serves in [true, false] {
            let operator = Operator::new(true, "");
            operator.login();
            operator.remember();
            operator.end_token();
            operator.issuer.behave(|issuer| issuer.token_delay_ms = 700);
            let before = operator.issuer.requests("/token");
            let arguments: &[&str] = match serves {
                true => &["serve", "--listen", "127.0.0.1:0"],
                false => &["call", "tool_exec", r#"{"op": "whoami", "args": {}}"#],
            };
            let mut child = operator.program(arguments).spawn().unwrap();
            operator::until("a refresh was sent", || operator.issuer.requests("/token") > before);
            let sent =
                std::process::Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
            assert!(sent.unwrap().success());
            child.wait().unwrap();
            operator.issuer.behave(|issuer| issuer.token_delay_ms = 0);
            assert_eq!(operator.call("whoami")["result"], "whoami for amy", "{signal}, serves: {serves}");
        }
    }
}

#[test]
fn a_sign_in_to_one_address_is_not_used_at_another() {
    let operator = Operator::new(true, "");
    operator.login();
    let other = Protected::start(&operator.issuer, true);
    let toml = format!("[[source]]\nserver = 'hosted'\nmcp = {{ url = '{}' }}\n", other.url);
    std::fs::write(operator.catalog.path().join("toolcrib.toml"), toml).unwrap();
    let run = operator.run(&["check"]);
    assert!((run.stdout + &run.stderr).contains("it wants a token"));
    assert_eq!(other.let_in(), 0);
}

#[test]
fn more_scopes_are_asked_for_at_the_next_sign_in() {
    let operator = Operator::new(true, "");
    operator.login();
    let mut client = Client::start(&operator);
    assert!(client.ask("tools/list", json!({})).to_string().contains("whoami"));
    let refused = client.ask("tools/call", json!({"name": "admin", "arguments": {}})).to_string();
    assert!(refused.contains("SIGN_IN_REQUIRED") && refused.contains("tools:admin"), "{refused}");
    operator.login();
    let asked = operator.issuer.received("/authorize").pop().unwrap();
    assert!(asked.contains("tools%3Aread") && asked.contains("tools%3Aadmin"), "{asked}");
    let answer = client.ask("tools/call", json!({"name": "admin", "arguments": {}}));
    assert!(answer.to_string().contains("admin for amy"), "{answer}");
}

#[test]
fn a_logout_revokes_and_removes_the_tokens() {
    let operator = Operator::new(true, "");
    operator.login();
    let refresh = operator.stored()["tokens"]["refresh"].as_str().unwrap().to_string();
    let run = operator.run(&["login", "hosted", "--sign-out"]);
    assert!(run.code == 0 && run.stdout.contains("signed out"), "{}", run.stderr);
    let revoked = operator.issuer.received("/revoke");
    assert!(revoked[0].contains(&refresh), "{revoked:?}");
    let again = operator.run(&["login", "hosted", "--sign-out"]);
    assert!(again.code == 1 && again.stderr.contains("not signed in"), "{}", again.stderr);
    assert!(operator.run(&["login", "hostet"]).stderr.contains("did you mean `hosted`"));
}

#[test]
fn a_logout_ends_the_sign_in_of_its_catalog_and_without_one_all_of_the_name() {
    let operator = Operator::new(true, "");
    operator.login();
    let other = Operator::with_state(&operator.state, true, "");
    other.login();
    assert_eq!(operator.run(&["doctor"]).code, 0);
    assert_eq!(operator.run(&["login", "hosted", "--sign-out"]).code, 0);
    assert_eq!(other.call("whoami")["result"], "whoami for amy");
    operator.login();
    let run = program(&["login", "hosted", "--sign-out"])
        .env("XDG_STATE_HOME", operator.state.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(run.stdout).unwrap().matches("signed out").count(), 2);
}

#[test]
fn a_login_with_a_configuration_that_was_found_asks_for_its_name() {
    let operator = Operator::new(true, "");
    let login = || {
        let mut login = program(&["login", "hosted", "--no-browser"]);
        login.current_dir(operator.catalog.path()).env("XDG_STATE_HOME", operator.state.path());
        String::from_utf8(login.output().unwrap().stderr).unwrap()
    };
    let said = login();
    assert!(said.contains("name it as the catalog") && !said.contains("no server is called"), "{said}");
}

#[test]
fn the_doctor_shows_the_identity_that_is_used_and_a_damaged_sign_in() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.issuer.register("robot", "secret-of-the-robot", &[]);
    operator.configure("as = 'service', client_id = 'robot', client_secret = 'secret-of-the-robot'");
    let said = operator.run(&["doctor"]).stdout;
    assert!(said.contains("called as the service `robot`") && !said.contains("signed in at"), "{said}");
    operator.configure("");
    std::fs::write(operator.file(), "{").unwrap();
    let run = operator.run(&["doctor"]);
    assert!(
        run.stdout.contains("is damaged") && run.stdout.contains(text(&operator.file())),
        "{}",
        run.stdout
    );
}

#[test]
fn a_wrong_client_is_told_and_a_forgotten_one_signs_in_again() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.remember();
    operator.end_token();
    operator.change(|stored| stored["client_id"] = "forgotten".into());
    let answer = operator.call("whoami");
    assert_eq!(answer["error"]["code"], "SIGN_IN_REQUIRED", "{answer}");
    operator.issuer.register("ours", "the-right-secret", &["http://127.0.0.1/callback"]);
    operator.configure("client_id = 'ours', client_secret = 'a-wrong-secret'");
    let mut login = Login::start(&operator);
    browse(&login.address());
    let said = login.end().stderr;
    assert!(said.contains("`client_secret` is wrong: see the `auth` of `hosted`"), "{said}");
    operator.configure("client_id = 'ours', client_secret = 'the-right-secret'");
    operator.login();
    operator.end_token();
    operator.change(|stored| stored["tokens"]["client_secret"] = "a-secret-of-before".into());
    let answer = operator.call("whoami").to_string();
    assert!(answer.contains("`client_secret` is wrong") && !answer.contains("later"), "{answer}");
}
