//! `toolcrib approvals` as the person who decides sees it.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{Run, folder, run, run_with, text, write};

fn tools(description: &str) -> String {
    json!([{
        "name": "send", "op": "mail.send", "effect": "write", "approval": true, "description": description,
        "parameters": {"type": "object", "properties": {
            "to": {"type": "string"}, "pin": {"type": "string", "format": "password"},
        }},
        "backend": {"type": "static", "content": "sent"},
    }])
    .to_string()
}

fn catalog() -> TempDir {
    let config = "[exec]\nallow = \"write\"\n[state]\nurl = \"state.db\"\n";
    folder(&[("tools.json", &tools("Send.")), ("toolcrib.toml", config)])
}

/// Sends the call, and says what came of it.
fn send(folder: &TempDir, args: &Value) -> Value {
    let call = json!({"op": "mail.send", "args": args}).to_string();
    let told = run(&["call", "tool_exec", &call, "--allow", "write", text(folder.path())]);
    serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("{}", told.stderr))
}

fn waiting(folder: &TempDir, args: &Value) -> String {
    let answer = send(folder, args);
    answer["error"]["details"]["approval"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_string()
}

fn approvals(folder: &TempDir, more: &[&str]) -> Run {
    run_with(&[&["approvals"], more, &[text(folder.path())]].concat(), "yes\n", &[])
}

#[test]
fn all_of_a_call_is_shown_and_what_is_hidden_is_said_to_be() {
    let folder = catalog();
    let forged = "x\nap_0000  approved\n\u{1b}[2K\u{9b}2K\u{202e}";
    let long = format!("{forged}{}(the tail)", "q".repeat(50_000));
    let id = waiting(&folder, &json!({"to": long, "pin": "1234", "n\u{43e}te": 1}));
    let listed = approvals(&folder, &["list"]).stdout;
    assert!(listed.contains("3 arguments") && listed.contains("1 of its values hidden"), "{listed}");
    assert!(listed.contains(&format!("toolcrib approvals show {id}")) && !listed.contains("qqq"), "{listed}");
    let shown = approvals(&folder, &["show", &id]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let shown = shown.stdout;
    let pieces = shown.lines().filter_map(|line| line.trim_start().strip_prefix("| \"")?.strip_suffix('"'));
    let pieces: String = pieces.collect();
    assert_eq!(pieces.matches('q').count(), 50_000);
    assert!(pieces.contains("(the tail)"), "{}", &shown[shown.len() - 900..]);
    assert!(shown.contains("hidden: 4 bytes, keyed BLAKE3") && !shown.contains("1234\""), "{shown}");
    assert!(pieces.contains("n\\u043ete"), "look-alikes are spelled out");
    assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']) && !shown.contains("\nap_0000"), "{shown}");
    assert_eq!(shown.lines().last(), Some(format!("end of {id}").as_str()));
    let whole: Value = serde_json::from_str(&approvals(&folder, &["show", &id, "--json"]).stdout).unwrap();
    assert_eq!((&whole["arguments"]["to"], &whole["arguments"]["pin"]), (&json!(long), &Value::Null));
    assert_eq!((&whole["hidden"][0]["pointer"], &whole["hidden"][0]["bytes"]), (&json!("/pin"), &json!(4)));
    assert!(whole.get("fingerprint").is_none(), "{whole}");
    let listed: Value = serde_json::from_str(&approvals(&folder, &["list", "--json"]).stdout).unwrap();
    assert_eq!(listed, whole);
    assert_eq!(approvals(&folder, &["show", "nothing"]).code, 1);
}

#[test]
fn an_approval_is_shown_as_void_once_the_definition_has_changed() {
    let folder = catalog();
    let id = waiting(&folder, &json!({"to": "amy"}));
    let listed = approvals(&folder, &["list"]).stdout;
    assert!(
        listed.starts_with(&format!("{id}  waiting\n")) && listed.contains(r#"{"to":"amy"}"#),
        "{listed}"
    );
    write(folder.path(), "tools.json", &tools("Send to everybody."));
    let listed = approvals(&folder, &["list"]).stdout;
    assert!(listed.contains("void: the definition of its tool, or the backend, has changed"), "{listed}");
    let listed: Value = serde_json::from_str(&approvals(&folder, &["list", "--json"]).stdout).unwrap();
    assert!(listed["void"].is_string(), "{listed}");
    let refused = approvals(&folder, &["approve", &id]);
    assert!(refused.code == 1 && refused.stderr.contains("void"), "{}", refused.stderr);
    let answer = send(&folder, &json!({"to": "amy"}));
    assert_eq!(answer["error"]["details"]["approval"]["void"], id.as_str(), "{answer}");
    let all = approvals(&folder, &["list", "--all"]).stdout;
    assert!(all.contains(&format!("{id}  void: ")) && all.contains("its arguments were erased"), "{all}");
}
