//! Removes control sequences and invisible characters from all output. Untrusted text is cleaned where it enters a
//! sentence; this is the last check, and all output passes it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use toolcrib_definition::is_hidden;

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
    pub(super) fn new(what: &'static str, total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self { bar, is_on_terminal: std::io::stderr().is_terminal() }
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
    pub(super) fn start(what: impl Into<Cow<'static, str>>) -> Self {
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        spinner.set_message(what);
        let shown = spinner.clone();
        // The awaited work reports no progress, so a thread shows the spinner; it ends with the spinner.
        std::thread::spawn(move || {
            std::thread::sleep(SHOW_AFTER);
            if !shown.is_finished() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
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
}
