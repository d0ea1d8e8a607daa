//! Moves through a JSON text without reading its values.

use std::borrow::Cow;

/// A text that is taken for valid JSON, and the place that was reached in it.
pub(super) struct JsonText<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// In bytes; the end of the text once it turned out not to be valid.
    pub(super) at: usize,
}

impl<'t> JsonText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0 }
    }

    /// The key that was just read, unescaped.
    pub(super) fn key(&self, start: usize) -> Option<Cow<'t, str>> {
        let quoted = self.text.get(start..self.at)?;
        if quoted.contains('\\') {
            return serde_json::from_str::<String>(quoted).ok().map(Into::into);
        }
        Some(quoted.strip_prefix('"')?.strip_suffix('"')?.into())
    }

    /// The next byte.
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips blanks.
    pub(super) fn blanks(&mut self) {
        self.pass_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
    }

    fn pass_while(&mut self, passes: impl Fn(u8) -> bool) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !passes(*byte)).unwrap_or(rest.len());
    }

    /// Skips one value without looking into it.
    pub(super) fn skip(&mut self) {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.container(),
            _ => self.pass_while(|byte| !matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t')),
        }
    }

    fn container(&mut self) {
        let mut depth = 0usize;
        loop {
            self.pass_while(|byte| !matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'));
            match self.peek() {
                Some(b'"') => {
                    self.string();
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(_) => depth = depth.saturating_sub(1),
                None => return,
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips a text in quotes.
    pub(super) fn string(&mut self) {
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(end) = rest.find('"') else { return self.give_up() };
            let escapes = rest.bytes().take(end).rev().take_while(|byte| *byte == b'\\').count();
            self.at += end + 1;
            if escapes.is_multiple_of(2) {
                return;
            }
        }
    }

    /// The text is not valid JSON after all: no more spans are found.
    pub(super) fn give_up(&mut self) {
        self.at = self.bytes.len();
    }
}
