//! Help on ops, groups and entities: short and full, made for models.
//!
//! 1. [`of_tool`] explains one op: [`short`] has the facts that a call needs, within [`SHORT_TOKENS`];
//!    [`full`] has everything. Both list its arguments with [`arguments`], whose types are in the words of [`types`],
//!    and a line of [`mod@usage`].
//!    [`small()`] is what a search adds to a hit that is clearly ahead.
//! 2. [`Groups`] is the tree of ops and categories: the directory. [`mod@directory`] lists one group of it in
//!    [`DIRECTORY_MAX_TOKENS`] tokens.

mod arguments;
mod directory;
mod full;
mod groups;
mod short;
mod types;
mod usage;

use serde_json::{Map, Value};

use crate::catalog::{Callable, Tool};
use crate::tool::{Effect, NoSchemaMode, clean_line};

pub use directory::{beginning, directory};
pub use full::small;
pub use groups::{EffectFilter, Group, Groups};
pub use usage::{argument_names, signature, usage};

/// Most o200k tokens of a short answer on a group.
pub const DIRECTORY_MAX_TOKENS: usize = 400;

/// Length of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        Format::Full => full::full(tool, wanted.examples),
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
    let (mut asks, mut reason) = (definition.approval == Some(true), None);
    match tool.parameters.callable() {
        Callable::Unchecked(NoSchemaMode::HumanApproval) => asks = true,
        Callable::No(why) => reason = Some(why),
        _ => {}
    }
    let mut fields = Map::new();
    fields.insert("effect".into(), tool.effect.as_str().into());
    if tool.effect_is_guess() {
        fields.insert("effect_guessed".into(), true.into());
    }
    if asks {
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
    fields.extend(reason.map(|reason| ("not_callable".to_string(), Value::from(clean_line(reason)))));
    fields
}

/// The ready-made call as `tool_exec` takes it, where one could be made.
fn call(tool: &Tool) -> Option<Value> {
    tool.call.as_ref().map(|call| called(tool, call))
}

/// A call of a tool; one of a destructive tool only tells what it would do.
pub(crate) fn called(tool: &Tool, arguments: &Map<String, Value>) -> Value {
    let mut call = Map::new();
    call.insert("op".into(), tool.op.as_str().into());
    call.insert("args".into(), arguments.clone().into());
    if tool.effect == Effect::Destructive {
        call.insert("dry_run".into(), true.into());
    }
    call.into()
}

/// Pointers into the arguments of a call, to the values that its caller has to replace.
fn fill_in(tool: &Tool, call: Option<&Value>) -> Value {
    let is_there = |pointer: &&String| call.is_some_and(|call| call["args"].pointer(pointer).is_some());
    tool.fill_in.iter().filter(is_there).cloned().collect()
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
