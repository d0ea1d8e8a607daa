//! The command line: the subcommands, and the only place that prints.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 findings or failure, 2 wrong command line,
//! 70 internal error.

mod adopt;
mod approvals;
mod call;
mod catalog;
mod check;
mod completions;
mod differences;
mod docs;
mod doctor;
mod error;
mod escape;
mod eval;
mod features;
mod findings;
mod help;
mod init;
mod io;
mod log;
mod login;
mod parse;
mod payload;
mod pick;
mod progress;
mod prompt;
mod render;
mod results;
mod runtime;
mod schema;
mod search;
mod seed;
mod serve;
mod servers;
mod services;
mod signals;
mod state;
mod tokens;
mod trace;
mod watch;
mod word;

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use error::{CommandError, CommandResult};
use help::{MAX_WIDTH, command_line};
pub use io::Io;
use signals::finish_refreshes;

/// Documentation for agent tools, read at the moment of need.
#[derive(Debug, Parser)]
#[command(name = "toolcrib", version, long_version = features::VERSION.as_str(), after_help = EXAMPLES, max_term_width = MAX_WIDTH)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Try it:
  toolcrib adopt cursor                  your client's servers, as one entry
  toolcrib seed workspace tools.json     docs in an agent's workspace
Exit codes: 0 done, 1 findings or failure, 2 wrong command line, 70 internal error.";

/// The subcommands, each with its arguments. Completions are those of the whole command line.
macro_rules! commands {
    ($($command:ident($arguments:ty),)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($command($arguments),)*
            Completions(completions::CompletionsArgs),
        }

        impl Command {
            fn run(self, io: &Io) -> CommandResult {
                match self {
                    $(Self::$command(arguments) => arguments.run(io),)*
                    Self::Completions(arguments) => {
                        arguments.run(io, command_line(io, Arguments::command(), false))
                    }
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
    Parse(parse::ParseArgs),
    Results(results::ResultsArgs),
    Prompt(prompt::PromptArgs),
    Tokens(tokens::TokensArgs),
    Search(search::SearchArgs),
    Eval(eval::EvalArgs),
    Call(call::CallArgs),
    Serve(serve::ServeArgs),
    Trace(trace::TraceArgs),
    Approvals(approvals::ApprovalsArgs),
    Schema(schema::SchemaArgs),
}

/// Runs the program with the arguments and the streams of the process.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_panic));
    ExitCode::from(run(std::env::args_os(), &Io::of_process()))
}

/// Runs the program with these arguments, the first of which is its name, and returns its exit code. Where the streams are not those
/// of the process, it changes nothing of the process, but for the log of `serve`.
pub fn run(arguments: impl IntoIterator<Item = OsString>, io: &Io) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let all = arguments.iter().skip(1).eq(["help", "--all"]);
    let mut command_line = command_line(io, Arguments::command(), all);
    let matches = if all {
        command_line.try_get_matches_from_mut(["toolcrib", "--help"])
    } else {
        command_line.try_get_matches_from_mut(arguments)
    };
    let arguments = match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return refused(io, &error),
    };
    if io.is_process() {
        start_workers();
    }
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| arguments.command.run(io)));
    if io.is_process() {
        finish_refreshes();
    }
    match outcome {
        Ok(Ok(())) => 0,
        Ok(Err(CommandError::Findings(text))) => {
            text.iter().for_each(|text| io.error(text));
            1
        }
        Ok(Err(CommandError::Usage(text))) => {
            io.error(&text);
            2
        }
        Err(_) => {
            io.note(
                "This is a mistake in toolcrib, not in your input. Nothing that was written is cut short.",
            );
            70
        }
    }
}

/// Answers a command line that runs no command: help, a version, or a mistake.
fn refused(io: &Io, error: &clap::Error) -> u8 {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        io.note(text.trim_end())
    } else {
        drop(io.print(&text))
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Prints the place of a panic. Its message may hold arguments of callers, which do not belong in a server's log.
fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let io = Io::of_process();
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let backtrace = std::backtrace::Backtrace::capture();
    if tracing::dispatcher::has_been_set() {
        tracing::error!(place, "a call or a task panicked")
    } else {
        io.note(toolcrib_definition::clean_line(&panic.to_string()))
    }
    if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        io.note(backtrace);
    }
}

/// One worker per core, up to a limit and whatever the environment says. Each stack has room for schemas nested as
/// deeply as a document may be.
fn start_workers() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let _ = rayon::ThreadPoolBuilder::new().num_threads(cores.min(16)).stack_size(16 << 20).build_global();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_belongs_to_one_group_of_people() {
        let command = Arguments::command();
        let mut known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> =
            help::GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn the_command_line_is_defined_without_contradiction() {
        help::command_line(&Io::of_process(), Arguments::command(), false).debug_assert();
    }

    #[test]
    fn a_command_that_panics_has_its_own_exit_code() {
        use std::io::{empty, sink};
        let io = Io::new("toolcrib".into(), empty(), sink(), sink(), |_| panic!("on purpose"));
        assert_eq!(run(["toolcrib", "check", "examples/github"].map(OsString::from), &io), 70);
    }
}
