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
    // A server has not answered, so that nobody knows the numbers.
    for kept in ["[serve]\nmode = \"auto\"\nsplit_exec = true\n", "[state]\nurl = \"state.db\"\n"] {
        assert!(toml.contains(kept), "{kept}: {toml}");
    }
    assert!(told.starts_with("2 tools, ") && told.contains("[serve] mode = \"auto\""), "{told}");
    assert!(
        told.contains(" more, since the agent looks tools up. Without docs, which did not answer.\n"),
        "{told}"
    );
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
    home.done(&["adopt", "cursor"]);
    home.write(&format!("{OURS}/state.db"), "calls");
    home.done(&["adopt", "cursor", "--undo"]);
    assert_eq!(crate::fixture::tree(&home.at(OURS)).into_keys().collect::<Vec<_>>(), ["state.db"]);
    assert_eq!(home.run(&["adopt", "cursor", "--undo"]).code, 1, "there is nothing to undo");
}

#[test]
fn a_file_that_was_removed_comes_back() {
    for (file, name) in [(".cursor/mcp.json", "cursor"), ("project/.mcp.json", "")] {
        let home = Home::new();
        home.write(file, CURSOR);
        let before = home.read(file);
        let path = home.at(file);
        let name = if name.is_empty() { text(&path) } else { name };
        home.done(&["adopt", name]);
        if name == "cursor" {
            std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        let told = home.done(&["adopt", name, "--undo"]);
        assert!(told.contains("put back 2 servers"), "{told}");
        assert_eq!(home.read(file), before);
    }
    let run = Home::new().run(&["adopt", "/nowhere/mcp.json", "--undo"]);
    assert!(run.code == 2 && run.stderr.contains("there is no client or file"), "{}", run.stderr);
}

/// A team commits the file of its project, and so what it leads to: no path of anybody's machine stands in either file.
#[test]
fn the_file_of_a_team_leads_to_a_configuration_beside_it() {
    for (file, key, args) in [
        (".mcp.json", "mcpServers", "toolcrib.toml"),
        (".vscode/mcp.json", "servers", "${workspaceFolder}/.vscode/toolcrib.toml"),
    ] {
        let home = Home::new();
        std::fs::create_dir_all(home.at("project/bin")).unwrap();
        std::fs::copy(home.at("shelf.sh"), home.at("project/bin/shelf.sh")).unwrap();
        let env = json!({"KEY": "${workspaceFolder}/key", "GITHUB_TOKEN": "ghp_0123456789abcdef0123"});
        let entry = json!({"command": "sh", "args": ["${workspaceFolder}/bin/shelf.sh"], "env": env});
        home.write(&format!("project/{file}"), &json!({key: {"shelf": entry}}).to_string());
        let file = home.at("project").join(file);
        let before = std::fs::read_to_string(&file).unwrap();
        let told = home.done(&["adopt", text(&file)]);
        assert!(told.contains("for your team, to commit"), "{told}");
        let beside = file.parent().unwrap();
        let after = std::fs::read_to_string(&file).unwrap();
        let entry: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(entry[key]["toolcrib"]["command"], "toolcrib");
        assert_eq!(entry[key]["toolcrib"]["args"][2], args);
        let toml = std::fs::read_to_string(beside.join("toolcrib.toml")).unwrap();
        for shared in [&after, &toml] {
            assert!(!shared.contains(text(&home.at(""))) && !shared.contains("ghp_"), "{shared}");
        }
        assert_eq!(std::fs::read_to_string(beside.join(".toolcrib/.gitignore")).unwrap(), "*\n!.gitignore\n");
        // The server starts in the project, as it did before.
        let call = json!({"op": "shelf.put", "args": {"thing": "cup", "token": "t"}}).to_string();
        let called = home.done(&["call", "tool_exec", &call, text(beside), "--allow", "write"]);
        let place = std::fs::canonicalize(home.at("project")).unwrap();
        assert!(called.contains(&format!("done in {} ", text(&place))), "{called}");
        assert!(home.run(&["adopt", text(&file)]).stderr.contains("behind toolcrib already"));
        home.done(&["adopt", text(&file), "--undo"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
        assert!(!beside.join("toolcrib.toml").exists());
        std::fs::write(beside.join("toolcrib.toml"), "[catalog]\n").unwrap();
        let run = home.run(&["adopt", text(&file)]);
        assert!(run.code == 1 && run.stderr.contains("was not made by `adopt`"), "{}", run.stderr);
    }
}

#[test]
fn without_contact_no_server_is_started_and_the_mode_is_left_open() {
    let home = Home::new();
    let servers = format!(
        r#"{{"mcpServers": {{"x": {{"command": "touch", "args": ["{}"]}}}}}}"#,
        text(&home.at("started"))
    );
    home.write(".cursor/mcp.json", &servers);
    let run = home.run(&["adopt", "cursor", "--dry-run"]);
    assert!(
        run.stderr.contains("nothing was changed; 1 server started, to count the tools"),
        "{}",
        run.stderr
    );
    assert!(home.at("started").exists());
    std::fs::remove_file(home.at("started")).unwrap();
    for arguments in [&["--dry-run"][..], &[]] {
        let told = home.done(&[&["adopt", "cursor", "--offline"], arguments].concat());
        assert!(told.starts_with("No server was started, so"), "{told}");
        assert!(!home.at("started").exists());
    }
    assert!(home.read(&format!("{OURS}/toolcrib.toml")).contains("mode = \"auto\""));
}

/// `adopt` and `doctor` say the same of each difference, also once the client's file names toolcrib alone.
#[test]
fn differences_to_the_client_are_said_by_adopt_and_by_doctor() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"shelf": {"command": "sh", "args": ["SHELF"], "env": {"KEY": "${input:my-key}"}, "autoApprove": ["put"], "timeout": 1500},
            "plain": {"command": "sh", "args": ["SHELF"]}},
            "permissions": {"allow": ["mcp__shelf__put"]}}"#,
    );
    let differences = [
        "`autoApprove` is not used",
        "`${input:my-key}` is the environment variable MY_KEY here",
        "`timeout` is 1500 milliseconds, and 2 seconds here",
        "`permissions.allow` allows it by a name that changes",
    ];
    let said = |told: &str, begin: &str| told.lines().filter(|line| line.contains(begin)).count();
    let file = home.at(".cursor/mcp.json");
    let before = home.run(&["doctor", text(&file)]).stdout;
    let adopted = home.done(&["adopt", "cursor"]);
    assert!(
        adopted.contains("to set, as NAME=value in ") && adopted.contains("secrets.env: MY_KEY"),
        "{adopted}"
    );
    home.write(&format!("{OURS}/secrets.env"), "MY_KEY=k\n");
    let after = home.run(&["doctor", text(&home.at(OURS))]).stdout;
    for difference in differences {
        for told in [&before, &adopted, &after] {
            assert_eq!(said(told, difference), 1, "{difference}: {told}");
        }
    }
    assert_eq!(said(&adopted, "otherwise than before: "), 4, "{adopted}");
    for told in [before, after] {
        assert_eq!(said(&told, "otherwise than in the client: "), 4, "{told}");
    }
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
    let clients: [(&str, &str, String, &str); 11] = [
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
        ("kiro", ".kiro/settings/mcp.json", json("mcpServers"), "/mcpServers"),
        (
            "cline",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            json("mcpServers"),
            "/mcpServers",
        ),
        (
            "roo",
            ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            json("mcpServers"),
            "/mcpServers",
        ),
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

/// Where the client lists a tool, or the function for writes, a call runs as it would without toolcrib; others are refused with the
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
    let listed = ["tool_search", "tool_help", "tool_exec_read", "tool_exec_write"];
    assert_eq!(gateway.names(), listed);
    let written = gateway.call("tool_exec_write", json!({"op": "shelf__put", "args": put}));
    assert!(written.to_string().contains("for fast, key length 5"), "{written}");
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

#[test]
fn secrets_in_options_and_addresses_move() {
    let home = Home::new();
    let uuid = "00000000-1111-4222-8333-444444444444";
    let servers = json!({"mcpServers": {
        "key": {"command": "no-such-program", "args": ["--key", uuid, "--profile", "quiet-otter"]},
        "joined": {"command": "no-such-program", "args": ["--token=abc123def456ghi789jkl"]},
        "maps": {"url": "http://127.0.0.1:9/mcp?region=eu&api_key=Zx81kPq9LmN2vB7cR4tY"},
        "db": {"command": "no-such-program", "args": ["postgresql://app:s3cr3tpw@db.example/main"]},
    }});
    home.write(".cursor/mcp.json", &servers.to_string());
    let printed = home.done(&["adopt", "cursor"]);
    let toml = home.read(&format!("{OURS}/toolcrib.toml"));
    let secrets = home.read(&format!("{OURS}/secrets.env"));
    let examined = home.started(&["doctor", OURS]);
    let unadopted = home.started(&["doctor", &format!("{OURS}/mcp.json.before-toolcrib")]);
    let checked = home.started(&["check", &format!("{OURS}/mcp.json.before-toolcrib")]);
    let served = home.started(&["serve", "--stdio", &format!("{OURS}/mcp.json.before-toolcrib")]);
    for (secret, place) in [
        (uuid, "\"--key\", \"${KEY__KEY}\", \"--profile\", \"quiet-otter\""),
        ("abc123def456ghi789jkl", "\"--token=${JOINED_TOKEN}\""),
        ("Zx81kPq9LmN2vB7cR4tY", "?region=eu&api_key=${MAPS_API_KEY}\""),
        ("app:s3cr3tpw", "\"postgresql://${DB_POSTGRESQL}@db.example/main\""),
    ] {
        assert!(toml.contains(place) && !toml.contains(secret), "{place}: {toml}");
        assert!(secrets.contains(secret), "{secret}: {secrets}");
        for told in [
            &checked.stdout, &served.stderr, &printed, &examined.stdout, &examined.stderr, &unadopted.stdout,
            &unadopted.stderr,
        ] {
            assert!(!told.contains(secret), "{secret}: {told}");
        }
    }
    assert!(!examined.stdout.contains("is not set"), "{}", examined.stdout);
}

#[test]
fn a_secret_in_an_address_reaches_its_server() {
    let home = Home::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/mcp?api_key=Zx81kPq9LmN2vB7cR4tY");
    home.write(".cursor/mcp.json", &json!({"mcpServers": {"maps": {"url": url}}}).to_string());
    let (requests, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut line);
            requests.send(line).unwrap();
        }
    });
    home.done(&["adopt", "cursor"]);
    asked.try_iter().for_each(drop);
    home.run(&["check", text(&home.at(OURS))]);
    assert!(asked.recv().unwrap().starts_with("POST /mcp?api_key=Zx81kPq9LmN2vB7cR4tY "));
}

