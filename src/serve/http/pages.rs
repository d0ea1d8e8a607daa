//! The pages for people, which `site` makes. The seam between the two: one path in, one body out.

use super::Shelf;
use super::kept::Kept;

/// The page at a path such as `tools/NAME.html`; `query` is what a search page searches for.
pub(super) fn page(_shelf: &Shelf, _path: &str, _query: Option<&str>) -> Option<Kept> {
    None
}
