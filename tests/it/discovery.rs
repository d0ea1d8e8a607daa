//! The discovery protocol, as its specification shows it, over every transport; and what it must not give away.

mod answers;
mod pages;
mod roles;
mod usage;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{self, folder, run, text};
use crate::transports::{Transports, on_command_line};

/// The tools of the specification's examples.
pub const TOOLS: &str = include_str!("discovery/tools.json");
/// One that only administrators know of.
pub const HIDDEN: &str = include_str!("discovery/hidden.json");
pub const CONFIG: &str = include_str!("discovery/toolcrib.toml");

/// The catalog that everybody sees.
pub fn catalog() -> TempDir {
    folder(&[("tools.json", TOOLS), ("toolcrib.toml", CONFIG)])
}

/// A list of texts.
pub fn texts(value: &Value, field: &str) -> Vec<String> {
    value.as_array().unwrap().iter().map(|one| one[field].as_str().unwrap_or_default().to_string()).collect()
}

/// The example interaction of the specification, over one transport.
fn interact(ask: &dyn Fn(&str, Value) -> Value) {
    let roots = ask("list", json!({}));
    assert_eq!(texts(&roots["nodes"], "name"), ["Coding", "Data", "Rendering", "Storage", "User"]);
    assert_eq!(
        (&roots["path"], &roots["tools"], &roots["next_cursor"]),
        (&json!([]), &json!([]), &Value::Null)
    );

    let listed = ask("list", json!({"path": ["Coding", "Refactoring"]}));
    assert_eq!(texts(&listed["tools"], "tool_id"), ["refactor.extract_function", "refactor.rename_symbol"]);
    let pointer = json!({
        "tool_id": "refactor.rename_symbol",
        "path": ["Coding", "Refactoring"],
        "summary": "Renames a symbol project-wide and updates references",
        "tags": ["refactor", "rename"],
        "confidence": null,
    });
    assert_eq!(listed["tools"][1], pointer);

    let scope = json!(["Coding", "Refactoring"]);
    let found = ask(
        "search_tool_by_category",
        json!({"query": "rename symbol", "category_path": scope, "limit": 5, "cursor": null}),
    );
    let best = &found["results"][0];
    assert_eq!((&found["category_path"], &best["tool_id"]), (&scope, &pointer["tool_id"]));
    assert!(
        best["confidence"].as_f64().is_some_and(|confidence| confidence > 0.5 && confidence <= 1.0),
        "{found}"
    );

    let expanded = ask("expand_tool", json!({"tool_id": best["tool_id"]}));
    let written: Value = serde_json::from_str(TOOLS).unwrap();
    assert_eq!((&expanded["tool_id"], &expanded["path"]), (&pointer["tool_id"], &scope));
    assert_eq!(expanded["args_schema"], written[0]["parameters"]);
    assert_eq!(expanded["result_schema"], written[0]["result_schema"]);
    assert_eq!((&expanded["effect"], &expanded["cost"]), (&json!("write"), &json!(2.5)));

    let called = ask("call_tool", expanded["example"].clone());
    assert_eq!((&called["tool_id"], &called["result"]), (&pointer["tool_id"], &json!({"changed_files": 3})));
}

#[test]
fn the_example_interaction_works_over_every_transport() {
    let folder = catalog();
    let transports = Transports::open(text(folder.path()).to_string());
    transports.each(interact);
    for row in table() {
        transports.compare(row);
    }
    transports.close();
}

