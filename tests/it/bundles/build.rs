//! Building: the same bytes everywhere, and nothing of the machine in them.

use std::fs;

use serde_json::Value;

use super::{Bundled, build};
use crate::fixture::{folder, package, run, run_with, text, write};

const TOOLS: &str = r#"[{"name": "send_note", "description": "Send a note to somebody.", "effect": "write",
  "parameters": {"type": "object", "properties": {"to": {"type": "string", "description": "The one who gets it."}}, "required": ["to"]},
  "backend": {"type": "http", "method": "POST", "path": "/notes", "server": "notes"}}]"#;
const CONFIG: &str = r#"title = "Notes"
env_file = "secrets.env"
[server.notes]
url = "https://notes.example"
headers = { Authorization = "Bearer ${NOTES_TOKEN}" }
[render]
templates = "templates"
[[serve.token]]
env = "TOKEN"
roles = ["editor"]
[state]
url = "postgres://me:${PG_PASSWORD}@db/notes"
"#;

#[test]
fn two_machines_build_the_same_bytes() {
    let files = [
        ("tools.json", TOOLS),
        ("toolcrib.toml", CONFIG),
        ("templates/docs/tool.md", "# {{ heading }}, ours\n"),
    ];
    let (one, other) = (folder(&files), folder(&files));
    write(other.path(), "deeper/tools.json", TOOLS);
    for (name, text) in files {
        write(&other.path().join("deeper"), name, text);
    }
    let (first, second) = (one.path().join("a.crib"), other.path().join("b.crib"));
    build(one.path(), &first);
    build(&other.path().join("deeper"), &second);
    let bytes = fs::read(&first).unwrap();
    assert!(bytes == fs::read(&second).unwrap());
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(!has(text(one.path())) && !has("/tmp"));
    assert!(has("${NOTES_TOKEN}") && has("${PG_PASSWORD}"), "references stay references");
    build(one.path(), &first);
    assert!(bytes == fs::read(&first).unwrap(), "and again");
}

#[test]
fn templates_and_settings_come_along() {
    let files = [
        ("tools.json", TOOLS),
        ("toolcrib.toml", CONFIG),
        ("templates/docs/tool.md", "# {{ heading }}, ours\n"),
    ];
    let catalog = folder(&files);
    let bundled = Bundled::of(catalog.path());
    let out = bundled.beside("docs");
    let rendered = bundled.run(&["render", "--out", text(&out)]);
    assert_eq!(rendered.code, 0, "{}", rendered.stderr);
    assert!(fs::read_to_string(out.join("send_note.md")).unwrap().contains(", ours"));
    // The token is looked up where the bundle is used.
    let served = run_with(&["serve", text(&bundled.file), "--listen", "127.0.0.1:0"], "", &[]);
    assert!(served.stderr.contains("the environment variable TOKEN"), "{}", served.stderr);
}

#[test]
fn a_secret_in_the_configuration_is_refused_with_its_place() {
    let server = "[server.notes]\nurl = \"https://notes.example\"\n";
    for (config, place) in [
        (format!("{server}headers = {{ Authorization = \"Bearer abcdef123456\" }}\n"), "toolcrib.toml:3:"),
        (format!("{server}\n[server.notes.auth]\nas = \"service\"\nclient_id = \"a\"\nclient_secret = \"xyz\"\n"), "toolcrib.toml:7:"),
        ("[state]\nurl = \"postgres://me:pw@db/x\"\n".to_string(), "toolcrib.toml:2:"),
        ("[[overlay]]\nmatch = \"*\"\n[overlay.arguments.api_key]\nvalue = \"xyz\"\n".to_string(), "toolcrib.toml:4:"),
        ("[[source]]\npath = \"tools.json\"\n[[source]]\nserver = \"x\"\nmcp = { command = [\"x\"], env = { API_KEY = \"xyz\" } }\n".to_string(), "toolcrib.toml:5:"),
    ] {
        let catalog = folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
        let out = catalog.path().join("out.crib");
        let built = run(&["bundle", "build", text(catalog.path()), "--out", text(&out), "--offline", "--incomplete"]);
        assert_eq!(built.code, 1, "{config}");
        assert!(built.stderr.contains("[secret-literal]") && built.stderr.contains(place), "{}", built.stderr);
        assert!(!out.exists() && !built.stderr.contains("xyz\""));
    }
    let backend = r#"[{"name": "run_it", "description": "Run it.", "parameters": {"type": "object"},
        "backend": {"type": "command", "argv": ["x"], "env": {"API_TOKEN": "xyz"}}}]"#;
    let trusted = "[[source]]\npath = \"tools.json\"\ntrust = \"run\"\n";
    let catalog = folder(&[("tools.json", backend), ("toolcrib.toml", trusted)]);
    let built =
        run(&["bundle", "build", text(catalog.path()), "--out", text(&catalog.path().join("out.crib"))]);
    assert!(built.stderr.contains("tools.json:2:"), "{}", built.stderr);
}

