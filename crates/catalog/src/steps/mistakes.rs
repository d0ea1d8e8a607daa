//! The mistakes in the steps of one tool, each with its place and the nearest name.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::tool::Tool;
use toolcrib_definition::document::{pointer_join, pointer_unescape};
use toolcrib_definition::finding::{Code, Finding, nearest};
use toolcrib_definition::{REFERENCE_KEYS, Reference, Step, StepsBackend, quoted};

/// Deepest level of a value that is searched for references.
const DEEPEST: usize = 64;

/// The positions of the tools that its steps call, and the mistakes. Near ops are those of `suggested`.
pub(super) fn mistakes(
    (tool, backend): (&Tool, &StepsBackend),
    tools: &[Tool],
    by_name: &HashMap<String, Vec<usize>>,
    suggested: &[Tool],
) -> (Vec<usize>, Vec<Finding>) {
    let mut check = Check { tool, tools, by_name, suggested, ids: Vec::new(), findings: Vec::new() };
    let mut called = Vec::new();
    for (index, step) in backend.steps.iter().enumerate() {
        let place = format!("/steps/{index}");
        called.extend(check.called(step, &place));
        check.conditions(step, &place);
        for (name, value) in &step.args {
            check.value(value, &pointer_join(&format!("{place}/args"), name), 0);
        }
        if check.ids.contains(&step.id.as_str()) {
            let message = format!("two steps have the id `{}`", step.id);
            check.report(message, &format!("{place}/id"), "give each its own");
        }
        check.ids.push(&step.id);
    }
    if let Some(result) = &backend.result {
        check.value(result, "/result", 0);
    }
    (called, check.findings)
}

struct Check<'t> {
    tool: &'t Tool,
    tools: &'t [Tool],
    by_name: &'t HashMap<String, Vec<usize>>,
    /// Tools whose names may be meant.
    suggested: &'t [Tool],
    /// The ids of the steps before this place.
    ids: Vec<&'t str>,
    findings: Vec<Finding>,
}

impl<'t> Check<'t> {
    fn report(&mut self, message: impl Into<String>, pointer: &str, help: impl Into<String>) {
        let at = self.tool.origin.place.below(&format!("/backend{pointer}"));
        self.findings.push(self.tool.finding(Code::StepsInvalid, message).at(at).help(help));
    }

    /// Reports an unknown name, with the nearest known one.
    fn unknown(&mut self, message: String, pointer: &str, near: Option<&str>, help: &str) {
        let help = near.map_or_else(|| help.to_string(), |near| format!("did you mean `{}`?", quoted(near)));
        self.report(message, pointer, help);
    }

    /// The tool that a step calls. Everybody who may call this tool has to be allowed to call it too.
    fn called(&mut self, step: &Step, place: &str) -> Option<usize> {
        let pointer = format!("{place}/op");
        let index = match self.by_name.get(&step.op).map(Vec::as_slice) {
            Some([index]) => *index,
            Some(_) => {
                let message = format!("several tools are called `{}`", quoted(&step.op));
                self.report(message, &pointer, "write the op of one of them");
                return None;
            }
            None => {
                let names = self.suggested.iter().map(|tool| &tool.names);
                let names = names.flat_map(|names| [names.op.as_str(), names.canonical.as_str()]);
                let near = nearest(&step.op, names).first().copied();
                let message = format!("there is no op `{}`", quoted(&step.op));
                self.unknown(message, &pointer, near, "name an op of this catalog");
                return None;
            }
        };
        let called = self.tools.get(index)?;
        if called.steps().is_some() {
            let message = format!("its step `{}` has steps of its own", called.names.op);
            self.report(message, &pointer, "write the inner steps here in place of the call");
            return None;
        }
        if !is_open_to_all_of(called, self.tool) {
            let op = &called.names.op;
            let message = format!("callers who may call this tool may not call its step `{op}`");
            self.report(message, &pointer, "give this tool the `allowed_roles` of its steps, or fewer");
            return None;
        }
        self.arguments(step, called, place);
        Some(index)
    }

    /// The names of a step's arguments, against the schema of its tool.
    fn arguments(&mut self, step: &Step, called: &Tool, place: &str) {
        let root = called.input.parameters.root();
        for name in step.args.keys().filter(|name| root.is_closed() && !root.has_property(name)) {
            let near = nearest(name, root.names()).first().copied();
            let message = format!("`{}` has no argument `{}`", called.names.op, quoted(name));
            self.unknown(message, &pointer_join(&format!("{place}/args"), name), near, "remove it");
        }
        for property in root.properties().iter().filter(|property| property.required) {
            if !step.args.contains_key(property.name) {
                let message = format!("`{}` needs the argument `{}`", called.names.op, quoted(property.name));
                self.report(message, place, "add it to `args`");
            }
        }
    }

    fn conditions(&mut self, step: &Step, place: &str) {
        for pointer in step.when.keys() {
            let at = pointer_join(&format!("{place}/when"), pointer);
            if pointer.starts_with('/') {
                self.argument(pointer, &at)
            } else {
                let shown = quoted(pointer);
                let help = format!("write \"/{shown}\"");
                self.report(format!("`{shown}` is no pointer to an argument"), &at, help)
            }
        }
    }

    /// A pointer to an argument of the tool.
    fn argument(&mut self, pointer: &str, place: &str) {
        let root = self.tool.input.parameters.root();
        let Some(name) = pointer.split('/').nth(1).map(pointer_unescape) else { return };
        if !root.has_property(&name) {
            let near = nearest(&name, root.names()).first().copied();
            let message = format!("this tool has no argument `{}`", quoted(&name));
            self.unknown(message, place, near, "add it to `parameters`");
        }
    }

    fn value(&mut self, value: &Value, place: &str, depth: usize) {
        match value {
            _ if depth > DEEPEST => self.report("this is nested too deeply", place, "write less in it"),
            Value::Object(fields) => self.object(fields, place, depth),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(item, &pointer_join(place, index), depth + 1);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, place: &str, depth: usize) {
        match Reference::of(fields) {
            None => {
                for (name, field) in fields {
                    let place = pointer_join(place, name);
                    if name.starts_with('$')
                        && let Some(near) = nearest(name, REFERENCE_KEYS).first()
                    {
                        self.unknown(format!("`{}` is no reference", quoted(name)), &place, Some(near), "");
                    }
                    self.value(field, &place, depth + 1);
                }
            }
            Some(Err(error)) => {
                self.report(error.to_string(), place, "see the docs on backends of several steps")
            }
            Some(Ok(Reference::Argument(pointer))) => self.argument(pointer, place),
            Some(Ok(Reference::Answer(step, _))) if !self.ids.contains(&step) => {
                let near = nearest(step, self.ids.iter().copied()).first().map(ToString::to_string);
                let message = format!("`{}` is no earlier step", quoted(step));
                self.unknown(message, place, near.as_deref(), "write the `id` of a step before this one");
            }
            Some(Ok(Reference::Answer(..))) => {}
            Some(Ok(Reference::Text(parts))) => {
                for (index, part) in parts.iter().enumerate() {
                    self.value(part, &pointer_join(&format!("{place}/$text"), index), depth + 1);
                }
            }
        }
    }
}

/// Whether all callers of `tool` may call `step`.
fn is_open_to_all_of(step: &Tool, tool: &Tool) -> bool {
    let needed = &step.rules.roles;
    let given = &tool.rules.roles;
    needed.is_empty() || (!given.is_empty() && given.iter().all(|role| needed.contains(role)))
}
