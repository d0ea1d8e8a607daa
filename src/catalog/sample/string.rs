//! Strings: a value that the description names, else one by format, name and description; then fitted to the limits.

use regex::RegexBuilder;
use serde_json::{Map, Value};

use super::{About, Source, mention, pattern, values};

const MAX_LENGTH: usize = 2_000;

/// A string for an argument of a tool, and its source. `owner` is the object that it stands in.
pub(super) fn sample(
    schema: &Map<String, Value>,
    name: &str,
    about: &About<'_>,
    owner: Option<&str>,
) -> (String, Source) {
    let word = |key: &str| schema.get(key).and_then(Value::as_str);
    let description = word("description").unwrap_or("");
    let format = word("format");
    let limits = Limits::of(schema);
    let named = mention::named(description).into_iter().next();
    if let Some(named) = named.filter(|text| has_format(text, format) && limits.accept(text)) {
        return (named, Source::Named);
    }
    let encoded = word("contentEncoding").filter(|encoding| *encoding == "base64").map(|_| "byte");
    let by_format = format.or(encoded).and_then(values::by_format).map(str::to_string);
    let text = by_format.unwrap_or_else(|| values::string(name, description, about, owner));
    let text = fitted(text, limits.least, limits.most);
    let other = || {
        [values::string(name, "", about, owner), "1".to_string()].into_iter().find(|text| limits.accept(text))
    };
    let text = match limits.accept(&text) {
        true => text,
        false => other().or_else(|| pattern::generate(limits.wanted?)).unwrap_or(text),
    };
    (text, Source::Invented)
}

/// Limits of a schema on a text.
struct Limits<'s> {
    least: usize,
    most: usize,
    wanted: Option<&'s str>,
    compiled: Option<regex::Regex>,
}

impl<'s> Limits<'s> {
    fn of(schema: &'s Map<String, Value>) -> Self {
        let length = |key: &str| Some(usize::try_from(schema.get(key)?.as_u64()?).unwrap_or(usize::MAX));
        let wanted = schema.get("pattern").and_then(Value::as_str);
        let compiled = wanted.and_then(|wanted| RegexBuilder::new(wanted).size_limit(1 << 18).build().ok());
        Self {
            least: length("minLength").unwrap_or(0),
            most: length("maxLength").unwrap_or(MAX_LENGTH),
            wanted,
            compiled,
        }
    }

    fn accept(&self, text: &str) -> bool {
        let matches =
            self.wanted.is_none() || self.compiled.as_ref().is_some_and(|regex| regex.is_match(text));
        matches && (self.least..=self.most).contains(&text.chars().count())
    }
}

/// Whether a text can be of a format, as far as a glance tells.
fn has_format(text: &str, format: Option<&str>) -> bool {
    match format {
        Some("date" | "date-time" | "time") => {
            text.starts_with(|c: char| c.is_ascii_digit()) && text.len() >= 8
        }
        Some("email" | "idn-email") => text.contains('@'),
        Some("uri" | "url" | "iri") => text.contains("://"),
        Some("uuid") => text.len() == 36,
        Some(format) => values::by_format(format).is_none(),
        None => true,
    }
}

/// The text within the limits: repeated when it is too short, cut when it is too long.
fn fitted(text: String, least: usize, most: usize) -> String {
    let count = text.chars().count();
    if count > most {
        return text.chars().take(most).collect::<String>().trim_end().to_string();
    }
    if count < least && count > 0 {
        let wanted = least.min(MAX_LENGTH).min(most);
        return text.chars().chain(std::iter::once(' ')).cycle().take(wanted).collect();
    }
    text
}
