//! The house rules, as tests: file lengths, the code table, dependencies' licences.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

#[path = "tidy/book.rs"]
mod book;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/judged.rs"]
mod judged;
#[path = "tidy/providers.rs"]
mod providers;

const MAX_LINES: usize = 800;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<(PathBuf, String)> {
    let folders = ["src", "crates"].map(|folder| WalkDir::new(root().join(folder)).sort_by_file_name());
    let files = folders.into_iter().flatten().map(Result::unwrap);
    let rust = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    rust.map(|entry| (entry.path().to_path_buf(), fs::read_to_string(entry.path()).unwrap())).collect()
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    for (file, text) in sources() {
        let name = relative(&file);
        assert!(text.lines().count() <= MAX_LINES, "{name} has over {MAX_LINES} lines");
        assert!(text.starts_with("//!"), "{name} does not open with what it is for");
    }
}

#[test]
fn only_the_command_line_prints() {
    for (file, text) in sources() {
        let name = relative(&file);
        let is_cli = name.starts_with("src/cli/");
        let prints = ["println!(", "eprintln!(", "print!(", "dbg!("].iter().any(|word| text.contains(word));
        let measures = name.contains("/examples/");
        assert!(is_cli || measures || !prints || name.contains("test"), "{name} prints");
    }
}

#[test]
fn every_code_is_documented_and_every_documented_code_exists() {
    let page = fs::read_to_string(root().join("docs/findings.md")).unwrap();
    let documented: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|code| code.trim_matches('`'))
        .collect();
    let known: BTreeSet<&str> = toolcrib::finding::Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(documented, known);
}

