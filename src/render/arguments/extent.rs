//! Extent of an argument list, and lists of names for the parts beyond it.

use crate::catalog::schema_view::Property;
use crate::render::markdown::code;

/// Most names in one line.
pub(super) const MAX_NAMES: usize = 12;

/// Extent of an argument list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// Levels of rows; optional parts below are named.
    pub(super) levels: usize,
    /// Longest description of an optional part, in characters.
    pub(super) longest: usize,
}

impl Fold {
    /// Nothing is folded for want of tokens.
    pub(super) const NONE: Fold = Fold { levels: usize::MAX, longest: usize::MAX };
    /// Steps from a long list to a short one.
    pub(super) const STEPS: [Fold; 4] = [
        Fold { levels: 3, longest: usize::MAX },
        Fold { levels: 2, longest: usize::MAX },
        Fold { levels: 2, longest: 300 },
        Fold { levels: 1, longest: 300 },
    ];
}

/// The name of an argument as a code span.
pub(super) fn label(name: &str) -> String {
    let label = code(name);
    if label.is_empty() { code("\"\"") } else { label }
}

/// The names of properties, in one line.
pub(super) fn listed(properties: &[&Property<'_>]) -> String {
    let mut names: Vec<String> =
        properties.iter().take(MAX_NAMES).map(|property| label(property.name)).collect();
    if properties.len() > MAX_NAMES {
        names.push(format!("{} more", properties.len() - MAX_NAMES));
    }
    names.join(", ")
}
