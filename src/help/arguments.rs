//! The arguments of a tool as help lists them, required ones first.

use serde_json::{Map, Value};

use super::brief;
use crate::catalog::Tool;
use crate::catalog::schema_view::{Kind, Property, SchemaView, Type};
use crate::tool::clean_line;

/// Most values of an enum, and most bytes of them, in a short answer.
const MAX_VALUES: usize = 16;
const MAX_VALUES_LENGTH: usize = 160;
/// Most values of a row in a short answer, and most bytes of them.
const MAX_ROW_VALUES: (usize, usize) = (60, 600);
/// Longest default in a short answer, and longest format, in bytes.
const MAX_DEFAULT: usize = 200;
const MAX_FORMAT: usize = 30;
/// Most fields of an object that are named.
const MAX_FIELDS: usize = 12;
/// Deepest level, and most fields of an object, in a full answer.
const MAX_DEPTH: usize = 6;
const MAX_ROWS: usize = 400;

/// One argument, or a field of one.
#[derive(Debug)]
pub(super) struct Argument<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Whether it is required.
    pub(super) required: bool,
    view: SchemaView<'a>,
}

/// The arguments of a tool, required ones first.
pub(super) fn arguments(tool: &Tool) -> Vec<Argument<'_>> {
    let schema = tool.parameters.schema();
    let view = SchemaView::of(schema, schema);
    fields(&view).into_iter().map(|field| Argument::of(&view, field)).collect()
}

impl<'a> Argument<'a> {
    fn of(whole: &SchemaView<'a>, Property { name, schema, required }: Property<'a>) -> Self {
        Self { name, required, view: whole.at(schema) }
    }

    /// Its type in a few words.
    pub(super) fn words(&self) -> String {
        type_words(&self.view)
    }

    /// Its allowed values, where they are few.
    pub(super) fn few_values(&self) -> Option<Vec<&'a Value>> {
        let values = self.values();
        let is_few = (1..=MAX_VALUES).contains(&values.len())
            && values.iter().map(|value| value.to_string().len()).sum::<usize>() <= MAX_VALUES_LENGTH;
        is_few.then_some(values)
    }

    /// As many of its allowed values as fit into this many bytes, at least one, and the number of the others.
    pub(super) fn first_values(&self, most: usize) -> (Vec<String>, usize) {
        let values = self.values();
        let mut told: Vec<String> = Vec::new();
        let mut length = 0;
        for value in &values {
            let value = value.as_str().map_or_else(|| value.to_string(), clean_line);
            length += value.len() + 1;
            if length > most && !told.is_empty() {
                break;
            }
            told.push(value);
        }
        let left = values.len() - told.len();
        (told, left)
    }

    /// Its allowed values, where they are listed; for an array, the values of its elements.
    fn values(&self) -> Vec<&'a Value> {
        let own = values(&self.view);
        match self.view.items().filter(|_| own.is_empty()) {
            Some(items) => values(&self.view.at(items)),
            None => own,
        }
    }

    /// Name, type, format, whether it is required, default and values.
    pub(super) fn row(&self) -> Map<String, Value> {
        let mut row = Map::new();
        row.insert("name".into(), self.name.into());
        row.insert("type".into(), self.words().into());
        let format =
            self.view.get("format").and_then(Value::as_str).filter(|format| format.len() <= MAX_FORMAT);
        row.extend(format.map(|format| ("format".to_string(), clean_line(format).into())));
        if self.required {
            row.insert("required".into(), true.into());
        }
        let default = self.view.get("default").filter(|default| !default.is_null() && !self.required);
        let default = default.filter(|default| default.to_string().len() <= MAX_DEFAULT);
        row.extend(default.map(|default| ("default".to_string(), default.clone())));
        let values = self.values();
        let length = || values.iter().map(|value| value.to_string().len()).sum::<usize>();
        if (1..=MAX_ROW_VALUES.0).contains(&values.len()) && length() <= MAX_ROW_VALUES.1 {
            row.insert("enum".into(), list(&values));
        }
        row
    }

    /// Its description, cut to this many characters.
    pub(super) fn about(&self, most: usize) -> Option<String> {
        self.view.about(self.name).map(|text| brief(text, most)).filter(|text| !text.is_empty())
    }

    /// Further limits of its value.
    pub(super) fn limits(&self) -> Option<String> {
        limits(&self.view)
    }

    /// The names of its fields, optional ones with a question mark.
    pub(super) fn fields(&self) -> Option<String> {
        let fields = object(&self.view);
        let mut names: Vec<String> = fields
            .iter()
            .take(MAX_FIELDS)
            .map(|field| format!("{}{}", clean_line(field.name), if field.required { "" } else { "?" }))
            .collect();
        if fields.len() > MAX_FIELDS {
            names.push("…".into());
        }
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The argument in full.
    fn whole(&self, depth: usize, room: &mut usize) -> Value {
        let mut row = Map::new();
        row.insert("name".into(), self.name.into());
        row.insert("type".into(), self.words().into());
        row.insert("required".into(), self.required.into());
        let own = |keyword: &str| self.view.get(keyword).cloned().map(|value| (keyword.to_string(), value));
        row.extend(own("default"));
        row.extend(own("const"));
        let values = self.values();
        if !values.is_empty() && !row.contains_key("const") {
            row.insert("enum".into(), list(&values));
        }
        row.extend(self.limits().map(|limits| ("limits".to_string(), limits.into())));
        row.extend(self.view.about(self.name).map(|about| ("about".to_string(), clean_line(about).into())));
        if self.view.is_deprecated() {
            row.insert("deprecated".into(), true.into());
        }
        if depth < MAX_DEPTH && *room > 0 {
            let fields = object(&self.view);
            let fields = fields.into_iter().map(|field| Argument::of(&self.view, field));
            let rows = rows(fields, depth + 1, room);
            row.extend((!rows.is_empty()).then(|| ("fields".to_string(), rows.into())));
        }
        row.into()
    }
}

