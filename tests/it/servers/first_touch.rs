//! Commands without a catalog, and with the name of a client, find the servers that a person has.

use super::{Home, Lines};

const SHELF: &str = r#"{"mcpServers": {"shelf": {"command": "sh", "args": ["SHELF"]}}}"#;

fn commands() -> [Vec<&'static str>; 3] {
    [vec!["doctor"], vec!["tokens"], vec!["search", "look at a thing"]]
}

#[test]
fn what_was_adopted_is_found_without_a_name_and_by_that_of_its_client() {
    let home = Home::new();
    home.write(".cursor/mcp.json", SHELF);
    for command in commands() {
        let named = home.started(&[&command[..], &["cursor"]].concat());
        assert_eq!(named.code, 0, "{command:?} of the client's own file: {}{}", named.stdout, named.stderr);
    }
    home.done(&["adopt", "cursor"]);
    let folder = home.at(".config/toolcrib/cursor");
    for command in commands() {
        let expect = home.started(&[&command[..], &[folder.to_str().unwrap()]].concat());
        assert_eq!(expect.code, 0, "{command:?}: {}", expect.stderr);
        for more in [&[][..], &["cursor"]] {
            let found = home.started(&[&command[..], more].concat());
            let without_time =
                |text: &str| text.split(", ").filter(|part| !part.contains(" s\n")).collect::<String>();
            assert_eq!(
                without_time(&found.stdout),
                without_time(&expect.stdout),
                "{command:?} {more:?}: {}",
                found.stderr
            );
        }
    }
    let unknown = home.started(&["doctor", "zed"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("there is no catalog at zed"), "{}", unknown.stderr);
}

#[test]
fn tools_of_a_folder_come_before_what_was_adopted() {
    let home = Home::new();
    home.write(".cursor/mcp.json", SHELF);
    home.done(&["adopt", "cursor"]);
    home.write(
        "tools.json",
        r#"[{"name": "water_plants", "description": "Waters plants.", "parameters": {"type": "object"}}]"#,
    );
    assert!(home.started(&["tokens"]).stdout.starts_with("1 tool, "));
}

#[test]
fn the_file_of_a_project_is_found_and_starts_nothing_until_it_is_named() {
    for file in [".mcp.json", ".vscode/mcp.json"] {
        let home = Home::new();
        let key = if file.starts_with(".v") { "servers" } else { "mcpServers" };
        let servers =
            format!("{{\"{key}\": {{\"x\": {{\"command\": \"touch\", \"args\": [\"started\"]}}}}}}");
        home.write(&format!("project/{file}"), &servers);
        for folder in ["project", "project/src"] {
            std::fs::create_dir_all(home.at(folder)).unwrap();
            let mut doctor = home.command(&["doctor"]);
            let told = doctor.current_dir(home.at(folder)).output().unwrap();
            let told = String::from_utf8(told.stdout).unwrap();
            assert!(told.contains("found and not named: nothing of it was run"), "{told}");
            let named = told.split("to run it: toolcrib doctor ").nth(1).unwrap().split(')').next().unwrap();
            assert!(named.ends_with(file), "{told}");
            assert!(!home.at("project/started").exists() && !home.at("project/src/started").exists());
            let run = home.command(&["doctor", named]).current_dir(home.at(folder)).output().unwrap();
            assert!(String::from_utf8_lossy(&run.stdout).contains("(named)"), "{run:?}");
            for place in ["project/started", "project/src/started"] {
                let _ = std::fs::remove_file(home.at(place));
            }
        }
        let mut tokens = home.command(&["tokens"]);
        let told = tokens.current_dir(home.at("project")).output().unwrap();
        let told = String::from_utf8(told.stderr).unwrap();
        assert!(told.contains(&format!("name `{file}` as the catalog to use them")), "{told}");
    }
}

/// A client says at its beginning what servers may ask it; they start once, for that client.
#[test]
fn a_client_that_answers_questions_has_each_server_started_once() {
    let home = Home::new();
    let script = format!("echo >> started\n{}", home.read("shelf.sh"));
    home.write("counted.sh", &script);
    home.write("toolcrib.toml", "[[source]]\nserver = 'shelf'\nmcp = { command = ['sh', 'counted.sh'] }\n");
    for answer in [Some("accept"), None, Some("newer")] {
        let _ = std::fs::remove_file(home.at("started"));
        let mut client = Lines::asking(home.command(&["serve", "--stdio", "toolcrib.toml"]), answer);
        assert!(client.names().len() > 1);
        drop(client);
        assert_eq!(home.read("started").lines().count(), 1, "{answer:?}");
        let _ = std::fs::remove_dir_all(home.at(".local"));
    }
}
