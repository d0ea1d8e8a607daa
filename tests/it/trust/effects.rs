//! A read effect that a stranger claims is a claim.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::findings;
use crate::fixture::{folder, run, text};

/// A tool with a fixed answer that claims to be a read, and what is laid over it.
fn claim(name: &str, toml: &str) -> TempDir {
    let tool = json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    folder(&[
        ("toolcrib.toml", &format!("[[source]]\npath = \"w.json\"\nserver = \"dump\"\n{toml}")),
        ("w.json", &json!({"server_name": "sky", "tools": [tool]}).to_string()),
    ])
}

/// The effect that counts.
fn effect(root: &TempDir, name: &str) -> String {
    let out = root.path().join("out");
    let rendered = run(&["render", text(root.path()), "--out", text(&out)]);
    assert_eq!(rendered.code, 0, "{}", rendered.stderr);
    let registry: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("registry.json")).unwrap()).unwrap();
    let tools = registry["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["tool_name"] == name);
    tool.unwrap_or_else(|| panic!("{registry}"))["effect"].as_str().unwrap().to_string()
}

#[test]
fn a_read_hint_does_not_open_the_gate_for_a_tool_whose_name_deletes() {
    let overlay = "[[overlay]]\nmatch = \"*\"\nbackend = { type = \"static\", content = \"done\" }\n";
    let call = |name: &str, toml: &str| -> Value {
        let root = claim(name, &format!("{overlay}{toml}"));
        let arguments = json!({"op": name, "args": {}}).to_string();
        serde_json::from_str(&run(&["call", "tool_exec", &arguments, text(root.path())]).stdout).unwrap()
    };
    assert_eq!(call("delete_user", "")["error"]["code"], "PERMISSION_DENIED");
    assert_eq!(call("list_updates", "")["ok"], true);
    assert_eq!(call("delete_user", "[[overlay]]\nmatch = \"delete_user\"\neffect = \"read\"\n")["ok"], true);
    assert_eq!(call("delete_user", "[exec.trust_hints]\ndump = \"always\"\n")["ok"], true);
}

#[test]
fn a_read_hint_counts_unless_the_name_acts() {
    for name in ["browser_snapshot", "sky_get_users", "frobnicate"] {
        assert_eq!(effect(&claim(name, ""), name), "read", "{name}");
    }
    for name in ["exec", "shell", "transfer", "overwrite", "grant", "shutdown", "exec_query"] {
        let root = claim(name, "");
        let found = findings(root.path(), "effect-doubted");
        assert!(
            found[0]["message"].as_str().unwrap().contains("does not begin with a verb that reads"),
            "{name}"
        );
        assert_eq!(effect(&root, name), "write", "{name}");
        for operator in ["[[overlay]]\nmatch = \"*\"\neffect = \"read\"\n", "trust = \"run\"\n"] {
            assert_eq!(effect(&claim(name, operator), name), "read", "{name} {operator}");
        }
    }
}

#[test]
fn a_server_gains_nothing_by_leaving_the_hint_out() {
    let without_hint = |name: &str| {
        let tool = json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}});
        folder(&[
            ("toolcrib.toml", "[[source]]\npath = \"w.json\"\nserver = \"dump\"\n"),
            ("w.json", &json!({"tools": [tool]}).to_string()),
        ])
    };
    for (name, expect) in
        [("weather_lookup", "write"), ("lookup_weather", "read"), ("dump_get_users", "read")]
    {
        assert_eq!(effect(&without_hint(name), name), expect, "{name}");
    }
}

#[test]
fn check_names_the_disagreement_with_both_readings() {
    let root = claim("delete_user", "");
    let found = findings(root.path(), "effect-doubted");
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["severity"], &found[0]["path"]), (&json!("warning"), &json!("/tools/0")));
    let message = found[0]["message"].as_str().unwrap();
    for part in ["source says read", "name says destructive", "`delete`"] {
        assert!(message.contains(part), "{message}");
    }
    for quiet in [
        claim("list_updates", ""),
        claim("delete_user", "[[overlay]]\nmatch = \"*\"\neffect = \"read\"\n"),
        claim("delete_user", "trust = \"run\"\n"),
        claim("delete_user", "[exec.trust_hints]\n\"*\" = \"always\"\n"),
    ] {
        assert!(findings(quiet.path(), "effect-doubted").is_empty());
    }
}

