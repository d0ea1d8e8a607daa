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
mod help;
mod init;
mod log;
mod login;
mod parse;
mod payload;
mod pick;
mod render;
mod screen;
mod search;
mod seed;
mod serve;
mod services;
mod signals;
mod state;
mod tokens;
mod trace;
mod watch;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{FromArgMatches, Parser, Subcommand};

use screen::escaped;

use toolcrib_catalog::UnknownProfile;

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
    Parse(parse::ParseArgs),
    Results(parse::ResultsArgs),
    Prompt(payload::PromptArgs),
    Tokens(tokens::TokensArgs),
    Search(search::SearchArgs),
    Eval(eval::EvalArgs),
    Call(call::CallArgs),
    Serve(serve::ServeArgs),
    Trace(trace::TraceArgs),
    Approvals(approvals::ApprovalsArgs),
    Schema(help::SchemaArgs),
    Completions(help::CompletionsArgs),
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
    let mut command_line = help::command_line(all);
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
    signals::finish_refreshes();
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
fn refused(mut error: clap::Error) -> ExitCode {
    tip_of_catalog(&mut error);
    let text = error.render().ansi().to_string();
    match error.use_stderr() {
        true => print_note(text.trim_end()),
        false => drop(print(&text)),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Adds to the error about an option `--catalog` that a catalog is an argument.
fn tip_of_catalog(error: &mut clap::Error) {
    let is_catalog = |option: &ContextValue| matches!(option, ContextValue::String(name) if name == "--catalog" || name == "-c");
    if error.get(ContextKind::InvalidArg).is_some_and(is_catalog) {
        let tip =
            "name the catalog without an option, after the other arguments: `toolcrib check tools.json`";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
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

/// Prints an error to stderr.
fn print_error(text: &str) {
    print_note(format!("{}error:{} {text}", BOLD_RED.render(), BOLD_RED.render_reset()));
}

/// Prints a note to stderr.
fn print_note(text: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{}", escaped(&text.to_string()));
}