/// Clients whose entry has another form than `command` and `args`.
#[test]
fn the_entry_has_the_form_of_the_client() {
    let home = Home::new();
    let opencode = json!({"mcp": {"shelf": {"type": "local", "command": ["sh", "SHELF"]}}});
    home.write(".config/opencode/opencode.json", &opencode.to_string());
    home.done(&["adopt", "opencode"]);
    let after: Value = serde_json::from_str(&home.read(".config/opencode/opencode.json")).unwrap();
    let own = &after["mcp"]["toolcrib"];
    assert_eq!((&own["type"], &own["command"][1]), (&json!("local"), &json!("serve")), "{after}");
    let copilot = json!({"mcpServers": {"shelf": {"command": "sh", "args": ["SHELF"], "tools": ["*"]}}});
    home.write(".copilot/mcp-config.json", &copilot.to_string());
    home.done(&["adopt", "copilot-cli"]);
    let after: Value = serde_json::from_str(&home.read(".copilot/mcp-config.json")).unwrap();
    assert_eq!(after["mcpServers"]["toolcrib"]["tools"], json!(["*"]), "{after}");
}

const GOOSE: &str = "\
GOOSE_MODE: auto # mine
extensions:
  developer:
    bundled: true
    enabled: true
    type: builtin

  # the shelf
  \"shelf\":
    type: stdio
    cmd: sh
    args: [SHELF]
    envs:
      GITHUB_TOKEN: ghp_0123456789abcdef0123

