//! Files of clients: what is recognized, what starts, and what is switched off.

mod differences;
mod schemas;

use super::*;
use crate::config::server::Server;

fn sources(name: &str, text: &str) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    let config = read(&file, folder.path())?;
    Some(config.sources.into_iter().filter_map(|source| source.server).collect())
}

#[test]
fn a_client_is_recognized_by_its_content() {
    let entry = r#"{"a": {"command": "x", "tools": ["*"]}, /* c */}"#;
    for (name, text) in [
        ("any.json", format!("{{\"mcpServers\": {entry}}}")),
        ("any.jsonc", format!("{{\"servers\": {entry}}}")),
        ("any", format!("{{\"mcp\": {{\"servers\": {entry}}}}}")),
        ("x.json", format!("{{\"context_servers\": {entry}}}")),
        ("opencode.json", r#"{"mcp": {"a": {"type": "local", "command": ["x"]}}}"#.into()),
        ("any.toml", "[mcp_servers.a]\ncommand = 'x'\n".into()),
        (
            "config.yaml",
            "extensions:\n  dev:\n    type: builtin\n  a:\n    type: stdio\n    cmd: x\n    args: []\n"
                .into(),
        ),
    ] {
        assert_eq!(sources(name, &text), Some(vec!["a".to_string()]), "{name}");
    }
    for text in [
        r#"{"asyncapi": "2.6.0", "servers": {"a": {"url": "https://a.example"}}}"#,
        r#"{"servers": {"a": {"url": "https://a.example", "tools": [{"name": "b"}]}}}"#,
        r#"{"servers": {"a": }"#,
        "mcp",
    ] {
        assert_eq!(sources("any.json", text), None, "{text}");
    }
}

#[test]
fn servers_of_a_plugin_need_no_table() {
    let of = |text: &str| sources(".mcp.json", text);
    let one = Some(vec!["a".to_string()]);
    assert_eq!(of(r#"{"a": {"command": "x"}}"#), one);
    assert_eq!(of(r#"{"a": {"url": "https://a.example"}, /* c */ }"#), one);
    assert_eq!(of(r#"{"a": {"command": "x"}, "b": {"url": "https://b.example", "disabled": true}}"#), one);
    for text in [
        r#"{}"#,
        r#"{"a": {"command": "x"}, "b": {"description": "d"}}"#,
        r#"{"a": {"command": "x"}, "b": 1}"#,
        r#"{"a": {"command": 1}}"#,
        r#"{"a": {"command": "x", "parameters": {}}}"#,
        r#"{"a": {"url": "/x", "method": "GET"}}"#,
        r#"{"command": "x"}"#,
    ] {
        assert_eq!(of(text), None, "{text}");
    }
}

#[test]
fn the_root_of_a_plugin_is_the_folder_of_its_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("garden");
    let text =
        r#"{"mcpServers": {"a": {"command": "${CLAUDE_PLUGIN_ROOT}/a", "env": {"D": "${PLUGIN_ROOT}/d"}}}}"#;
    let check = |file: &str, expect: &Path| {
        let file = folder.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let config = read(&file, file.parent().unwrap()).unwrap();
        let server = config.sources[0].mcp.as_ref().unwrap();
        assert_eq!(Path::new(&server.command[0]), expect.join("a"));
        assert_eq!(Path::new(&server.env["D"]), expect.join("d"));
    };
    check("garden/.mcp.json", &plugin);
    check("garden/.claude-plugin/plugin.json", &plugin);
    check("garden/.mcp.json", &plugin);
    check("garden/servers/mcp.json", &plugin);
    check("elsewhere/mcp.json", &folder.path().join("elsewhere"));
}

fn entries(entries: &str) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, format!("{{\"mcpServers\": {{\"ok\": {{\"command\": \"x\"}}, {entries}}}}}"))
        .unwrap();
    let config = read(&file, folder.path()).unwrap();
    let servers = config.sources.into_iter().filter_map(|source| source.server).collect();
    (servers, config.findings.into_iter().map(|finding| finding.message).collect())
}

#[test]
fn an_entry_of_a_wrong_type_starts_nothing() {
    for entry in [
        r#""args": ["touch", "x"]"#,
        r#""command": "", "args": ["touch"]"#,
        r#""command": [], "args": ["touch"]"#,
        r#""command": ["touch", "x"]"#,
        r#""command": "x", "args": "-c touch""#,
        r#""command": "x", "args": [["a"]]"#,
        r#""command": "x", "env": "A=b""#,
        r#""command": "x", "env": {"A": ["b"]}"#,
        r#""command": "x", "cwd": 5"#,
        r#""command": "x", "env_keys": "A""#,
        r#""url": "https://a.example", "headers": ["A: b"]"#,
        r#""url": ["https://a.example"]"#,
    ] {
        let (servers, findings) = entries(&format!("\"a\": {{{entry}}}"));
        assert_eq!((servers, findings.len()), (vec!["ok".to_string()], 1), "{entry}");
    }
}

#[test]
fn a_switch_in_any_spelling_closes_a_server() {
    for (entry, said) in [
        (r#""disabled": "true""#, "the server `a` is disabled"),
        (r#""enabled": "False""#, "the server `a` is disabled"),
        (r#""isActive": false"#, "the server `a` is disabled"),
        (r#""disabled": "maybe""#, "the server `a`: `disabled` must be true or false"),
        (r#""enabled": 0"#, "the server `a`: `enabled` must be true or false"),
    ] {
        let found = entries(&format!("\"a\": {{\"command\": \"x\", {entry}}}"));
        assert_eq!(found, (vec!["ok".to_string()], vec![said.to_string()]), "{entry}");
    }
}

#[test]
fn the_settings_of_claude_code_close_servers_and_tools() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join(".claude/settings.local.json");
    let file = folder.path().join(".mcp.json");
    std::fs::create_dir(settings.parent().unwrap()).unwrap();
    std::fs::write(&file, r#"{"mcpServers": {"a": {"command": "x"}, "b.c": {"command": "x"}}}"#).unwrap();
    let rules = r#"{"disabledMcpjsonServers": ["a"], "permissions": {"deny": ["mcp__b_c__sink"]}}"#;
    std::fs::write(&settings, rules).unwrap();
    let config = read(&file, folder.path()).unwrap();
    assert_eq!((config.sources.len(), config.findings.len()), (1, 1));
    assert!(!config.sources[0].filter.as_ref().unwrap().allows("sink"));
    std::fs::write(&settings, "{").unwrap();
    assert!(read(&file, folder.path()).unwrap().sources.is_empty());
}

#[test]
fn timeouts_are_read_as_their_client_means_them() {
    let mcp = r#"{"mcpServers": {"a": {"command": "x", TIMES}}}"#;
    let opencode = r#"{"mcp": {"a": {"type": "local", "command": ["x"], TIMES}}}"#;
    for (name, text, times, expect) in [
        ("cline_mcp_settings.json", mcp, r#""timeout": 3600"#, (None, Some(3600))),
        ("any.json", mcp, r#""timeout": 3600"#, (None, Some(4))),
        ("any.json", mcp, r#""timeout": 60"#, (None, Some(60))),
        ("any.json", mcp, r#""startup_timeout_sec": 20, "tool_timeout_sec": 90.5"#, (Some(20), Some(91))),
        ("any.json", mcp, r#""initTimeout": 60000"#, (Some(60), None)),
        ("any.json", opencode, r#""timeout": 9000"#, (Some(9), None)),
        ("any.json", opencode, r#""timeout": {"startup": 9000, "request": 60000}"#, (Some(9), Some(60))),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text.replace("TIMES", times)).unwrap();
        let config = read(&file, folder.path()).unwrap();
        let server = config.sources[0].mcp.as_ref().unwrap();
        assert_eq!((server.start_seconds, server.timeout_seconds), expect, "{name}: {times}");
    }
}

#[test]
fn servers_stand_in_lists_and_in_a_file_that_a_manifest_names() {
    let one = Some(vec!["a".to_string()]);
    assert_eq!(sources("config.yaml", "name: x\nmcpServers:\n  - name: a\n    command: x\n"), one);
    assert_eq!(sources("any.json", r#"{"mcpServers": [{"name": "a", "url": "https://a.example"}]}"#), one);
    assert_eq!(sources("any.json", r#"[{"name": "a", "command": "x", "args": []}]"#), one);
    assert_eq!(sources("any.json", r#"[{"name": "a", "description": "A tool."}]"#), None);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".claude-plugin")).unwrap();
    std::fs::write(folder.path().join("servers.json"), r#"{"a": {"command": "C:\\node\\node.exe"}}"#)
        .unwrap();
    let manifest = folder.path().join(".claude-plugin/plugin.json");
    std::fs::write(&manifest, r#"{"name": "p", "mcpServers": "./servers.json"}"#).unwrap();
    let config = read(&manifest, manifest.parent().unwrap()).unwrap();
    assert_eq!(config.sources[0].mcp.as_ref().unwrap().command, [r"C:\node\node.exe"]);
}

#[test]
fn servers_of_one_project_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".claude.json");
    std::fs::write(&file, r#"{"projects": {"/app": {"mcpServers": {"ships": {"command": "x"}}}}}"#).unwrap();
    let config = read(&file, folder.path()).unwrap();
    let said = "the server `ships` is for the project /app alone, and is left out";
    assert_eq!((config.sources.len(), &*config.findings[0].message), (0, said));
}
