//! The last check of a text before it is shown: untrusted text is cleaned where it enters a sentence, and all output passes here.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

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

/// The same text without lines that the runner of a job reads as commands: `::error::`, `##[error]` and the like. They are escaped
/// as in JSON, too.
pub(super) fn without_commands(text: &str) -> Cow<'_, str> {
    const MARKS: [&str; 3] = ["##[", "##vso[", "##teamcity["];
    if !text.contains("::") && !MARKS.iter().any(|mark| text.contains(mark)) {
        return Cow::Borrowed(text);
    }
    let line = |line: &str| {
        let is_command = line.trim_start().starts_with("::");
        let line = line.replacen("::", "\\u003a:", usize::from(is_command));
        MARKS.iter().fold(line, |line, mark| line.replace(mark, &format!("\\u0023{}", &mark[1..])))
    };
    Cow::Owned(text.split_inclusive('\n').map(line).collect())
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
        self.0.write_all(without_commands(&escaped(&String::from_utf8_lossy(bytes))).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
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
    fn no_line_is_a_command_of_a_runner() {
        for begin in ["", " ", "\t", "+", "a ", "\"", "a\n  "] {
            for mark in
                ["::error::x", "::set-output name=a::b", "##[error]x", "##vso[task.x]", "##teamcity[x]"]
            {
                let text = format!("{begin}{mark}\n");
                let shown = without_commands(&text).into_owned();
                for line in shown.lines() {
                    assert!(!line.trim_start().starts_with("::"), "{shown}");
                    assert!(
                        !["##[", "##vso[", "##teamcity["].iter().any(|mark| line.contains(mark)),
                        "{shown}"
                    );
                }
                let json = serde_json::to_string(&text).unwrap();
                assert_eq!(serde_json::from_str::<String>(&without_commands(&json)).unwrap(), text);
            }
        }
        assert_eq!(without_commands("std::io and # [x]\n"), "std::io and # [x]\n");
    }

    #[test]
    fn lines_of_the_log_pass_it_too() {
        let mut log = Screen(Vec::new());
        log.write_all("a\u{9b}b\n".as_bytes()).unwrap();
        assert_eq!(log.0, b"a\\u009bb\n");
    }
}
