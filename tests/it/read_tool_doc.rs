//! `read_tool_doc`: what an agent gets for a name and a section.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use toolcrib::functions::{Answer, CatalogView, ErrorCode, Function, FunctionContext};
use toolcrib::render::{Around, Docs, Templates};

use crate::fixture::{self, open_text, package};

static GITHUB: LazyLock<FunctionContext> = LazyLock::new(|| view(&package().join("examples/github")));

fn view(catalog: &std::path::Path) -> FunctionContext {
    let checked = fixture::open(catalog);
    let view = CatalogView::new(&checked.catalog, None, None, Arc::new(Templates::from(toolcrib::BUILT_IN)));
    FunctionContext::of(Arc::new(view.unwrap()))
}

fn call(context: &FunctionContext, arguments: Value) -> Answer {
    let function = Function::named("read_tool_doc").unwrap();
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(function.call(context, arguments))
}

fn read(arguments: Value) -> Answer {
    call(&GITHUB, arguments)
}

#[track_caller]
fn doc(answer: &Answer, index: usize) -> Value {
    assert!(answer.is_ok(), "{:#?}", answer.body());
    answer.body()["docs"][index].take()
}

#[test]
fn the_answer_is_the_file_that_render_writes() {
    let answer = read(json!({ "name": "create_branch" }));
    let catalog = GITHUB.view.catalog();
    let templates = Templates::from(toolcrib::BUILT_IN);
    let profile = catalog.profile(None).unwrap();
    let entry = *profile.tools.iter().find(|entry| entry.tool.names.canonical == "create_branch").unwrap();
    let docs = Docs::new(catalog, profile, &templates).around(Around::FUNCTIONS);
    let file = docs.tool(entry).unwrap();
    assert_eq!(answer.text(), file.trim_end());
    assert_eq!(doc(&answer, 0)["markdown"], file.trim_end());
    assert_eq!(answer.body()["meta"]["registry_version"], *catalog.version);
    assert!(doc(&answer, 0)["receipt"].is_string() && doc(&answer, 0)["doc_version"].is_string());
}

#[test]
fn any_name_of_a_tool_leads_to_its_doc_once() {
    let answer = read(json!({ "name": "github.create_branch", "names": ["create_branch", "get_me"] }));
    let body = answer.body();
    let names: Vec<&str> =
        body["docs"].as_array().unwrap().iter().map(|doc| doc["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["create_branch", "get_me"]);
}

#[test]
fn a_canonical_name_wins_over_an_alias_of_another_tool() {
    let checked = open_text(
        "tools.json",
        r#"[{"name":"move","description":"Move a file.","aliases":["copy"],"parameters":{"type":"object"}},
            {"name":"copy","description":"Copy a file.","parameters":{"type":"object"}}]"#,
    );
    let templates = Arc::new(Templates::from(toolcrib::BUILT_IN));
    let view = CatalogView::new(&checked.catalog, None, None, templates).unwrap();
    let view = FunctionContext::of(Arc::new(view));
    assert_eq!(doc(&call(&view, json!({ "name": "copy" })), 0)["name"], "copy");
}

#[test]
fn a_slip_of_the_name_gets_the_nearest_names_and_never_loses_the_other_docs() {
    let alone = read(json!({ "name": "craete_branch" }));
    assert_eq!(alone.error(), Some(ErrorCode::NotFound));
    let error = &alone.body()["error"];
    assert_eq!(error["nearest"][0], "create_branch");
    assert_eq!(
        error["nearest"].as_array().unwrap().iter().filter(|name| *name == "create_branch").count(),
        1
    );
    assert!(error["next_action"].as_str().unwrap().contains("nearest"));
    let among = read(json!({ "names": ["craete_branch", "get_me"] }));
    assert_eq!(doc(&among, 0)["name"], "get_me");
    assert_eq!(among.body()["errors"][0]["asked"], "craete_branch");
    assert!(among.text().contains("there is no tool `craete_branch`; nearest: create_branch"));
}

#[test]
fn all_wrong_names_are_told_at_once_and_the_index_is_a_doc() {
    let wrong = read(json!({ "names": ["creat_issue", "nope"] }));
    let body = wrong.body();
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains("`creat_issue`") && message.contains("`nope`"), "{message}");
    for name in ["README.md", "README", "tools/README.md"] {
        assert!(read(json!({ "name": name })).text().starts_with("# Available Tools"), "{name}");
    }
}

