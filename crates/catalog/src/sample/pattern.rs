//! A short text that a regular expression matches.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Most characters of a text.
const MAX_TEXT: usize = 200;
/// Longest pattern that is read, in bytes.
const MAX_PATTERN: usize = 1_000;
/// Characters that are taken from a class, where it has one of them.
const USUAL: [char; 4] = ['a', 'A', '1', '-'];

/// A short text that a pattern should match; `None` where the pattern cannot be read, or the text would be long.
pub(super) fn text_of_pattern(pattern: &str) -> Option<String> {
    let pattern = Some(pattern).filter(|pattern| pattern.len() <= MAX_PATTERN)?;
    let mut text = String::new();
    write(&regex_syntax::parse(pattern).ok()?, &mut text)?;
    Some(text)
}

fn write(part: &Hir, text: &mut String) -> Option<()> {
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(character(class)?),
        HirKind::Repetition(repeated) => {
            // One of those that may be left out tells more than none.
            let most = repeated.max.unwrap_or(u32::MAX);
            (0..repeated.min.max(1).min(most)).try_for_each(|_| write(&repeated.sub, text))?;
        }
        HirKind::Capture(group) => write(&group.sub, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, text))?,
        HirKind::Alternation(parts) => write(parts.first()?, text)?,
    }
    (text.len() <= MAX_TEXT).then_some(())
}

fn character(class: &Class) -> Option<char> {
    match class {
        Class::Unicode(class) => {
            let holds = |c: &char| class.iter().any(|range| (range.start()..=range.end()).contains(c));
            USUAL.into_iter().find(holds).or_else(|| Some(class.iter().next()?.start()))
        }
        Class::Bytes(class) => Some(char::from(class.iter().next()?.start())),
    }
}
