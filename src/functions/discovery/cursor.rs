//! Cursors of lists, opaque to callers. A cursor of a list holds the last listed key, so that the next page is right
//! even when the catalog has changed in between. A cursor of a ranking holds the number of listed results, and is
//! valid as long as the catalog is the same.

use crate::functions::{ErrorCode, Refusal};

/// Longest cursor that is read.
const LONGEST: usize = 8_192;

/// The request that a cursor belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CursorScope(String);

impl CursorScope {
    /// Hash of a function and of all arguments that decide the content of the list.
    pub(super) fn of(function: &str, arguments: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for text in std::iter::once(&function).chain(arguments) {
            hasher.update(text.as_bytes()).update(b"\0");
        }
        Self(hasher.finalize().to_hex()[..12].to_string())
    }

    /// The cursor of the entries after a key.
    pub(super) fn after_key(&self, key: &str) -> String {
        written(&format!("k{}{key}", self.0))
    }

    /// The cursor of the entries after the first `count` of a ranking of this registry version.
    pub(super) fn at_offset(&self, count: usize, registry_version: &str) -> String {
        written(&format!("r{}{count} {registry_version}", self.0))
    }

    /// The key after which a list continues; `None` at its beginning.
    pub(super) fn key(&self, cursor: Option<&str>) -> Result<Option<String>, Refusal> {
        given(cursor).map(|cursor| self.rest(cursor, 'k').ok_or_else(foreign)).transpose()
    }

    /// Number of results of a ranking that were listed before.
    pub(super) fn offset(&self, cursor: Option<&str>, registry_version: &str) -> Result<usize, Refusal> {
        let Some(cursor) = given(cursor) else { return Ok(0) };
        let rest = self.rest(cursor, 'r').ok_or_else(foreign)?;
        let (count, version) = rest.split_once(' ').ok_or_else(foreign)?;
        if version != registry_version {
            return Err(expired());
        }
        count.parse().map_err(|_| foreign())
    }

    fn rest(&self, cursor: &str, kind: char) -> Option<String> {
        let text = plain(cursor)?;
        text.strip_prefix(kind)?.strip_prefix(&self.0).map(ToString::to_string)
    }
}

fn given(cursor: Option<&str>) -> Option<&str> {
    cursor.filter(|cursor| !cursor.is_empty())
}

fn foreign() -> Refusal {
    let message = "this cursor is not one of ours, or belongs to another request";
    Refusal::new(
        ErrorCode::ValidationError,
        message,
        "send `next_cursor` as it was given, with the same arguments; or ask again without a cursor",
    )
    .field("/cursor", message)
}

fn expired() -> Refusal {
    let message = "the catalog has changed since this cursor was given";
    Refusal::new(ErrorCode::CursorExpired, message, "ask again without a cursor")
}

/// The text in hexadecimal, after a check that we issued it.
fn written(text: &str) -> String {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("{}{hex}", check(text))
}

fn plain(cursor: &str) -> Option<String> {
    let (checksum, hex) = cursor.split_at_checked(8).filter(|_| cursor.len() <= LONGEST)?;
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| match pair {
            [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
            _ => None,
        })
        .collect();
    String::from_utf8(bytes?).ok().filter(|text| check(text) == checksum)
}

fn check(text: &str) -> String {
    blake3::hash(format!("toolcrib cursor {text}").as_bytes()).to_hex()[..8].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_by_its_own_request_only() {
        let (own, other) = (CursorScope::of("list", &["Storage"]), CursorScope::of("list", &["Coding"]));
        let (key, count) = (own.after_key("1storage.put Ünï"), own.at_offset(10, "0123"));
        assert_eq!(own.key(Some(&key)).unwrap().as_deref(), Some("1storage.put Ünï"));
        assert_eq!(own.offset(Some(&count), "0123").unwrap(), 10);
        assert_eq!(own.offset(Some(&count), "4567").unwrap_err().code, ErrorCode::CursorExpired);
        assert_eq!((own.key(None).unwrap(), own.offset(Some(""), "0123").unwrap()), (None, 0));
        let mut changed = key.clone();
        changed.replace_range(30..31, if changed.as_bytes()[30] == b'0' { "1" } else { "0" });
        for wrong in ["x", "é", "00000000", &changed, &count, &key[..key.len() - 1], &"0".repeat(9_000)] {
            assert_eq!(own.key(Some(wrong)).unwrap_err().code, ErrorCode::ValidationError, "{wrong}");
        }
        assert_eq!(other.key(Some(&key)).unwrap_err().code, ErrorCode::ValidationError);
    }
}
