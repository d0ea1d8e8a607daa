//! Values as text: plain, and percent-encoded for a path or a query.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::Value;

/// A text without quotes; lists and objects as JSON.
pub(crate) fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// Percent-encodes all but unreserved characters.
pub(super) fn encode(text: &str) -> String {
    escaped(text, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// Percent-encodes the literal text of a template: characters that a path or query cannot have.
pub(super) fn encode_literal(text: &str) -> String {
    encode_but(b"-._~!$&()*+,;=:@/?", text)
}

/// Percent-encodes all but unreserved and reserved characters, and also brackets, which no path or query has (RFC 3986).
pub(super) fn encode_reserved(text: &str) -> String {
    encode_but(b"-._~:/?#@!$&'()*+,;=", text)
}

/// Percent-encodes all but unreserved and reserved characters, and also those that would end a value of a query.
pub(super) fn encode_reserved_value(text: &str) -> String {
    encode_but(b"-._~:/?@!$'()*,;=", text)
}

/// Percent-encodes what no cookie can have (RFC 6265).
pub(super) fn encode_cookie(text: &str) -> String {
    escaped(text, |byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte))
}

/// Percent-encodes all but letters, digits and `others`. Encoded triplets stay (RFC 6570, section 3.2.1).
fn encode_but(others: &[u8], text: &str) -> String {
    let plainly = |piece: &str| escaped(piece, |byte| byte.is_ascii_alphanumeric() || others.contains(&byte));
    let is_triplet =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let mut pieces = text.split('%');
    let mut encoded = plainly(pieces.next().unwrap_or_default());
    for piece in pieces {
        encoded.push_str(if is_triplet(piece) { "%" } else { "%25" });
        encoded.push_str(&plainly(piece));
    }
    encoded
}

pub fn escaped(text: &str, may_stand: impl Fn(u8) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if may_stand(byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}
