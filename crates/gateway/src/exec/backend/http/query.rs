//! Arguments in queries, forms, headers and cookies.

use std::borrow::Cow;

use serde_json::Value;

use super::text::{encode, plain};
use toolcrib_definition::{ArgumentPlace, Style as QueryStyle};

/// One argument as names and encoded values of a query or form. `null` gives none.
pub(super) fn pairs(name: &str, value: &Value, place: Option<&ArgumentPlace>) -> Vec<(String, String)> {
    let style = place.and_then(|place| place.style);
    let explodes =
        place.and_then(|place| place.explode).unwrap_or(matches!(style, None | Some(QueryStyle::Form)));
    let written = |value: &Value| encode(&plain(value));
    let one = |text: String| vec![(name.to_string(), text)];
    match (value, style) {
        (Value::Null, _) => Vec::new(),
        (Value::Array(_) | Value::Object(_), Some(QueryStyle::DeepObject)) => deep(name, value),
        (Value::Array(_), Some(QueryStyle::Json)) => one(written(value)),
        (Value::Array(items), _) if explodes => {
            items.iter().map(|item| (name.to_string(), written(item))).collect()
        }
        // A delimiter within a value is encoded.
        (Value::Array(items), style) => {
            one(items.iter().map(written).collect::<Vec<_>>().join(delimiter(style)))
        }
        (Value::Object(_), None | Some(QueryStyle::Json)) => one(written(value)),
        (Value::Object(fields), _) if explodes => {
            fields.iter().map(|(name, value)| (name.clone(), written(value))).collect()
        }
        (Value::Object(fields), style) => {
            let parts = fields.iter().flat_map(|(name, value)| [encode(name), written(value)]);
            one(parts.collect::<Vec<_>>().join(delimiter(style)))
        }
        (value, _) => one(written(value)),
    }
}

/// A value on one line, for headers and cookies.
pub(super) fn simple(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Object(fields) => {
            let parts = fields.iter().flat_map(|(name, value)| [Cow::Borrowed(name.as_str()), plain(value)]);
            parts.collect::<Vec<_>>().join(",")
        }
        value => plain(value).into_owned(),
    }
}

fn delimiter(style: Option<QueryStyle>) -> &'static str {
    match style {
        Some(QueryStyle::SpaceDelimited) => "%20",
        Some(QueryStyle::PipeDelimited) => "%7C",
        Some(QueryStyle::TabDelimited) => "%09",
        _ => ",",
    }
}

/// Nested names: `filter[created][after]=...`, to any depth. Items with names below them are numbered.
fn deep(name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Null => Vec::new(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(field, value)| deep(&format!("{name}[{field}]"), value)).collect()
        }
        Value::Array(items) => {
            let is_nested = items.iter().any(|item| item.is_array() || item.is_object());
            let at = |index: usize| if is_nested { index.to_string() } else { String::new() };
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| deep(&format!("{name}[{}]", at(index)), item)).collect()
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

    #[track_caller]
    fn check(value: Value, style: Option<Style>, explode: Option<bool>, expect: &str) {
        let place = ArgumentPlace { location: Location::Query, name: None, style, explode };
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