other: 1
";

#[test]
fn the_extensions_of_goose_move_and_everything_else_stays() {
    let home = Home::new();
    let file = ".config/goose/config.yaml";
    home.write(file, GOOSE);
    let before = home.read(file);
    home.done(&["adopt", "goose"]);
    let after = home.read(file);
    let (start, end) = (before.find("  \"shelf\"").unwrap(), before.find("\nother").unwrap());
    assert!(after.starts_with(&before[..start]) && after.ends_with(&before[end..]), "{after}");
    assert!(after.contains("  toolcrib:\n    type: stdio\n") && !after.contains("ghp_"), "{after}");
    assert!(home.read(".config/toolcrib/goose/secrets.env").contains("ghp_0123456789abcdef0123"));
    home.write(file, &after.replace("auto", "chat"));
    home.done(&["adopt", "goose", "--undo"]);
    assert_eq!(home.read(file), before.replace("auto", "chat"));
}

/// A link outlives an update of the program that it leads to.
#[test]
fn the_entry_has_the_path_by_which_the_program_was_started() {
    let home = cursor();
    let link = home.at("toolcrib-link");
    let command = home.command(&["adopt", "cursor"]);
    std::os::unix::fs::symlink(command.get_program(), &link).unwrap();
    let mut linked = std::process::Command::new(&link);
    linked.args(command.get_args()).current_dir(home.path()).env("HOME", home.path());
    linked.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    assert!(linked.output().unwrap().status.success());
    let after = home.read(".cursor/mcp.json");
    assert!(after.contains(&format!("\"command\": \"{}\"", text(&link))), "{after}");
}

