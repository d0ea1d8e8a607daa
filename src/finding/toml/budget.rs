//! Estimates the memory of a TOML text before it is read. The parser makes a table for every part of every dotted
//! key, and tables are large, so that a short text could take gigabytes.

/// Most values, in estimated cost, of one text.
pub(in super::super) const MAX_COST: usize = 1_000_000;
/// Cost of a key, in values.
pub(in super::super) const KEY: usize = 2;
/// Cost of a table, in values.
pub(in super::super) const TABLE: usize = 8;

/// The byte offset at which a text exceeds [`MAX_COST`], if it does. For invalid TOML the result has no meaning.
pub(super) fn over(text: &str) -> Option<usize> {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    let mut cost = 0;
    let mut open = Vec::new();
    let mut header = Vec::new();
    let mut in_value = false;
    while let Some(byte) = scan.peek() {
        let start = scan.at;
        scan.at += 1;
        match byte {
            b'#' => scan.pass_line(),
            b'"' | b'\'' => scan.string(byte),
            b'\n' => in_value &= !open.is_empty(),
            b'.' if !in_value => cost += TABLE,
            b'[' if !in_value && open.is_empty() => {
                let parts = scan.header();
                let known = header.iter().zip(&parts).take_while(|(old, new)| old == new).count();
                cost += TABLE * parts.len().saturating_sub(known).max(1);
                header = parts;
            }
            b'=' => {
                cost += KEY;
                in_value = true;
            }
            b',' => {
                cost += 1;
                in_value = open.last() == Some(&b'[');
            }
            b'[' | b'{' => {
                open.push(byte);
                cost += TABLE;
                in_value = byte == b'[';
            }
            b']' | b'}' => {
                open.pop();
                in_value = true;
            }
            _ => {}
        }
        if cost > MAX_COST {
            return Some(start);
        }
    }
    None
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn pass_line(&mut self) {
        let rest = self.rest();
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    /// Skips the rest of a string after its first quote.
    fn string(&mut self, quote: u8) {
        let long = self.rest().starts_with(&[quote, quote]);
        if long {
            self.at += 2;
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' if !long => return,
                b'\\' if quote == b'"' => self.at += 1,
                _ if byte == quote && !long => return self.at += 1,
                _ if byte == quote && self.rest().starts_with(&[quote; 3]) => {
                    // The text may itself end in one or two quotes.
                    while self.peek() == Some(quote) {
                        self.at += 1;
                    }
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// The parts of a header after its first bracket, as they are written.
    fn header(&mut self) -> Vec<&'a [u8]> {
        if self.peek() == Some(b'[') {
            self.at += 1;
        }
        let mut parts = Vec::new();
        let mut start = self.at;
        while let Some(byte) = self.peek() {
            if matches!(byte, b'.' | b']' | b'\n') {
                parts.push(self.bytes.get(start..self.at).unwrap_or_default().trim_ascii());
                start = self.at + 1;
            }
            if matches!(byte, b']' | b'\n') {
                break;
            }
            self.at += 1;
            if matches!(byte, b'"' | b'\'') {
                self.string(byte);
            }
        }
        // The newline is left for the caller; it separates these brackets from those of a value.
        while self.peek() == Some(b']') {
            self.at += 1;
        }
        parts
    }
}
