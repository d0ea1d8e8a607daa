//! Overlays: fields added to imported tools.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::selector::Selectors;
use toolcrib_definition::{CategoryPath, Definition};

/// Fields for every tool that `match` selects. Single values replace the tool's own; `aliases`, `tags` and `notes`
/// are added to it. In `op`, `category` and `aliases`, `$1` stands for the text that the first `*` matched.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, transform = without_name)]
pub struct Overlay {
    /// The tools it is for.
    #[serde(rename = "match")]
    pub tools: Selectors,
    /// Values of arguments, by their names: the operator sets them, and not the caller.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub arguments: IndexMap<String, SetArgument>,
    /// The part of results that callers get, as JMESPath: `items[].{id: id, title: title}`. A caller gets all with `select: "@"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The longest result that is returned whole, in bytes, in place of `exec.result_bytes`; also for calls by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_limit: Option<usize>,
    /// The fields to set.
    #[serde(flatten)]
    pub set: Definition,
}

/// The value of an argument, set by the operator: `value`, or that of an environment variable. It stands in for a caller that
/// gives none; a hidden one cannot be given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct SetArgument {
    /// The value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    /// The environment variable that has the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// Whether callers do not know of the argument: it is in no schema, doc or payload, and its value in no answer or trace.
    pub hidden: bool,
}

/// What callers get of the results of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultRule {
    /// A part, as JMESPath.
    pub select: Option<String>,
    /// The bytes from which a result is cut.
    pub limit: Option<usize>,
}

impl Overlay {
    /// Lays the fields over a definition.
    pub fn apply(&self, captures: &[String], tool: &mut Definition) {
        let set = &self.set;
        macro_rules! replace {
            ($($field:ident),*) => { $(if set.$field.is_some() { tool.$field = set.$field.clone(); })* };
        }
        macro_rules! replace_all {
            ($($field:ident),*) => { $(if !set.$field.is_empty() { tool.$field = set.$field.clone(); })* };
        }
        replace!(
            parameters, title, short_description, description_mode, returns, result_schema, policy, effect,
            safe, approval, dry_run, context_shift, when_forbidden, cost, strict, provider_schema,
            deprecated, replaced_by, backend, no_schema_mode
        );
        replace_all!(description, errors, examples, allowed_roles, capabilities);
        if let Some(op) = &set.op {
            tool.op = Some(expand(op, captures));
        }
        if !set.category.is_empty() {
            let path = |path: &CategoryPath| CategoryPath::parse(&expand(path.as_str(), captures));
            tool.category = set.category.iter().filter_map(path).collect();
        }
        tool.aliases.extend(set.aliases.iter().map(|alias| expand(alias, captures)));
        tool.tags.extend(set.tags.iter().cloned());
        tool.notes.extend(set.notes.iter().cloned());
        tool.allow_no_schema |= set.allow_no_schema;
    }
}

/// Replaces `$1` to `$9` with the captures; an empty capture leaves nothing.
fn expand(template: &str, captures: &[String]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().and_then(|digit| digit.to_digit(10)).filter(|&digit| digit > 0)) {
            ('$', Some(number)) => {
                rest.next();
                text.push_str(captures.get(number as usize - 1).map_or("", String::as_str));
            }
            _ => text.push(c),
        }
    }
    text
}

/// An overlay is a definition without its name.
fn without_name(schema: &mut schemars::Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(properties) = object.get_mut("properties").and_then(|value| value.as_object_mut()) {
        properties.shift_remove("name");
    }
    object.insert("required".into(), serde_json::json!(["match"]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_filled_in() {
        let captures = ["task".to_string()];
        assert_eq!(expand("onto.$1.list", &captures), "onto.task.list");
        assert_eq!(expand("$2cost $", &captures), "cost $");
    }
}