/// A server with so many tools that functions cost less.
const LARGE: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"l","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[TOOLS]}}\n' "$id" ;;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
  esac
done"#;

fn large(home: &Home, tools: usize) -> String {
    let tool = |number: usize| {
        json!({"name": format!("list_things_{number}"), "description": "Lists the things of a place, with their names and dates.",
            "inputSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"place": {"type": "string", "description": "The name of the place to look into."}}},
            "outputSchema": {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}})
    };
    let tools: Vec<String> = (0..tools).map(|number| tool(number).to_string()).collect();
    home.write("large.sh", &LARGE.replace("TOOLS", &tools.join(",")));
    json!({"mcpServers": {"shelf": {"command": "sh", "args": [home.at("shelf.sh")]}, "large": {"command": "sh", "args": [home.at("large.sh")]}}}).to_string()
}

/// One function counts for all commands, and the mode is the same everywhere.
#[test]
fn every_command_says_the_same_numbers_of_a_file() {
    for (tools, mode) in [(20, "full"), (200, "gateway")] {
        let home = Home::new();
        home.write(".cursor/mcp.json", &large(&home, tools));
        let file = text(&home.at(".cursor/mcp.json")).to_string();
        let line = home.done(&["tokens", &file]);
        assert_eq!(line.lines().count(), 1, "{line}");
        let advice = if mode == "full" {
            "leave it as it is: a task would cost"
        } else {
            "the mode gateway: a task costs"
        };
        assert!(line.starts_with(&format!("{} tools, ", tools + 2)), "{line}");
        assert!(
            line.contains("tokens a request (mcp). With toolcrib: ")
                && line.contains(&format!("Recommended: {advice}")),
            "{line}"
        );
        assert!(home.done(&["doctor", &file]).ends_with(&line));
        let served = |file: &str| {
            let mut command = home.command(&["serve", "--stdio", file]);
            command.stderr(std::process::Stdio::piped());
            let mut lines = Lines::start(command);
            let mut log = std::io::BufReader::new(lines.child.stderr.take().unwrap());
            let mut told = String::new();
            while !told.contains(line.trim_end()) {
                assert!(std::io::BufRead::read_line(&mut log, &mut told).unwrap() > 0, "{line}: {told}");
            }
            (lines.names().len(), told)
        };
        let (listed, log) = served(&file);
        assert!(log.contains(&format!("the mode is {mode} (auto)")), "{log}");
        assert!(home.done(&["adopt", "cursor"]).starts_with(&line));
        let configuration = text(&home.at(OURS)).to_string();
        assert!(home.read(&format!("{OURS}/toolcrib.toml")).contains(&format!("mode = \"{mode}\"")));
        assert_eq!(home.done(&["tokens", &configuration]), line);
        assert!(home.done(&["doctor", &configuration]).ends_with(&line));
        assert_eq!(served(&format!("{configuration}/toolcrib.toml")).0, listed);
    }
}

