//! The help of the command line: its groups, the page made from it, and completions.

use snapbox::{Assert, Data};

use crate::fixture::{self, run};

#[test]
fn help_groups_commands_by_their_users() {
    let help = run(&["--help"]).stdout;
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
    assert!(help.lines().count() <= 40 && help.lines().all(|line| line.chars().count() <= 100), "{help}");
}

#[test]
fn a_catalog_as_an_option_is_answered_with_the_form_that_counts() {
    let wrong = run(&["check", "-c", "tools.json"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("`toolcrib check tools.json`"), "{}", wrong.stderr);
}

#[test]
fn the_page_of_the_commands_is_their_help() {
    let mut page = String::from(
        "# Commands\n\nEvery command with all of its options, as `--help` prints them. [Command line](../cli.md) explains them with examples.\n\
         This page is made from the program: `SNAPSHOTS=overwrite cargo test --test it commands::`.\n",
    );
    let help = run(&["--help"]).stdout;
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
    let told = run(&[command, &["--help"]].concat());
    assert_eq!(told.code, 0, "{}", told.stderr);
    *page += &format!("\n### `toolcrib {}`\n\n```text\n{}\n```\n", command.join(" "), told.stdout.trim_end());
    let below = told.stdout.split("\nCommands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    for name in below.unwrap_or_default().lines().filter_map(named).filter(|name| *name != "help") {
        section(page, &[command, &[name]].concat());
    }
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
