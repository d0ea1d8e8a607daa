//! Facts of a place that its schema tells every reader: values, default, types, whether it is required.

use serde_json::Value;

use crate::catalog::schema_view::{SchemaView, Type};

/// Most values that a doc lists; of more it shows some, and the author's list stays.
const MAX_VALUES: usize = 12;
/// Longest list of values that a doc shows whole, in bytes.
const MAX_LISTED: usize = 240;
/// Longest default that each reader gets, in bytes of JSON: some wires have it as text.
const MAX_DEFAULT: usize = 60;

/// The facts of one place.
pub(super) struct Facts<'a> {
    /// The values allowed, all of them strings; empty where the schema lists none.
    pub(super) values: Vec<&'a str>,
    /// The default, where it is told in full.
    pub(super) default: Option<&'a Value>,
    view: SchemaView<'a>,
    is_required: Option<bool>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(view: SchemaView<'a>, is_required: Option<bool>) -> Self {
        let values = values(&view);
        let values = if values.is_empty() {
            view.items().map(|items| self::values(&view.at(items))).unwrap_or_default()
        } else {
            values
        };
        let default = view.get("default").filter(|value| is_told(value));
        Self { values, default, view, is_required }
    }

    /// Whether a text may tell a fact other than a type, by its words alone: most texts tell none.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        let need = self.is_required.map(|is_required| if is_required { "required" } else { "optional" });
        let default = self.default.map(|_| "default");
        let has_word = |word: &str| {
            text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        };
        let has_value = |value: &&str| value.split_whitespace().next().is_none_or(|word| text.contains(word));
        need.into_iter().chain(default).any(has_word)
            || (!self.values.is_empty() && self.values.iter().all(has_value))
    }

    /// Whether a word only names a type of the place, or says again whether it is required.
    pub(super) fn repeats(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        let word = word.strip_prefix("optional[").and_then(|word| word.strip_suffix(']')).unwrap_or(&word);
        let named = match word {
            "optional" => return self.is_required == Some(false),
            "required" => return self.is_required == Some(true),
            "str" | "string" => "string",
            "int" | "integer" => "integer",
            "float" | "double" | "number" => "number",
            "bool" | "boolean" => "boolean",
            "list" | "array" => "array",
            "dict" | "object" => "object",
            _ => return false,
        };
        types(&self.view).contains(&named)
    }
}

/// The values of an enum or a constant, null left out; empty where a value is no string.
fn values<'a>(view: &SchemaView<'a>) -> Vec<&'a str> {
    let listed = view.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let listed = listed.or_else(|| view.constant().map(std::slice::from_ref)).unwrap_or_default();
    let strings: Vec<&str> = listed
        .iter()
        .filter(|value| !value.is_null())
        .map(|value| value.as_str().unwrap_or_default())
        .collect();
    let length: usize = strings.iter().map(|value| value.len()).sum();
    let is_whole = strings.len() <= MAX_VALUES && length <= MAX_LISTED && !strings.contains(&"");
    if is_whole { strings } else { Vec::new() }
}

fn types<'a>(view: &SchemaView<'a>) -> Vec<&'a str> {
    let word = |one: Type<'a>| match one {
        Type::Any => None,
        Type::Plain(word) => Some(word),
        Type::Array(_) | Type::Tuple(_) => Some("array"),
        Type::Object | Type::Map(_) => Some("object"),
    };
    let of = |view: &SchemaView<'a>| view.types().into_iter().filter_map(word).collect::<Vec<_>>();
    match view.variants.is_empty() {
        true => of(view),
        false => view.variants.iter().take(MAX_VALUES).flat_map(|variant| of(&view.at(variant))).collect(),
    }
}

fn is_told(default: &Value) -> bool {
    match default {
        Value::String(text) => !text.is_empty() && text.len() + 2 <= MAX_DEFAULT,
        Value::Number(_) | Value::Bool(_) => true,
        _ => false,
    }
}