fn list(values: &[&Value]) -> Value {
    values.iter().map(|value| (*value).clone()).collect()
}

fn rows<'a>(arguments: impl Iterator<Item = Argument<'a>>, depth: usize, room: &mut usize) -> Vec<Value> {
    let mut rows = Vec::new();
    for argument in arguments {
        if *room == 0 {
            break;
        }
        *room -= 1;
        rows.push(argument.whole(depth, room));
    }
    rows
}

/// The arguments of a tool in full.
pub(super) fn whole(tool: &Tool) -> Vec<Value> {
    let mut room = MAX_ROWS;
    rows(arguments(tool).into_iter(), 0, &mut room)
}

// Types in a few words: `string`, `integer[]`, `string|null`. References are followed within the schema, a few
// levels deep.

/// Most levels of a type that are written out.
const MAX_TYPE_DEPTH: usize = 4;
/// Most alternatives that are written out.
const MAX_VARIANTS: usize = 4;
/// Most alternatives whose fields, and whose values, are listed.
const MAX_LISTED_VARIANTS: usize = 400;
/// Longest word for a type in characters, longest format and longest pattern in bytes.
const MAX_WORD: usize = 40;
const MAX_PATTERN: usize = 60;

/// The type in a few words.
pub(super) fn type_words(view: &SchemaView<'_>) -> String {
    words_at(view, 0)
}

fn words_at(view: &SchemaView<'_>, depth: usize) -> String {
    if depth > MAX_TYPE_DEPTH {
        return "any".into();
    }
    let is_typed = view.get("type").is_some();
    let types = || view.types().into_iter().map(|one| type_word(view, one, depth)).collect::<Vec<_>>();
    let mut words = match view.kind() {
        Kind::Never => return "never".into(),
        Kind::Variants => alternatives(view, depth, || types().join("|")),
        Kind::Constant(value) if !is_typed => vec![type_of(value).into()],
        Kind::Values(values) if !is_typed => values.iter().map(|value| type_of(value).into()).collect(),
        _ => types(),
    };
    if view.is_nullable {
        words.push("null".into());
    }
    let mut told: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        if !told.contains(&word) {
            told.push(word);
        }
    }
    told.join("|")
}

/// The words of each alternative; one that names no type has that of all.
fn alternatives(view: &SchemaView<'_>, depth: usize, own: impl Fn() -> String) -> Vec<String> {
    let words = |variant: &&Value| match words_at(&view.at(variant), depth + 1) {
        untyped if untyped == "any" => own(),
        words => words,
    };
    let mut words: Vec<String> = view.variants.iter().take(MAX_VARIANTS).map(words).collect();
    if view.variants.len() > MAX_VARIANTS {
        words.push("…".into());
    }
    words
}