#[test]
fn sections_hold_what_they_are_called() {
    let sections = [
        ("summary", "Create a new branch", "**Arguments:**"),
        ("arguments", "**Arguments:**", "**Policy:**"),
        ("schema", "\"required\"", "**Arguments:**"),
    ];
    for (section, has, lacks) in sections {
        let answer = read(json!({ "name": "create_branch", "section": section }));
        assert!(answer.text().contains(has) && !answer.text().contains(lacks), "{}", answer.text());
    }
    let policy = read(json!({ "name": "get_me", "section": "policy" }));
    assert!(policy.text().contains("**Policy:**\n- Do:"), "{}", policy.text());
    let none = read(json!({ "name": "create_branch", "section": "policy" }));
    assert!(none.text().starts_with("# create_branch\n\nNo policy here"), "{}", none.text());
}

#[test]
fn only_who_reads_the_arguments_gets_the_receipt() {
    let receipt = |section: &str| {
        let answer = read(json!({ "name": "create_branch", "section": section }));
        doc(&answer, 0).get("receipt").cloned()
    };
    assert_eq!(receipt("summary"), None);
    assert!(receipt("arguments").is_some());
    assert_eq!(receipt("arguments"), receipt("all"));
}

#[test]
fn wrong_arguments_are_named_and_plain_slips_are_read() {
    let wrong = read(json!({ "nmae": "get_me" }));
    assert_eq!(wrong.error(), Some(ErrorCode::ValidationError));
    assert_eq!(wrong.body()["error"]["field_errors"][0]["nearest"], "name");
    assert_eq!(read(json!({})).error(), Some(ErrorCode::ValidationError));
    assert_eq!(read(Value::Null).error(), Some(ErrorCode::ValidationError));
    assert_eq!(read(json!([1])).error(), Some(ErrorCode::ValidationError));
    assert!(read(json!({ "names": "[\"get_me\"]" })).is_ok());
    assert!(read(json!({ "arguments": { "name": "get_me" } })).is_ok());
}

#[test]
fn the_command_line_prints_the_same_and_fails_with_the_answer() {
    let arguments = r#"{"name":"get_me"}"#;
    let run = fixture::run(&["call", "read_tool_doc", arguments, "examples/github"]);
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, printed), (0, Value::Object(read(json!({ "name": "get_me" })).body())));
    let text = fixture::run(&["call", "read_tool_doc", arguments, "--text", "examples/github"]);
    assert_eq!(text.stdout.trim_end(), read(json!({ "name": "get_me" })).text());
    let stdin = fixture::run_with(&["call", "read_tool_doc", "-", "examples/github"], "{\"name\":1}", &[]);
    assert_eq!(stdin.code, 1, "{}", stdin.stdout);
    let no_json = fixture::run(&["call", "read_tool_doc", "get_me", "examples/github"]);
    assert_eq!(no_json.code, 2);
    let unknown = fixture::run(&["call", "read_tool_docs", "{}", "examples/github"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("read_tool_doc"), "{}", unknown.stderr);
}

#[test]
fn a_tool_of_another_role_answers_like_one_that_does_not_exist() {
    let listed = r#"{"name":"list_files","description":"List files.","parameters":{"type":"object"}}"#;
    let dropped = r#"{"name":"drop_files","description":"Drop files.","allowed_roles":["admin"],"parameters":{"type":"object"}}"#;
    let view = |tools: &str, role: &str| {
        let checked = open_text("tools.json", &format!("[{tools}]"));
        let templates = Arc::new(Templates::from(toolcrib::BUILT_IN));
        let view = CatalogView::new(&checked.catalog, None, Some(&[role.to_string()]), templates);
        FunctionContext::of(Arc::new(view.unwrap()))
    };
    let both = format!("{listed},{dropped}");
    let name = json!({ "name": "drop_files" });
    assert!(call(&view(&both, "admin"), name.clone()).is_ok());
    let hidden = call(&view(&both, "reader"), name.clone());
    let unknown = call(&view(listed, "reader"), name);
    assert_eq!(hidden.body()["error"], unknown.body()["error"]);
}
