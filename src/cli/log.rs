//! The log of `toolcrib serve`: its levels, and the bound of what others can write into it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use super::error::{CommandError, CommandResult};
use super::escape::Screen;
use super::io::Io;
use toolcrib_definition::guard::locked;

/// The directive for the log of the SDK's authorization where the SDK is named: at `debug` it writes codes of sign-ins.
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
pub(super) fn start_log(io: &Io, level: &str, format: LogFormat) -> CommandResult {
    let filter = EnvFilter::try_new(directives(level))
        .map_err(|error| CommandError::Usage(format!("--log-level {level}: {error}")))?;
    let stderr = io.stderr();
    // A log that nobody reads any more must not end the server.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    let log = log.with_env_filter(filter).with_writer(move || Screen(stderr.clone()));
    let bound = DependencyLines::default();
    io.set_log(match format {
        LogFormat::Text => log.with_ansi(io.is_seen()).finish().with(bound).into(),
        LogFormat::Json => log.json().flatten_event(true).with_ansi(false).finish().with(bound).into(),
    });
    Ok(())
}

/// The directives of a log level. Dependencies log what they send and receive, arguments and secrets included. So a level without
/// a target is that of toolcrib, and dependencies log errors unless a directive names them.
fn directives(level: &str) -> String {
    let mut directives = Vec::new();
    for directive in level.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        match directive.parse::<LevelFilter>() {
            Ok(level) => {
                directives.push(level.min(LevelFilter::ERROR).to_string());
                directives.push(format!("toolcrib={level}"));
            }
            Err(_) => directives.push(directive.to_string()),
        }
    }
    // A directive without a target, such as `[span]=trace`, is for all of them, and one without a level is `trace`.
    let is_verbose = |directive: &String| {
        let level = directive.rsplit('=').next().unwrap_or_default().to_lowercase();
        let names_sdk = directive.starts_with("rmcp") || directive.starts_with('[');
        names_sdk && !["off", "error", "warn", "info"].contains(&level.as_str())
    };
    if directives.iter().any(is_verbose) {
        directives.push(SIGN_INS.into());
    }
    directives.join(",")
}

/// Most lines of dependencies in a window of time. A server decides how many messages a dependency logs.
const MAX_LINES: usize = 100;
const WINDOW: Duration = Duration::from_secs(10);

/// Leaves out lines of dependencies beyond the bound.
#[derive(Default)]
struct DependencyLines(Mutex<Option<(Instant, usize)>>);

impl DependencyLines {
    /// The number of the next line in its window.
    fn count(&self, now: Instant) -> usize {
        let mut window = locked(&self.0);
        let (_, lines) = match &mut *window {
            Some(current) if now.duration_since(current.0) < WINDOW => current,
            past => past.insert((now, 0)),
        };
        *lines += 1;
        *lines
    }
}

impl<S: Subscriber> Layer<S> for DependencyLines {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let target = event.metadata().target();
        if target.starts_with("toolcrib") {
            return true;
        }
        let number = self.count(Instant::now());
        if number == MAX_LINES + 1 {
            tracing::warn!(dependency = target, "lines of dependencies are left out for up to {WINDOW:?}");
        }
        number <= MAX_LINES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_write_a_bounded_number_of_lines() {
        let lines = DependencyLines::default();
        let start = Instant::now();
        let counts: Vec<usize> = (0..3 * MAX_LINES).map(|_| lines.count(start)).collect();
        assert_eq!(counts.iter().filter(|number| **number <= MAX_LINES).count(), MAX_LINES);
        assert_eq!(lines.count(start + WINDOW), 1, "a new window begins");
    }

    #[test]
    fn a_level_is_that_of_toolcrib_and_dependencies_have_to_be_named() {
        for (level, expect) in [
            ("trace", "error,toolcrib=trace"),
            ("info,rmcp=error", "error,toolcrib=info,rmcp=error"),
            ("off", "off,toolcrib=off"),
            ("toolcrib=debug", "toolcrib=debug"),
            ("warn, hyper=debug", "error,toolcrib=warn,hyper=debug"),
            ("debug,rmcp=debug", "error,toolcrib=debug,rmcp=debug,rmcp::transport::auth=info"),
            ("rmcp", "rmcp,rmcp::transport::auth=info"),
            ("[call]=trace", "[call]=trace,rmcp::transport::auth=info"),
        ] {
            assert_eq!(directives(level), expect, "{level}");
            assert!(EnvFilter::try_new(directives(level)).is_ok(), "{level}");
        }
    }
}
