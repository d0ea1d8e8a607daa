//! Cursors of lists. A cursor of a list holds the last listed key, so that the next page is right even when the catalog has
//! changed in between. A cursor of a ranking holds the number of listed results, and is valid as long as the catalog is the same.

use crate::tool_error::{ErrorCode, Result, ToolError};

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
        format!("k{}{key}", self.0)
    }

    /// The cursor of the entries after the first `count` of a ranking of this registry version.
    pub(super) fn at_offset(&self, count: usize, registry_version: &str) -> String {
        format!("r{}{count} {registry_version}", self.0)
    }

    /// The key after which a list continues; `None` at its beginning.
    pub(super) fn key<'c>(&self, cursor: Option<&'c str>) -> Result<Option<&'c str>> {
        given(cursor).map(|cursor| self.rest(cursor, 'k')).transpose()
    }

    /// Number of results of a ranking that were listed before.
    pub(super) fn offset(&self, cursor: Option<&str>, registry_version: &str) -> Result<usize> {
        let Some(cursor) = given(cursor) else { return Ok(0) };
        let (count, version) = self.rest(cursor, 'r')?.split_once(' ').ok_or_else(foreign)?;
        if version != registry_version {
            return Err(expired());
        }
        count.parse().map_err(|_| foreign())
    }

    fn rest<'c>(&self, cursor: &'c str, kind: char) -> Result<&'c str> {
        cursor.strip_prefix(kind).and_then(|text| text.strip_prefix(&self.0)).ok_or_else(foreign)
    }
}

fn given(cursor: Option<&str>) -> Option<&str> {
    cursor.filter(|cursor| !cursor.is_empty())
}

fn foreign() -> ToolError {
    let message = "this cursor is not one of ours, or belongs to another request";
    let next = "send `next_cursor` as it was given, with the same arguments; or ask again without a cursor";
    ToolError::invalid(message, next).field("/cursor", message)
}

fn expired() -> ToolError {
    let message = "the catalog has changed since this cursor was given";
    ToolError::new(ErrorCode::CursorExpired, message, "ask again without a cursor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_by_its_own_request_only() {
        let own = CursorScope::of("list", &["Storage"]);
        let other = CursorScope::of("list", &["Coding"]);
        let key = own.after_key("1storage.put Ünï");
        let count = own.at_offset(10, "0123");
        assert_eq!(own.key(Some(&key)).unwrap(), Some("1storage.put Ünï"));
        assert_eq!(own.offset(Some(&count), "0123").unwrap(), 10);
        assert_eq!(own.offset(Some(&count), "4567").unwrap_err().code, ErrorCode::CursorExpired);
        assert_eq!((own.key(None).unwrap(), own.offset(Some(""), "0123").unwrap()), (None, 0));
        for wrong in ["x", "é", "00000000", &count] {
            assert_eq!(own.key(Some(wrong)).unwrap_err().code, ErrorCode::ValidationError, "{wrong}");
        }
        assert_eq!(other.key(Some(&key)).unwrap_err().code, ErrorCode::ValidationError);
    }
}