/// Calls with the tools above, and the codes of their errors.
fn table() -> Vec<(&'static str, Value, Option<&'static str>)> {
    let scoped = "search_tool_by_category";
    vec![
        ("list", json!({"path": "storage/buckets"}), None),
        ("list", json!({"path": ["Coding"], "query": "rename symbol", "tags": ["Refactor"]}), None),
        ("list", json!({"tags": ["storage"], "limit": 2}), None),
        ("list", json!({"tags": ["storage", "oauth"]}), Some("NO_MATCH_IN_CATEGORY")),
        ("list", json!({"path": ["Storge"]}), Some("UNKNOWN_PATH")),
        ("list", json!({"query": "qzxv jjkw"}), Some("NO_MATCH_IN_CATEGORY")),
        ("list", json!({"limit": 51}), Some("VALIDATION_ERROR")),
        ("list", json!({"cursor": "made up"}), Some("VALIDATION_ERROR")),
        ("search_nodes", json!({"query": "oauth login"}), None),
        ("search_nodes", json!({"query": "qzxv jjkw"}), Some("NO_MATCH_IN_CATEGORY")),
        ("search_nodes", json!({}), Some("VALIDATION_ERROR")),
        (scoped, json!({"query": "upload an object"}), None),
        (
            scoped,
            json!({"query": "bucket upload", "category_path": ["Rendering"]}),
            Some("NO_MATCH_IN_CATEGORY"),
        ),
        (scoped, json!({"query": "upload", "category_path": ["Nowhere"]}), Some("UNKNOWN_PATH")),
        (scoped, json!({"query": "upload an object", "cursor": "x"}), Some("VALIDATION_ERROR")),
        ("expand_tool", json!({"tool_id": "rename"}), None),
        ("expand_tool", json!({"tool_id": "refactor.rename_symbl"}), Some("TOOL_NOT_FOUND")),
        ("expand_tool", json!({"tool_id": "billing.refund"}), None),
        (
            "call_tool",
            json!({"tool_id": "rename_symbol", "arguments": {"symbol": 1}}),
            Some("VALIDATION_ERROR"),
        ),
        ("call_tool", json!({"tool_id": "storage.list_buckets"}), Some("NO_BACKEND")),
        ("call_tool", json!({"tool_id": "nothing"}), Some("TOOL_NOT_FOUND")),
        ("tool_search", json!({"query": "rename a symbol"}), None),
        ("tool_search", json!({"query": "rename a symbol", "format": "json"}), None),
        ("tool_search", json!({"queries": ["rename a symbol", "qzxv jjkw"], "category": "coding"}), None),
        ("tool_search", json!({"query": "upload", "category": "Nowhere"}), Some("UNKNOWN_PATH")),
        ("tool_search", json!({}), Some("VALIDATION_ERROR")),
    ]
}

/// The answer on the command line.
pub fn ask(catalog: &TempDir, function: &str, arguments: Value) -> Value {
    on_command_line(text(catalog.path()), function, &arguments).0
}

#[test]
fn errors_say_where_to_look_instead() {
    let folder = catalog();
    let error = |function: &str, arguments: Value| ask(&folder, function, arguments)["error"].clone();
    let unknown = error("list", json!({"path": ["Storage", "Bukets"]}));
    assert_eq!(unknown["hints"]["categories"][0]["path"], json!(["Storage", "Buckets"]));
    assert_eq!(unknown["hints"]["roots"][0]["path"], json!(["Storage"]));
    let lost = error("list", json!({"path": ["qzxvjjkw"]}));
    assert!(lost["hints"]["roots"].as_array().unwrap().len() == 5, "{lost}");

    let elsewhere =
        error("search_tool_by_category", json!({"query": "bucket upload", "category_path": ["Rendering"]}));
    assert_eq!(elsewhere["hints"]["categories"][0]["path"], json!(["Storage", "Buckets"]), "{elsewhere}");
    assert_eq!(elsewhere["hints"]["tools"][0]["tool_id"], "storage.put_object");

    let near = error("expand_tool", json!({"tool_id": "rename_symbl"}));
    assert_eq!(near["nearest"], json!(["refactor.rename_symbol"]));
    let doc = error("read_tool_doc", json!({"name": "qzxvjjkw"}));
    assert!(doc["next_action"].as_str().unwrap().contains("tool_search"), "{doc}");
    for error in [unknown, lost, elsewhere, near, doc] {
        assert!(error["next_action"].as_str().is_some_and(|next| next.len() > 10), "{error}");
        assert!(!error.to_string().contains("\"properties\""), "only expand_tool gives schemas");
    }
}

