//! Pages of lists: a cursor is the address of the last entry.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

use super::requester::McpResult;

/// The root of all docs.
pub(super) const ROOT: &str = "toolcrib://tools/";

/// The root of all files of skills.
pub(super) const SKILLS: &str = "skill://";

/// The entries of one page, and the cursor of the next. `address` makes an address of an entry and the index after it.
pub(super) fn page_of<T>(
    all: &[T],
    from: usize,
    most: usize,
    address: impl Fn(usize, &T) -> String,
) -> (&[T], Option<String>) {
    let to = all.len().min(from + most);
    let shown = all.get(from..to).unwrap_or_default();
    let last = if to < all.len() { shown.last() } else { None };
    (shown, last.map(|last| address(to, last)))
}

/// The address after which a list continues; `None` at its beginning.
pub(super) fn after_cursor(request: Option<PaginatedRequestParams>) -> McpResult<Option<String>> {
    match request.and_then(|request| request.cursor).filter(|cursor| !cursor.is_empty()) {
        Some(cursor) if ![ROOT, SKILLS].iter().any(|root| cursor.starts_with(root)) => Err(invalid_cursor()),
        cursor => Ok(cursor),
    }
}

/// Refuses a cursor for a list that has one page.
pub(super) fn one_page(request: Option<PaginatedRequestParams>) -> McpResult<()> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) if !cursor.is_empty() => Err(invalid_cursor()),
        _ => Ok(()),
    }
}

pub(super) fn invalid_cursor() -> ErrorData {
    ErrorData::invalid_params("this cursor is not one of ours; start again without a cursor", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_a_made_up_one_is_refused() {
        let address = "toolcrib://tools/math_factorial.md";
        let read = |cursor: &str| {
            let request = PaginatedRequestParams::default().with_cursor(Some(cursor.into()));
            after_cursor(Some(request)).ok().flatten()
        };
        assert_eq!(read(address).as_deref(), Some(address));
        assert_eq!((read("x"), read("6869")), (None, None));
    }
}
