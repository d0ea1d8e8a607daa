//! Search by meaning through the server and the command line.

use serde_json::{Value, json};

use super::{KEY, Mode, TOOLS, Vectors, soon};
use crate::fixture::{self, run_with, text};
use crate::serve::Server;

fn config(url: &str, more: &str) -> String {
    format!("[search.semantic]\nurl = \"{url}\"\nmodel = \"small\"\nkey_env = \"VECTORS_KEY\"\n{more}")
}

const RAIN: &str = r#"{"input": "quaxolotl", "scorer": "embedding"}"#;

#[test]
fn a_server_says_whether_it_searches_by_meaning_and_reloads_ask_for_what_is_new() {
    let vectors = Vectors::serve();
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config(&vectors.url, ""))]);
    let server = Server::process(text(folder.path()), &[], &[("VECTORS_KEY", KEY)]);
    let is_on = || server.json("/readyz?verbose")["semantic"] == "on";
    soon("it is on", is_on);
    assert_eq!(vectors.asked().len(), 3);
    let answer: Value = server.post("pick", RAIN).json().unwrap();
    assert_eq!(answer["candidates"][0]["tool"], "get_forecast", "{answer}");
    assert_eq!(answer["meta"]["semantic"], "on");
    assert_eq!(server.metric("toolcrib_semantic_on"), 1);
    assert_eq!(server.metric("toolcrib_semantic_searches_total{outcome=\"on\"}"), 1);
    assert_eq!(vectors.asked(), ["quaxolotl"]);

    fixture::write(
        folder.path(),
        "tools.json",
        &TOOLS.replace("Forecast for a city.", "Forecast for a town."),
    );
    soon("the edit is served", || server.text("/tools/get_forecast.md").contains("town"));
    soon("it is on again", is_on);
    assert_eq!(vectors.asked(), ["get forecast: Forecast for a town."]);

    vectors.set(Mode::Answers(401, String::new(), format!("{{\"error\": \"{KEY} is wrong\"}}")));
    let answer: Value = server.post("pick", RAIN.replace("quaxolotl", "umbrella")).json().unwrap();
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(answer["meta"]["semantic"], "unavailable: the model answered 401");
    assert!(answer["fallback"].as_str().unwrap().starts_with("scored by words, since embedding failed"));
    let ready = server.json("/readyz?verbose");
    assert_eq!(ready["ready"], true);
    assert!(ready["semantic"].as_str().unwrap().contains("answered 401: ... is wrong"), "{ready}");
    assert_eq!(server.metric("toolcrib_semantic_on"), 0);
    let said = format!("{}{ready}{answer}{}", server.log.lock().unwrap(), server.text("/metrics"));
    assert!(said.contains("semantic search: ") && !said.contains(KEY), "{said}");
}

#[test]
fn a_server_works_without_a_model_and_without_its_key() {
    let off = Server::with("", &[]);
    assert_eq!(off.json("/readyz?verbose")["semantic"], "off");
    assert_eq!(off.metric("toolcrib_semantic_configured"), 0);
    let refused = off.post("pick", RAIN);
    assert_eq!(refused.status(), 400);
    let refused: Value = refused.json().unwrap();
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("`search.semantic` is not configured"),
        "{refused}"
    );

    let keyless = Server::with(&config("http://127.0.0.1:1", ""), &[]);
    let ready = keyless.json("/readyz?verbose");
    assert_eq!(ready["semantic"], "unavailable: the environment variable VECTORS_KEY is not set");
    let answer: Value =
        keyless.post("pick", r#"{"input": "read a file", "scorer": "hybrid"}"#).json().unwrap();
    assert_eq!(answer["candidates"][0]["tool"], "files.read", "{answer}");
    assert!(answer["meta"]["semantic"].as_str().unwrap().starts_with("unavailable: "));
}

