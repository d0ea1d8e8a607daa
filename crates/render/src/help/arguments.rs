//! The arguments of a tool as help lists them, required ones first.

use serde_json::{Map, Value};

use super::brief::brief;
use toolcrib_catalog::Tool;
use toolcrib_definition::schema::words::{Style, Words};
use toolcrib_definition::schema::{Kind, Node, Property};
use toolcrib_definition::{Schema, clean_line};

/// Descriptions of arguments, in a few words.
const BRIEF: Style = Style { is_brief: true, word: clean_line, code: clean_line };

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
/// Most fields of a result in a full answer.
const MAX_RESULT_ROWS: usize = 60;

/// One argument, or a field of one.
#[derive(Debug)]
pub(super) struct Argument<'a> {
    pub(super) name: &'a str,
    /// Whether it is required.
    pub(super) required: bool,
    node: Node<'a>,
}

/// The arguments of a tool, required ones first.
pub(super) fn arguments(tool: &Tool) -> Vec<Argument<'_>> {
    fields(&tool.input.parameters.root()).into_iter().map(Argument::from).collect()
}

impl<'a> From<Property<'a>> for Argument<'a> {
    fn from(property: Property<'a>) -> Self {
        Self { name: property.name, required: property.required, node: property.node() }
    }
}

impl<'a> Argument<'a> {
    /// Its type in a few words.
    pub(super) fn words(&self) -> String {
        Words::new(BRIEF).of(&self.node)
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
        let own = values(&self.node);
        match self.node.items() {
            Some(items) if own.is_empty() => values(&items),
            _ => own,
        }
    }

    /// Name, type, format, whether it is required, default and values.
    pub(super) fn row(&self) -> Map<String, Value> {
        let mut row = Map::new();
        row.insert("name".into(), self.name.into());
        row.insert("type".into(), self.words().into());
        let format = self.node.limits.format.filter(|format| format.len() <= MAX_FORMAT);
        row.extend(format.map(|format| ("format".to_string(), clean_line(format).into())));
        if self.required {
            row.insert("required".into(), true.into());
        }
        let default = self.node.default.filter(|default| !default.is_null() && !self.required);
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
        self.node.about(self.name).map(|text| brief(text, most)).filter(|text| !text.is_empty())
    }

    /// Further limits of its value.
    pub(super) fn limits(&self) -> Option<String> {
        let limits = Words::new(BRIEF).limits(&self.node);
        (!limits.is_empty()).then(|| limits.join(", "))
    }

    /// The names of its fields, optional ones with a question mark.
    pub(super) fn fields(&self) -> Option<String> {
        let fields = object(&self.node);
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
        row.extend(self.node.default.map(|value| ("default".to_string(), value.clone())));
        row.extend(self.node.only.map(|value| ("const".to_string(), value.clone())));
        let values = self.values();
        if !values.is_empty() && !row.contains_key("const") {
            row.insert("enum".into(), list(&values));
        }
        row.extend(self.limits().map(|limits| ("limits".to_string(), limits.into())));
        row.extend(self.node.about(self.name).map(|about| ("about".to_string(), clean_line(about).into())));
        if self.node.is_deprecated {
            row.insert("deprecated".into(), true.into());
        }
        if depth < MAX_DEPTH && *room > 0 {
            let rows = rows(object(&self.node), depth + 1, room);
            row.extend((!rows.is_empty()).then(|| ("fields".to_string(), rows.into())));
        }
        row.into()
    }
}

fn list(values: &[&Value]) -> Value {
    values.iter().map(|value| (*value).clone()).collect()
}

fn rows(fields: Vec<Property<'_>>, depth: usize, room: &mut usize) -> Vec<Value> {
    let mut rows = Vec::new();
    for field in fields {
        if *room == 0 {
            break;
        }
        *room -= 1;
        rows.push(Argument::from(field).whole(depth, room));
    }
    rows
}

/// The arguments of a tool in full.
pub(super) fn whole(tool: &Tool) -> Vec<Value> {
    let mut room = MAX_ROWS;
    rows(fields(&tool.input.parameters.root()), 0, &mut room)
}

/// The fields of the result of a tool in full.
pub(super) fn whole_result(tool: &Tool) -> Vec<Value> {
    let root = tool.output.as_ref().map(Schema::root);
    let mut room = MAX_RESULT_ROWS;
    root.map(|root| rows(object(&root), 0, &mut room)).unwrap_or_default()
}

/// Most alternatives whose fields, and whose values, are listed.
const MAX_LISTED_VARIANTS: usize = 400;

/// The values that are allowed, where they are listed: in one place, or as alternatives.
fn values<'a>(node: &Node<'a>) -> Vec<&'a Value> {
    match node.kind() {
        Kind::Constant(value) => vec![value],
        Kind::Values(values) => values.iter().collect(),
        Kind::Variants if node.variants().len() <= MAX_LISTED_VARIANTS => {
            let constants = node.variants().map(|variant| variant.constant());
            constants.collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The fields of the object that a value is, or that its elements are.
fn object<'a>(node: &Node<'a>) -> Vec<Property<'a>> {
    let own = fields(node);
    match node.items() {
        Some(items) if own.is_empty() => fields(&items),
        _ => own,
    }
}

/// The fields of an object, required ones first, then those of its alternatives.
pub(super) fn fields<'a>(node: &Node<'a>) -> Vec<Property<'a>> {
    let mut fields = node.properties();
    let mut left: Vec<Node<'a>> = node.variants().collect();
    left.reverse();
    for _ in 0..MAX_LISTED_VARIANTS {
        let Some(variant) = left.pop() else { break };
        for mut field in variant.properties() {
            if fields.iter().all(|known| known.name != field.name) {
                field.required = false;
                fields.push(field);
            }
        }
        let within = left.len();
        left.extend(variant.variants());
        left[within..].reverse();
    }
    fields.sort_by_key(|field| !field.required);
    fields
}

/// The names of all arguments of a tool.
pub fn argument_names(tool: &Tool) -> Vec<&str> {
    arguments(tool).into_iter().map(|argument| argument.name).collect()
}

/// The name of an argument; in quotes where it could be taken for more than a name.
pub(super) fn signed_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.$/@[]".contains(c);
    let cleaned = clean_line(name);
    let is_name = !name.is_empty() && name.chars().all(is_plain) && cleaned == name;
    if is_name { cleaned } else { Value::from(cleaned).to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_of_a_schema_bring_their_fields() {
        let schema = json!({
            "properties": {"b": {"type": "string"}, "a": {"type": "integer"}},
            "allOf": [{"properties": {"c": {}}, "required": ["c", "a"]}],
            "oneOf": [{"properties": {"d": {}}, "required": ["d"]}, {"type": "object"}],
        });
        let fields = fields(&Node::root(&schema));
        let told: Vec<_> = fields.iter().map(|field| (field.name, field.required)).collect();
        assert_eq!(told, [("a", true), ("c", true), ("b", false), ("d", false)]);
    }

    #[test]
    fn alternatives_that_are_constants_are_values() {
        let schema = json!({"oneOf": [{"const": "a", "title": "First"}, {"enum": ["b"]}]});
        assert_eq!(values(&Node::root(&schema)), [&json!("a"), &json!("b")]);
        let schema = json!({"oneOf": [{"const": "a"}, {"type": "integer"}]});
        assert!(values(&Node::root(&schema)).is_empty());
    }
}
