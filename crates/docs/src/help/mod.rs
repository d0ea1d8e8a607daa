//! Help on ops, groups and entities: short and full, made for models.
//!
//! 1. [`of_tool`] explains one op: [`short`] has the facts that a call needs, within [`SHORT_TOKENS`];
//!    [`full`] has everything. Both list its arguments with their types, and its usage on one line ([`arguments`]).
//!    [`small()`] is what a search adds to a hit that is clearly ahead.
//! 2. [`Groups`] is the tree of ops and categories: the directory. [`mod@directory`] lists one group of it in
//!    [`DIRECTORY_MAX_TOKENS`] tokens.

mod arguments;
mod directory;
mod short;

use serde::Deserialize;
use serde_json::{Map, Value, json};

pub use arguments::{argument_names, signature, usage};
pub use directory::{EffectFilter, Group, Groups, beginning, directory};

use toolcrib_catalog::Tool;
use toolcrib_definition::tokens::estimate;
use toolcrib_definition::{Effect, clean_line};

/// Most o200k tokens of a short answer on a group.
pub const DIRECTORY_MAX_TOKENS: usize = 400;

/// Length of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The facts that a call needs.
    #[default]
    Short,
    /// Everything.
    Full,
}

/// Tokens of a short answer on an op, unless the facts that every call needs take more.
pub const SHORT_TOKENS: usize = 600;

/// Options of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HelpOptions {
    /// Length of the answer.
    pub format: Format,
    /// With examples.
    pub examples: bool,
    /// With JSON schemas.
    pub schemas: bool,
    /// Most o200k tokens of a short answer on an op, unless the facts that every call needs take more.
    pub short_tokens: usize,
}

/// Help on one tool: `summary, usage, args, notes, policy, examples, call`.
pub fn of_tool(tool: &Tool, wanted: HelpOptions) -> Map<String, Value> {
    let mut fields = match wanted.format {
        Format::Short => short::short(tool, wanted.short_tokens),
        Format::Full => full(tool, wanted.examples),
    };
    if wanted.schemas {
        let schema = tool.definition.parameters.as_ref().map(|schema| schema.value());
        let result = tool.definition.result_schema.as_ref().map(|schema| schema.value());
        fields.extend(schema.map(|schema| ("schema".to_string(), schema.clone())));
        fields.extend(result.map(|schema| ("result_schema".to_string(), schema.clone())));
    }
    fields
}

/// Conditions of every call of a tool: its effect, whether a person is asked, whether it can be called at all.
fn conditions(tool: &Tool) -> Map<String, Value> {
    let definition = &tool.definition;
    let mut fields = Map::new();
    fields.insert("effect".into(), tool.effect.as_str().into());
    if tool.wants_approval() {
        fields.insert("approval".into(), "a person approves each call".into());
    }
    if definition.dry_run == Some(true) {
        fields.insert("dry_run".into(), "on unless `dry_run: false` is sent".into());
    }
    if definition.deprecated == Some(true) {
        let instead = definition.replaced_by.as_deref().map(clean_line);
        fields
            .insert("deprecated".into(), instead.map_or(true.into(), |other| format!("use {other}").into()));
    }
    fields.extend(tool.not_callable().map(|reason| ("not_callable".to_string(), clean_line(reason).into())));
    fields
}

/// The ready-made call as `tool_exec` takes it, where one could be made.
fn call(tool: &Tool) -> Option<Value> {
    tool.call.as_ref().map(|call| called(tool, call))
}

/// A call of a tool; for a destructive tool, a dry run.
pub fn called(tool: &Tool, arguments: &Map<String, Value>) -> Value {
    let mut call = Map::new();
    call.insert("op".into(), tool.op.as_str().into());
    call.insert("args".into(), arguments.clone().into());
    if tool.effect == Effect::Destructive {
        call.insert("dry_run".into(), true.into());
    }
    call.into()
}

/// Pointers into the arguments of a call, to the values that its caller has to replace.
fn fill_in<'t>(tool: &'t Tool, call: Option<&Value>) -> Vec<&'t str> {
    let is_there = |pointer: &&str| call.is_some_and(|call| call["args"].pointer(pointer).is_some());
    tool.fill_in.iter().map(String::as_str).filter(is_there).collect()
}

