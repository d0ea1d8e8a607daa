//! Arguments in queries, forms, headers and cookies.

use std::borrow::Cow;

use serde_json::Value;

use super::text::{encode, encode_cookie, encode_literal, encode_reserved_value, plain};
use toolcrib_definition::{ArgumentPlace, Style as QueryStyle};

/// The form of an argument: its style, whether its parts are written separately, and the encoding of texts.
#[derive(Clone, Copy)]
struct Form {
    style: Option<QueryStyle>,
    explodes: bool,
    encode: fn(&str) -> String,
}

/// One argument as names and encoded values of a query or form. `null` gives none.
pub(super) fn pairs(name: &str, value: &Value, place: Option<&ArgumentPlace>) -> Vec<(String, String)> {
    let is_reserved_allowed = place.is_some_and(|place| place.allow_reserved);
    Form::of(place, if is_reserved_allowed { encode_reserved_value } else { encode }).pairs(name, value)
}

/// One argument as names and values of a multipart form, which encodes nothing.
pub(super) fn plain_pairs(name: &str, value: &Value, place: Option<&ArgumentPlace>) -> Vec<(String, String)> {
    Form::of(place, str::to_string).pairs(name, value)
}

/// One argument as cookies. A list or an object is one cookie, unless the author says otherwise.
pub(super) fn cookie(name: &str, value: &Value, place: Option<&ArgumentPlace>) -> String {
    let is_raw = place.is_some_and(|place| place.style == Some(QueryStyle::Cookie));
    let encode = if is_raw { encode_cookie } else { encode };
    let style = place.and_then(|place| place.style).filter(|style| *style == QueryStyle::Json);
    let explodes = place.and_then(|place| place.explode).unwrap_or(is_raw);
    let form = Form { style: style.or(Some(QueryStyle::Form)), explodes, encode };
    let pairs = form.pairs(name, value).into_iter().map(|(name, value)| format!("{}={value}", encode(&name)));
    pairs.collect::<Vec<_>>().join("; ")
}

/// The whole query: an object as a form, or a text that is a query.
pub(super) fn query_string(value: &Value, place: Option<&ArgumentPlace>) -> String {
    match value {
        Value::Object(fields) if place.is_none_or(|place| place.style.is_none()) => {
            let all = fields.iter().flat_map(|(name, value)| pairs(name, value, None));
            form(&all.collect::<Vec<_>>())
        }
        Value::String(text) => encode_literal(text),
        value => encode(&json_text(value)),
    }
}

impl Form {
    fn of(place: Option<&ArgumentPlace>, encode: fn(&str) -> String) -> Self {
        let style = place.and_then(|place| place.style);
        let explode = place.and_then(|place| place.explode);
        Self { style, explodes: explode.unwrap_or(matches!(style, None | Some(QueryStyle::Form))), encode }
    }

    fn pairs(self, name: &str, value: &Value) -> Vec<(String, String)> {
        let Self { style, explodes, encode } = self;
        let written = |value: &Value| encode(&plain(value));
        let one = |text: String| vec![(name.to_string(), text)];
        let joined = |parts: Vec<String>| one(parts.join(&self.delimiter()));
        match (value, style) {
            (Value::Null, _) => Vec::new(),
            (value, Some(QueryStyle::Json)) => one(encode(&json_text(value))),
            (Value::Array(_) | Value::Object(_), Some(QueryStyle::DeepObject)) => deep(name, value, encode),
            (Value::Array(items), _) if explodes => {
                items.iter().map(|item| (name.to_string(), written(item))).collect()
            }
            // A delimiter within a value is encoded.
            (Value::Array(items), _) => joined(items.iter().map(written).collect()),
            (Value::Object(_), None) => one(written(value)),
            (Value::Object(fields), _) if explodes => {
                fields.iter().map(|(name, value)| (name.clone(), written(value))).collect()
            }
            (Value::Object(fields), _) => {
                joined(fields.iter().flat_map(|(name, value)| [encode(name), written(value)]).collect())
            }
            (value, _) => one(written(value)),
        }
    }

    fn delimiter(self) -> String {
        match delimiter(self.style) {
            "," => ",".into(),
            other => (self.encode)(other),
        }
    }
}