#[test]
fn what_is_too_long_to_be_meant_is_answered_all_the_same() {
    let folder = catalog();
    let server = crate::serve::Server::start(text(folder.path()), &[], &[]);
    let (slashes, words) = ("a/".repeat(200_000), "é upload ".repeat(45_000));
    for (function, arguments, status) in [
        ("list", json!({"path": [slashes]}), 404),
        ("list", json!({"path": slashes}), 400),
        ("list", json!({"query": words}), 200),
        ("search_nodes", json!({"query": words}), 200),
        ("tool_search", json!({"query": words, "category": slashes}), 404),
        ("expand_tool", json!({"tool_id": slashes}), 404),
        ("list", json!({"cursor": words, "path": ["Coding"]}), 400),
    ] {
        let start = std::time::Instant::now();
        let answer = server.post(function, arguments.to_string());
        assert_eq!(answer.status(), status, "{function}");
        assert!(answer.text().unwrap().len() < 4_000 && start.elapsed().as_secs() < 8, "{function}");
    }
}

#[test]
fn a_tool_hangs_in_several_places() {
    let folder = catalog();
    for (path, scope) in [(json!(["Storage", "Buckets"]), "Storage"), (json!(["Data", "Transfer"]), "Data")] {
        let listed = ask(&folder, "list", json!({"path": path}));
        let tools = listed["tools"].as_array().unwrap().clone();
        let object = tools.into_iter().find(|tool| tool["tool_id"] == "storage.put_object").unwrap();
        assert_eq!(object["path"], path);
        let found =
            ask(&folder, "search_tool_by_category", json!({"query": "upload", "category_path": [scope]}));
        let best = &found["results"][0];
        assert_eq!((&best["tool_id"], &best["path"]), (&json!("storage.put_object"), &path), "{found}");
    }
    let expanded = ask(&folder, "expand_tool", json!({"tool_id": "storage.put_object"}));
    assert_eq!(expanded["also_in"].as_array().unwrap().len(), 1, "{expanded}");
    let node = &ask(&folder, "list", json!({"path": ["Storage"]}))["nodes"][0];
    assert_eq!(node["summary"], "Create and manage object storage buckets");
    assert_eq!(node["tags"], json!(["storage", "objects"]));
}

#[test]
fn categories_are_found_by_what_is_in_them() {
    let folder = catalog();
    for (query, path) in [
        ("oauth login", json!(["User", "Auth"])),
        ("authentication workflows", json!(["User", "Auth"])),
        ("manage storage buckets", json!(["Storage", "Buckets"])),
    ] {
        let found = ask(&folder, "search_nodes", json!({"query": query}));
        assert_eq!(found["results"][0]["path"], path, "{query}: {found}");
        assert!(found["results"][0]["confidence"].as_f64().unwrap() > 0.3, "{found}");
    }
}

#[test]
fn numbers_of_a_schema_stay_as_they_are_written() {
    let folder = catalog();
    let raw = run(&["call", "expand_tool", "{\"tool_id\":\"rename\"}", "--text", text(folder.path())]);
    assert!(raw.stdout.contains("\"default\":1.50}"), "{}", raw.stdout);
}