#[test]
fn the_command_line_waits_for_vectors_and_keeps_them() {
    let vectors = Vectors::serve();
    let config = config(&vectors.url, "cache = \"kept\"");
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
    let catalog = text(folder.path());
    let call = |more: &[&str], variables: &[(&str, &str)]| {
        run_with(&[&["call", "pick", RAIN, catalog], more].concat(), "", variables)
    };
    for asked in [4, 1] {
        let run = call(&[], &[("VECTORS_KEY", KEY)]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["candidates"][0]["tool"], "get_forecast", "{answer}");
        assert_eq!(vectors.asked().len(), asked);
    }
    let keyless = call(&[], &[]);
    assert_eq!(keyless.code, 0);
    assert!(keyless.stderr.contains("semantic search: the environment variable VECTORS_KEY is not set"));
    let offline = call(&["--offline"], &[("VECTORS_KEY", KEY)]);
    assert!(offline.stderr.contains("with --offline, no model is asked"), "{}", offline.stderr);
    assert!(vectors.asked().is_empty());
    // Nobody waits long for a model that is gone.
    fixture::write(folder.path(), "toolcrib.toml", &config.replace(&vectors.url, "http://127.0.0.1:1"));
    let started = std::time::Instant::now();
    let run = call(&[], &[("VECTORS_KEY", KEY)]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(answer["meta"]["semantic"].as_str().unwrap().contains("no connection"), "{answer}");
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
    fixture::write(folder.path(), "toolcrib.toml", &config);

    let command = ["payload", catalog, "--provider", "openai", "--pick", "plimthorg", "--scorer", "hybrid"];
    let run = run_with(&command, "", &[("VECTORS_KEY", KEY)]);
    let payload: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(payload["tools"][0]["function"]["name"], json!("create_branch"), "{}", run.stderr);
}

#[test]
fn a_configuration_that_cannot_work_is_found_with_its_line() {
    for (config, line, message) in [
        ("[search.semantic]\ntimeout_ms = 5", 1, "missing required property"),
        ("[search.semantic]\nurl = \"ftp://x\"\nmodel = \"m\"", 2, "must start with http:// or https://"),
        ("[search.semantic]\nurl = \"http://x\"", 1, "missing required property"),
        ("[search.semantic]\nurl = \"http://me:secret@x\"\nmodel = \"m\"", 2, "`key_env`"),
        ("[search.semantic]\nurl = \"http://x\"\nmodel = \"m\"\ntimeout_ms = 0", 4, "0"),
        ("[search.llm]\nurl = \"x\"\nmodel = \"m\"", 2, "must start with http:// or https://"),
        ("[search.semantics]\nurl = \"u\"", 1, "semantics"),
        ("[search]\nsynonyms = { pr = \"pull request\" }", 2, "synonyms/pr"),
        ("[search]\nno_match_below = 1.5", 2, "no_match_below"),
        ("[search]\nno_match_below = -0.1", 2, "no_match_below"),
        ("[search]\nno_match_below = nan", 2, "no_match_below"),
    ] {
        let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", config)]);
        let checked = fixture::open(folder.path());
        let of_file = |finding: &&toolcrib::finding::Finding| {
            finding.place.as_ref().is_some_and(|place| place.file == "toolcrib.toml")
        };
        let mut findings: Vec<_> = checked.findings.iter().filter(of_file).cloned().collect();
        toolcrib::document::locate(&checked.documents, &mut findings);
        assert_eq!(findings.len(), 1, "{config}: {findings:#?}");
        let place = findings[0].place.as_ref().unwrap();
        assert_eq!(place.line, Some(line), "{config}: {findings:#?}");
        let said = format!("{} {}", findings[0].message, place.pointer);
        assert!(said.contains(message) && !said.contains("secret"), "{said}");
    }
    let good = "[search]\nsynonyms = { pr = [\"pull request\"], ship = [\"deploy\", \"release\"] }";
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", good)]);
    let checked = fixture::open(folder.path());
    assert_eq!(checked.catalog.config.search.synonyms["ship"], ["deploy", "release"]);
}