#[test]
fn dependencies_have_licences_we_allow() {
    // Of this platform: cargo has not fetched what only others need.
    let compiler = std::process::Command::new("rustc").arg("-vV").output().unwrap();
    let told = String::from_utf8_lossy(&compiler.stdout).into_owned();
    let platform = told.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", platform])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let deny: toml::Table = fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let allowed: Vec<&str> =
        deny["licenses"]["allow"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let fits = |expression: &str| {
        expression.replace('/', " OR ").split(" OR ").any(|choice| {
            choice
                .trim_matches(['(', ')', ' '])
                .split(" AND ")
                .all(|licence| allowed.contains(&licence.trim_matches(['(', ')', ' '])))
        })
    };
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or("none");
        if !fits(licence) {
            wrong.push(format!("{}: {licence}", package["name"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Crates that must stay out of the core: runtimes, network, SQL, the command line.
const NOT_IN_THE_CORE: [&str; 20] = [
    "ammonia", "axum", "clap", "hyper", "hyper-util", "mio", "native-tls", "notify", "process-wrap",
    "reqwest", "ring", "rmcp", "rusqlite", "rustls", "socket2", "tokio", "tokio-postgres", "tower",
    "tracing", "ureq",
];

#[test]
fn the_core_has_neither_runtime_nor_network_nor_sql() {
    let tree = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--edges", "normal", "--no-default-features", "--prefix", "none", "--format", "{p}"])
        .args(["--package", "toolcrib"])
        .args(["--locked", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let packages: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(packages.contains("toolcrib") && packages.contains("serde_json"), "{packages:?}");
    let wrong: Vec<&str> = NOT_IN_THE_CORE.into_iter().filter(|name| packages.contains(name)).collect();
    assert!(
        wrong.is_empty(),
        "the core depends on {wrong:?}; put what needs them behind the feature `runtime`"
    );
}

#[test]
fn every_template_is_embedded() {
    let by = [
        ("templates", "src/built_in.rs"),
        ("workspace-template", "src/built_in.rs"),
        ("starter", "src/cli/init.rs"),
    ];
    for (folder, file) in by {
        let text = fs::read_to_string(root().join(file)).unwrap();
        for entry in WalkDir::new(root().join(folder)).into_iter().map(Result::unwrap) {
            let name = entry.path().strip_prefix(root().join(folder)).unwrap().to_string_lossy().into_owned();
            let is_embedded = text.contains(&format!("\"{name}\""));
            assert!(entry.file_type().is_dir() || is_embedded, "{file} does not embed {folder}/{name}");
        }
    }
}

#[test]
fn the_schemas_for_editors_are_current() {
    let check = |name: &str, schema: serde_json::Value| {
        let shipped = fs::read_to_string(root().join("schema").join(name)).unwrap();
        assert_eq!(shipped, format!("{schema:#}\n"), "run `just schemas` to renew schema/{name}");
    };
    let (definition, config) = toolcrib::config::schemas_for_editors();
    check("definition.schema.json", definition);
    check("toolcrib.schema.json", config);
}

#[test]
fn the_readmes_of_crates_name_files_that_exist() {
    for entry in fs::read_dir(root().join("crates")).unwrap().map(Result::unwrap) {
        let text = fs::read_to_string(entry.path().join("README.md")).unwrap();
        for name in text.split('`').skip(1).step_by(2).filter(|name| name.starts_with("src/")) {
            assert!(entry.path().join(name).exists(), "{}/README.md: {name}", relative(&entry.path()));
        }
    }
}

#[test]
fn the_readme_begins_with_the_two_commands() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let first = readme.find("cargo run -- seed demo examples/universal-agent --profile creator");
    let second = readme.find("\ncargo test\n");
    assert!(matches!((first, second), (Some(first), Some(second)) if first < second));
}

#[test]
fn tests_read_the_checkout_alone_and_hide_nothing_that_they_skip() {
    for folder in ["src", "crates", "tests"] {
        for entry in WalkDir::new(root().join(folder)).into_iter().map(Result::unwrap) {
            let is_rust = entry.path().extension().is_some_and(|extension| extension == "rs");
            if !is_rust || entry.file_name() == "tidy.rs" {
                continue;
            }
            let (name, text) = (relative(entry.path()), fs::read_to_string(entry.path()).unwrap());
            assert!(!text.contains("../shared"), "{name} reads what is not in the checkout");
            let is_silent = text.contains("println!(\"skipped")
                || text.replace("#[ignore = \"slow\"]", "").contains("#[ignore");
            assert!(!is_silent, "{name} skips; call skipped() of tests/it/skipped.rs, which reports it");
        }
    }
}

#[test]
fn the_tests_that_the_threat_model_names_exist() {
    let text = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let table = text.split("## Threat model").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let tests = root().join("tests/it");
    let names: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'))
        .filter_map(|line| line.trim_end_matches('|').rsplit('|').next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let path = name.replace("::", "/");
        let is_module = || tests.join(&path).with_extension("rs").is_file() || root().join(name).is_file();
        let is_test = || {
            let (module, test) = path.rsplit_once('/')?;
            let file = [tests.as_path(), root()]
                .into_iter()
                .find_map(|folder| fs::read_to_string(folder.join(module).with_extension("rs")).ok());
            Some(file?.contains(&format!("fn {test}(")))
        };
        assert!(is_module() || is_test() == Some(true), "SECURITY.md names a test that is not there: {name}");
    }
}

/// Phrases of the old dialect. A plain sentence names the thing: "is not a secret", "no tool", "toolcrib reports".
const OLD_DIALECT: [&str; 5] = [
    "(?:is|are) (?:none|told)",
    "[Nn]one (?:of)",
    "as it (?:came)",
    "merely (?:found)",
    "if there (?:is any)|sees (?:to it)",
];

#[test]
fn prose_has_no_pattern_of_the_old_dialect() {
    let pattern = regex::Regex::new(&format!(r"\b(?:{})\b", OLD_DIALECT.join("|"))).unwrap();
    let mut wrong = Vec::new();
    for (name, text) in rust_files().into_iter().chain(pages()) {
        // Test data is the text of other projects.
        if name.starts_with("tests/data/") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            // Only comments, strings and pages are prose; a string of several lines may have no quote on a line.
            let found = pattern.find_iter(line).map(|found| found.as_str());
            wrong.extend(found.map(|found| format!("{name}:{}: {found}", number + 1)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Pages in markdown at the root and in `docs/`, with their relative paths.
fn pages() -> Vec<(String, String)> {
    let top = WalkDir::new(root()).max_depth(1).sort_by_file_name();
    let files =
        top.into_iter().chain(WalkDir::new(root().join("docs")).sort_by_file_name()).filter_map(Result::ok);
    let pages = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"));
    pages.map(|entry| (relative(entry.path()), fs::read_to_string(entry.path()).unwrap())).collect()
}

/// Sources and tests that are written in Rust, with their relative paths.
fn rust_files() -> Vec<(String, String)> {
    let folders =
        ["src", "crates", "tests", "fuzz/src", "benches", "examples"].map(|folder| root().join(folder));
    let files = folders
        .into_iter()
        .flat_map(|folder| WalkDir::new(folder).sort_by_file_name())
        .filter_map(Result::ok);
    let rust = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    rust.map(|entry| (relative(entry.path()), fs::read_to_string(entry.path()).unwrap())).collect()
}

#[test]
fn references_lead_to_files_and_ids_of_the_repository() {
    let gone = regex::Regex::new(&["design", "REQUIREMENTS"].map(|name| format!(r"\b{name}\.md")).join("|"))
        .unwrap();
    let page = regex::Regex::new(r"\bdocs/reference/\w+\.md").unwrap();
    let id = regex::Regex::new(r"\b(?:DOC|BIND|REG|HELP|EXEC|BATCH|CACHE|RULE|DISC|API|DEF|CALL|PICK)-\d+\b")
        .unwrap();
    let requirements = fs::read_to_string(root().join("docs/reference/requirements.md")).unwrap();
    let known: BTreeSet<&str> = id.find_iter(&requirements).map(|found| found.as_str()).collect();
    let mut wrong = Vec::new();
    for (name, text) in rust_files().into_iter().chain(pages()) {
        for (number, line) in text.lines().enumerate() {
            let unknown = id.find_iter(line).filter(|found| !known.contains(found.as_str()));
            let missing = page.find_iter(line).filter(|found| !root().join(found.as_str()).is_file());
            for found in gone.find_iter(line).chain(unknown).chain(missing) {
                wrong.push(format!("{name}:{}: {}", number + 1, found.as_str()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
