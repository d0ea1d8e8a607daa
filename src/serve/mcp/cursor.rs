//! Cursors of lists. A cursor holds the last listed address, so that the next page is right even when the catalog has
//! changed in between.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

use super::uri;

/// The address after which a list continues; `None` at its beginning.
pub(super) fn after(request: Option<PaginatedRequestParams>) -> Result<Option<String>, ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(None),
        Some(cursor) if cursor.is_empty() => Ok(None),
        Some(cursor) => read(&cursor).map(Some).ok_or_else(invalid),
    }
}

/// Refuses a cursor for a list that has one page.
pub(super) fn none(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) if !cursor.is_empty() => Err(invalid()),
        _ => Ok(()),
    }
}

/// The cursor of the entries after this address.
pub(super) fn following(address: &str) -> String {
    address.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn read(cursor: &str) -> Option<String> {
    let digits = cursor.as_bytes();
    if digits.len() > 8_192 || !digits.len().is_multiple_of(2) {
        return None;
    }
    let byte = |pair: &[u8]| match pair {
        [high, low] => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            Some((digit(*high)? * 16 + digit(*low)?) as u8)
        }
        _ => None,
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    String::from_utf8(bytes?)
        .ok()
        .filter(|address| [uri::ROOT, uri::SKILLS].iter().any(|root| address.starts_with(root)))
}

pub(super) fn invalid() -> ErrorData {
    ErrorData::invalid_params("this cursor is not one of ours; start again without a cursor", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_a_made_up_one_is_refused() {
        let address = "toolcrib://tools/math_factorial.md";
        let cursor = following(address);
        assert_eq!(read(&cursor).as_deref(), Some(address));
        for bad in ["x", "zz", "0", "ff", "6869", "\u{e9}\u{e9}", &"66".repeat(9_000)] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
