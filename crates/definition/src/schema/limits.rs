//! The limits of the values at one place of a schema, and their words.

use serde_json::{Number, Value};

use crate::grammar::counted;

/// The keywords of limits.
pub const LIMITS: [&str; 15] = [
    "format", "contentEncoding", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems",
    "pattern",
];

/// The limits of the values at one place.
#[derive(Clone, Debug, Default)]
pub struct Limits<'s> {
    pub format: Option<&'s str>,
    pub encoding: Option<&'s str>,
    /// The media type of the content of a text.
    pub media: Option<&'s str>,
    pub pattern: Option<&'s str>,
    pub minimum: Option<&'s Number>,
    pub maximum: Option<&'s Number>,
    /// The number above which values are, and the one below which they are.
    pub above: Option<&'s Number>,
    pub below: Option<&'s Number>,
    /// Whether the minimum itself is no value, and the maximum: as draft 4 writes it.
    opens: (bool, bool),
    pub step: Option<&'s Number>,
    pub length: Count,
    pub items: Count,
    pub fields: Count,
    pub is_unique: bool,
}

/// The least and the most of what is counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub least: Option<u64>,
    pub most: Option<u64>,
}

impl<'s> Limits<'s> {
    /// Reads a keyword, if it is one of a limit. The narrower of two limits is kept, and the nearer of two words.
    pub(super) fn take(&mut self, keyword: &str, value: &'s Value) {
        match (keyword, value) {
            ("format", Value::String(text)) => nearest_text(&mut self.format, text),
            ("contentEncoding", Value::String(text)) => nearest_text(&mut self.encoding, text),
            ("contentMediaType", Value::String(text)) => nearest_text(&mut self.media, text),
            ("pattern", Value::String(text)) => nearest_text(&mut self.pattern, text),
            ("minimum", Value::Number(number)) => higher(&mut self.minimum, number),
            ("maximum", Value::Number(number)) => lower(&mut self.maximum, number),
            ("exclusiveMinimum", Value::Number(number)) => higher(&mut self.above, number),
            ("exclusiveMaximum", Value::Number(number)) => lower(&mut self.below, number),
            ("exclusiveMinimum", Value::Bool(flag)) => self.opens.0 |= flag,
            ("exclusiveMaximum", Value::Bool(flag)) => self.opens.1 |= flag,
            ("multipleOf", Value::Number(number)) => higher(&mut self.step, number),
            ("minLength", Value::Number(count)) => self.length.at_least(count),
            ("maxLength", Value::Number(count)) => self.length.at_most(count),
            ("minItems", Value::Number(count)) => self.items.at_least(count),
            ("maxItems", Value::Number(count)) => self.items.at_most(count),
            ("minProperties", Value::Number(count)) => self.fields.at_least(count),
            ("maxProperties", Value::Number(count)) => self.fields.at_most(count),
            ("uniqueItems", Value::Bool(flag)) => self.is_unique |= flag,
            _ => {}
        }
    }

    /// Whether a number is limited.
    pub fn is_of_numbers(&self) -> bool {
        [self.minimum, self.maximum, self.above, self.below, self.step].iter().any(Option::is_some)
    }

    /// The range of a number in words.
    pub(super) fn range(&self) -> Option<String> {
        /// Bounds beyond this only repeat the range of a number type.
        const WIDEST: f64 = 9_007_199_254_740_991.0;
        let told = |bound: Option<&'s Number>| bound.filter(|n| n.as_f64().is_some_and(|n| n.abs() < WIDEST));
        let side = |open: Option<&'s Number>, closed: Option<&'s Number>, is_open: bool| {
            told(open).map(|n| (n, true)).or_else(|| told(closed).map(|n| (n, is_open)))
        };
        let low = side(self.above, self.minimum, self.opens.0);
        let high = side(self.below, self.maximum, self.opens.1);
        if let (Some((low, false)), Some((high, false))) = (low, high) {
            return Some(format!("{low} to {high}"));
        }
        let low = low.map(|(n, is_open)| format!("{} {n}", if is_open { "above" } else { "at least" }));
        let high = high.map(|(n, is_open)| format!("{} {n}", if is_open { "below" } else { "at most" }));
        low.into_iter().chain(high).reduce(|low, high| format!("{low} and {high}"))
    }
}

impl Count {
    fn at_least(&mut self, count: &Number) {
        self.least = self.least.max(count.as_u64());
    }

    fn at_most(&mut self, count: &Number) {
        self.most = self.most.into_iter().chain(count.as_u64()).min();
    }

    /// The count in words: `1 to 3 items`.
    pub(super) fn words(self, what: &str) -> Option<String> {
        /// A most beyond this only repeats the range of a count.
        const WIDEST: u64 = (1 << 53) - 1;
        let counted = |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), what);
        Some(match (self.least.filter(|least| *least > 0), self.most.filter(|most| *most < WIDEST)) {
            (Some(low), Some(high)) if low == high => counted(low),
            (Some(low), Some(high)) => format!("{low} to {high} {what}s"),
            (Some(1), None) if what == "character" => "not empty".to_string(),
            (Some(low), None) => format!("at least {}", counted(low)),
            (None, Some(high)) => format!("at most {}", counted(high)),
            (None, None) => return None,
        })
    }
}

fn nearest_text<'s>(known: &mut Option<&'s str>, text: &'s str) {
    if !text.trim().is_empty() {
        known.get_or_insert(text);
    }
}

fn higher<'s>(known: &mut Option<&'s Number>, number: &'s Number) {
    if known.is_none_or(|known| known.as_f64() < number.as_f64()) {
        *known = Some(number);
    }
}

fn lower<'s>(known: &mut Option<&'s Number>, number: &'s Number) {
    if known.is_none_or(|known| known.as_f64() > number.as_f64()) {
        *known = Some(number);
    }
}
