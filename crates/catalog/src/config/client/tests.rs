//! Files of clients: what is recognized, what starts, and what is switched off.

use super::*;

#[test]
fn placeholders_of_clients_are_those_of_toolcrib() {
    let root = Path::new("project");
    let filled = |text: &str| as_placeholders(text, root);
    assert_eq!(filled("Bearer ${env:TOKEN}"), "Bearer ${TOKEN}");
    assert_eq!(filled("${input:my-token.2}"), "${MY_TOKEN_2}");
    assert_eq!(filled("${workspaceFolder}/data"), "project/data");
    assert_eq!(filled("${TOKEN} $X"), "${TOKEN} ${X}");
    assert_eq!(filled("{env:TOKEN}${env:A:-b}"), "${TOKEN}${A:-b}");
    assert_eq!(filled("Bearer $TOKEN"), "Bearer ${TOKEN}");
    assert_eq!(filled("pa$WORD a$$B $lower"), "pa$WORD a$$B $lower");
    assert_eq!(filled("cd $HOME && ls"), "cd $HOME && ls");
    assert_eq!(filled("${userHome}${/}${workspaceFolderBasename}"), "${HOME}/project");
    assert_eq!(filled("${workspaceRoot}:${cwd}"), "project:project");
}

#[test]
fn what_only_the_client_knows_has_a_name() {
    for text in ["${command:x.y}", "${workspaceFolder:api}", "${fileDirname}", "${file}", "{file:~/key}"] {
        assert_eq!(of_client(&serde_json::json!({"args": ["a", text]})).as_deref(), Some(text));
    }
    let known =
        ["${X}", "${X:-y}", "${x_y}", "${env:X}", "{env:X}", "${input:x}", "${workspaceFolder}", "{x}"];
    assert_eq!(of_client(&serde_json::json!(known)), None);
}

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
fn definitions_are_told_from_clients_by_the_keys_at_the_top() {
    for (text, format) in [
        (r#"[{"name": "mcp", "description": "servers"}]"#, Format::Json),
        (r#"{"tools": [{"name": "a", "mcpServers": {}}]}"#, Format::Json),
        (r#"{"openapi": "3.1.0", "servers": [], "paths": {}}"#, Format::Json),
        ("openapi: 3.1.0\nservers: []\n", Format::Yaml),
    ] {
        assert!(is_something_else(text, format), "{text}");
    }
    for (text, format) in [
        (r#"{"mcp": {"servers": {}}}"#, Format::Json),
        (r#"{"projects": {"/a": {"mcpServers": {}}}}"#, Format::Json),
        ("{\"a\": 1, // comment\n\"servers\": {}}", Format::Json),
        (r#"{"mcpServers": {"a": }"#, Format::Json),
        ("extensions:\n  a:\n    cmd: x\n", Format::Yaml),
        ("[mcp_servers.a]\ncommand = 'x'\n", Format::Toml),
    ] {
        assert!(!is_something_else(text, format), "{text}");
    }
}

#[test]
fn lists_of_tools_restrict_a_server() {
    let filter_of = |entry: Value, tools: Option<Value>| filter(&entry, "a", [tools.as_ref(), None]);
    let allows =
        |entry: Value| filter_of(entry, None).unwrap().is_none_or(|filter| filter.allows("sink_boat"));
    for entry in [
        serde_json::json!({"excludeTools": ["sink_boat"]}),
        serde_json::json!({"disabledTools": ["sink_*"]}),
        serde_json::json!({"disabled_tools": ["*"]}),
        serde_json::json!({"includeTools": ["list_boats"]}),
        serde_json::json!({"enabled_tools": []}),
        serde_json::json!({"tools": ["list_boats"]}),
        serde_json::json!({"tools": {"sink_boat": false}}),
        serde_json::json!({"tools": ["sink_boat"], "excludeTools": ["sink_boat"]}),
    ] {
        assert!(!allows(entry.clone()), "{entry}");
    }
    for entry in [
        serde_json::json!({}),
        serde_json::json!({"tools": ["*"], "disabledTools": [], "available_tools": []}),
        serde_json::json!({"includeTools": ["sink_boat"]}),
    ] {
        assert!(allows(entry.clone()), "{entry}");
    }
    assert!(filter_of(serde_json::json!({"excludeTools": "sink_boat"}), None).is_err());
    let of_opencode =
        filter_of(serde_json::json!({}), Some(serde_json::json!({"a_sink*": false, "b": true})));
    let of_opencode = of_opencode.unwrap().unwrap();
    assert!(!of_opencode.allows("sink_boat") && of_opencode.allows("list_boats"));
    for rules in [r#"{"a_sink_boat": "deny"}"#, r#"{"a_*": "deny"}"#, r#"{"*": {"*": "deny"}}"#, "\"deny\""] {
        let rules: Value = serde_json::from_str(rules).unwrap();
        let filter = filter(&Value::Null, "a", [None, Some(&rules)]).unwrap().unwrap();
        assert!(!filter.allows("sink_boat") && filter.as_list().is_some(), "{rules}");
    }
    let others = serde_json::json!({"bash": "deny", "b_*": false});
    assert!(filter(&Value::Null, "a", [None, Some(&others)]).unwrap().is_none());
    let asks = serde_json::json!({"a_sink_boat": "ask"});
    let asks = filter(&Value::Null, "a", [None, Some(&asks)]).unwrap().unwrap();
    assert!(asks.allows("sink_boat") && asks.as_list().is_some() && asks.of_client.is_some());
    assert!(filter(&Value::Null, "a", [Some(&serde_json::json!({"a_x": "off"})), None]).is_err());
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
fn rules_elsewhere_in_a_client_restrict_a_server() {
    let check = |map: &'static str, document: &str, is_off: bool, of_client: Option<&str>| {
        let document: Value = serde_json::from_str(document).unwrap();
        let servers = Map::from_iter(["boats", "boats_x"].map(|name| (name.to_string(), Value::Null)));
        let mut rules = Rules::new("boats", &servers, map);
        rules.read(&document);
        let filter = rules.added_to(None).unwrap_or_default();
        let found = (!filter.allows("sink_boat"), filter.of_client.as_deref());
        assert_eq!(found, (is_off, of_client), "{document}");
    };
    let gemini = "/mcpServers";
    check(gemini, r#"{"tools": {"exclude": ["sink_boat"]}}"#, true, None);
    check(gemini, r#"{"tools": {"exclude": ["boats__sink_boat", "run_shell_command(rm)"]}}"#, true, None);
    check(
        gemini,
        r#"{"excludeTools": ["sink_boat"], "mcpServers": {"boats": {"disabled": false}}}"#,
        true,
        None,
    );
    check(gemini, r#"{"tools": {"allowed": ["boats__sink_boat"]}}"#, false, None);
    check(gemini, r#"{"disabled": ["boats_x"]}"#, false, None);
    let zed = "/context_servers";
    let permission =
        r#"{"agent": {"tool_permissions": {"tools": {"mcp:boats:sink_boat": {"default": "deny"}}}}}"#;
    check(zed, permission, true, None);
    check(zed, &permission.replace("deny", "allow"), false, None);
    let place = "agent.tool_permissions.tools.mcp:boats:sink_boat.default";
    check(zed, &permission.replace("deny", "confirm"), false, Some(place));
    let profile = r#"{"agent": {"default_profile": "write", "profiles": {"write": {"context_servers": {"boats": {"tools": {"sink_boat": false}}}}}}}"#;
    check(zed, profile, true, None);
    let other = profile.replacen("write", "ask", 1);
    check(zed, &other, false, Some("agent.profiles.write.context_servers.boats.tools.sink_boat"));
    let opencode = "/mcp";
    check(
        opencode,
        r#"{"agent": {"plan": {"permission": {"boats_sink_boat": "deny"}}}}"#,
        false,
        Some("agent.plan.permission.boats_sink_boat"),
    );
    check(
        opencode,
        r#"{"agent": {"plan": {"tools": {"boats_*": false}}}}"#,
        false,
        Some("agent.plan.tools.boats_*"),
    );
    check(opencode, r#"{"agent": {"plan": {"tools": {"bash": false}}}}"#, false, None);
    let claude = "/mcpServers";
    check(
        claude,
        r#"{"permissions": {"deny": ["mcp__boats__sink_boat"], "allow": ["mcp__boats"]}}"#,
        true,
        None,
    );
    check(claude, r#"{"permissions": {"ask": ["mcp__boats"]}}"#, false, Some("permissions.ask"));
    check(
        claude,
        r#"{"projects": {"/a": {"disabledMcpServers": ["boats"]}}}"#,
        false,
        Some("projects./a.disabledMcpServers"),
    );
    check(claude, r#"{"disabledMcpjsonServers": ["boats"]}"#, false, None);
    check("/extensions", r#"{"user": {"never_allow": ["boats__sink_boat"]}}"#, true, None);
    check("/extensions", r#"{"user": {"ask_before": ["boats__sink_boat"]}}"#, false, Some("user.ask_before"));
}

#[test]
fn timeouts_are_read_in_the_unit_of_their_client() {
    for (name, seconds) in [("cline_mcp_settings.json", 3600), ("any.json", 3)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, r#"{"mcpServers": {"a": {"command": "x", "timeout": 3600}}}"#).unwrap();
        let config = read(&file, folder.path()).unwrap();
        assert_eq!(config.sources[0].mcp.as_ref().unwrap().timeout_seconds, Some(seconds), "{name}");
    }
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
