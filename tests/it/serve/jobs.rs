//! Answers to job starters are what the command line writes.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Server, header};
use crate::fixture;

fn catalog() -> std::path::PathBuf {
    fixture::package().join("examples/universal-agent")
}

fn untar(bytes: &[u8], to: &Path) {
    let mut tar =
        Command::new("tar").args(["-x", "-C", fixture::text(to)]).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(tar.stdin.as_mut().unwrap(), bytes).unwrap();
    assert!(tar.wait().unwrap().success());
}

/// The files of a folder, toolcrib's own too.
fn every_file(root: &Path) -> fixture::Tree {
    let files = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    let named =
        |entry: &walkdir::DirEntry| entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_string();
    files.map(|entry| (named(&entry), std::fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn a_workspace_has_the_bytes_that_seed_writes() {
    let catalog = catalog();
    let template = fixture::folder(&[
        ("AGENTS.md", "Job {{ job_id }} of {{ profile }}\n\n{{ tools }}\n"),
        ("notes/plan.md", "{{ job_id }}: {{ registry_version }}\n"),
    ]);
    std::fs::write(template.path().join("logo.bin"), [0, 255, 1]).unwrap();
    for (folder, query) in [(None, ""), (Some(template.path()), "?job_id=4%262")] {
        let more = folder.map(|folder| ["--template", fixture::text(folder)]);
        let more: &[&str] = more.as_ref().map_or(&[], |more| more);
        let server = Server::start(fixture::text(&catalog), more, &[]);
        for profile in [None, Some("creator")] {
            let seeded = tempfile::tempdir().unwrap();
            let workspace = seeded.path().join("workspace");
            let chosen = profile.map_or(Vec::new(), |profile| vec!["--profile", profile]);
            let arguments: [&[&str]; 3] = [
                &["seed", fixture::text(&workspace), fixture::text(&catalog), "--var", "job_id=4&2"],
                more,
                &chosen,
            ];
            assert_eq!(fixture::run(&arguments.concat()).code, 0);
            let root = profile.map(|profile| format!("/p/{profile}")).unwrap_or_default();
            let path = format!("{root}/v1/workspace.tar{query}");
            let unpacked = tempfile::tempdir().unwrap();
            let tar = server.get(&path, &[]).bytes().unwrap();
            untar(&tar, unpacked.path());
            fixture::assert_same_tree(&every_file(unpacked.path()), &every_file(&workspace));
            assert_eq!(server.get(&path, &[]).bytes().unwrap(), tar, "the same bytes each time");
        }
    }
}

#[test]
fn an_unchanged_workspace_is_not_sent_again() {
    let server = Server::start(fixture::text(&catalog()), &[], &[]);
    for path in ["/v1/workspace.tar", "/p/creator/v1/workspace.tar"] {
        let first = server.get(path, &[]);
        let tag = header(&first, "etag").to_string();
        assert_eq!(server.get(path, &[("if-none-match", &tag)]).status(), 304);
        let other = format!("{path}?job_id=1");
        assert_eq!(header(&server.get(&other, &[]), "etag"), tag, "our template names no value");
    }
}

#[test]
fn a_value_that_no_template_can_name_is_refused() {
    let server = Server::start(fixture::text(&catalog()), &[], &[]);
    for query in ["tools=1", "a-b=1", "a=1&a=2", "1=2"] {
        let refused = server.get(&format!("/v1/workspace.tar?{query}"), &[]);
        assert_eq!(refused.status(), 400, "{query}");
        assert_eq!(refused.json::<Value>().unwrap()["error"]["code"], "VALIDATION_ERROR");
    }
}

#[test]
fn a_value_that_the_template_names_and_the_job_lacks_is_asked_for() {
    let template = fixture::folder(&[("AGENTS.md", "Job {{ job_id }}\n\n{{ tools }}\n")]);
    let options = ["--template", fixture::text(template.path())];
    let server = Server::start(fixture::text(&catalog()), &options, &[]);
    let refused = server.get("/v1/workspace.tar", &[]);
    assert_eq!(refused.status(), 400);
    let error = refused.json::<Value>().unwrap()["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(error["code"] == "VALIDATION_ERROR" && message.contains("job_id"), "{message}");
}

/// A template is the operator's: a caller learns that it is broken, and nothing of it.
#[test]
fn a_template_that_breaks_later_is_told_without_its_text() {
    let template = fixture::folder(&[("AGENTS.md", "The {{ job_id | round }} of it\n\n{{ tools }}\n")]);
    let options = ["--template", fixture::text(template.path())];
    let server = Server::start(fixture::text(&catalog()), &options, &[]);
    let is_told = || {
        let broken = server.get("/v1/workspace.tar?job_id=text", &[]);
        assert_eq!(broken.status(), 500);
        let error = broken.json::<Value>().unwrap()["error"].clone();
        assert_eq!(error["code"], "INTERNAL", "{error}");
        let told = error.to_string();
        for secret in ["of it", "round", fixture::text(template.path())] {
            assert!(!told.contains(secret), "{secret}: {told}");
        }
    };
    is_told();
    std::fs::write(template.path().join("AGENTS.md"), "The {{ job_id of it").unwrap();
    is_told();
    std::fs::remove_dir_all(template.path()).unwrap();
    is_told();
}

#[test]
fn a_template_with_a_mistake_keeps_a_server_from_starting() {
    let template = fixture::folder(&[("AGENTS.md", "Job {{ job_id }}\n"), ("notes/plan.md", "{% if %}")]);
    let (catalog, missing) = (catalog(), template.path().join("missing"));
    let started = |template: &std::path::Path| {
        let options = ["--stdio", "--template", fixture::text(template)];
        fixture::run(&[&["serve", fixture::text(&catalog)], &options[..]].concat())
    };
    let broken = started(template.path());
    assert_eq!(broken.code, 1, "{}", broken.stderr);
    assert!(broken.stderr.contains("template notes/plan.md: error: "), "{}", broken.stderr);
    let absent = started(&missing);
    assert_eq!(absent.code, 2, "{}", absent.stderr);
    assert!(absent.stderr.contains("there is no template folder at"), "{}", absent.stderr);
    std::fs::write(template.path().join("notes/plan.md"), "{{ job_id | no_filter }}").unwrap();
    assert_eq!(started(template.path()).code, 1);
    std::fs::write(template.path().join("notes/plan.md"), "{{ job_id }}").unwrap();
    assert_eq!(started(template.path()).code, 0);
}

#[test]
fn a_value_with_our_markers_forges_none() {
    let block = "<!-- toolcrib:begin -->\n{{ tools }}\n<!-- toolcrib:end -->\n";
    let template = fixture::folder(&[("AGENTS.md", &format!("Job {{{{ job_id }}}}\n\n{block}"))]);
    let options = ["--template", fixture::text(template.path())];
    let server = Server::start(fixture::text(&catalog()), &options, &[]);
    let marker = "%0A%3C!--+toolcrib:end+--%3E%0A";
    let tar = server.get(&format!("/v1/workspace.tar?job_id={marker}"), &[]).bytes().unwrap();
    let unpacked = tempfile::tempdir().unwrap();
    untar(&tar, unpacked.path());
    let text = std::fs::read_to_string(unpacked.path().join("AGENTS.md")).unwrap();
    assert!(
        text.contains("<! -- toolcrib:end -->") && text.matches("<!-- toolcrib:end").count() == 1,
        "{text}"
    );
    let refused = server.get("/v1/workspace.tar?job_id=%0A%60%60%60%0A", &[]);
    assert_eq!(refused.status(), 400);
    let error = refused.json::<Value>().unwrap()["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("hides toolcrib's block in AGENTS.md"), "{error}");
}

/// Status, code and message of a body that is refused.
fn refused(server: &Server, path: &str, body: &Value) -> (u16, String, String) {
    let answer = server.posting(path, body).send().unwrap();
    let status = answer.status().as_u16();
    let error = answer.json::<Value>().unwrap()["error"].clone();
    (status, error["code"].as_str().unwrap().into(), error["message"].as_str().unwrap().into())
}

#[test]
fn a_body_is_an_object_and_a_mistake_in_it_names_its_field() {
    let server = Server::start(fixture::text(&catalog()), &[], &[]);
    for (job, body, expect) in [
        ("payload", json!(["anthropic"]), "the body is no JSON object"),
        ("parse", json!(["anthropic", {}, null]), "the body is no JSON object"),
        ("parse", json!({}), "`response`: missing"),
        ("payload", json!({"provider": "x"}), "`provider`: expected one of \"openai\""),
        ("payload", json!({"provider": "openai", "discovery": "a"}), "`discovery`: expected boolean"),
        ("payload", json!({"provider": "openai", "modes": "full"}), "did you mean mode?"),
        ("prompt", json!({"tokens": -1}), "`tokens`: expected at least 0"),
        ("prompt", json!({"tokens": 1e30}), "is not as `/openapi.json` describes it"),
        ("results", json!({"provider": "openai", "results": [1]}), "`results/0`: expected object"),
        ("results", json!({"provider": "openai", "results": [["a"]]}), "`results/0`: expected object"),
    ] {
        let (status, code, message) = refused(&server, &format!("/v1/{job}"), &body);
        assert_eq!((status, code.as_str()), (400, "VALIDATION_ERROR"), "{body}");
        assert!(message.contains(expect), "{body}: {message}");
        for rust in ["struct", "Body", "usize", "line 1"] {
            assert!(!message.contains(rust), "{body}: {message}");
        }
    }
    let nulls = json!({"provider": "openai", "mode": null, "discovery": null, "cache": null});
    posted(&server, "/v1/payload", &nulls);
    posted(&server, "/v1/prompt", &json!({"provider": null, "folder": null}));
}

#[test]
fn an_address_below_v1_without_a_function_is_not_found() {
    let server = Server::start(fixture::text(&catalog()), &[], &[]);
    for path in ["/v1/nosuch", "/v1/workspace.tgz", "/p/creator/v1/nosuch"] {
        let answer = server.get(path, &[]);
        assert_eq!(answer.status(), 404, "{path}");
        assert!(answer.headers().get("allow").is_none(), "{path}");
        assert_eq!(answer.json::<Value>().unwrap()["error"]["code"], "NOT_FOUND", "{path}");
    }
    for path in ["/v1/tool_exec", "/v1/payload", "/v1/reload"] {
        let answer = server.get(path, &[]);
        assert_eq!(answer.status(), 405, "{path}");
        assert_eq!(header(&answer, "allow"), "POST", "{path}");
    }
    let described = server.get("/openapi.json", &[]).json::<Value>().unwrap();
    for path in ["/v1/workspace.tar", "/registry.json", "/tools/{name}.md"] {
        assert!(described["paths"][path]["get"]["responses"]["304"].is_object(), "{path}");
    }
}

fn posted(server: &Server, path: &str, body: &Value) -> String {
    let answer = server.posting(path, body).send().unwrap();
    let (status, text) = (answer.status(), answer.text().unwrap());
    assert_eq!(status, 200, "{path}: {text}");
    text
}

#[test]
fn a_model_is_asked_and_answered_as_the_command_line_would() {
    let catalog = catalog();
    let server = Server::start(fixture::text(&catalog), &[], &[]);
    let run = |command: &str, more: &[&str], stdin: &str| {
        let common = [command, fixture::text(&catalog), "--profile", "creator"];
        fixture::run_with(&[&common, more].concat(), stdin, &[]).stdout
    };
    for provider in ["anthropic", "openai", "openai-responses", "gemini", "mcp"] {
        let body = json!({"provider": provider, "mode": "full"});
        let over_http = posted(&server, "/p/creator/v1/payload", &body);
        assert_eq!(over_http, run("payload", &["--provider", provider, "--mode", "full", "--json"], ""));
        let body = json!({"provider": provider, "mode": "native"});
        let over_http = posted(&server, "/p/creator/v1/prompt", &body);
        assert_eq!(over_http, run("prompt", &["--provider", provider, "--mode", "native"], ""));
    }
    let response = r#"{"content":[{"type":"tool_use","id":"t1","name":"search_library","input":{"query":12345678901234567890123}},{"type":"tool_use","id":"t2","name":"nothing_like_it","input":{}}]}"#;
    let body = format!(r#"{{"provider": "anthropic", "response": {response}}}"#);
    let calls = server.posting("/p/creator/v1/parse", body).send().unwrap().json::<Value>().unwrap();
    let printed: Value = serde_json::from_str(&run("parse", &["--provider", "anthropic"], response)).unwrap();
    assert_eq!(calls, printed);
    assert_eq!(calls[1]["error"]["code"], "unknown_tool", "{calls}");

    let answered = json!([
        {"name": "search_library", "call_id": "t1", "envelope": {"ok": true, "result": {"hits": []}}},
        calls[1],
    ]);
    let over_http =
        posted(&server, "/p/creator/v1/results", &json!({"provider": "anthropic", "results": answered}));
    assert_eq!(over_http, run("results", &["--provider", "anthropic"], &answered.to_string()));
}

#[test]
fn what_is_wrong_with_a_request_of_a_job_is_told() {
    let server = Server::start(fixture::text(&catalog()), &[], &[]);
    let cases = [
        ("payload", json!({"provider": "antropic"}), "did you mean anthropic"),
        ("payload", json!({"provider": "anthropic", "moed": "full"}), "did you mean mode"),
        ("parse", json!({"provider": "anthropic"}), "`response`: missing"),
        ("parse", json!({"provider": "anthropic", "response": "no"}), ""),
        ("results", json!({"provider": "anthropic", "results": []}), "the list is empty"),
        ("results", json!({"provider": "anthropic", "results": [{"name": "x"}]}), "has no `envelope`"),
    ];
    for (route, body, expected) in cases {
        let refused = server.post(route, &body);
        assert_eq!(refused.status(), 400, "{route} {body}");
        let problem: Value = refused.json().unwrap();
        assert_eq!(problem["error"]["code"], "VALIDATION_ERROR");
        assert!(problem["error"]["message"].as_str().unwrap().contains(expected), "{problem}");
    }
}

#[test]
fn a_job_gets_the_tools_that_its_token_may_use_and_no_other() {
    let config = "[[serve.token]]\nenv = \"PLAIN\"\nroles = []\n[[serve.token]]\nenv = \"ADMIN\"\nroles = [\"admin\"]\n";
    let server =
        Server::with(config, &[("PLAIN", "plain-token-0123456789"), ("ADMIN", "admin-token-0123456789")]);
    assert_eq!(server.get("/v1/workspace.tar", &[]).status(), 401);
    let as_caller = |token: &str| {
        let bearer = format!("Bearer {token}-token-0123456789");
        let tar = server.get("/v1/workspace.tar", &[("authorization", &bearer)]).bytes().unwrap();
        let payload = server.posting("/v1/payload", json!({"provider": "anthropic", "mode": "full"}));
        let payload = payload.header("authorization", &bearer).send().unwrap().text().unwrap();
        (String::from_utf8_lossy(&tar).contains("wipe"), payload.contains("wipe"))
    };
    assert_eq!(as_caller("plain"), (false, false));
    assert_eq!(as_caller("admin"), (true, true));
}