fn type_word(view: &SchemaView<'_>, one: Type<'_>, depth: usize) -> String {
    match one {
        Type::Any => "any".into(),
        Type::Plain(word) => clean_line(word).chars().take(MAX_WORD).collect(),
        Type::Object | Type::Map(_) => "object".into(),
        Type::Array(None) | Type::Tuple(_) => "array".into(),
        Type::Array(Some(items)) => match words_at(&view.at(items), depth + 1) {
            of if of == "any" => "array".into(),
            of if of.contains('|') => format!("({of})[]"),
            of => format!("{of}[]"),
        },
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The values that are allowed, where they are listed: in one place, or as alternatives.
pub(super) fn values<'a>(view: &SchemaView<'a>) -> Vec<&'a Value> {
    match view.kind() {
        Kind::Constant(value) => vec![value],
        Kind::Values(values) => values.iter().collect(),
        Kind::Variants if view.variants.len() <= MAX_LISTED_VARIANTS => {
            let constants = view.variants.iter().map(|variant| view.at(variant).constant());
            constants.collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The fields of the object that a value is, or that its elements are.
pub(super) fn object<'a>(view: &SchemaView<'a>) -> Vec<Property<'a>> {
    let own = fields(view);
    match view.items().filter(|_| own.is_empty()) {
        Some(items) => fields(&view.at(items)),
        None => own,
    }
}

/// The fields of an object, required ones first, then those of its alternatives.
pub(super) fn fields<'a>(view: &SchemaView<'a>) -> Vec<Property<'a>> {
    let mut fields = view.properties();
    let mut left: Vec<&Value> = view.variants.iter().rev().copied().collect();
    for _ in 0..MAX_LISTED_VARIANTS {
        let Some(variant) = left.pop().map(|variant| view.at(variant)) else { break };
        for field in variant.properties() {
            if fields.iter().all(|known| known.name != field.name) {
                fields.push(Property { required: false, ..field });
            }
        }
        left.extend(variant.variants.iter().rev());
    }
    fields.sort_by_key(|field| !field.required);
    fields
}

/// Further limits of a value and of its elements, in a few words.
pub(super) fn limits(view: &SchemaView<'_>) -> Option<String> {
    let short = |text: &str, most: usize| (text.len() <= most).then(|| clean_line(text));
    let of =
        |view: &SchemaView<'_>| view.limits(|word| short(word, MAX_FORMAT), |text| short(text, MAX_PATTERN));
    let mut limits = of(view);
    let each = view.items().map(|items| of(&view.at(items))).unwrap_or_default();
    limits.extend(each.into_iter().map(|limit| format!("each {limit}")));
    (!limits.is_empty()).then(|| limits.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(schema: Value) -> String {
        type_words(&SchemaView::of(&schema, &schema))
    }

    #[test]
    fn types_are_told_in_few_words() {
        assert_eq!(words(json!({"type": "string"})), "string");
        assert_eq!(words(json!({"type": ["integer", "null"]})), "integer|null");
        assert_eq!(words(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})), "string|null");
        assert_eq!(words(json!({"type": "array", "items": {"type": "object"}})), "object[]");
        assert_eq!(words(json!({"items": {"type": ["string", "number"]}})), "(string|number)[]");
        assert_eq!(words(json!({"enum": ["a", "b"]})), "string");
        assert_eq!(words(json!({"enum": ["a", 1, null]})), "string|integer|null");
        assert_eq!(words(json!({"allOf": [{"type": "string"}, {"minLength": 1}]})), "string");
        assert_eq!(
            words(json!({"type": "string", "anyOf": [{"format": "uri"}, {"pattern": "^/"}]})),
            "string"
        );
        assert_eq!(words(json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "boolean"}}})), "boolean");
        assert_eq!(words(json!({"type": []})), "any");
        assert_eq!(words(json!({"type": ["null", "int", "integer"]})), "integer|null");
        assert_eq!(words(json!(false)), "never");
        assert_eq!(words(json!(true)), "any");
        let endless = json!({"$ref": "#"});
        assert_eq!(words(endless), "any");
        let nested = json!({"type": "array", "items": {"$ref": "#"}});
        assert_eq!(words(nested), "array[][][][]");
    }

    #[test]
    fn parts_of_a_schema_bring_their_fields() {
        let schema = json!({
            "properties": {"b": {"type": "string"}, "a": {"type": "integer"}},
            "allOf": [{"properties": {"c": {}}, "required": ["c", "a"]}],
            "oneOf": [{"properties": {"d": {}}, "required": ["d"]}, {"type": "object"}],
        });
        let fields = fields(&SchemaView::of(&schema, &schema));
        let told: Vec<_> = fields.iter().map(|field| (field.name, field.required)).collect();
        assert_eq!(told, [("a", true), ("c", true), ("b", false), ("d", false)]);
    }

    #[test]
    fn limits_are_told_in_few_words() {
        let schema = json!({
            "type": "array", "minItems": 1, "uniqueItems": true,
            "items": {"exclusiveMinimum": 0, "maximum": 5, "multipleOf": 0.5},
        });
        let limits = limits(&SchemaView::of(&schema, &schema)).unwrap();
        assert_eq!(limits, "at least 1 item, unique, each above 0 and at most 5, each multiple of 0.5");
    }

    #[test]
    fn alternatives_that_are_constants_are_values() {
        let schema = json!({"oneOf": [{"const": "a", "title": "First"}, {"enum": ["b"]}]});
        let view = SchemaView::of(&schema, &schema);
        assert_eq!(values(&view), [&json!("a"), &json!("b")]);
        let schema = json!({"oneOf": [{"const": "a"}, {"type": "integer"}]});
        assert!(values(&SchemaView::of(&schema, &schema)).is_empty());
    }
}
