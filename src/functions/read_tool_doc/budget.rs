//! Cuts a doc at section borders, so that it fits a budget.

use crate::render::Section;

/// The sections that fit, in the order of the doc, and the others.
pub(super) struct FittedSections<T> {
    pub(super) kept: Vec<(Section, T)>,
    pub(super) left_out: Vec<Section>,
    /// Tokens of the whole doc.
    pub(super) whole: usize,
}

/// Tokens of the versions and of the lines about sections that were left out.
const OVERHEAD: usize = 70;
/// Sections by importance: a call needs its arguments, and must not break a rule.
const MIN_USEFUL: [Section; 7] = [
    Section::Summary,
    Section::Arguments,
    Section::Schema,
    Section::Policy,
    Section::Description,
    Section::Returns,
    Section::Examples,
];

/// Keeps the sections that fit into `budget` tokens, the most useful first.
pub(super) fn fit_sections<T>(
    parts: Vec<(Section, T)>,
    budget: Option<usize>,
    size: impl Fn(&T) -> usize,
) -> FittedSections<T> {
    let Some(budget) = budget else { return FittedSections { kept: parts, left_out: Vec::new(), whole: 0 } };
    let sizes: Vec<(Section, usize)> =
        parts.iter().map(|(section, part)| (*section, size(part) + 2)).collect();
    let all: usize = sizes.iter().map(|(_, size)| size).sum();
    let mut room = if all + OVERHEAD / 2 <= budget { all } else { budget.saturating_sub(OVERHEAD) };
    let mut fitting = Vec::new();
    for section in MIN_USEFUL {
        let Some((_, size)) = sizes.iter().find(|(of, _)| *of == section) else { continue };
        if *size <= room {
            room -= size;
            fitting.push(section);
        }
    }
    let left_out =
        sizes.iter().map(|(section, _)| *section).filter(|section| !fitting.contains(section)).collect();
    let kept = parts.into_iter().filter(|(section, _)| fitting.contains(section)).collect();
    FittedSections { kept, left_out, whole: all + OVERHEAD }
}
