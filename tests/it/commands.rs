//! The help of the command line: its groups, the page made from it, and completions.

use snapbox::{Assert, Data};

use crate::fixture::{self, run};

/// Arguments of most commands, which the introduction of the page explains.
const SHARED: [&str; 3] = ["[CATALOG]", "--offline", "-h, --help"];
/// Lines of a screen.
const SCREEN: usize = 40;

#[test]
fn the_first_screen_shows_eight_commands_and_where_the_others_are() {
    let help = run(&["--help"]).stdout;
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let names: Vec<&str> = list.lines().filter_map(named).collect();
    assert_eq!(names, ["seed", "check", "serve", "search", "payload", "tokens", "adopt", "doctor"]);
    assert!(help.contains("toolcrib help --all") && help.lines().count() <= 24, "{help}");
}

#[test]
fn the_help_of_each_command_fits_a_screen() {
    let all = run(&["help", "--all"]).stdout;
    for name in all.split("\nOptions:").next().unwrap().lines().filter_map(named) {
        let help = run(&[name, "--help"]).stdout;
        assert!(help.lines().count() <= SCREEN, "{name}: {} lines\n{help}", help.lines().count());
        assert!(help.contains(&format!("`toolcrib help {name}` says more")), "{help}");
    }
}

#[test]
fn help_groups_commands_by_their_users() {
    let help = run(&["help", "--all"]).stdout;
    let place = |line: &str| help.find(line).unwrap_or_else(|| panic!("no {line:?} in:\n{help}"));
    let places = [
        "\nFor people who write tools:\n  init ",
        "\n  check ",
        "\nFor people who start agents:\n  seed ",
        "\n  payload ",
        "\nFor people who run servers:\n  adopt ",
        "\n  serve ",
        "\nFor your shell:\n  completions ",
        "\nOptions:\n",
        "\nTry it:\n",
    ]
    .map(place);
    assert!(places.is_sorted(), "{help}");
    assert!(help.lines().count() <= SCREEN && help.lines().all(|line| line.chars().count() <= 100), "{help}");
}

#[test]
fn a_catalog_may_be_named_by_an_option() {
    let given = |option: &[&str]| {
        run(&[&["search", "create a branch"], option, &["examples/github"]].concat()).stdout
    };
    assert!(given(&[]).contains("create_branch"));
    assert_eq!(given(&["--catalog"]), given(&[]));
}

#[test]
fn the_page_of_the_commands_is_their_help() {
    let mut page = String::from(include_str!("commands.md"));
    let help = run(&["help", "--all"]).stdout;
    let groups = help.split("\nOptions:").next().unwrap();
    for line in groups.lines() {
        match (line.strip_suffix(':'), named(line)) {
            (Some(heading), None) => page += &format!("\n## {heading}\n"),
            (_, Some(name)) => section(&mut page, &[name]),
            _ => {}
        }
    }
    let file = fixture::package().join("docs/reference/commands.md");
    Assert::new()
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV)
        .eq(page, Data::read_from(&file, None).raw());
}

/// The command that a line of a list names.
fn named(line: &str) -> Option<&str> {
    let name = line.strip_prefix("  ").filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))?;
    name.split(' ').next()
}

/// The sections of a command and of those below it.
fn section(page: &mut String, command: &[&str]) {
    let printed = run(&[&["help"], command].concat());
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    *page +=
        &format!("\n### `toolcrib {}`\n\n```text\n{}\n```\n", command.join(" "), own_help(&printed.stdout));
    let below = printed.stdout.split("\nCommands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    for name in below.unwrap_or_default().lines().filter_map(named).filter(|name| *name != "help") {
        section(page, &[command, &[name]].concat());
    }
}

/// The help of a command without the arguments that the page explains at its top.
fn own_help(help: &str) -> String {
    let mut own: Vec<String> = Vec::new();
    let mut heading = None;
    for block in help.trim_end().split("\n\n") {
        let (first, rest) = block.split_once('\n').unwrap_or((block, ""));
        let is_heading = matches!(first, "Arguments:" | "Options:");
        if is_heading || !block.starts_with(' ') {
            heading = is_heading.then_some(first);
        }
        let item = if is_heading { rest } else { block };
        let name = item.lines().next().unwrap_or_default().trim();
        if !SHARED.contains(&name) {
            own.push(heading.take().map_or_else(|| item.to_string(), |heading| format!("{heading}\n{item}")));
        }
    }
    own.join("\n\n")
}

#[test]
fn completions_know_commands_of_every_group() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&["completions", shell]).stdout;
        for command in ["check", "seed", "adopt"] {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
    }
}
