//! The arguments of a tool as help lists them, required ones first.

use serde_json::{Map, Value};

use super::brief;
use super::types::Type;
use crate::catalog::Tool;
use crate::tool::clean_line;

/// Most values of an enum, and most bytes of them, in a short answer.
const MAX_VALUES: usize = 16;
const MAX_VALUES_LENGTH: usize = 160;
/// Longest default in a short answer.
const MAX_DEFAULT: usize = 60;
/// Most fields of an object that are named.
const MAX_FIELDS: usize = 12;
/// Deepest level, and most fields of an object, in a full answer.
const MAX_DEPTH: usize = 6;
const MAX_ROWS: usize = 400;

/// One argument, or a field of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Whether it is required.
    pub(super) required: bool,
    kind: Type<'a>,
}

/// The arguments of a tool, required ones first.
pub(super) fn arguments(tool: &Tool) -> Vec<Argument<'_>> {
    let schema = tool.parameters.schema();
    let fields = Type::of(schema, schema).fields();
    fields.into_iter().map(|(name, kind, required)| Argument { name, required, kind }).collect()
}

impl<'a> Argument<'a> {
    /// Its type in a few words.
    pub(super) fn words(&self) -> String {
        self.kind.words()
    }

    /// Its allowed values, where they are few; for an array, the values of its elements.
    pub(super) fn values(&self) -> Option<&'a [Value]> {
        let own = self.kind.values().or_else(|| self.kind.items().and_then(|items| items.values()));
        own.filter(|values| {
            values.len() <= MAX_VALUES
                && values.iter().map(|value| value.to_string().len()).sum::<usize>() <= MAX_VALUES_LENGTH
        })
    }

    /// Name, type, whether it is required, default and values.
    pub(super) fn row(&self) -> Map<String, Value> {
        let mut row = Map::new();
        row.insert("name".into(), self.name.into());
        row.insert("type".into(), self.words().into());
        if self.required {
            row.insert("required".into(), true.into());
        }
        let default = self.kind.get("default").filter(|default| !default.is_null() && !self.required);
        let default = default.filter(|default| default.to_string().len() <= MAX_DEFAULT);
        row.extend(default.map(|default| ("default".to_string(), default.clone())));
        row.extend(self.values().map(|values| ("enum".to_string(), Value::from(values))));
        row
    }

    /// Its description, cut to this many characters.
    pub(super) fn about(&self, most: usize) -> Option<String> {
        self.kind.about().map(|text| brief(text, most)).filter(|text| !text.is_empty())
    }

    /// Further limits of its value.
    pub(super) fn limits(&self) -> Option<String> {
        self.kind.limits()
    }

    /// The names of its fields, optional ones with a question mark.
    pub(super) fn fields(&self) -> Option<String> {
        let fields = self.kind.object()?.fields();
        let mut names: Vec<String> = fields
            .iter()
            .take(MAX_FIELDS)
            .map(|(name, _, required)| format!("{}{}", clean_line(name), if *required { "" } else { "?" }))
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
        let own = |keyword: &str| self.kind.get(keyword).cloned().map(|value| (keyword.to_string(), value));
        row.extend(own("default"));
        let values = self.kind.values().or_else(|| self.kind.items().and_then(|items| items.values()));
        row.extend(values.map(|values| ("enum".to_string(), Value::from(values))));
        row.extend(own("const"));
        row.extend(self.limits().map(|limits| ("limits".to_string(), limits.into())));
        row.extend(self.kind.about().map(|about| ("about".to_string(), clean_line(about).into())));
        if own("deprecated").is_some_and(|(_, value)| value == true) {
            row.insert("deprecated".into(), true.into());
        }
        if let Some(object) = self.kind.object().filter(|_| depth < MAX_DEPTH && *room > 0) {
            let fields = object.fields().into_iter();
            let fields = fields.map(|(name, kind, required)| Argument { name, required, kind });
            row.insert("fields".into(), rows(fields, depth + 1, room).into());
        }
        row.into()
    }
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
