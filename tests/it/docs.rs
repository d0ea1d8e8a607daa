//! Golden folders: what is rendered from a catalog, byte for byte, and what must hold of documentation of tools that
//! mean harm. `SNAPSHOTS=overwrite cargo test` writes the golden folders anew.

use std::fs;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use snapbox::assert::{Action, DEFAULT_ACTION_ENV};
use toolcrib::render::{Templates, seed};

use crate::fixture;

#[test]
fn a_seeded_workspace_of_the_first_example() {
    let out = tempfile::tempdir().unwrap();
    let checked = fixture::open(&fixture::package().join("examples/universal-agent"));
    let templates = Templates::from(toolcrib::BUILT_IN);
    let profile = checked.catalog.profile(Some("creator")).unwrap();
    seed(
        toolcrib::render::Docs::new(&checked.catalog, profile, &templates),
        out.path(),
        &Default::default(),
        &|_| {},
    )
    .unwrap();
    check("universal-agent", out.path());
}

#[test]
fn tools_that_mean_harm() {
    let out = rendered("hostile");
    check("hostile", out.path());
}

#[test]
fn nested_arguments() {
    let out = rendered("nested");
    check("nested", out.path());
}

fn rendered(name: &str) -> tempfile::TempDir {
    let out = tempfile::tempdir().unwrap();
    let checked = fixture::open(&fixture::package().join("tests/golden").join(name).join("tools.json"));
    fixture::render(&checked, None, out.path());
    out
}

/// A folder against its golden one: the same files with the same bytes.
fn check(name: &str, got: &Path) {
    let golden = fixture::package().join("tests/golden").join(name).join("expected");
    let tree = fixture::tree(got);
    if matches!(Action::with_env_var(DEFAULT_ACTION_ENV), Some(Action::Overwrite)) {
        let _ = fs::remove_dir_all(&golden);
        for (name, content) in &tree {
            fixture::write(&golden, name, std::str::from_utf8(content).unwrap());
        }
    }
    let expect = fixture::tree(&golden);
    assert_eq!(tree.keys().collect::<Vec<_>>(), expect.keys().collect::<Vec<_>>(), "the files of {name}");
    snapbox::assert_subset_eq(&golden, got);
}

#[test]
fn nothing_in_a_definition_becomes_more_than_text() {
    let out = rendered("hostile");
    let tree = fixture::tree(out.path());
    for (file, content) in tree.iter().filter(|(file, _)| file.ends_with(".md")) {
        let text = std::str::from_utf8(content).unwrap();
        let own = |target: &str| {
            let target = target.strip_prefix("../").unwrap_or(target);
            tree.contains_key(target) || tree.contains_key(&format!("categories/{target}"))
        };
        check_markdown(file, text, &own);
        check_text(file, text);
    }
}

/// No HTML, no image, no heading but the first (the index has its own), no link but to the web or our files.
fn check_markdown(file: &str, text: &str, own: &dyn Fn(&str) -> bool) {
    let is_index = file == "README.md";
    let mut headings = 0;
    let mut rules = 0;
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("{file}: HTML {html:?}"),
            Event::Start(Tag::HtmlBlock | Tag::Image { .. }) => panic!("{file}: {event:?}"),
            Event::Start(Tag::MetadataBlock(_) | Tag::FootnoteDefinition(_) | Tag::DefinitionList) => {
                panic!("{file}: {event:?}")
            }
            Event::InlineMath(_) | Event::DisplayMath(_) => panic!("{file}: {event:?}"),
            Event::Start(Tag::Heading { .. }) => headings += 1,
            Event::Rule => rules += 1,
            Event::Start(Tag::Link { dest_url, .. }) => {
                let web = dest_url.starts_with("https://") || dest_url.starts_with("http://");
                assert!(web || own(&dest_url), "{file}: a link to {dest_url}");
            }
            _ => {}
        }
    }
    assert!(is_index || headings == 1, "{file} has {headings} headings");
    assert_eq!(rules, 0, "{file} has a rule");
}

fn check_text(file: &str, text: &str) {
    let hidden = toolcrib::definition::hidden_characters(text);
    assert!(hidden.is_empty(), "{file} has hidden characters {hidden:?}");
    let marked = text.lines().any(|line| line.trim_start().starts_with("<!--"));
    assert!(!marked, "{file} has a comment on a line of its own");
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{file} ends in one line end");
}

#[test]
fn template_code_of_a_tool_is_shown_as_it_is() {
    let out = rendered("hostile");
    let doc = fs::read_to_string(out.path().join("template_code.md")).unwrap();
    let mut seen = String::new();
    for event in Parser::new(&doc) {
        match event {
            Event::Text(text) | Event::Code(text) => seen.push_str(&text),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) => seen.push(' '),
            _ => {}
        }
    }
    for code in ["{{ 7*7 }}", "{% for x in y %}", "{# gone #}", "{{ config }}"] {
        assert!(seen.contains(code), "{code} is missing in {seen}");
    }
    assert!(!seen.contains("49"), "{seen}");
}

#[test]
fn an_unchanged_catalog_gives_the_same_bytes() {
    let (one, two) = (rendered("nested"), rendered("nested"));
    fixture::assert_same_tree(&fixture::tree(one.path()), &fixture::tree(two.path()));
}

