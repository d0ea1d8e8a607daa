//! `toolcrib adopt`: the servers of a client's file move behind toolcrib, and back.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{Home, Lines};
use crate::fixture::text;

const CURSOR: &str = r#"{
  // mine
  "theme": "dark",
  "mcpServers": {
    "shelf": {
      "command": "sh",
      "args": ["SHELF"],
      "env": { "KEY": "plain", "MODE": "fast", "GITHUB_TOKEN": "ghp_0123456789abcdef0123" }
    }, // the first
    "docs": { "url": "http://127.0.0.1:1/mcp", "headers": { "Authorization": "Bearer abcdef0123456789" } },
    "off": { "command": "x", "disabled": true },
  },
  "last": [1, 2,]
}
"#;
const OURS: &str = ".config/toolcrib/cursor";

fn cursor() -> Home {
    let home = Home::new();
    home.write(".cursor/mcp.json", CURSOR);
    home
}

#[test]
fn the_servers_of_a_client_move_and_everything_else_stays() {
    let home = cursor();
    let before = home.read(".cursor/mcp.json");
    let told = home.done(&["adopt", "cursor", "--dry-run"]);
    assert!(
        told.contains("would move 2 servers") && told.contains("off (the server `off` is disabled)"),
        "{told}"
    );
    assert_eq!(home.read(".cursor/mcp.json"), before);
    assert!(!home.at(OURS).exists());

    let told = home.done(&["adopt", "cursor"]);
    assert!(told.contains("What agents may do") && !told.contains("ghp_"), "{told}");
    let after = home.read(".cursor/mcp.json");
    let configuration = home.at(OURS).join("toolcrib.toml");
    for kept in
        ["// mine\n", "\"off\": { \"command\": \"x\", \"disabled\": true },\n  },\n", "\"last\": [1, 2,]\n"]
    {
        assert!(after.contains(kept), "{kept}: {after}");
    }
    assert!(!after.contains("shelf.sh") && after.matches("\"toolcrib\": {").count() == 1, "{after}");
    assert!(after.contains(text(&configuration)), "{after}");
    assert_eq!(home.read(&format!("{OURS}/mcp.json.before-toolcrib")), before);

    let toml = home.read(&format!("{OURS}/toolcrib.toml"));
    let secrets = home.read(&format!("{OURS}/secrets.env"));
    assert!(!toml.contains("ghp_") && !toml.contains("abcdef"), "{toml}");
    assert!(
        toml.contains("GITHUB_TOKEN = \"${GITHUB_TOKEN}\"") && toml.contains("MODE = \"fast\""),
        "{toml}"
    );
    assert!(toml.contains("# What agents may do"), "{toml}");
    assert!(secrets.contains("GITHUB_TOKEN=ghp_0123456789abcdef0123\n"), "{secrets}");
    assert!(secrets.contains("DOCS_AUTHORIZATION=\"Bearer abcdef0123456789\"\n"), "{secrets}");
    for file in ["toolcrib.toml", "secrets.env", "mcp.json.before-toolcrib", ".adopted"] {
        let mode = std::fs::metadata(home.at(OURS).join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn adopting_twice_is_adopting_once() {
    let home = cursor();
    home.done(&["adopt", "cursor"]);
    let all = || (home.read(".cursor/mcp.json"), home.read(&format!("{OURS}/toolcrib.toml")));
    let once = all();
    home.done(&["adopt", "cursor"]);
    home.done(&["adopt", text(&home.at(".cursor/mcp.json"))]);
    assert_eq!(all(), once);
}

#[test]
fn an_undone_adoption_leaves_the_file_byte_for_byte() {
    let home = cursor();
    let before = home.read(".cursor/mcp.json");
    home.done(&["adopt", "cursor"]);
    home.done(&["adopt", "cursor", "--undo"]);
    assert_eq!(home.read(".cursor/mcp.json"), before);
    assert!(!home.at(OURS).exists());
    assert_eq!(home.run(&["adopt", "cursor", "--undo"]).code, 1, "there is nothing to undo");
}

/// Changes by the client or its user stay; only the servers come back.
#[test]
fn an_adoption_is_undone_in_a_file_that_was_edited_since() {
    let home = cursor();
    let before = home.read(".cursor/mcp.json");
    home.done(&["adopt", "cursor"]);
    let edited = home
        .read(".cursor/mcp.json")
        .replace("dark", "light")
        .replace("\"off\"", "\"new\": {\"url\": \"http://x\"}, \"off\"");
    home.write(".cursor/mcp.json", &edited);
    home.done(&["adopt", "cursor", "--undo"]);
    let after = home.read(".cursor/mcp.json");
    let shelf = &before[before.find("\"shelf\"").unwrap()..before.find(" // the first").unwrap()];
    for text in [shelf, "light", "\"new\": {\"url\": \"http://x\"}, \"off\"", "\"docs\": { \"url\""] {
        assert!(after.contains(text), "{text}: {after}");
    }
    assert!(!after.contains("toolcrib"), "{after}");
}

#[test]
fn an_adoption_that_cannot_be_undone_keeps_both_versions() {
    let home = cursor();
    let before = home.read(".cursor/mcp.json");
    home.done(&["adopt", "cursor"]);
    let adopted = home.read(".cursor/mcp.json");
    for edited in [adopted.replace("\"off\"", "\"shelf\": {\"command\": \"y\"}, \"off\""), "{".to_string()] {
        home.write(".cursor/mcp.json", &edited);
        let run = home.run(&["adopt", "cursor", "--undo"]);
        assert_eq!(run.code, 1);
        assert!(
            run.stderr.contains("both versions are kept") && run.stderr.contains("before-toolcrib"),
            "{}",
            run.stderr
        );
        assert_eq!(home.read(".cursor/mcp.json"), edited);
        assert_eq!(home.read(&format!("{OURS}/mcp.json.before-toolcrib")), before);
    }
}

/// A server that the user has added to the client's file meanwhile moves too, and comes back with the others.
#[test]
fn a_server_that_is_added_later_moves_later() {
    let home = cursor();
    home.done(&["adopt", "cursor"]);
    let edited = home
        .read(".cursor/mcp.json")
        .replace("\"off\":", "\"new\": {\"command\": \"sh\", \"args\": [\"x\"]}, \"off\":");
    home.write(".cursor/mcp.json", &edited);
    home.done(&["adopt", "cursor"]);
    let toml = home.read(&format!("{OURS}/toolcrib.toml"));
    assert!(toml.contains("\"shelf\"") && toml.contains("\"new\""), "{toml}");
    assert!(!home.read(".cursor/mcp.json").contains("\"new\""));
    home.done(&["adopt", "cursor", "--undo"]);
    let after = home.read(".cursor/mcp.json");
    for name in ["\"shelf\": {", "\"docs\": {", "\"new\": {", "\"off\": {"] {
        assert_eq!(after.matches(name).count(), 1, "{name}: {after}");
    }
}

/// Each client has its file and its form; the one entry that stays has the form of the others.
#[test]
fn every_client_is_adopted_in_its_own_form() {
    let server = r#"{"command": "sh", "args": ["SHELF"]}"#;
    let json = |key: &str| format!("{{\"x\": 1, \"{key}\": {{\"shelf\": {server}}}}}");
    let clients: [(&str, &str, String, &str); 8] = [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", json("mcpServers"), "/mcpServers"),
        ("cursor", ".cursor/mcp.json", json("mcpServers"), "/mcpServers"),
        ("vscode", ".config/Code/User/mcp.json", json("servers"), "/servers"),
        ("claude-code", ".claude.json", json("mcpServers"), "/mcpServers"),
        (
            "codex",
            ".codex/config.toml",
            "x = 1 # one\n\n[mcp_servers.shelf]\ncommand = 'sh'\nargs = ['SHELF']\n".into(),
            "",
        ),
        ("gemini", ".gemini/settings.json", json("mcpServers"), "/mcpServers"),
        ("windsurf", ".codeium/windsurf/mcp_config.json", json("mcpServers"), "/mcpServers"),
        ("zed", ".config/zed/settings.json", json("context_servers"), "/context_servers"),
    ];
    for (client, file, content, map) in clients {
        let home = Home::new();
        home.write(file, &content);
        let before = home.read(file);
        let report: Value = serde_json::from_str(&home.done(&["adopt", client, "--json"])).unwrap();
        assert_eq!(report["moved"], json!(["shelf"]), "{client}");
        let after = home.read(file);
        let starts = |entry: &Value| {
            assert!(entry["command"].as_str().unwrap().starts_with('/'), "{client}: {entry}");
            assert_eq!((&entry["args"][0], &entry["args"][1]), (&json!("serve"), &json!("--stdio")));
        };
        if map.is_empty() {
            assert!(after.starts_with("x = 1 # one\n\n[mcp_servers.toolcrib]\ncommand = \"/"), "{after}");
        } else {
            let value: Value = serde_json::from_str(&after).unwrap();
            assert_eq!(value.pointer(map).unwrap().as_object().unwrap().len(), 1, "{client}: {after}");
            starts(&value.pointer(map).unwrap()["toolcrib"]);
        }
        home.done(&["adopt", client, "--undo"]);
        assert_eq!(home.read(file), before, "{client}");
    }
    let home = Home::new();
    let run = home.run(&["adopt", "cursor"]);
    assert!(run.code == 1 && run.stderr.contains(".cursor/mcp.json"), "{}", run.stderr);
    let run = home.run(&["adopt", "kursor"]);
    assert!(run.code == 2 && run.stderr.contains("clients are: claude-desktop, cursor"), "{}", run.stderr);
}

/// Where the client lists each tool by its name, a call runs as it would without toolcrib; on the gateway it is refused with the
/// line to add; and a narrower `allow` counts everywhere.
#[test]
fn calls_run_as_before_where_the_client_lists_the_tools() {
    let home = cursor();
    home.done(&["adopt", "cursor"]);
    let configuration = home.at(OURS).join("toolcrib.toml");
    let serve =
        |mode: &str| Lines::start(home.command(&["serve", "--stdio", "--mode", mode, text(&configuration)]));
    let put = json!({"thing": "cup", "token": "t"});

    let mut full = serve("full");
    full.wait_for(&["shelf__look", "shelf__put"]);
    let answer = full.call("shelf__put", put.clone());
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    assert!(answer.to_string().contains("for fast, key length 5"), "{answer}");
    let by_exec = full.call("tool_exec", json!({"op": "shelf.put", "args": put}));
    assert!(by_exec.to_string().contains("PERMISSION_DENIED"), "{by_exec}");

    let mut gateway = serve("gateway");
    wait_until_known(&mut gateway);
    for refused in [
        gateway.call("tool_exec", json!({"op": "shelf.put", "args": put})),
        gateway.call("shelf__put", put.clone()),
    ] {
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(
            refused.to_string().contains("allow = ") && refused.to_string().contains("[exec]"),
            "{refused}"
        );
    }

    let narrow = format!("{}\n[exec]\nallow = \"read\"\n", home.read(&format!("{OURS}/toolcrib.toml")));
    home.write(&format!("{OURS}/toolcrib.toml"), &narrow);
    let mut full = serve("full");
    full.wait_for(&["shelf__look", "shelf__put"]);
    let refused = full.call("shelf__put", put);
    assert!(refused.to_string().contains("PERMISSION_DENIED"), "{refused}");
}

/// Waits until the gateway can call the tools of the shelf.
fn wait_until_known(gateway: &mut Lines) {
    let start = std::time::Instant::now();
    while gateway.call("tool_exec", json!({"op": "shelf.look", "args": {}}))["result"]["isError"] == true {
        assert!(start.elapsed() < std::time::Duration::from_secs(60));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// The text of a file with one server and its secret.
fn one(map: &str, name: &str, secret: &str) -> String {
    format!(
        "{{\n  \"{map}\": {{\n    \"{name}\": {{\"command\": \"sh\", \"args\": [\"SHELF\"], \"env\": {{\"API_KEY\": \"{secret}\"}}}}\n  }}\n}}\n"
    )
}

/// Files of one client share a folder: the second is refused, and nothing of the first is lost.
#[test]
fn a_second_file_of_a_client_is_refused() {
    let home = Home::new();
    let (first, second) = (".config/Code/User/mcp.json", ".config/VSCodium/User/mcp.json");
    home.write(first, &one("servers", "a", "secret-of-a"));
    home.write(second, &one("servers", "b", "secret-of-b"));
    let (before, other) = (home.read(first), home.read(second));
    home.done(&["adopt", "vscode"]);
    let path = home.at(second);
    for arguments in [vec!["adopt", text(&path)], vec!["adopt", text(&path), "--undo"]] {
        let run = home.run(&arguments);
        assert!(run.code == 1 && run.stderr.contains("Code/User/mcp.json"), "{}", run.stderr);
        assert!(run.stderr.contains("--undo`"), "{}", run.stderr);
        assert_eq!(home.read(second), other);
        assert!(home.read(".config/toolcrib/vscode/secrets.env").contains("secret-of-a"));
    }
    home.done(&["adopt", "vscode", "--undo"]);
    assert_eq!((home.read(first), home.read(second)), (before, other.clone()));
    home.done(&["adopt", text(&path)]);
    home.done(&["adopt", "vscode", "--undo"]);
    assert_eq!(home.read(second), other);
}

/// A file that was reset after its adoption: the servers of the adoption come back beside the new ones.
#[test]
fn a_file_that_was_reset_is_not_adopted_over_its_record() {
    let home = Home::new();
    home.write(".cursor/mcp.json", &one("mcpServers", "a", "secret-of-a"));
    home.done(&["adopt", "cursor"]);
    home.write(".cursor/mcp.json", &one("mcpServers", "b", "secret-of-b"));
    let reset = home.read(".cursor/mcp.json");
    let run = home.run(&["adopt", "cursor"]);
    assert!(run.code == 1 && run.stderr.contains("toolcrib adopt cursor --undo"), "{}", run.stderr);
    assert!(home.read(&format!("{OURS}/secrets.env")).contains("secret-of-a"));
    assert_eq!(home.read(".cursor/mcp.json"), reset);
    let has_all = || {
        let value: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
        for (name, secret) in [("a", "secret-of-a"), ("b", "secret-of-b")] {
            assert_eq!(value["mcpServers"][name]["env"]["API_KEY"], secret, "{value}");
        }
    };
    home.done(&["adopt", "cursor", "--undo"]);
    has_all();
    home.done(&["adopt", "cursor"]);

    // A record that does not know every server of the configuration: it stays, with the secrets.
    let record = home.read(&format!("{OURS}/.adopted"));
    let mut known: Value = serde_json::from_str(&record).unwrap();
    known["moved"] = json!(["b"]);
    home.write(&format!("{OURS}/.adopted"), &known.to_string());
    home.done(&["adopt", "cursor", "--undo"]);
    has_all();
    assert!(home.read(&format!("{OURS}/toolcrib.toml")).contains("\"a\""));
    assert!(home.read(&format!("{OURS}/secrets.env")).contains("secret-of-a"));
}