#[test]
fn what_cannot_be_run_here_comes_back_checked() {
    let folder = catalog();
    let call = |arguments: Value| {
        ask(&folder, "call_tool", json!({"tool_id": "put_object", "arguments": arguments}))
    };
    let error = call(json!({"bucket": "b", "size": "7"}))["error"].clone();
    assert_eq!(error["code"], "NO_BACKEND");
    assert_eq!(
        error["call"],
        json!({"tool": "put_object", "arguments": {"bucket": "b", "size": 7}}),
        "{error}"
    );
    let wrong = call(json!({"bucket": true}));
    assert_eq!(wrong["error"]["field_errors"][0]["pointer"], "/arguments/bucket", "{wrong}");
    assert!(
        wrong["error"].get("call").is_none() && wrong["error"]["example"]["arguments"]["bucket"].is_string(),
        "{wrong}"
    );
    let guarded = TOOLS.replacen("\"effect\": \"write\",", "\"effect\": \"write\", \"approval\": true,", 1);
    fixture::write(folder.path(), "tools.json", &guarded);
    let example = ask(&folder, "expand_tool", json!({"tool_id": "rename"}))["example"].clone();
    let refused = ask(&folder, "call_tool", example);
    assert!(refused["error"]["message"].as_str().unwrap().contains("approve"), "{refused}");
}

#[test]
fn groups_of_ops_are_paths_too() {
    let list = |path: &str| {
        let arguments = json!({"path": [path], "limit": 20}).to_string();
        let listed = run(&["call", "list", &arguments, "examples/buildos"]);
        assert_eq!(listed.code, 0, "{}", listed.stdout);
        serde_json::from_str::<Value>(&listed.stdout).unwrap()
    };
    let onto = list("onto");
    assert_eq!(onto["path"], json!(["Ontology"]));
    let names = texts(&onto["nodes"], "name");
    assert!(
        ["Documents", "Projects", "Tasks"].iter().all(|name| names.contains(&name.to_string())),
        "{names:?}"
    );
    assert_eq!(onto["next_cursor"], Value::Null);
    assert_eq!(list("onto.task")["path"], json!(["Ontology", "Tasks"]));
}

#[test]
fn a_person_searches_from_the_command_line() {
    let folder = catalog();
    let search = |query: &str, more: &[&str]| run(&[&["search", query, text(folder.path())], more].concat());
    let found = search("rename a symbol", &["--limit", "1"]);
    assert_eq!((found.code, found.stdout.lines().count()), (0, 2), "{}", found.stdout);
    assert!(found.stdout.starts_with("refactor.rename_symbol  "), "{}", found.stdout);
    let scoped = search("upload", &["--category", "data", "--json"]);
    let scoped: Value = serde_json::from_str(&scoped.stdout).unwrap();
    assert_eq!(
        (&scoped["verdict"], &scoped["tools"][0]["op"]),
        (&json!("match"), &json!("storage.put_object"))
    );
    let nothing = search("qzxv jjkw", &[]);
    assert_eq!(nothing.code, 1);
    assert!(
        nothing.stdout.starts_with("no match") && nothing.stdout.contains("Coding"),
        "{}",
        nothing.stdout
    );
    let wrong = search("upload", &["--category", "Storge"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("Storage"), "{}", wrong.stderr);
}

#[test]
fn a_search_in_lines_takes_fewer_tokens_than_in_json() {
    let search = |more: &[&str]| {
        let arguments = json!({"query": "move a document under a folder"}).to_string();
        let asked = ["call", "tool_search", &arguments, "examples/buildos"];
        run(&[&asked, more].concat()).stdout
    };
    let json = serde_json::from_str::<Value>(&search(&[])).unwrap().to_string();
    let [lines, json] = [search(&["--text"]), json].map(|text| toolcrib::tokens::token_count(&text));
    assert!(lines * 10 < json * 9, "{lines} tokens in lines, {json} in JSON");
}

#[test]
fn categories_that_there_are_not_are_found() {
    let folder = folder(&[("tools.json", TOOLS), ("toolcrib.toml", "[[category]]\npath = \"Storge\"\n")]);
    let checked = fixture::open(folder.path());
    let found = fixture::codes(&checked).into_iter().find(|(code, ..)| *code == "category-unused");
    assert_eq!(found, Some(("category-unused", Some(2), "/category/0/path".to_string())));
}
