//! The arguments of a tool as help tells them: those that must be given first.

use serde_json::{Map, Value};

use super::brief;
use super::types::Type;
use crate::catalog::Tool;
use crate::tool::clean_line;

/// The most values of an enum, and the most bytes of them, that a short answer lists.
const MAX_VALUES: usize = 16;
const MAX_VALUES_LENGTH: usize = 160;
/// The longest default that a short answer gives.
const MAX_DEFAULT: usize = 60;
/// The most fields that are named of an object.
const MAX_FIELDS: usize = 12;
/// How deep and how many fields a full answer tells.
const MAX_DEPTH: usize = 6;
const MAX_ROWS: usize = 400;

/// One argument, or a field of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument<'a> {
    /// What it is called.
    pub(super) name: &'a str,
    /// Whether it must be given.
    pub(super) required: bool,
    kind: Type<'a>,
}

/// The arguments of a tool, those that must be given first.
pub(super) fn arguments(tool: &Tool) -> Vec<Argument<'_>> {
    let schema = tool.parameters.schema();
    let fields = Type::of(schema, schema).fields();
    fields.into_iter().map(|(name, kind, required)| Argument { name, required, kind }).collect()
}

impl<'a> Argument<'a> {
    /// Its type in few words.
    pub(super) fn words(&self) -> String {
        self.kind.words()
    }

    /// Its values, where there are few; of an array, those of its elements.
    pub(super) fn values(&self) -> Option<&'a [Value]> {
        let own = self.kind.values().or_else(|| self.kind.items().and_then(|items| items.values()));
        own.filter(|values| {
            values.len() <= MAX_VALUES
                && values.iter().map(|value| value.to_string().len()).sum::<usize>() <= MAX_VALUES_LENGTH
        })
    }

    /// Name, type, whether it must be given, default and values.
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

    /// What it is for, in at most so many characters.
    pub(super) fn about(&self, most: usize) -> Option<String> {
        self.kind.about().map(|text| brief(text, most)).filter(|text| !text.is_empty())
    }

    /// What a value must satisfy besides.
    pub(super) fn limits(&self) -> Option<String> {
        self.kind.limits()
    }

    /// The names of its fields, those that need not be given with a question mark.
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

    /// All there is to say of it.
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

/// The arguments of a tool with all there is to say of them.
pub(super) fn whole(tool: &Tool) -> Vec<Value> {
    rows(arguments(tool).into_iter(), 0, &mut MAX_ROWS.clone())
}
