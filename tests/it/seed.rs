//! Seeding a workspace: it can be repeated, it keeps what the user has, and it writes nothing where it should not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::fixture::{self, Run, text};

/// The text that agents must get (DOC-7).
const DOC_7: &str = "Before using an unfamiliar tool, read its documentation from `tools/<tool_name>.md`. Do not guess arguments.";
const EXAMPLE: &str = "examples/universal-agent";

fn seed(workspace: &Path, profile: &str, more: &[&str]) -> Run {
    let arguments = ["seed", text(workspace), EXAMPLE, "--profile", profile];
    fixture::run(&[&arguments, more].concat())
}

fn seeded(profile: &str) -> TempDir {
    let workspace = tempfile::tempdir().unwrap();
    let run = seed(workspace.path(), profile, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    workspace
}

/// Docs of tools in a workspace.
fn docs(workspace: &Path) -> Vec<String> {
    let names = fixture::tree(&workspace.join("tools")).into_keys();
    names.filter(|name| name.ends_with(".md") && name != "README.md").collect()
}

fn read(workspace: &TempDir, file: &str) -> String {
    fs::read_to_string(workspace.path().join(file)).unwrap()
}

#[test]
fn a_profile_seeds_its_tools_and_the_rule() {
    for (profile, tools) in [("creator", 27), ("validator", 40)] {
        let workspace = tempfile::tempdir().unwrap();
        assert_eq!(seed(workspace.path(), profile, &["--registry"]).code, 0);
        assert_eq!(docs(workspace.path()).len(), tools, "{profile}");
        let agents = read(&workspace, "AGENTS.md");
        assert!(agents.contains(DOC_7), "{agents}");
        assert!(agents.contains(&format!("{tools} tools")), "{agents}");
        let registry: serde_json::Value =
            serde_json::from_str(&read(&workspace, "tools/registry.json")).unwrap();
        assert_eq!(registry["profile"], profile);
        assert_eq!(registry["tools"].as_array().unwrap().len(), tools);
        let index = read(&workspace, "tools/README.md");
        for doc in docs(workspace.path()) {
            assert!(index.contains(&format!("({doc})")), "{doc} is not in the index");
        }
    }
}

#[test]
fn seeding_again_touches_nothing() {
    let workspace = seeded("creator");
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let files: Vec<_> = walkdir::WalkDir::new(workspace.path())
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.is_file())
        .collect();
    for file in &files {
        fs::File::options().append(true).open(file).unwrap().set_modified(old).unwrap();
    }
    let times = || -> BTreeMap<_, _> {
        files.iter().map(|file| (file.clone(), fs::metadata(file).unwrap().modified().unwrap())).collect()
    };
    let (before, tree) = (times(), fixture::tree(workspace.path()));
    assert_eq!(seed(workspace.path(), "creator", &[]).code, 0);
    fixture::assert_same_tree(&fixture::tree(workspace.path()), &tree);
    assert_eq!(times(), before);
}