/// A value on one line, for headers and for a path that no template can write.
pub(super) fn simple(value: &Value, place: Option<&ArgumentPlace>) -> String {
    let style = place.and_then(|place| place.style);
    let explodes = place.is_some_and(|place| place.explode == Some(true));
    match value {
        value if style == Some(QueryStyle::Json) => json_text(value).into_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(delimiter(style)),
        Value::Object(fields) if explodes => {
            let parts = fields.iter().map(|(name, value)| format!("{name}={}", plain(value)));
            parts.collect::<Vec<_>>().join(",")
        }
        Value::Object(fields) => {
            let parts = fields.iter().flat_map(|(name, value)| [Cow::Borrowed(name.as_str()), plain(value)]);
            parts.collect::<Vec<_>>().join(",")
        }
        value => plain(value).into_owned(),
    }
}

/// A value as JSON. A text that already is a list or an object stays.
pub(super) fn json_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) && is_json(text) => text.into(),
        value => value.to_string().into(),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn delimiter(style: Option<QueryStyle>) -> &'static str {
    match style {
        Some(QueryStyle::SpaceDelimited) => " ",
        Some(QueryStyle::PipeDelimited) => "|",
        Some(QueryStyle::TabDelimited) => "\t",
        _ => ",",
    }
}

/// Nested names: `filter[created][after]=...`, to any depth. Items with names below them are numbered.
fn deep(name: &str, value: &Value, encode: fn(&str) -> String) -> Vec<(String, String)> {
    match value {
        Value::Null => Vec::new(),
        Value::Object(fields) => {
            let below = |(field, value): (&String, &Value)| deep(&format!("{name}[{field}]"), value, encode);
            fields.iter().flat_map(below).collect()
        }
        Value::Array(items) => {
            let is_nested = items.iter().any(|item| item.is_array() || item.is_object());
            let at = |index: usize| if is_nested { index.to_string() } else { String::new() };
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| deep(&format!("{name}[{}]", at(index)), item, encode)).collect()
        }
        value => vec![(name.to_string(), encode(&plain(value)))],
    }
}

/// Names and encoded values as a query or form.
pub(super) fn form(pairs: &[(String, String)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{}={value}", encode(name)));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod query_tests {
    use serde_json::{Value, json};

    use super::{form, pairs};
    use toolcrib_definition::{ArgumentPlace, Location, Style};

    fn place(style: Option<Style>, explode: Option<bool>) -> ArgumentPlace {
        let location = Location::Query;
        ArgumentPlace { location, name: None, style, explode, allow_reserved: false, content_type: None }
    }

    #[track_caller]
    fn check(value: Value, style: Option<Style>, explode: Option<bool>, expect: &str) {
        let place = place(style, explode);
        assert_eq!(form(&pairs("a", &value, Some(&place))), expect, "{value}");
    }

    #[test]
    fn every_style_of_a_query() {
        let list = json!(["x", "y z"]);
        let map = json!({"b": 1, "c": "d"});
        check(json!("x&y=+"), None, None, "a=x%26y%3D%2B");
        check(json!(null), None, None, "");
        check(json!(false), None, None, "a=false");
        check(list.clone(), None, None, "a=x&a=y%20z");
        check(list.clone(), Some(Style::Form), Some(false), "a=x,y%20z");
        check(json!(["a,b", "c"]), Some(Style::Form), Some(false), "a=a%2Cb,c");
        check(list.clone(), Some(Style::TabDelimited), None, "a=x%09y%20z");
        check(list.clone(), Some(Style::SpaceDelimited), None, "a=x%20y%20z");
        check(list.clone(), Some(Style::PipeDelimited), None, "a=x%7Cy%20z");
        check(list, Some(Style::Json), None, "a=%5B%22x%22%2C%22y%20z%22%5D");
        check(map.clone(), None, None, "a=%7B%22b%22%3A1%2C%22c%22%3A%22d%22%7D");
        check(map.clone(), Some(Style::Form), None, "b=1&c=d");
        check(map.clone(), Some(Style::Form), Some(false), "a=b,1,c,d");
        check(map, Some(Style::DeepObject), None, "a%5Bb%5D=1&a%5Bc%5D=d");
        check(
            json!({"b": {"c": [1, 2]}}),
            Some(Style::DeepObject),
            None,
            "a%5Bb%5D%5Bc%5D%5B%5D=1&a%5Bb%5D%5Bc%5D%5B%5D=2",
        );
        check(
            json!([{"b": "p,1"}, {"b": [2]}]),
            Some(Style::DeepObject),
            None,
            "a%5B0%5D%5Bb%5D=p%2C1&a%5B1%5D%5Bb%5D%5B%5D=2",
        );
    }
}
