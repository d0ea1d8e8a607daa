//! Everything compiled from a catalog is free of values of the environment.

use serde_json::json;

use super::{CANARY, TRUSTED, definitions};
use crate::fixture::{Run, folder, run_with, text, tree};
use crate::serve::Server;

#[test]
fn compiled_forms_carry_no_value_of_the_environment() {
    let toml = format!(
        "{TRUSTED}[server.api]\nurl = \"http://127.0.0.1:1\"\nheaders = {{ Authorization = \"Bearer ${{TOKEN_OF_OURS}}\" }}\n\
         [profile.all]\nfull = [\"*\"]\n[[overlay]]\nmatch = \"*\"\nnotes = [\"Wants ${{TOKEN_OF_OURS}}.\"]\n\
         [[overlay]]\nmatch = \"forecast\"\nbackend = {{ type = \"http\", method = \"GET\", path = \"/${{TOKEN_OF_OURS}}\" }}\n"
    );
    let tools = definitions("weather");
    let more = json!([{"name": "forecast", "description": "Tells ${TOKEN_OF_OURS}.",
        "parameters": {"type": "object", "properties": {"q": {"type": "string", "default": "${TOKEN_OF_OURS}"}}}}]);
    let root = folder(&[("toolcrib.toml", &toml), ("w.json", &tools), ("x.json", &more.to_string())]);
    let toml = format!("{toml}[[source]]\npath = \"x.json\"\n");
    std::fs::write(root.path().join("toolcrib.toml"), toml).unwrap();
    let out = tempfile::tempdir().unwrap();
    let at = |name: &str| text(&out.path().join(name)).to_string();
    let check = |what: &str, bytes: &[u8]| {
        let leaks = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        assert!(!leaks, "{what} holds the value of a variable");
    };
    let variables = [("TOKEN_OF_OURS", CANARY)];
    let run = |arguments: &[&str]| -> Run {
        let arguments = [arguments, &[text(root.path())]].concat();
        let run = run_with(&arguments, "", &variables);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        check(&format!("{arguments:?}"), run.stdout.as_bytes());
        check(&format!("{arguments:?} on stderr"), run.stderr.as_bytes());
        run
    };
    run(&["render", "--site", "--out", &at("docs")]);
    run(&["seed", &at("workspace"), "--profile", "all"]);
    run(&["check", "--json", "--verbose"]);
    run(&["tokens"]);
    run(&["prompt"]);
    for provider in [
        "openai", "openai-responses", "anthropic", "gemini", "bedrock", "ollama", "mistral", "cohere", "mcp",
        "langchain",
    ] {
        run(&["payload", "--provider", provider, "--mode", "full"]);
    }
    run(&["call", "tool_help", r#"{"path": "weather", "format": "full", "include_schemas": true}"#]);
    let dry = r#"{"op": "weather", "args": {}, "dry_run": true}"#;
    assert!(run(&["call", "tool_exec", dry]).stdout.contains("sh"));
    run(&["call", "tool_exec", r#"{"op": "weather", "args": {}}"#]);
    let files = tree(out.path());
    assert!(files.len() > 8);
    files.iter().for_each(|(name, bytes)| check(name, bytes));
    let server = Server::process(text(root.path()), &[], &variables);
    for path in [
        "/", "/openapi.json", "/registry.json", "/tools/README.md", "/tools/weather.md", "/tools/weather",
        "/llms.txt", "/metrics", "/readyz",
    ] {
        check(path, server.get(path, &[]).text().unwrap().as_bytes());
    }
    check("the log", server.log.lock().unwrap().as_bytes());
}
