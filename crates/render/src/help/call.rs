//! The ready-made call of a tool, and the conditions of every call.

use serde_json::{Map, Value};

use toolcrib_catalog::Tool;
use toolcrib_definition::{Effect, clean_line};

/// Conditions of every call of a tool: its effect, whether a person is asked, whether it can be called at all.
pub(super) fn conditions(tool: &Tool) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("effect".into(), tool.rules.effect.as_str().into());
    if tool.wants_approval() {
        fields.insert("approval".into(), "a person approves each call".into());
    }
    if tool.rules.dry_run == Some(true) {
        fields.insert("dry_run".into(), "on unless `dry_run: false` is sent".into());
    }
    if tool.labels.deprecated == Some(true) {
        let instead = tool.labels.replaced_by.as_deref().map(clean_line);
        fields
            .insert("deprecated".into(), instead.map_or(true.into(), |other| format!("use {other}").into()));
    }
    fields.extend(tool.not_callable().map(|reason| ("not_callable".to_string(), clean_line(reason).into())));
    fields
}

/// The ready-made call as `tool_exec` takes it, where one could be made.
pub(super) fn call(tool: &Tool) -> Option<Value> {
    tool.input.call.as_ref().map(|call| called(tool, call))
}

/// A call of a tool; for a destructive tool, a dry run.
pub fn called(tool: &Tool, arguments: &Map<String, Value>) -> Value {
    let mut call = Map::new();
    call.insert("op".into(), tool.names.op.as_str().into());
    call.insert("args".into(), arguments.clone().into());
    if tool.rules.effect == Effect::Destructive {
        call.insert("dry_run".into(), true.into());
    }
    call.into()
}

/// Pointers into the arguments of a call, to the values that its caller has to replace.
pub(super) fn fill_in<'t>(tool: &'t Tool, call: Option<&Value>) -> Vec<&'t str> {
    let is_there = |pointer: &&str| call.is_some_and(|call| call["args"].pointer(pointer).is_some());
    tool.input.fill_in.iter().map(String::as_str).filter(is_there).collect()
}
