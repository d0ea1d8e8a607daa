//! The regular expressions of a schema: their number and memory, and the repair of those that only JavaScript reads.

use std::collections::HashSet;

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value};

/// Bytes of memory of all compiled patterns of a schema, which is also a measure of the time that compiling them takes.
const MAX_PATTERN_BYTES: usize = 32 << 20;
/// Bytes that each pattern may take, however many there are.
const MIN_PATTERN_BYTES: usize = 32 << 10;
/// Most patterns of a schema, and most bytes of their texts.
pub(super) const MAX_PATTERNS: usize = 1_000;
pub(super) const MAX_PATTERN_TEXT: usize = 64 << 10;

/// An estimate of the memory of all compiled patterns of a schema, within their limits.
pub(crate) fn pattern_work(schema: &Value) -> usize {
    let share = pattern_bytes(schema);
    let work =
        |pattern: &str| regex_syntax::parse(pattern).map_or(share, |parsed| size(&parsed).saturating_mul(8));
    patterns(schema).into_iter().map(|pattern| work(pattern).min(share)).sum()
}

/// Number of states of an expression whose repetitions are written out.
fn size(expression: &Hir) -> usize {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => class.ranges().len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Capture(capture) => size(&capture.sub),
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min.saturating_add(1));
            size(&repeated.sub).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(size).fold(0, usize::saturating_add)
        }
    }
}

/// The share of one pattern in the memory of all.
pub(super) fn pattern_bytes(schema: &Value) -> usize {
    (MAX_PATTERN_BYTES / patterns(schema).len().max(1)).max(MIN_PATTERN_BYTES)
}

/// The patterns of a schema.
pub(super) fn patterns(schema: &Value) -> HashSet<&str> {
    fn gather<'s>(schema: &'s Value, patterns: &mut HashSet<&'s str>) {
        match schema {
            Value::Object(keywords) => {
                patterns.extend(keywords.get("pattern").and_then(Value::as_str));
                let named = keywords.get("patternProperties").and_then(Value::as_object);
                patterns.extend(named.into_iter().flat_map(Map::keys).map(String::as_str));
                keywords.values().for_each(|inside| gather(inside, patterns));
            }
            Value::Array(items) => items.iter().for_each(|inside| gather(inside, patterns)),
            _ => {}
        }
    }
    let mut patterns = HashSet::new();
    gather(schema, &mut patterns);
    patterns
}
