//! The help of the program, with the commands grouped by the people who use them.

use super::io::Io;

/// The widest help, in columns.
pub(super) const MAX_WIDTH: usize = 100;

/// The commands of the first screen, in the order of first use.
const FIRST: [&str; 8] = ["seed", "check", "serve", "search", "payload", "tokens", "adopt", "doctor"];

/// Each group of people with their commands, in the order of use. A command has exactly one group.
pub(super) const GROUPS: [(&str, &[&str]); 4] = [
    ("For people who write tools", &["init", "check", "render", "eval", "schema"]),
    (
        "For people who start agents",
        &["seed", "payload", "prompt", "parse", "results", "search", "call", "tokens"],
    ),
    ("For people who run servers", &["adopt", "doctor", "login", "serve", "approvals", "trace"]),
    ("For your shell", &["completions"]),
];

/// The command line: its help shows the commands of the first screen, or all of them in groups.
pub(super) fn command_line(io: &Io, command: clap::Command, all: bool) -> clap::Command {
    let command = with_short_help(fitted(io, command), "");
    let group = |heading: &str, names: &[&str]| group(io, &command, heading, names);
    let lists: String = if all {
        GROUPS.iter().map(|(heading, names)| group(heading, names)).collect()
    } else {
        group("Commands", &FIRST)
    };
    let more = if all { "" } else { "\nAll commands: toolcrib help --all" };
    let bold = heading_style().render();
    let plain = heading_style().render_reset();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{lists}{bold}Options:{plain}\n  -h, --help     Print help\n  -V, --version  Print version{{after-help}}{more}"
    );
    command.help_template(template)
}

/// Help on a command that fits a screen: one line an option, and the first example. `toolcrib help COMMAND` has the rest.
fn with_short_help(command: clap::Command, path: &str) -> clap::Command {
    let names: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_string()).collect();
    names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| {
            let path = format!("{path} {name}");
            let flag = clap::Arg::new("help").short('h').long("help").action(clap::ArgAction::HelpShort);
            let flag = flag.help(format!("Print help; `toolcrib help{path}` says more"));
            let command = with_short_help(command.disable_help_flag(true).arg(flag), &path);
            let Some(all) = command.get_after_help().map(ToString::to_string) else { return command };
            let first: Vec<&str> = all.lines().take(2).collect();
            command.after_help(first.join("\n")).after_long_help(all)
        })
    })
}

/// A command whose help has the width of a pipe, unless it is for the process, which may have a terminal.
fn fitted(io: &Io, command: clap::Command) -> clap::Command {
    if io.is_process() { command } else { command.term_width(MAX_WIDTH) }
}

/// The heading of a list, and its commands with their purposes, wrapped to the width of the terminal.
fn group(io: &Io, command: &clap::Command, heading: &str, names: &[&str]) -> String {
    let commands = names.iter().filter_map(|name| command.find_subcommand(name).cloned()).enumerate();
    let mut list = fitted(io, clap::Command::new("toolcrib"))
        .disable_help_subcommand(true)
        .max_term_width(MAX_WIDTH)
        .help_template("{subcommands}")
        .subcommands(commands.map(|(place, command)| command.display_order(place)));
    let bold = heading_style().render();
    let plain = heading_style().render_reset();
    format!("{bold}{heading}:{plain}\n{}\n\n", list.render_help().ansi().to_string().trim_end())
}

/// The style of clap's own headings.
fn heading_style() -> anstyle::Style {
    *clap::builder::Styles::styled().get_header()
}
