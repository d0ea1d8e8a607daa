//! Limits of a value beyond its type: ranges, lengths, patterns, formats.

use serde_json::{Number, Value};

use super::tree::Writer;
use super::view::SchemaView;
use crate::render::markdown::{code, inline};

const MAX_PATTERN: usize = 80;
/// Bounds beyond this only repeat the range of a number type.
const WIDEST: f64 = 9_007_199_254_740_991.0;

impl Writer<'_> {
    /// The limits of a value, each a short phrase.
    pub(super) fn limits(&mut self, view: &SchemaView<'_>) -> Vec<String> {
        let mut limits = Vec::new();
        if let Some(format) = view.text("format") {
            let is_width = matches!(format, "int32" | "int64" | "float" | "double" | "enum" | "string");
            limits.extend((!is_width && format.len() <= MAX_PATTERN).then(|| inline(format)));
        }
        limits.extend(view.text("contentEncoding").filter(|text| text.len() <= MAX_PATTERN).map(inline));
        limits.extend(range(view));
        limits.extend(view.get("multipleOf").and_then(Value::as_number).map(|n| format!("multiple of {n}")));
        limits.extend(count(view, "minLength", "maxLength", "character"));
        limits.extend(count(view, "minItems", "maxItems", "item"));
        limits.extend(count(view, "minProperties", "maxProperties", "field"));
        limits.extend((view.get("uniqueItems") == Some(&Value::Bool(true))).then(|| "unique".to_string()));
        if let Some(pattern) = view.text("pattern") {
            if pattern.len() <= MAX_PATTERN {
                limits.push(format!("matches {}", code(pattern)));
            } else {
                self.folded = true;
            }
        }
        limits
    }
}

fn range(view: &SchemaView<'_>) -> Option<String> {
    let bound = |keyword: &str| {
        let number = view.get(keyword)?.as_number()?;
        number.as_f64().is_some_and(|n| n.abs() < WIDEST).then_some(number)
    };
    let is_open = |keyword: &str| view.get(keyword) == Some(&Value::Bool(true));
    let side = |open: &str, closed: &str| -> Option<(&Number, bool)> {
        let strict = bound(open).map(|n| (n, true));
        strict.or_else(|| bound(closed).map(|n| (n, is_open(open))))
    };
    let low = side("exclusiveMinimum", "minimum");
    let high = side("exclusiveMaximum", "maximum");
    let below = |n: &Number, open: bool| if open { format!("below {n}") } else { format!("at most {n}") };
    let above = |n: &Number, open: bool| if open { format!("above {n}") } else { format!("at least {n}") };
    Some(match (low, high) {
        (Some((low, false)), Some((high, false))) => format!("{low} to {high}"),
        (Some((low, a)), Some((high, b))) => format!("{} and {}", above(low, a), below(high, b)),
        (Some((low, open)), None) => above(low, open),
        (None, Some((high, open))) => below(high, open),
        (None, None) => return None,
    })
}

fn count(view: &SchemaView<'_>, least: &str, most: &str, what: &str) -> Option<String> {
    let bound = |keyword: &str| view.get(keyword).and_then(Value::as_u64);
    let plural = |n: u64| if n == 1 { "" } else { "s" };
    Some(match (bound(least).filter(|&n| n > 0), bound(most).filter(|&n| n < WIDEST as u64)) {
        (Some(low), Some(high)) if low == high => format!("{low} {what}{}", plural(low)),
        (Some(low), Some(high)) => format!("{low} to {high} {what}s"),
        (Some(1), None) if what == "character" => "not empty".to_string(),
        (Some(low), None) => format!("at least {low} {what}{}", plural(low)),
        (None, Some(high)) => format!("at most {high} {what}{}", plural(high)),
        (None, None) => return None,
    })
}
