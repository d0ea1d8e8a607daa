//! The log of a server on stderr.

use tracing_subscriber::EnvFilter;

use crate::cli::screen::Screen;
use crate::cli::{CommandError, CommandResult, failed};

/// The directive for the log of the SDK's authorization: at `debug` it writes codes of sign-ins.
const SIGN_INS: &str = "rmcp::transport::auth=info";

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts the log with this level or these directives.
pub(super) fn start(level: &str, format: LogFormat) -> CommandResult {
    let filter = EnvFilter::try_new(level)
        .map_err(|error| CommandError::Usage(format!("--log-level {level}: {error}")))?;
    // The more exact directive wins, so that this one only ever lowers a level.
    let is_lower = level.contains("debug") || level.contains("trace");
    let filter = if is_lower { filter.add_directive(SIGN_INS.parse().map_err(failed)?) } else { filter };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Screen(std::io::stderr()));
    // In a process that calls this twice, the log exists already and serves as well.
    let _ = match format {
        LogFormat::Text => log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => log.json().flatten_event(true).with_ansi(false).try_init(),
    };
    Ok(())
}
