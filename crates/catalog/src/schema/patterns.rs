//! The regular expressions of a schema, and limits on their number and memory.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value};

use super::descriptions::VALUES;

/// Bytes of memory of all compiled patterns of a schema, which is also a measure of the time that compiling them takes.
const MAX_PATTERN_BYTES: usize = 32 << 20;
/// Work of patterns from which a compiled schema is shared, and kept for the next build.
pub(super) const COSTLY: usize = 1 << 20;
/// Bytes that each pattern may take, however many there are.
const MIN_PATTERN_BYTES: usize = 32 << 10;
/// Most patterns of a schema, and most bytes of their texts.
pub(super) const MAX_PATTERNS: usize = 1_000;
pub(super) const MAX_PATTERN_TEXT: usize = 64 << 10;

/// Work, as [`pattern_work`] counts it, that compiling the patterns of a source may take, and that of a whole build.
const SOURCE_WORK: usize = 32 << 20;
const BUILD_WORK: usize = 64 << 20;

/// The patterns of one schema, to be compiled once for all tools with the same schema.
pub(crate) struct PatternWork {
    work: usize,
    schema: Option<blake3::Hash>,
}

impl PatternWork {
    pub(crate) fn of(schema: &Value) -> Self {
        let work = pattern_work(schema);
        let is_shared = work >= COSTLY;
        Self { work, schema: is_shared.then(|| blake3::hash(schema.to_string().as_bytes())) }
    }
}

/// Whether the patterns of each schema are compiled, in the order of a build.
pub(crate) fn compiled_patterns<S: Hash + Eq>(schemas: impl Iterator<Item = (S, PatternWork)>) -> Vec<bool> {
    let mut whole = 0;
    let mut by_source: HashMap<S, usize> = HashMap::new();
    let mut known = HashSet::new();
    let is_affordable = |(source, PatternWork { work, schema }): (S, PatternWork)| {
        if schema.is_some_and(|schema| known.contains(&schema)) {
            return true;
        }
        let spent = by_source.entry(source).or_default();
        let is_affordable = *spent + work <= SOURCE_WORK && whole + work <= BUILD_WORK;
        if is_affordable {
            *spent += work;
            whole += work;
            known.extend(schema);
        }
        is_affordable
    };
    schemas.map(is_affordable).collect()
}

/// Takes all patterns out of a schema: it accepts more then.
pub(super) fn take_out_patterns(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            if keywords.get("pattern").is_some_and(Value::is_string) {
                keywords.shift_remove("pattern");
            }
            if keywords.get("patternProperties").is_some_and(Value::is_object) {
                keywords.shift_remove("patternProperties");
                // They bounded the properties that had their names.
                keywords.shift_remove("additionalProperties");
                keywords.shift_remove("unevaluatedProperties");
            }
            let inside = keywords.iter_mut().filter(|(key, _)| !VALUES.contains(&key.as_str()));
            inside.for_each(|(_, inside)| take_out_patterns(inside));
        }
        Value::Array(items) => items.iter_mut().for_each(take_out_patterns),
        _ => {}
    }
}

/// An estimate of the memory of all compiled patterns of a schema, within their limits.
pub(crate) fn pattern_work(schema: &Value) -> usize {
    let patterns = patterns(schema);
    let share = pattern_bytes(patterns.len());
    let work =
        |pattern: &str| regex_syntax::parse(pattern).map_or(share, |parsed| size(&parsed).saturating_mul(8));
    patterns.into_iter().map(|pattern| work(pattern).min(share)).sum()
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

/// The share of one pattern in the memory of this many.
pub(super) fn pattern_bytes(patterns: usize) -> usize {
    (MAX_PATTERN_BYTES / patterns.max(1)).max(MIN_PATTERN_BYTES)
}

/// The patterns of a schema.
pub(super) fn patterns(schema: &Value) -> HashSet<&str> {
    fn gather<'s>(schema: &'s Value, patterns: &mut HashSet<&'s str>) {
        match schema {
            Value::Object(keywords) => {
                for (keyword, inside) in keywords {
                    match keyword.as_str() {
                        "pattern" => patterns.extend(inside.as_str()),
                        "patternProperties" => patterns
                            .extend(inside.as_object().into_iter().flat_map(Map::keys).map(String::as_str)),
                        _ => {}
                    }
                    gather(inside, patterns);
                }
            }
            Value::Array(items) => items.iter().for_each(|inside| gather(inside, patterns)),
            _ => {}
        }
    }
    let mut patterns = HashSet::new();
    gather(schema, &mut patterns);
    patterns
}
