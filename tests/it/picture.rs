//! The picture of the README: a terminal in which the program runs, drawn from what it prints.
//!
//! `SNAPSHOTS=overwrite cargo test --test it picture::` draws it anew.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;

use snapbox::{Assert, Data};

use crate::fixture;

/// A definition with two mistakes, which the picture shows.
const LAMP: &str = "\
name: lamp
description: Switches the lamp on or off.
short_desc: Switch the lamp
parameters:
  type: object
  properties:
    on: { type: boolean, description: Whether it shines. }
";

/// The commands of the picture.
const COMMANDS: [&str; 5] = [
    "toolcrib tokens examples/github --profile core --verbose | sed -n '5,7p;9p'",
    "toolcrib seed job examples/github --profile core",
    "toolcrib search \"close an issue\" examples/github --limit 2",
    "toolcrib search \"water the plants\" examples/github",
    "toolcrib check lamp.yaml",
];

#[test]
fn the_picture_of_the_readme_is_what_the_program_prints() {
    let folder = fixture::folder(&[("lamp.yaml", LAMP)]);
    symlink(fixture::package().join("examples"), folder.path().join("examples")).unwrap();
    let terminal: Vec<String> = COMMANDS.iter().map(|command| shown(folder.path(), command)).collect();
    let picture = anstyle_svg::Term::new().render_svg(&terminal.join("\n"));
    let file = fixture::package().join("docs/terminal.svg");
    Assert::new()
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV)
        .eq(picture, Data::read_from(&file, None).raw());
}

/// A command behind a prompt, and its output with colours, as a terminal shows both.
fn shown(folder: &Path, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_toolcrib")).parent().unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("PATH={}:$PATH; ({command}) 2>&1", program.display())).current_dir(folder);
    for variable in ["HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        shell.env(variable, folder.join("home"));
    }
    let output = shell.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR").output().unwrap();
    let prompt = "\u{1b}[1;32m$\u{1b}[0m";
    format!("{prompt} \u{1b}[1m{command}\u{1b}[0m\n{}", String::from_utf8(output.stdout).unwrap())
}
