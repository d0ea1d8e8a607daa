//! The program about itself: its help, with the commands grouped by the people who use them, shell completions
//! (`toolcrib completions`), and the JSON Schemas of its formats (`toolcrib schema`).

use clap::{Command, CommandFactory};

use super::{Arguments, CommandResult, print};
use toolcrib_catalog::config::schemas_for_editors;

/// The commands of the first screen, in the order of first use.
const FIRST: [&str; 8] = ["seed", "check", "serve", "search", "payload", "tokens", "adopt", "doctor"];

/// Each group of people with their commands, in the order of use. A command has exactly one group.
const GROUPS: [(&str, &[&str]); 4] = [
    ("For people who write tools", &["init", "check", "render", "eval", "schema"]),
    (
        "For people who start agents",
        &["seed", "payload", "prompt", "parse", "results", "search", "call", "tokens"],
    ),
    ("For people who run servers", &["adopt", "doctor", "login", "serve", "approvals", "trace"]),
    ("For your shell", &["completions"]),
];

/// The command line: its help shows the commands of the first screen, or all of them in groups.
pub(super) fn command_line(all: bool) -> Command {
    let command = with_first_examples(Arguments::command());
    let lists: String = match all {
        true => GROUPS.iter().map(|(heading, names)| group(&command, heading, names)).collect(),
        false => group(&command, "Commands", &FIRST),
    };
    let more = if all { "" } else { "\nAll commands: toolcrib help --all" };
    let (bold, plain) = (heading_style().render(), heading_style().render_reset());
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{lists}{bold}Options:{plain}\n  -h, --help     Print help\n  -V, --version  Print version{{after-help}}{more}"
    );
    command.help_template(template)
}

/// `-h` of a command has to fit a screen, so it shows the first example alone.
fn with_first_examples(command: Command) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_string()).collect();
    names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| {
            let Some(all) = command.get_after_help().map(ToString::to_string) else { return command };
            let first: Vec<&str> = all.lines().take(2).collect();
            command.after_help(first.join("\n")).after_long_help(all)
        })
    })
}

/// The heading of a list, and its commands with their purposes, wrapped to the width of the terminal.
fn group(command: &Command, heading: &str, names: &[&str]) -> String {
    let commands = names.iter().filter_map(|name| command.find_subcommand(name).cloned()).enumerate();
    let mut list = Command::new("toolcrib")
        .disable_help_subcommand(true)
        .max_term_width(100)
        .help_template("{subcommands}")
        .subcommands(commands.map(|(place, command)| command.display_order(place)));
    let (bold, plain) = (heading_style().render(), heading_style().render_reset());
    format!("{bold}{heading}:{plain}\n{}\n\n", list.render_help().ansi().to_string().trim_end())
}

/// The style of clap's own headings.
fn heading_style() -> anstyle::Style {
    *clap::builder::Styles::styled().get_header()
}

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib completions bash > ~/.local/share/bash-completion/completions/toolcrib"
)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

impl CompletionsArgs {
    pub(super) fn run(self) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line(false), "toolcrib", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}

/// Print the JSON Schema of one of toolcrib's formats, for editors that complete and check.
#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// The format.
    #[arg(value_enum)]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// One tool definition.
    Definition,
    /// toolcrib.toml.
    Config,
}

impl SchemaArgs {
    pub(super) fn run(self) -> CommandResult {
        let schema = match self.format {
            Format::Definition => schemas_for_editors().0,
            Format::Config => schemas_for_editors().1,
        };
        print(&format!("{schema:#}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_belongs_to_one_group_of_people() {
        let command = Arguments::command();
        let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn the_command_line_is_defined_without_contradiction() {
        command_line(false).debug_assert();
    }
}
