//! What people see on a terminal: all output without control sequences and invisible characters, progress, and the log.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::error::{CommandError, CommandResult};
use super::io::Io;
use toolcrib_definition::guard::locked;
use toolcrib_definition::is_hidden;

// Untrusted text is cleaned where it enters a sentence; this is the last check, and all output passes it.

/// A text whose control characters are escaped as in JSON, so that JSON stays valid. Line breaks, tabs and colors
/// stay.
pub fn escaped(text: &str) -> Cow<'_, str> {
    let is_shown = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().all(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_color = || text.get(at..).is_some_and(begins_with_color);
        match c {
            '\n' | '\t' => shown.push(c),
            '\u{1b}' if is_color() => shown.push(c),
            '\r' | '\u{2028}' | '\u{2029}' => escape(c, &mut shown),
            c if is_hidden(c) => escape(c, &mut shown),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn escape(c: char, to: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(to, "\\u{unit:04x}");
    }
}

/// Whether a text begins with a sequence that changes only color or weight; `8` would hide the text after it.
fn begins_with_color(text: &str) -> bool {
    let inside = text.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m'));
    inside.is_some_and(|(inside, _)| {
        inside.len() <= 16
            && inside
                .split(';')
                .all(|number| number.bytes().all(|byte| byte.is_ascii_digit()) && number != "8")
    })
}

/// A stream that a person reads.
pub(super) struct Screen<W>(pub(super) W);

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(escaped(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

// Progress on a terminal, for work that takes longer than a second. Quiet when piped.

/// Seconds before progress appears: shorter work needs none.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// A bar that appears after a second.
pub(super) struct Bar {
    bar: ProgressBar,
    is_on_terminal: bool,
}

impl Bar {
    pub(super) fn new(io: &Io, what: &'static str, total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self { bar, is_on_terminal: io.is_seen() }
    }

    pub(super) fn add(&self, done: usize) {
        if self.is_on_terminal && self.bar.is_hidden() && self.bar.elapsed() > SHOW_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(done as u64);
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A spinner that appears after a second.
pub(super) struct Spinner(ProgressBar);

impl Spinner {
    pub(super) fn start(io: &Io, what: impl Into<Cow<'static, str>>) -> Self {
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        spinner.set_message(what);
        if io.is_seen() {
            let shown = spinner.clone();
            // The awaited work reports no progress, so a thread shows the spinner; it ends with the spinner.
            std::thread::spawn(move || {
                std::thread::sleep(SHOW_AFTER);
                if !shown.is_finished() {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        Self(spinner)
    }

    /// Says what it waits for now.
    pub(super) fn say(&self, what: String) {
        self.0.set_message(what);
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

// The log of `toolcrib serve`: its levels, and the bound of what others can write into it.

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
pub(super) fn start_log(level: &str, format: LogFormat) -> CommandResult {
    let filter = EnvFilter::try_new(directives(level))
        .map_err(|error| CommandError::Usage(format!("--log-level {level}: {error}")))?;
    // A log that nobody reads any more must not end the server.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    let log = log.with_env_filter(filter).with_writer(|| Screen(std::io::stderr()));
    let bound = DependencyLines::default();
    // In a process that calls this twice, the log exists already and serves as well.
    let _ = match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).finish().with(bound).try_init(),
        LogFormat::Json => log.json().flatten_event(true).with_ansi(false).finish().with(bound).try_init(),
    };
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
    fn nothing_that_steers_a_terminal_is_shown_as_it_is() {
        let all = (0..0x20)
            .chain(0x7f..0xa0)
            .chain([0x200b, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff, 0xe0041]);
        for c in all.filter_map(char::from_u32).filter(|c| !matches!(c, '\n' | '\t')) {
            let written = escaped(&format!("a{c}[31x")).into_owned();
            assert!(!written.contains(c) && written.contains("\\u"), "{c:?}: {written}");
            // As JSON, the value stays the same.
            let json = serde_json::to_string(&c.to_string()).unwrap();
            assert_eq!(serde_json::from_str::<String>(&escaped(&json)).unwrap(), c.to_string());
        }
        assert_eq!(escaped("\u{1b}[1;31mred\u{1b}[0m\tü\n"), "\u{1b}[1;31mred\u{1b}[0m\tü\n");
        assert_eq!(escaped("\u{1b}[8mhidden \u{1b}[2J"), "\\u001b[8mhidden \\u001b[2J");
    }

    #[test]
    fn lines_of_the_log_pass_it_too() {
        let mut log = Screen(Vec::new());
        log.write_all("a\u{9b}b\n".as_bytes()).unwrap();
        assert_eq!(log.0, b"a\\u009bb\n");
    }

    #[test]
    fn dependencies_write_a_bounded_number_of_lines() {
        let (lines, start) = (DependencyLines::default(), Instant::now());
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