#[test]
fn a_name_is_shown_as_it_is() {
    for name in ["__init__", "**bold**", "see [x](http://a.example)", "a|b", "<b>", "`x`", "1. x", "~~y~~"] {
        let tool = serde_json::json!([{ "name": name, "description": "Does things.", "inputSchema": { "type": "object" } }]);
        let checked = fixture::open_text("a.json", &tool.to_string());
        let out = tempfile::tempdir().unwrap();
        fixture::render(&checked, None, out.path());
        let doc = format!("{}.md", fixture::only(&checked).names.safe);
        for file in [doc.as_str(), "README.md"] {
            let text = fs::read_to_string(out.path().join(file)).unwrap();
            let shown: String = Parser::new(&text)
                .map(|event| match event {
                    Event::Text(text) => text.into_string(),
                    Event::Code(code) => format!("`{code}`"),
                    _ => String::new(),
                })
                .collect();
            assert!(shown.contains(name), "{name} in {file}: {text}");
        }
    }
}

#[test]
fn a_page_says_what_comes_back_and_what_can_go_wrong() {
    let api = r##"{"openapi": "3.0.3", "info": {"title": "Acme's API documentation", "version": "1"}, "paths": {"/plans/{id}": {"get": {
        "operationId": "getPlan", "summary": "Get a plan", "description": "<p>Gets a <b>plan</b>.</p>",
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
        "responses": {
            "200": {"description": "OK", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Plans"}}}},
            "404": {"description": "There is no such plan. Look for it."}, "409": {"description": "There is no such plan."}
        }}}},
        "components": {"schemas": {"Plans": {"type": "object", "required": ["next"], "properties": {
            "next": {"type": "string", "description": "cursor of the <i>next</i> page", "maxLength": 9},
            "plans": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}}
        }}}}}"##;
    let folder = fixture::folder(&[("api.json", api)]);
    let out = tempfile::tempdir().unwrap();
    let file = folder.path().join("api.json");
    let run = fixture::run(&["render", fixture::text(&file), "--out", fixture::text(out.path())]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let page = fs::read_to_string(out.path().join("getPlan.md")).unwrap();
    assert!(page.contains("\n\nGets a **plan**.\n"), "{page}");
    let result = "**Returns:**\n- `next` (string): cursor of the next page\n- `plans` (array of object)\n  - `id` (string)\n";
    assert!(page.contains(result), "{page}");
    assert!(page.contains("**Errors:**\n- 404, 409: There is no such plan\n"), "{page}");
    assert!(page.contains("{\"name\":\"getPlan\",\"arguments\":{\"id\":\"example-plan-id\"}}"), "{page}");
    assert!(page.ends_with("Values are examples.\n"), "{page}");
    let registry = fs::read_to_string(out.path().join("registry.json")).unwrap();
    assert!(registry.contains("\"op\":\"acme.get_plan\""), "{registry}");
    let help = fixture::run(&["call", "tool_help", r#"{"path": "acme.get_plan"}"#, fixture::text(&file)]);
    assert!(help.stdout.contains("{next, plans: [{id}]}") && help.stdout.contains("404"), "{}", help.stdout);
}

#[test]
fn a_diff_shows_the_words_of_a_long_line_that_differ() {
    let words = |last: &str| format!("{}{last} {}", "same ".repeat(100), "end ".repeat(100));
    let tool = |last: &str| {
        serde_json::json!([{"name": "x", "description": words(last), "parameters": {"type": "object", "properties": {}}}]).to_string()
    };
    let folder = fixture::folder(&[("tools.json", &tool("old"))]);
    let (file, out) = (folder.path().join("tools.json"), folder.path().join("out"));
    let render = |more: &[&str]| {
        fixture::run(&[&["render", fixture::text(&file), "--out", fixture::text(&out)], more].concat())
    };
    assert_eq!(render(&[]).code, 0);
    fs::write(&file, tool("new")).unwrap();
    let run = render(&["--check"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.lines().all(|line| line.len() < 400), "{}", run.stdout);
    assert!(run.stdout.contains("\n-") && run.stdout.contains("same old end"), "{}", run.stdout);
    assert!(run.stdout.contains("same new end"), "{}", run.stdout);
}

#[test]
fn no_line_of_a_diff_is_a_command_of_a_runner() {
    let tool = |last: &str| {
        let description = format!("Gets x.\n\n::error file=a.js::no\n\n  ::stop-commands::b\n\n{last}");
        serde_json::json!([{"name": "x", "description": description, "parameters": {"type": "object", "properties": {}}}]).to_string()
    };
    let folder = fixture::folder(&[("tools.json", &tool("old"))]);
    let (file, out) = (folder.path().join("tools.json"), folder.path().join("out"));
    let arguments = ["render", fixture::text(&file), "--out", fixture::text(&out), "--check"];
    assert_eq!(fixture::run(&arguments[..4]).code, 0);
    fs::write(&file, tool("new")).unwrap();
    let diff = fixture::run(&arguments).stdout;
    assert!(diff.contains("stop-commands") && diff.contains("+new"), "{diff}");
    assert!(diff.lines().all(|line| !line.trim_start().starts_with("::")), "{diff}");
}