/// A further server changes the numbers, and not what the client lists.
#[test]
fn the_mode_of_an_adoption_stays() {
    let home = Home::new();
    home.write(".cursor/mcp.json", &one("mcpServers", "shelf", "secret-of-shelf"));
    home.done(&["adopt", "cursor"]);
    let mut servers: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    let more: Value = serde_json::from_str(&large(&home, 200)).unwrap();
    servers["mcpServers"]["large"] = more["mcpServers"]["large"].clone();
    home.write(".cursor/mcp.json", &servers.to_string());
    let told = home.done(&["adopt", "cursor"]);
    assert!(told.starts_with("202 tools, ") && told.contains("Recommended: the mode gateway:"), "{told}");
    assert!(home.read(&format!("{OURS}/toolcrib.toml")).contains("mode = \"full\""));
    let told = home.done(&["adopt", "cursor", "--mode", "gateway"]);
    assert!(told.contains("[serve] mode = \"gateway\"") && !told.contains("moved"), "{told}");
    assert!(home.read(&format!("{OURS}/toolcrib.toml")).contains("mode = \"gateway\""));
}

#[test]
fn all_clients_are_adopted_at_once_and_one_that_cannot_be_keeps_no_other_from_it() {
    let home = cursor();
    home.write(".gemini/settings.json", &one("mcpServers", "a", "secret-of-a"));
    home.write(".codeium/windsurf/mcp_config.json", "{ \"mcpServers\": ");
    let before = [home.read(".cursor/mcp.json"), home.read(".gemini/settings.json")];
    let run = home.run(&["adopt", "--all"]);
    assert!(run.code == 1 && run.stderr.contains("mcp_config.json"), "{}", run.stderr);
    assert!(
        run.stdout.contains("Cursor: moved 2 servers") && run.stdout.contains("Gemini CLI: moved 1 server")
    );
    home.done(&["adopt", "--all", "--undo"]);
    assert_eq!([home.read(".cursor/mcp.json"), home.read(".gemini/settings.json")], before);
}

/// A run that was killed is repeated, wherever it ended, and leaves no file behind.
#[test]
fn a_killed_run_can_be_repeated() {
    let files = ["toolcrib.toml", "secrets.env", "mcp.json.before-toolcrib", ".adopted"];
    for is_edited in [false, true] {
        for ended_after in 0..files.len() {
            let home = cursor();
            home.done(&["adopt", "cursor"]);
            if is_edited {
                home.write(".cursor/mcp.json", &home.read(".cursor/mcp.json").replace("dark", "light"));
            }
            let kept = files.map(|file| home.read(&format!("{OURS}/{file}")));
            home.done(&["adopt", "cursor", "--undo"]);
            let undone = home.read(".cursor/mcp.json");
            // The run has put the servers back, and removed some of its files.
            for (file, content) in files.iter().zip(&kept).skip(ended_after) {
                home.write(&format!("{OURS}/{file}"), content);
            }
            home.write(&format!("{OURS}/.secrets.env.1-0.new"), "API_KEY=half");
            home.write(".cursor/.toolcrib-tmp-1", "half");
            home.done(&["adopt", "cursor", "--undo"]);
            assert_eq!(home.read(".cursor/mcp.json"), undone, "{ended_after}");
            assert!(!home.at(OURS).exists() && !home.at(".cursor/.toolcrib-tmp-1").exists(), "{ended_after}");
        }
    }
}

/// The client or its person writes the file while servers are counted: the edit stays, and moves or stays as it should.
#[test]
fn edits_of_the_file_during_a_run_are_not_lost() {
    let home = Home::new();
    let slow = "sleep 0.3; exec sh SHELF";
    let entry = |name: &str| json!({"mcpServers": {"shelf": {"command": "sh", "args": ["-c", slow]}, name: {"command": "sh", "args": ["SHELF"]}}});
    home.write(".cursor/mcp.json", &entry("first").to_string());
    let mut adopting = home.command(&["adopt", "cursor"]);
    let piped = std::process::Stdio::piped;
    let adopting = adopting.stdout(piped()).stderr(piped()).spawn().unwrap();
    let lock = home.at(".config/toolcrib");
    while !lock.exists() {
        std::thread::yield_now();
    }
    // As clients write: never half a file.
    home.write(".cursor/edited.json", &entry("second").to_string());
    std::fs::rename(home.at(".cursor/edited.json"), home.at(".cursor/mcp.json")).unwrap();
    // A second run waits for the first one.
    home.run(&["adopt", "cursor"]);
    let first = adopting.wait_with_output().unwrap();
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let toml = home.read(&format!("{OURS}/toolcrib.toml"));
    assert!(toml.contains("\"second\"") && !home.read(".cursor/mcp.json").contains("second"), "{toml}");
    home.done(&["adopt", "cursor", "--undo"]);
    assert!(home.read(".cursor/mcp.json").contains("\"second\""));
}
