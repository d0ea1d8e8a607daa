//! Finds a secret that a server repeats, however it was encoded on its way.

use super::credentials::REDACTED;

/// A secret to look for.
pub struct Echo<'s> {
    secret: &'s str,
}

impl<'s> Echo<'s> {
    /// The forms of a secret in text.
    pub fn of(secret: &'s str) -> Self {
        Self { secret }
    }

    /// Whether a text repeats it.
    pub fn occurs_in(&self, text: &str) -> bool {
        let is_encoded = |(at, _)| self.encoded_length(&text[at..]).is_some();
        text.contains(self.secret) || (may_hold_encoded(text) && text.char_indices().any(is_encoded))
    }

    /// A text without it.
    pub fn hidden_in(&self, text: &str) -> String {
        if !may_hold_encoded(text) {
            return text.replace(self.secret, REDACTED);
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let exact = rest.starts_with(self.secret).then_some(self.secret.len());
            // A secret that ends with `\` is longer escaped.
            let found = exact.max(self.encoded_length(rest));
            match found {
                Some(_) => shown.push_str(REDACTED),
                None => shown.push(first),
            }
            rest = &rest[found.unwrap_or(first.len_utf8())..];
        }
        shown
    }

    /// The bytes of the secret where a text begins with it, each letter encoded or not.
    fn encoded_length(&self, text: &str) -> Option<usize> {
        let mut rest = text;
        for letter in self.secret.chars() {
            let plain = || rest.starts_with(letter).then_some(letter.len_utf8());
            rest = &rest[length_of(letter, rest).or_else(plain)?..];
        }
        Some(text.len() - rest.len())
    }
}

/// Any letter can be encoded, also one that an encoder would usually leave.
fn may_hold_encoded(text: &str) -> bool {
    text.contains(['%', '+', '\\'])
}

/// The bytes of an encoded letter that a text begins with.
fn length_of(letter: char, text: &str) -> Option<usize> {
    let is_hex = |at: usize, digits: usize, code: u32| {
        text.get(at..at + digits).is_some_and(|hex| u32::from_str_radix(hex, 16) == Ok(code))
    };
    let begins = |at: usize, sign: &str| text.get(at..).is_some_and(|rest| rest.starts_with(sign));
    match text.as_bytes().first()? {
        b'+' => (letter == ' ').then_some(1),
        b'%' => {
            let mut utf8 = [0; 4];
            let mut bytes = letter.encode_utf8(&mut utf8).bytes().enumerate();
            let is_it =
                bytes.all(|(index, byte)| begins(3 * index, "%") && is_hex(3 * index + 1, 2, byte.into()));
            is_it.then_some(3 * letter.len_utf8())
        }
        b'\\' => {
            let short = match letter {
                '\n' => 'n',
                '\r' => 'r',
                '\t' => 't',
                '\u{8}' => 'b',
                '\u{c}' => 'f',
                letter => letter,
            };
            let has_short = matches!(letter, '"' | '\\' | '/') || short != letter;
            if has_short && text[1..].starts_with(short) {
                return Some(2);
            }
            let mut utf16 = [0; 2];
            let mut units = letter.encode_utf16(&mut utf16).iter().enumerate();
            let is_it = units
                .all(|(index, unit)| begins(6 * index, "\\u") && is_hex(6 * index + 2, 4, (*unit).into()));
            is_it.then_some(6 * letter.len_utf16())
        }
        _ => None,
    }
}
