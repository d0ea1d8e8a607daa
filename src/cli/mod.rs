//! The command line: the subcommands, and the only place that prints.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 findings or failure, 2 wrong command line,
//! 70 internal error.

mod adopt;
mod approvals;
mod call;
mod catalog;
mod check;
mod doctor;
mod eval;
mod init;
mod login;
mod payload;
mod render;
mod screen;
mod search;
mod seed;
mod serve;
mod services;
mod trace;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use screen::escaped;

use toolcrib_catalog::UnknownProfile;
use toolcrib_catalog::config::schemas_for_editors;

/// Documentation for agent tools, read at the moment of need.
#[derive(Debug, Parser)]
#[command(name = "toolcrib", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Try it:
  toolcrib adopt cursor                  your client's servers, as one entry
  toolcrib seed workspace tools.json     docs in an agent's workspace
Exit codes: 0 done, 1 findings or failure, 2 wrong command line, 70 internal error.";

/// The subcommands, each with its arguments.
macro_rules! commands {
    ($($command:ident($arguments:ty),)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($command($arguments),)*
        }

        impl Command {
            fn run(self) -> CommandResult {
                match self {
                    $(Self::$command(arguments) => arguments.run(),)*
                }
            }
        }
    };
}

commands! {
    Init(init::InitArgs),
    Adopt(adopt::AdoptArgs),
    Login(login::LoginArgs),
    Doctor(doctor::DoctorArgs),
    Check(check::CheckArgs),
    Render(render::RenderArgs),
    Seed(seed::SeedArgs),
    Payload(payload::PayloadArgs),
    Parse(payload::ParseArgs),
    Results(payload::ResultsArgs),
    Prompt(payload::PromptArgs),
    Tokens(payload::TokensArgs),
    Search(search::SearchArgs),
    Eval(eval::EvalArgs),
    Call(call::CallArgs),
    Serve(serve::ServeArgs),
    Trace(trace::TraceArgs),
    Approvals(approvals::ApprovalsArgs),
    Schema(SchemaArgs),
    Completions(CompletionsArgs),
}

/// Reason why a command failed.
enum CommandError {
    /// Findings, or a failure; reported already, or by this message.
    Findings(Option<String>),
    /// A mistake in the command line.
    Usage(String),
}

impl From<UnknownProfile> for CommandError {
    fn from(error: UnknownProfile) -> Self {
        CommandError::Usage(error.to_string())
    }
}

/// A failure with a message.
fn failed(message: impl ToString) -> CommandError {
    CommandError::Findings(Some(message.to_string()))
}

/// A runtime for work that waits, on this thread.
fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| failed(format!("cannot start: {error}")))
}

type CommandResult = Result<(), CommandError>;

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    std::panic::set_hook(Box::new(report_panic));
    let all = std::env::args().skip(1).eq(["help", "--all"]);
    let mut command_line = command_line(all);
    let matches = match all {
        true => command_line.try_get_matches_from_mut(["toolcrib", "--help"]),
        false => command_line.try_get_matches(),
    };
    let arguments = match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return refused(error),
    };
    start_workers();
    let outcome = std::panic::catch_unwind(|| arguments.command.run());
    watch::finish_refreshes();
    match outcome {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(CommandError::Findings(text))) => {
            text.iter().for_each(|text| print_error(text));
            ExitCode::from(1)
        }
        Ok(Err(CommandError::Usage(text))) => {
            print_error(&text);
            ExitCode::from(2)
        }
        Err(_) => {
            print_note(
                "This is a mistake in toolcrib, not in your input. Nothing that was written is cut short.",
            );
            ExitCode::from(70)
        }
    }
}

/// Answers a command line that runs no command: help, a version, or a mistake.
fn refused(error: clap::Error) -> ExitCode {
    let text = error.render().ansi().to_string();
    match error.use_stderr() {
        true => print_note(text.trim_end()),
        false => drop(print(&text)),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints the place of a panic. Its message may hold arguments of callers, which do not belong in a server's log.
fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let backtrace = std::backtrace::Backtrace::capture();
    match tracing::dispatcher::has_been_set() {
        true => tracing::error!(place, "a call or a task panicked"),
        false => print_note(toolcrib_definition::clean_line(&panic.to_string())),
    }
    if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        print_note(backtrace);
    }
}

/// One worker per core, up to a limit and whatever the environment says. Each stack has room for schemas nested as
/// deeply as a document may be.
fn start_workers() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // In a process that calls this twice, the pool exists already and serves as well.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(cores.min(16)).stack_size(16 << 20).build_global();
}

const BOLD_RED: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();

/// Prints data to stdout. A closed pipe is no error, since the reader has enough; any other failure is.
fn print(text: &str) -> CommandResult {
    use std::io::{ErrorKind, Write};
    let mut out = anstream::stdout().lock();
    match out.write_all(escaped(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(failed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a diff to stdout. The runner of a job would take a line of it that begins with `::` for a command.
fn print_diff(diff: &str) -> CommandResult {
    let is_command = |line: &str| line.trim_start().starts_with("::");
    let shown = |line: &str| line.replacen("::", "\\::", usize::from(is_command(line)));
    print(&diff.split_inclusive('\n').map(shown).collect::<String>())
}

/// Prints an error to stderr.
fn print_error(text: &str) {
    print_note(format!("{}error:{} {text}", BOLD_RED.render(), BOLD_RED.render_reset()));
}

/// Prints a note to stderr.
fn print_note(text: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{}", escaped(&text.to_string()));
}

// The program about itself: its help, with the commands grouped by the people who use them, shell completions, and the JSON
// Schemas of its formats.

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
fn command_line(all: bool) -> clap::Command {
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
fn with_first_examples(command: clap::Command) -> clap::Command {
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
fn group(command: &clap::Command, heading: &str, names: &[&str]) -> String {
    let commands = names.iter().filter_map(|name| command.find_subcommand(name).cloned()).enumerate();
    let mut list = clap::Command::new("toolcrib")
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
struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

impl CompletionsArgs {
    fn run(self) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line(false), "toolcrib", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}

/// Print the JSON Schema of one of toolcrib's formats, for editors that complete and check.
#[derive(Debug, clap::Args)]
struct SchemaArgs {
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
    fn run(self) -> CommandResult {
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
        let mut known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
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
