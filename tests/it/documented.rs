//! The commands of the documentation, run as they stand there, page by page.
//!
//! Words in capitals and `...` mark a form that the reader fills in; such commands are not run.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;
use walkdir::WalkDir;

use crate::fixture::{self, package, text};
use crate::skipped::skipped;

/// Programs that are not ours: they build this one, or are clients of it.
const NOT_OURS: [&str; 7] = [
    "cargo build", "cargo test", "cargo bench", "cargo install", "cargo run --example", "claude mcp",
    "codex mcp",
];

/// Marks of commands that fail on purpose.
const FAILS: [&str; 2] = ["# exit 1", "# APPROVAL_REQUIRED"];
/// A stand-in for the server on the page about what an agent sees, which comes from a package registry.
const NPX: &str = "#!/bin/sh\nexec toolcrib serve --stdio --mode full everything\n";
const EVERYTHING: &str = r#"[
 {"name": "get-sum", "description": "Add two numbers.", "effect": "read",
  "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]},
  "backend": {"type": "static", "content": "5"}},
 {"name": "toggle-simulated-logging", "description": "Turn messages of the log on or off.", "effect": "write",
  "parameters": {"type": "object", "properties": {}}, "backend": {"type": "static", "content": "on"}}
]"#;

/// The tools of a stand-in for each of a client's servers.
const STANDIN: &str = r#"[{"name": "get_current_time", "description": "Get the current time.", "effect": "read",
  "parameters": {"type": "object", "properties": {"timezone": {"type": "string"}}}, "backend": {"type": "static", "content": "12:00"}}]"#;