/// The beginning of a text, at most this many characters: whole sentences where one fits, else whole words.
fn brief(text: &str, most: usize) -> String {
    let text = clean_line(text);
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let head = &text[..end];
    let sentence = head.rmatch_indices(['.', '!', '?', '。']).map(|(at, mark)| at + mark.len());
    let is_end = |at: &usize| text[*at..].starts_with(' ') || head.len() == *at;
    if let Some(at) = sentence.into_iter().find(is_end).filter(|at| *at * 3 >= head.len()) {
        return head[..at].to_string();
    }
    let word = head.rfind(' ').filter(|at| *at * 2 >= head.len()).unwrap_or(head.len());
    format!("{}…", head[..word].trim_end_matches([',', ';', ':', ' ']))
}

// Full help on one op.

fn full(tool: &Tool, examples: bool) -> Map<String, Value> {
    let definition = &tool.definition;
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| {
        let is_nothing = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if !is_nothing {
            fields.insert(name.into(), value);
        }
    };
    add("op", tool.op.as_str().into());
    add("name", tool.name.as_str().into());
    add("aliases", tool.aliases.as_slice().into());
    add("categories", json!(tool.categories));
    add("summary", tool.short.as_str().into());
    add("description", tool.long.trim().into());
    add("usage", usage(tool).into());
    add("args", arguments::whole(tool).into());
    add("returns", json!(tool.returns));
    add("result", arguments::whole_result(tool).into());
    add("errors", tool.raises.as_slice().into());
    add("notes", tool.notes.as_slice().into());
    add("policy", json!(tool.policy));
    for (name, value) in conditions(tool) {
        add(&name, value);
    }
    add("cost", json!(definition.cost));
    add("capabilities", definition.capabilities.as_slice().into());
    if examples {
        let call = |example: &toolcrib_definition::Example| {
            let mut told = Map::new();
            told.extend(example.title.as_deref().map(|title| ("title".to_string(), title.into())));
            told.insert("call".into(), json!({ "op": tool.op, "args": example.arguments }));
            told.extend(example.result.clone().map(|result| ("result".to_string(), result)));
            Value::Object(told)
        };
        add("examples", tool.examples.iter().map(call).collect());
        add("example_texts", tool.example_texts.as_slice().into());
    }
    let call = call(tool);
    add("fill_in", fill_in(tool, call.as_ref()).into());
    add("call", call.into());
    fields
}

/// Most tokens of small help.
const SMALL: usize = 160;
/// Tokens of help that are made; help on an op with many arguments is cut before its small size is known.
const MOST: usize = 1_000;
/// Fields of help, and of an argument in it, that a summary or a usage has.
const KNOWN: [&str; 8] = ["op", "summary", "usage", "effect", "call", "fill_in", "left_out", "more"];
const KNOWN_OF_ARGUMENT: [&str; 4] = ["type", "required", "enum", "fields"];

/// Short help that a search hit and its usage lack, with its estimated tokens; `None` if it is empty or too long.
pub fn small(tool: &Tool) -> Option<(Map<String, Value>, usize)> {
    let wanted = HelpOptions { format: Format::Short, examples: false, schemas: false, short_tokens: MOST };
    let mut help = of_tool(tool, wanted);
    help.retain(|field, _| !KNOWN.contains(&field.as_str()));
    if let Some(Value::Array(rows)) = help.get_mut("args") {
        let fields = |row: &mut Value| {
            let row = row.as_object_mut()?;
            row.retain(|field, _| !KNOWN_OF_ARGUMENT.contains(&field.as_str()));
            Some(row.len())
        };
        rows.retain_mut(|row| fields(row) > Some(1));
    }
    help.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    let tokens = estimate(&serde_json::to_string(&help).ok()?);
    (!help.is_empty() && tokens <= SMALL).then_some((help, tokens))
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn a_text_is_cut_after_a_sentence_or_a_word() {
        assert_eq!(brief("One thing.  And\nmore", 40), "One thing. And more");
        assert_eq!(brief("One thing. And another thing that is long", 20), "One thing.");
        assert_eq!(brief("One thing, and another thing that is long", 12), "One thing…");
        assert_eq!(brief("Version 1.25 of the thing that counts", 12), "Version…");
        assert_eq!(brief("ééééé", 3), "ééé…");
    }
}