#[test]
fn another_profile_prunes_only_what_is_ours() {
    let workspace = seeded("validator");
    fixture::write(workspace.path(), "tools/mine.md", "Mine.\n");
    fixture::write(workspace.path(), "notes/todo.md", "Also mine.\n");
    let run = seed(workspace.path(), "creator", &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let fresh = seeded("creator");
    let mut expect = fixture::tree(&fresh.path().join("tools"));
    expect.insert("mine.md".into(), b"Mine.\n".to_vec());
    fixture::assert_same_tree(&fixture::tree(&workspace.path().join("tools")), &expect);
    assert_eq!(read(&workspace, "notes/todo.md"), "Also mine.\n");
}

#[test]
fn another_profile_does_not_keep_the_description_of_the_first() {
    let workspace = seeded("validator");
    assert_eq!(seed(workspace.path(), "creator", &[]).code, 0);
    assert_eq!(read(&workspace, "AGENTS.md"), read(&seeded("creator"), "AGENTS.md"));
}

#[test]
fn the_users_agents_file_gets_a_block_and_keeps_the_rest() {
    let workspace = fixture::folder(&[("AGENTS.md", "# Mine\n\nBe kind.\n")]);
    assert_eq!(seed(workspace.path(), "creator", &[]).code, 0);
    let appended = read(&workspace, "AGENTS.md");
    assert!(appended.starts_with("# Mine\n\nBe kind.\n\n<!-- toolcrib:begin -->\n"), "{appended}");
    assert!(appended.ends_with("<!-- toolcrib:end -->\n") && appended.contains(DOC_7), "{appended}");

    let changed = format!("{}\nAfter it.\n", appended.replace("27 tools", "3 tools"));
    fixture::write(workspace.path(), "AGENTS.md", &changed);
    assert_eq!(seed(workspace.path(), "validator", &[]).code, 0);
    let renewed = read(&workspace, "AGENTS.md");
    assert!(renewed.starts_with("# Mine\n\nBe kind.\n\n<!-- toolcrib:begin -->\n"), "{renewed}");
    assert!(renewed.ends_with("<!-- toolcrib:end -->\n\nAfter it.\n"), "{renewed}");
    assert!(renewed.contains("40 tools") && !renewed.contains("3 tools are"), "{renewed}");
}

#[test]
fn a_tools_folder_of_the_users_is_refused() {
    let workspace = fixture::folder(&[("tools/README.md", "My tools.\n"), ("tools/saw.py", "print()\n")]);
    let before = fixture::tree(workspace.path());
    let run = seed(workspace.path(), "creator", &[]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("README.md") && run.stderr.contains("help"), "{}", run.stderr);
    fixture::assert_same_tree(&fixture::tree(workspace.path()), &before);
}

#[test]
fn a_template_folder_takes_the_place_of_ours() {
    let template = fixture::folder(&[
        (
            "CLAUDE.md",
            "# {{ title }}\n{{ profile }}: {{ description }} {{ tool_count }} {{ registry_version }}\n<!-- toolcrib:begin -->\n{{ tools }}\n<!-- toolcrib:end -->\n",
        ),
        ("inputs/README.md", "Put files here.\n"),
    ]);
    fs::write(template.path().join("logo.bin"), [0xff, 0x00, 0x7b, 0x7b]).unwrap();
    let workspace = fixture::folder(&[("inputs/README.md", "My own words.\n")]);
    let run = seed(workspace.path(), "creator", &["--registry", "--template", text(template.path())]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let page = read(&workspace, "CLAUDE.md");
    let registry: serde_json::Value = serde_json::from_str(&read(&workspace, "tools/registry.json")).unwrap();
    let version = registry["registry_version"].as_str().unwrap();
    assert!(page.starts_with("# Universal agent\ncreator: Reads documents"), "{page}");
    assert!(page.contains(&format!("sources. 27 {version}\n")) && page.contains(DOC_7), "{page}");
    assert_eq!(fs::read(workspace.path().join("logo.bin")).unwrap(), [0xff, 0x00, 0x7b, 0x7b]);
    assert_eq!(read(&workspace, "inputs/README.md"), "My own words.\n");
    assert!(!workspace.path().join("AGENTS.md").exists());
}

#[test]
fn a_template_takes_the_values_of_the_job() {
    let template = fixture::folder(&[
        (
            "AGENTS.md",
            "# Job {{ job_id }} of {{ customer.name }}\n<!-- toolcrib:begin -->\n{{ tools }}\n<!-- toolcrib:end -->\n",
        ),
        ("task/brief.md", "Due {{ due }}.\n"),
    ]);
    let values =
        fixture::folder(&[("vars.json", r#"{"job_id": 7, "customer": {"name": "Ada"}, "due": "today"}"#)]);
    let vars = values.path().join("vars.json");
    let workspace = fixture::folder(&[]);
    let given = ["--template", text(template.path()), "--vars", text(&vars), "--var", "job_id=42"];
    let run = seed(workspace.path(), "creator", &[&given[..], &["--json"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["written"], serde_json::json!(["AGENTS.md", "task/brief.md"]));
    assert_eq!((told["tools"].as_u64(), told["docs"]["created"].as_u64()), (Some(27), Some(28)));
    assert!(read(&workspace, "AGENTS.md").starts_with("# Job 42 of Ada\n"));
    assert_eq!(read(&workspace, "task/brief.md"), "Due today.\n");

    let missing =
        seed(workspace.path(), "creator", &["--template", text(template.path()), "--var", "job_id=1"]);
    assert_eq!(missing.code, 1);
    assert!(
        missing.stderr.contains("AGENTS.md:1:") && missing.stderr.contains("--var"),
        "{}",
        missing.stderr
    );
    for wrong in ["tools=mine", "no-value", "a-b=1", "=1"] {
        let run = seed(workspace.path(), "creator", &["--var", wrong]);
        assert_eq!(run.code, 2, "{wrong}: {}", run.stderr);
    }
}

#[test]
fn a_check_tells_the_changes_of_a_seed_and_makes_none() {
    let template = fixture::folder(&[("JOB.md", "Job {{ job }}\n")]);
    let workspace = fixture::folder(&[]);
    let run = |job: &str, more: &[&str]| {
        let given = ["--template", text(template.path()), "--var", job];
        seed(workspace.path(), "creator", &[&given[..], more].concat())
    };
    let first = run("job=1", &["--check", "--json"]);
    assert_eq!(first.code, 1);
    assert!(fixture::tree(workspace.path()).is_empty());
    let told: serde_json::Value = serde_json::from_str(&first.stdout).unwrap();
    assert!(told["created"].as_array().unwrap().contains(&"tools/README.md".into()), "{told}");
    let diff = run("job=1", &["--check"]).stdout;
    assert!(diff.contains("+++ b/tools/README.md\n"), "paths are those of the workspace: {diff}");
    assert_eq!(run("job=1", &[]).code, 0);
    assert_eq!(run("job=1", &["--check"]).code, 0);
    let before = fixture::tree(workspace.path());
    let other = run("job=2", &["--check"]);
    assert_eq!(other.code, 1);
    assert!(other.stdout.contains("-Job 1\n+Job 2\n"), "{}", other.stdout);
    fixture::assert_same_tree(&fixture::tree(workspace.path()), &before);
}

#[test]
fn a_seed_without_a_source_that_can_be_read_explains_itself() {
    let catalog = fixture::folder(&[("tools.json", "{\"tools\": [")]);
    let workspace = fixture::folder(&[]);
    let run = || fixture::run(&["seed", text(workspace.path()), text(catalog.path())]);
    let empty = run();
    assert_eq!(empty.code, 1);
    assert!(empty.stderr.contains("nothing was written"), "{}", empty.stderr);
    assert!(fixture::tree(workspace.path()).is_empty());
    fixture::write(workspace.path(), "notes.md", "Mine.\n");
    assert_eq!(run().code, 1);
    for file in ["AGENTS.md", "tools/README.md"] {
        let text = read(&workspace, file);
        assert!(text.contains("No tools are documented") && text.contains("could not be read"), "{text}");
    }
}

#[test]
fn a_broken_template_writes_nothing() {
    for broken in ["{{ nothing_of_that_name }}", "{% include \"/etc/passwd\" %}", "{{ tools "] {
        let template = fixture::folder(&[("AGENTS.md", broken)]);
        let workspace = tempfile::tempdir().unwrap();
        let run = seed(workspace.path(), "creator", &["--template", text(template.path())]);
        assert_eq!(run.code, 1, "{broken}");
        assert!(run.stderr.contains("AGENTS.md"), "{}", run.stderr);
        assert!(fixture::tree(workspace.path()).is_empty(), "{broken}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_symbolic_link() {
    use std::os::unix::fs::symlink;
    let elsewhere = fixture::folder(&[("target.md", "Not yours.\n"), ("docs/.keep", "")]);
    let workspace = tempfile::tempdir().unwrap();
    symlink(elsewhere.path().join("target.md"), workspace.path().join("AGENTS.md")).unwrap();
    let run = seed(workspace.path(), "creator", &[]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("AGENTS.md") && run.stderr.contains("symbolic link"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(elsewhere.path().join("target.md")).unwrap(), "Not yours.\n");
    assert!(!run.stderr.contains("documented"), "reported as done: {}", run.stderr);
}

#[cfg(unix)]
#[test]
fn docs_are_not_written_through_a_symbolic_link_out_of_the_workspace() {
    let elsewhere = fixture::folder(&[("docs/.keep", "")]);
    let workspace = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("docs"), workspace.path().join("tools")).unwrap();
    let before = fixture::tree(elsewhere.path());
    let run = seed(workspace.path(), "creator", &[]);
    assert_eq!(run.code, 1, "docs were written through the link `tools`");
    fixture::assert_same_tree(&fixture::tree(elsewhere.path()), &before);
}

#[test]
fn an_agents_file_with_unclear_markers_stays_as_it_is() {
    let (begin, end) = ("<!-- toolcrib:begin -->", "<!-- toolcrib:end -->");
    let workspace = fixture::folder(&[("AGENTS.md", "# Mine\n")]);
    assert_eq!(seed(workspace.path(), "creator", &[]).code, 0);
    let first = read(&workspace, "AGENTS.md");
    for unclear in [
        first.replace(&format!("{end}\n"), "\nMine after it.\n"),
        format!("{begin}\nAlso mine.\n{first}"),
        format!("```\n{begin}\n{end}\n```\n"),
    ] {
        fixture::write(workspace.path(), "AGENTS.md", &unclear);
        for profile in ["validator", "creator"] {
            let run = seed(workspace.path(), profile, &[]);
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(run.stderr.contains("AGENTS.md has toolcrib markers that do not pair"), "{}", run.stderr);
            assert_eq!(read(&workspace, "AGENTS.md"), unclear);
        }
    }
    let mention = format!("Leave `{begin}` to toolcrib.\nMine.\n\n{first}");
    fixture::write(workspace.path(), "AGENTS.md", &mention);
    assert_eq!(seed(workspace.path(), "creator", &[]).code, 0);
    assert_eq!(read(&workspace, "AGENTS.md"), mention);
}

#[test]
fn the_index_waits_while_a_source_cannot_be_read() {
    let tool = |name: &str| {
        format!(
            r#"{{"tools":[{{"name":"{name}","description":"Does {name}.","inputSchema":{{"type":"object"}}}}]}}"#
        )
    };
    let config = "[[source]]\npath = \"one.json\"\n\n[[source]]\npath = \"two.json\"\n";
    let catalog =
        fixture::folder(&[("toolcrib.toml", config), ("one.json", &tool("one")), ("two.json", &tool("two"))]);
    let workspace = fixture::folder(&[]);
    let seed = || fixture::run(&["seed", text(workspace.path()), text(catalog.path())]);
    let docs = workspace.path().join("tools");
    let check = || fixture::run(&["render", "--check", "--out", text(&docs), text(catalog.path())]);
    assert_eq!(seed().code, 0);
    let before = fixture::tree(workspace.path());

    fixture::write(catalog.path(), "two.json", "{ not json");
    fixture::write(catalog.path(), "one.json", &tool("one").replace("Does", "Still does"));
    for _ in 0..2 {
        let run = seed();
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stderr.contains("kept") && run.stderr.contains("README.md"), "{}", run.stderr);
        let mut now = fixture::tree(workspace.path());
        let page = now.insert("tools/one.md".into(), before["tools/one.md"].clone()).unwrap();
        assert!(String::from_utf8(page).unwrap().contains("Still does one."));
        fixture::assert_same_tree(&now, &before);
        assert_eq!(check().stdout, "");
    }
    // The tool is gone for good: the same tools as before, and now a new index.
    fixture::write(catalog.path(), "toolcrib.toml", "[[source]]\npath = \"one.json\"\n");
    let run = seed();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!docs.join("two.md").exists());
    for file in ["tools/README.md", "AGENTS.md"] {
        assert_ne!(read(&workspace, file).as_bytes(), before[file], "{file}");
    }
    assert!(!read(&workspace, "tools/README.md").contains("two.md"));
}

#[test]
fn a_template_that_fails_for_one_tool_writes_nothing() {
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let tools = format!(r#"{{"tools":[{},{}]}}"#, tool("aa"), tool("bb"));
    let template = "{{ heading }}\n{% if heading == \"bb\" %}{{ missing }}{% endif %}\n";
    let folder = fixture::folder(&[("tools.json", &tools), ("templates/docs/tool.md", template)]);
    let [catalog, templates, out] = ["tools.json", "templates", "out"].map(|name| folder.path().join(name));
    for _ in 0..2 {
        let run =
            fixture::run(&["render", text(&catalog), "--templates", text(&templates), "--out", text(&out)]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stderr.contains("bb.md") && run.stderr.contains("docs/tool.md"), "{}", run.stderr);
        assert!(fixture::tree(&out).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_way_is_named_and_not_waited_for() {
    let workspace = tempfile::tempdir().unwrap();
    let pipe = workspace.path().join("AGENTS.md");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let run = seed(workspace.path(), "creator", &[]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("AGENTS.md") && run.stderr.contains("regular file"), "{}", run.stderr);
    assert!(!workspace.path().join("tools").exists(), "something was written");
}

#[cfg(unix)]
#[test]
fn an_agents_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = fixture::folder(&[("AGENTS.md", "# Mine\n")]);
    let file = workspace.path().join("AGENTS.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(seed(workspace.path(), "creator", &[]).code, 0);
    assert!(read(&workspace, "AGENTS.md").contains(DOC_7));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_wrong_command_line_is_no_finding() {
    let workspace = tempfile::tempdir().unwrap();
    for (profile, more) in [("creater", &[][..]), ("creator", &["--template", "no/such/folder"][..])] {
        let run = seed(workspace.path(), profile, more);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(fixture::tree(workspace.path()).is_empty());
    }
    assert!(seed(workspace.path(), "creater", &[]).stderr.contains("did you mean \"creator\""));
}

#[test]
fn a_folder_without_tools_is_an_error_for_every_command_that_needs_some() {
    let catalog = fixture::folder(&[("notes.md", "No tools.\n")]);
    let workspace = catalog.path().join("workspace");
    for command in
        [&["seed", text(&workspace)][..], &["serve", "--stdio"], &["serve", "--listen", "127.0.0.1:0"]]
    {
        let run = fixture::run(&[command, &[text(catalog.path())]].concat());
        assert_eq!(run.code, 1, "{command:?}: {}", run.stderr);
        assert!(run.stderr.contains("holds no definition files"), "{command:?}: {}", run.stderr);
    }
}

#[test]
fn the_text_is_that_of_the_prompt_for_the_mode_of_the_agent() {
    for mode in ["full", "hybrid", "gateway", "files"] {
        let workspace = tempfile::tempdir().unwrap();
        assert_eq!(seed(workspace.path(), "creator", &["--mode", mode]).code, 0);
        let prompt = fixture::run(&["prompt", EXAMPLE, "--profile", "creator", "--mode", mode]);
        assert_eq!(prompt.code, 0, "{}", prompt.stderr);
        let agents = read(&workspace, "AGENTS.md");
        assert!(agents.contains(prompt.stdout.trim()), "{mode}: {agents}");
        assert!(!agents.contains("ask one question"), "{agents}");
        assert!(!agents.contains("You know these"), "{agents}");
        assert!(!workspace.path().join("tools/registry.json").exists());
        // Only a caller by op needs the op.
        let page = read(&workspace, "tools/web_search.md");
        assert_eq!(page.contains("**Op:**"), mode == "gateway", "{page}");
        assert!(!page.contains("receipt") && !page.contains("(guessed)"), "{page}");
    }
}

#[test]
fn a_role_seeds_the_tools_that_it_may_see() {
    let catalog = tempfile::tempdir().unwrap();
    let tool = |name: &str, roles: &str| {
        format!(
            r#"{{"name": "{name}", "description": "Reads the {name} of a house.", "parameters": {{"type": "object"}}, "allowed_roles": {roles}}}"#
        )
    };
    let tools = format!(
        "[{}, {}, {}]",
        tool("cellar", r#"["owner"]"#),
        tool("roof", r#"["roofer"]"#),
        tool("door", "[]")
    );
    fs::write(catalog.path().join("tools.json"), tools).unwrap();
    for (role, expected) in [("owner", ["cellar.md", "door.md"]), ("roofer", ["door.md", "roof.md"])] {
        let workspace = tempfile::tempdir().unwrap();
        let run = fixture::run(&["seed", text(workspace.path()), text(catalog.path()), "--role", role]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(docs(workspace.path()), expected);
        assert!(!read(&workspace, "tools/README.md").contains(if role == "owner" {
            "roof"
        } else {
            "cellar"
        }));
    }
}