#[test]
fn commands_of_the_readme_run() {
    let page = fs::read_to_string(package().join("README.md")).unwrap();
    let (mut reader, _) = reader_with_servers();
    let failures: Vec<String> = commands(&page).iter().filter_map(|command| reader.run(command)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
#[ignore = "slow"]
fn commands_of_the_examples_run() {
    for example in ["buildos", "github", "universal-agent"] {
        assert_eq!(failures(&format!("examples/{example}/README.md")), None);
    }
}

#[test]
fn the_way_in_front_of_an_mcp_server_runs() {
    let mut reader = Reader::new();
    fixture::write(reader.folder.path(), "everything/tools.json", EVERYTHING);
    fixture::write(reader.folder.path(), "everything/toolcrib.toml", "[exec]\nallow = 'write'\n");
    fixture::write(reader.folder.path(), "bin/npx", NPX);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(reader.folder.path().join("bin/npx"), executable).unwrap();
    fs::remove_dir_all(reader.folder.path().join("examples")).unwrap();
    let mut config = String::new();
    for (language, block) in blocks(&agent_page().1) {
        if language == "toml" {
            config = format!("{config}{block}\n");
            fixture::write(reader.folder.path(), "toolcrib.toml", &config);
        }
        let commands = if language == "sh" { lines(block) } else { Vec::new() };
        let failures: Vec<String> = commands.iter().filter_map(|command| reader.run(command)).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    }
    assert!(reader.approval.is_some(), "a person was asked");
}

/// The page about people's servers, from the client's file on it to the first call, with stand-ins for the servers of others.
#[test]
fn a_client_with_five_servers_makes_its_first_call_through_toolcrib() {
    let page = fs::read_to_string(package().join("docs/servers.md")).unwrap();
    let (mut reader, file) = reader_with_servers();
    for command in commands(&page) {
        let failure = reader.run(&command);
        assert_eq!(failure, None);
        if command.starts_with("toolcrib call") {
            let output = reader.shell(&command).output().unwrap();
            assert!(String::from_utf8_lossy(&output.stdout).contains("12:00"), "{}", told(&command, &output));
        }
    }
    assert_eq!(fs::read_to_string(reader.folder.path().join("home/.cursor/mcp.json")).unwrap(), file);
}

/// A reader who has the client's file on the page about people's servers, with stand-ins for the servers; and that file.
fn reader_with_servers() -> (Reader, String) {
    let page = fs::read_to_string(package().join("docs/servers.md")).unwrap();
    let reader = Reader::new();
    fixture::write(reader.folder.path(), "standin/tools.json", STANDIN);
    for program in ["npx", "uvx"] {
        let script = NPX.replace("everything", text(&reader.folder.path().join("standin")));
        fixture::write(reader.folder.path(), &format!("bin/{program}"), &script);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(reader.folder.path().join("bin").join(program), executable).unwrap();
    }
    let (_, file) = blocks(&page).into_iter().find(|(language, _)| *language == "json").unwrap();
    fixture::write(reader.folder.path(), "home/.cursor/mcp.json", file);
    (reader, file.to_string())
}

/// The page about what an agent sees, and the part of it that needs a server of somebody else.
fn agent_page() -> (String, String) {
    let page = fs::read_to_string(package().join("docs/agent.md")).unwrap();
    let begin = page.find("## Try it").unwrap();
    let end = begin + page[begin..].find("\n## ").unwrap();
    ([&page[..begin], &page[end..]].concat(), page[begin..end].to_string())
}

#[test]
#[ignore = "slow"]
fn commands_of_all_other_pages_run() {
    let mut pages: Vec<String> = fs::read_dir(package().join("docs"))
        .unwrap()
        .map(|entry| format!("docs/{}", entry.unwrap().file_name().to_str().unwrap()))
        .filter(|page| {
            page.ends_with(".md") && !["docs/identity.md", "docs/servers.md"].contains(&page.as_str())
        })
        .collect();
    pages.sort();
    let failed: Vec<String> = pages.iter().filter_map(|page| failures(page)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn the_page_of_the_tutorial_is_the_one_that_seed_writes() {
    let tutorial = fs::read_to_string(package().join("docs/seed.md")).unwrap();
    let (_, shown) = tutorial.split_once("````markdown\n").unwrap();
    let (shown, _) = shown.split_once("````\n").unwrap();
    let reader = Reader::new();
    let seed = "toolcrib seed workspace examples/universal-agent --profile creator";
    assert!(reader.shell(seed).output().unwrap().status.success());
    let page = fs::read_to_string(reader.folder.path().join("workspace/tools/web_search.md")).unwrap();
    for line in shown.lines().filter(|line| *line != "- ...") {
        assert!(page.lines().any(|written| written == line), "{line}");
    }
}

#[test]
#[ignore = "slow"]
fn each_requirement_has_a_command_that_runs() {
    let page = fs::read_to_string(package().join("docs/reference/requirements.md")).unwrap();
    let mut reader = Reader::new();
    let served = reader.run("toolcrib serve examples/buildos");
    let mut failures: Vec<String> = served.into_iter().collect();
    for row in page
        .lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|id| id.ends_with(|c: char| c.is_ascii_digit())))
    {
        let shown: Vec<&str> = row.rsplit(" | ").next().unwrap().split('`').skip(1).step_by(2).collect();
        assert!(!shown.is_empty(), "{row}");
        failures.extend(shown.into_iter().filter_map(|command| reader.run(command)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Failures of the commands of a page, run one after the other, in a folder
/// with the examples and nothing else.
fn failures(page: &str) -> Option<String> {
    let is_agent_page = page == "docs/agent.md";
    let text = if is_agent_page { agent_page().0 } else { fs::read_to_string(package().join(page)).unwrap() };
    let mut reader = Reader::new();
    let failures: Vec<String> = commands(&text).iter().filter_map(|command| reader.run(command)).collect();
    (!failures.is_empty()).then(|| format!("{page}: {}", failures.join("\n\n")))
}

/// The fenced blocks of a page, each with its language.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

/// The commands in the `sh` blocks of a page.
fn commands(page: &str) -> Vec<String> {
    blocks(page)
        .into_iter()
        .filter(|(language, _)| *language == "sh")
        .flat_map(|(_, block)| lines(block))
        .collect()
}

/// The commands of a block; one goes on after `\` and `|`.
fn lines(block: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        match commands.last_mut().filter(|last| last.ends_with(['\\', '|'])) {
            Some(last) => last.extend(["\n", line]),
            None => commands.push(line.to_string()),
        }
    }
    commands
}

/// Whether a command has words to fill in.
fn is_form(command: &str) -> bool {
    let code = command.split(" #").next().unwrap_or(command);
    let is_blank = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    let outside_of_data = code.split('\'').step_by(2);
    code.contains("...") || outside_of_data.flat_map(|part| part.split([' ', '\n', '/'])).any(is_blank)
}

/// A reader with a shell, who has the repository's examples and the program.
struct Reader {
    folder: TempDir,
    servers: Vec<Child>,
    address: String,
    approval: Option<String>,
}

impl Reader {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&package().join("examples"), &folder.path().join("examples"));
        fs::create_dir(folder.path().join("home")).unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        Self { folder, servers: Vec::new(), address: "127.0.0.1:7878".into(), approval: None }
    }

    /// Runs a command, and returns its failure.
    fn run(&mut self, command: &str) -> Option<String> {
        let filled = self.approval.as_ref().map(|id| command.replace(" ID ", &format!(" {id} ")));
        let command = filled.as_deref().unwrap_or(command);
        if is_form(command) || NOT_OURS.iter().any(|program| command.contains(program)) {
            return None;
        }
        if command.contains("curl ") && Command::new("curl").arg("--version").output().is_err() {
            skipped(command, "there is no `curl`");
            return None;
        }
        if command.contains("| jq ") && Command::new("jq").arg("--version").output().is_err() {
            skipped(command, "there is no `jq`");
            return None;
        }
        let command = command.replace("cargo run --", "toolcrib").replace("127.0.0.1:7878", &self.address);
        if command.contains("toolcrib serve") {
            return self
                .serve(&command.replace("toolcrib serve", "exec toolcrib serve --listen 127.0.0.1:0"));
        }
        if command.contains(" approvals approve ") {
            return self.decide(&command);
        }
        // A command that would go on until somebody stops it does its work once.
        let output = self.shell(&command.replace(" --watch", "")).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let id = stdout.split_whitespace().find(|word| word.starts_with("ap_")).map(str::to_string);
        self.approval = id.or(self.approval.take());
        let expected = i32::from(FAILS.iter().any(|mark| command.contains(mark)));
        (output.status.code() != Some(expected)).then(|| told(&command, &output))
    }

    /// Runs a decision for a person who confirms it. The run has streams of its own and no folder, so paths are whole.
    #[expect(clippy::disallowed_methods, reason = "the servers of the page are found as a shell finds them")]
    fn decide(&self, command: &str) -> Option<String> {
        let folder = self.folder.path();
        let words = command.split(" #").next().unwrap_or_default().split_whitespace().skip(1);
        let whole = |word: &str| {
            let path = folder.join(word);
            if path.exists() { text(&path).to_string() } else { word.to_string() }
        };
        let words: Vec<String> = words.map(whole).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let home = folder.join("home");
        let state = home.join("state");
        let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let variables = [("HOME", text(&home)), ("XDG_STATE_HOME", text(&state)), ("PATH", &*path)];
        let run = fixture::run_with(&words, "yes\n", &variables);
        (run.code != 0).then(|| format!("$ {command}\n{}{}", run.stdout, run.stderr))
    }

    /// Starts a server, which runs until the page ends.
    fn serve(&mut self, command: &str) -> Option<String> {
        let mut server = self.shell(command).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let stderr = BufReader::new(server.stderr.take().unwrap());
        let lines: Vec<String> = stderr
            .lines()
            .map_while(Result::ok)
            .scan(false, |ended, line| {
                let before = *ended;
                *ended = line.contains("listening on");
                (!before).then_some(line)
            })
            .collect();
        self.servers.push(server);
        let Some(address) = lines.last().and_then(|line| line.split("http://").nth(1)) else {
            return Some(format!("$ {command}\n{}", lines.join("\n")));
        };
        self.address = address.trim_end_matches('/').to_string();
        None
    }

    fn shell(&self, command: &str) -> Command {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_toolcrib"));
        let bin = self.folder.path().join("bin");
        let path = format!("{}:{}:$PATH", bin.display(), program.parent().unwrap().display());
        let home = self.folder.path().join("home");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("PATH={path}; {command}")])
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        shell.env("HOME", &home).env("XDG_STATE_HOME", home.join("state"));
        shell
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn told(command: &str, output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(600).collect::<String>();
    format!("$ {command}\n{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

fn copy(from: &Path, to: &Path) {
    for entry in
        WalkDir::new(from).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file())
    {
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(entry.path(), target).unwrap();
    }
}

#[test]
fn a_form_to_fill_in_has_words_in_capitals() {
    assert!(is_form("toolcrib approvals approve ID ."));
    assert!(is_form("toolcrib render PATH"));
    assert!(is_form("curl https://example.com ..."));
    assert!(!is_form("curl http://localhost/tools/README.md"));
    assert!(!is_form("toolcrib serve x   # then POST /v1"));
}