#[test]
fn a_source_with_a_path_of_the_machine_is_refused() {
    let elsewhere = folder(&[("tools.json", TOOLS)]);
    let config = format!("[[source]]\npath = {:?}\n", elsewhere.path().join("tools.json"));
    let catalog = folder(&[("toolcrib.toml", &config)]);
    let built =
        run(&["bundle", "build", text(catalog.path()), "--out", text(&catalog.path().join("out.crib"))]);
    assert_eq!(built.code, 1);
    assert!(built.stderr.contains("[machine-path]"), "{}", built.stderr);
}

#[test]
fn an_incomplete_catalog_is_built_only_on_demand() {
    let catalog = folder(&[("a.json", TOOLS), ("b.json", "{")]);
    let out = catalog.path().join("out.crib");
    let arguments = ["bundle", "build", text(catalog.path()), "--out", text(&out)];
    let refused = run(&arguments);
    assert_eq!((refused.code, out.exists()), (1, false), "{}", refused.stderr);
    assert_eq!(run(&[&arguments[..], &["--incomplete"]].concat()).code, 0);
    let checked = run(&["check", text(&out)]);
    assert_eq!(checked.code, 1);
    assert!(checked.stdout.contains("file-invalid"), "{}", checked.stdout);
}

#[test]
fn a_configuration_that_was_merely_found_is_not_built() {
    let catalog = folder(&[("tools.json", TOOLS), ("toolcrib.toml", CONFIG)]);
    let mut command = crate::fixture::program(&["bundle", "build"]);
    let built = command.current_dir(catalog.path()).output().unwrap();
    assert_eq!(built.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&built.stderr).contains("merely found"));
}

#[test]
fn a_bundle_is_no_catalog_to_build_from_or_to_edit() {
    let bundled = Bundled::of(&package().join("examples/github"));
    for arguments in
        [&["bundle", "build"][..], &["add", "notes", "https://notes.example/mcp"], &["remove", "notes"]]
    {
        let refused = bundled.run(arguments);
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("bundle"), "{}", refused.stderr);
    }
}

#[test]
fn a_bundle_tells_what_is_in_it() {
    let bundled = Bundled::of(&package().join("examples/github"));
    bundled.signed("key");
    let shown = run(&["bundle", "show", text(&bundled.file), "--json"]);
    let facts: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(facts["tools"], 117);
    assert_eq!(facts["version"].as_str().unwrap().len(), 64);
    assert!(facts["signature"]["comment"].as_str().unwrap().contains(facts["version"].as_str().unwrap()));
    let bytes: u64 =
        facts["parts"].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
    let table = super::parts(&bundled.bytes())[0].1 as u64;
    assert_eq!(bytes + table, bundled.bytes().len() as u64);
    let text_form = run(&["bundle", "show", text(&bundled.file)]).stdout;
    assert!(text_form.contains(facts["registry_version"].as_str().unwrap()), "{text_form}");
}