#[test]
fn an_entry_for_a_server_that_is_not_there_is_reported() {
    let unused = |toml: &str| findings(claim("delete_user", toml).path(), "trust-hint-unused");
    let [finding] = &unused("[exec.trust_hints]\ndumb = \"always\"\n")[..] else { panic!() };
    assert!(finding.to_string().contains("did you mean `dump`?"), "{finding}");
    assert!(
        unused("[exec.trust_hints]\ndump = \"always\"\nsky = \"never\"\n\"*\" = \"checked\"\n").is_empty()
    );
}

#[test]
fn trust_in_hints_is_said_by_server_and_no_file_can_claim_it() {
    for (name, toml, expect) in [
        ("delete_user", "", "destructive"),
        ("frobnicate", "", "read"),
        ("exec_query", "", "write"),
        ("dump_get_users", "", "read"),
        ("sky_get_users", "", "read"),
        ("delete_user", "[exec.trust_hints]\ndump = \"always\"\n", "read"),
        ("delete_user", "[exec.trust_hints]\n\"*\" = \"always\"\n", "read"),
        // The file says of itself that it is of this server.
        ("delete_user", "[exec.trust_hints]\nsky = \"always\"\n", "destructive"),
        ("frobnicate", "[exec.trust_hints]\nsky = \"never\"\n", "write"),
        ("frobnicate", "[exec.trust_hints]\n\"*\" = \"never\"\ndump = \"checked\"\n", "read"),
        ("frobnicate", "[exec.trust_hints]\ndump = \"never\"\n", "write"),
        ("list_users", "[exec.trust_hints]\ndump = \"never\"\n", "read"),
    ] {
        assert_eq!(effect(&claim(name, toml), name), expect, "{name} {toml}");
    }
}

#[test]
fn a_request_that_changes_something_is_not_read_whatever_its_definition_says() {
    let tool = |name: &str, more: Value| {
        let mut tool = json!({"name": name, "description": "Does it.", "parameters": {"type": "object"}});
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool
    };
    let tools = json!([
        tool(
            "find_a",
            json!({"effect": "read", "backend": {"type": "http", "method": "DELETE", "path": "/a"}})
        ),
        tool("find_b", json!({"backend": {"type": "http", "method": "patch", "path": "/b"}})),
        tool(
            "find_c",
            json!({"effect": "read", "backend": {"type": "http", "method": "POST", "path": "/c"}})
        ),
        tool(
            "find_d",
            json!({"effect": "read", "backend": {"type": "mcp", "server": "x", "tool": "delete_repo"}})
        ),
    ]);
    let root = folder(&[("w.json", &tools.to_string())]);
    for (name, expect) in
        [("find_a", "destructive"), ("find_b", "write"), ("find_c", "read"), ("find_d", "destructive")]
    {
        assert_eq!(effect(&root, name), expect, "{name}");
    }
    assert_eq!(findings(root.path(), "effect-doubted").len(), 3);
}

#[test]
fn a_hint_is_believed_behind_any_prefix_unless_a_word_of_the_name_changes_something() {
    let reads =
        ["get_bed", "list_beds", "search", "findBeds", "lookup", "read-bed", "snapshot", "run_query", "bed"];
    let others = [
        "delete_bed", "delete_list", "remove", "purge_get", "update_bed", "send_list", "search_and_replace",
        "get_or_create_bed", "find_then_delete", "exec_query", "shell_list", "transfer_money",
    ];
    for prefix in ["garden_", "API-", "haCore", "x.garden_", "openmercato_customers_", "service/v2_"] {
        let join = |rest: &str| match prefix {
            "haCore" => format!("{prefix}{}{}", rest[..1].to_uppercase(), &rest[1..]),
            _ => format!("{prefix}{rest}"),
        };
        let tool = |rest: &&str| json!({"name": join(rest), "description": "Does it.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
        let tools: Vec<Value> = reads.iter().chain(&others).map(tool).collect();
        let root = folder(&[
            ("toolcrib.toml", "[[source]]\npath = \"w.json\"\nserver = \"mine\"\n"),
            ("w.json", &json!({ "tools": tools }).to_string()),
        ]);
        for rest in reads {
            assert_eq!(effect(&root, &join(rest)), "read", "{prefix}{rest}");
        }
        for rest in others {
            assert_ne!(effect(&root, &join(rest)), "read", "{prefix}{rest}");
        }
    }
}
