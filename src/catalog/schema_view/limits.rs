//! Limits of a value beyond its type, in words: ranges, lengths, patterns, formats.

use serde_json::{Number, Value};

use super::SchemaView;

/// Bounds beyond this only repeat the range of a number type.
const WIDEST: f64 = 9_007_199_254_740_991.0;
/// Formats that only repeat a type.
const FORMATS_OF_TYPES: [&str; 6] = ["int32", "int64", "float", "double", "enum", "string"];

/// The keywords of limits.
const KEYWORDS: [&str; 15] = [
    "format", "contentEncoding", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems",
    "pattern",
];

impl SchemaView<'_> {
    /// The limits of its values, each a short phrase: a word of the author, or `matches` and a pattern. `word` and `pattern`
    /// write the author's texts down, where these are not too long.
    pub(crate) fn limits(
        &self,
        word: impl Fn(&str) -> Option<String>,
        pattern: impl FnOnce(&str) -> Option<String>,
    ) -> Vec<String> {
        let mut limits = Vec::new();
        if !self.has_any(&KEYWORDS) {
            return limits;
        }
        let format = self.text("format").filter(|format| !FORMATS_OF_TYPES.contains(format));
        limits.extend(format.into_iter().chain(self.text("contentEncoding")).filter_map(word));
        limits.extend(self.range());
        limits.extend(self.get("multipleOf").and_then(Value::as_number).map(|n| format!("multiple of {n}")));
        limits.extend(self.count("minLength", "maxLength", "character"));
        limits.extend(self.count("minItems", "maxItems", "item"));
        limits.extend(self.count("minProperties", "maxProperties", "field"));
        limits.extend((self.get("uniqueItems") == Some(&Value::Bool(true))).then(|| "unique".to_string()));
        limits.extend(self.text("pattern").and_then(pattern).map(|pattern| format!("matches {pattern}")));
        limits
    }

    fn range(&self) -> Option<String> {
        let bound = |keyword: &str| {
            let number = self.get(keyword)?.as_number()?;
            number.as_f64().is_some_and(|n| n.abs() < WIDEST).then_some(number)
        };
        let is_open = |keyword: &str| self.get(keyword) == Some(&Value::Bool(true));
        let side = |open: &str, closed: &str| -> Option<(&Number, bool)> {
            let strict = bound(open).map(|n| (n, true));
            strict.or_else(|| bound(closed).map(|n| (n, is_open(open))))
        };
        let low = side("exclusiveMinimum", "minimum");
        let high = side("exclusiveMaximum", "maximum");
        let below = |n: &Number, open: bool| if open { format!("below {n}") } else { format!("at most {n}") };
        let above =
            |n: &Number, open: bool| if open { format!("above {n}") } else { format!("at least {n}") };
        Some(match (low, high) {
            (Some((low, false)), Some((high, false))) => format!("{low} to {high}"),
            (Some((low, a)), Some((high, b))) => format!("{} and {}", above(low, a), below(high, b)),
            (Some((low, open)), None) => above(low, open),
            (None, Some((high, open))) => below(high, open),
            (None, None) => return None,
        })
    }

    fn count(&self, least: &str, most: &str, what: &str) -> Option<String> {
        let bound = |keyword: &str| self.get(keyword).and_then(Value::as_u64);
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
}
