//! The answer as an MCP client gets it: its text is all that a model needs, and the metadata is for programs. The other
//! transports send the whole envelope.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::function::Function;
use crate::exec::backend::McpAnswer;
use crate::exec::standing_scope;

/// Most standing warnings of one session that are remembered: from then on they are repeated.
const MAX_WARNINGS: usize = 500;

/// The text of an empty text: some providers refuse a block without one.
const EMPTY: &str = "(empty)";

/// The name of the cursor of the next part of a long result.
const NEXT: &str = "next";

/// An answer for a client of MCP.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientAnswer {
    /// The result, and then notes on the call that a model may need. An error is its envelope.
    pub content: Vec<ClientBlock>,
    /// The same as data, where the texts say no more.
    pub data: Option<Value>,
    /// Metadata of the call.
    pub meta: Map<String, Value>,
    /// Whether the result is that of an MCP server, which has not said that it is no error.
    pub leaves_out_is_error: bool,
}

/// A block of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientBlock {
    Text(String),
    /// An unchanged block of an MCP server's result.
    Original(Value),
}

impl ClientAnswer {
    fn of_texts(texts: Vec<String>, data: Option<Value>, meta: Map<String, Value>) -> Self {
        let content = texts.into_iter().map(ClientBlock::Text).collect();
        Self { content, data, meta, leaves_out_is_error: false }
    }

    /// The texts of the answer.
    pub fn texts(&self) -> Vec<&str> {
        self.content.iter().filter_map(ClientBlock::text).collect()
    }
}

impl ClientBlock {
    fn text(&self) -> Option<&str> {
        match self {
            ClientBlock::Text(text) => Some(text),
            ClientBlock::Original(block) => block.get("text").and_then(Value::as_str),
        }
    }

    /// The blocks of an MCP server's result that are no text.
    fn others(original: Option<&McpAnswer>) -> impl Iterator<Item = Self> {
        let others = original.into_iter().flat_map(McpAnswer::other_blocks);
        others.map(|block| ClientBlock::Original(block.clone()))
    }
}

/// Notes that a session has got already.
#[derive(Debug, Default)]
pub struct GivenNotes {
    warnings: HashSet<String>,
    /// The hash of the session's context.
    context: Option<blake3::Hash>,
}

/// The part of an answer that a model needs.
enum ModelAnswer {
    /// A result as if the client had called the tool itself, and notes on the call.
    Result(Value, Map<String, Value>),
    /// Fields of a function, or an error.
    Fields(Map<String, Value>),
}

impl Answer {
    /// The answer of the function with this name, for a client that was `given` notes before.
    pub fn for_client(&self, function: &str, given: &mut GivenNotes) -> ClientAnswer {
        let body = self.body();
        let meta = meta(body);
        if self.is_markdown() {
            return ClientAnswer::of_texts(vec![self.text()], None, meta);
        }
        match body.get("results").and_then(Value::as_array) {
            Some(results) if function == "tool_batch" => self.batch(results, given),
            _ => {
                let shown = ModelAnswer::of(body, function, given);
                match self.original(0) {
                    Some(original) => shown.with_original(original, meta),
                    None => ClientAnswer::of_texts(shown.texts(), shown.data(), meta),
                }
            }
        }
    }

    /// The answers of a batch, each in its own block under the index of its call; below it blocks that are no text.
    fn batch(&self, results: &[Value], given: &mut GivenNotes) -> ClientAnswer {
        let mut content = Vec::new();
        let mut items = Vec::new();
        let mut metas = Vec::new();
        for (index, answer) in results.iter().enumerate() {
            let Value::Object(mut answer) = answer.clone() else { continue };
            let id = answer.shift_remove("id");
            let function = answer.shift_remove("function");
            answer.shift_remove("index");
            metas.push(Value::Object(meta(&answer)));
            let function = function.as_ref().and_then(Value::as_str).unwrap_or_default();
            let shown = ModelAnswer::of(&answer, function, given);
            content.push(ClientBlock::Text(format!("[{index}]\n{}", shown.texts().join("\n"))));
            content.extend(ClientBlock::others(self.original(index)));
            items.push(shown.of_item(id.as_ref()));
        }
        let mut meta = meta(self.body());
        meta.insert("calls".into(), metas.into());
        let data = json!({ "results": items, "failed": self.body().get("failed") });
        ClientAnswer { content, data: Some(data), meta, leaves_out_is_error: false }
    }
}

impl ModelAnswer {
    fn of(body: &Map<String, Value>, function: &str, given: &mut GivenNotes) -> Self {
        let mut notes = notes(body, given);
        match result(body, function) {
            Some((result, next)) => {
                notes.extend(next.map(|next| (NEXT.to_string(), next.clone())));
                ModelAnswer::Result(result.clone(), notes)
            }
            None => {
                let rest = body.iter().filter(|(name, _)| *name != "meta" && *name != "repaired");
                let mut fields: Map<String, Value> =
                    rest.map(|(name, value)| (name.clone(), value.clone())).collect();
                fields.extend(notes);
                ModelAnswer::Fields(fields)
            }
        }
    }

    /// The result of an MCP server: its own blocks, its data where they do not say it, and then the notes. A result that is cut is
    /// text, and an error its envelope; blocks that are no text stand next to it.
    fn with_original(self, original: &McpAnswer, meta: Map<String, Value>) -> ClientAnswer {
        match &self {
            ModelAnswer::Result(result, notes) if !is_cut(notes) => {
                let own = original.blocks().iter().cloned().map(ClientBlock::Original);
                let unsaid = (!original.says_its_data()).then(|| result.to_string());
                let texts = unsaid.into_iter().chain(note_texts(notes)).map(ClientBlock::Text);
                let content = own.chain(texts).collect();
                let data = original.structured().map(|data| with_notes(data.clone(), notes));
                let leaves_out_is_error = !original.says_is_error();
                ClientAnswer { content, data, meta, leaves_out_is_error }
            }
            _ => {
                let mut answer = ClientAnswer::of_texts(self.texts(), self.data(), meta);
                answer.content.extend(ClientBlock::others(Some(original)));
                answer
            }
        }
    }

    fn texts(&self) -> Vec<String> {
        let (result, notes) = match self {
            ModelAnswer::Result(result, notes) => (result, notes),
            ModelAnswer::Fields(fields) => return vec![json_text(fields)],
        };
        let text = match result {
            Value::String(text) if text.is_empty() => EMPTY.to_string(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        [text].into_iter().chain(note_texts(notes)).collect()
    }

    /// An object that says the same.
    fn data(self) -> Option<Value> {
        match self {
            ModelAnswer::Result(result, notes) => result.is_object().then(|| with_notes(result, &notes)),
            ModelAnswer::Fields(fields) => Some(Value::Object(fields)),
        }
    }

    fn of_item(self, id: Option<&Value>) -> Value {
        let mut fields: Map<String, Value> =
            id.map(|id| ("id".to_string(), id.clone())).into_iter().collect();
        match self {
            ModelAnswer::Result(result, notes) => {
                fields.extend([("ok".to_string(), true.into()), ("result".to_string(), result)]);
                fields.extend(notes);
            }
            ModelAnswer::Fields(own) => fields.extend(own),
        }
        Value::Object(fields)
    }
}

/// Data of a result together with the notes: a client that shows data in place of texts would lose them.
fn with_notes(data: Value, notes: &Map<String, Value>) -> Value {
    if notes.is_empty() {
        return data;
    }
    Some(("result".to_string(), data)).into_iter().chain(notes.clone()).collect()
}

/// The notes on a call as texts: metadata, and then the cursor of the next part.
fn note_texts(notes: &Map<String, Value>) -> impl Iterator<Item = String> {
    let mut notes = notes.clone();
    let next = notes.shift_remove(NEXT);
    let next = next.as_ref().and_then(Value::as_str).map(|cursor| format!("{NEXT} {cursor}"));
    let notes = (!notes.is_empty()).then(|| json_text(&notes));
    notes.into_iter().chain(next)
}

/// Whether the notes say that the result was cut.
fn is_cut(notes: &Map<String, Value>) -> bool {
    notes.get("meta").and_then(|meta| meta.get("more")).is_some()
}

/// The result of a tool, or the part of a long result, and then the cursor of the next one.
fn result<'a>(body: &'a Map<String, Value>, function: &str) -> Option<(&'a Value, Option<&'a Value>)> {
    const PARTS: &str = "read_result";
    let part = |fields: &'a Map<String, Value>| {
        let part = fields.get("items").or(fields.get("fields")).or(fields.get("part"));
        // The place of a part within others is not lost.
        let is_all = !fields.contains_key("at") && !fields.contains_key("more");
        if is_all { Some((part?, fields.get(NEXT))) } else { None }
    };
    if body.get("ok") != Some(&Value::Bool(true)) {
        return None;
    }
    if function == PARTS {
        return part(body);
    }
    if !Function::named(function)?.runs_tools() {
        return None;
    }
    let result = body.get("result")?;
    let is_part = body.get("op").is_some_and(|op| op == PARTS);
    let read_on = if is_part { result.as_object().and_then(part) } else { None };
    Some(read_on.unwrap_or((result, None)))
}

/// The notes on a call that are new to the session.
fn notes(body: &Map<String, Value>, given: &mut GivenNotes) -> Map<String, Value> {
    let op = body.get("op").or(body.get("tool_id")).and_then(Value::as_str).unwrap_or_default();
    let meta = body.get("meta").and_then(Value::as_object);
    let meta = |name: &str| meta.and_then(|meta| meta.get(name));
    let mut told = Map::new();
    let warnings = meta("warnings").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let warnings: Vec<&str> = warnings.filter(|warning| given.is_new(warning, op)).collect();
    if let Some(more) = meta("more") {
        let mut more = more.clone();
        // The warning about it has the cursor.
        if let (Some(fields), false) = (more.as_object_mut(), warnings.is_empty()) {
            fields.shift_remove("cursor");
        }
        told.insert("more".into(), more);
    }
    if !warnings.is_empty() {
        told.insert("warnings".into(), json!(warnings));
    }
    told.extend(meta("replayed").map(|replayed| ("replayed".to_string(), replayed.clone())));
    if let Some(context) = meta("context").filter(|context| given.is_new_context(context)) {
        told.insert("context".into(), context.clone());
    }
    let told = (!told.is_empty()).then(|| ("meta".to_string(), Value::Object(told)));
    let repaired = body.get("repaired").map(|repaired| ("repaired".to_string(), repaired.clone()));
    repaired.into_iter().chain(told).collect()
}

impl GivenNotes {
    /// Whether a warning is about this call alone, or the first of its kind.
    fn is_new(&mut self, warning: &str, op: &str) -> bool {
        match standing_scope(warning, op) {
            Some(scope) => {
                let key = format!("{scope}\n{warning}");
                let is_new = !self.warnings.contains(&key);
                if is_new && self.warnings.len() < MAX_WARNINGS {
                    self.warnings.insert(key);
                }
                is_new
            }
            None => true,
        }
    }

    fn is_new_context(&mut self, context: &Value) -> bool {
        let hash = blake3::hash(context.to_string().as_bytes());
        self.context.replace(hash) != Some(hash)
    }
}

/// The metadata of a call, with its op and its repairs.
pub(super) fn meta(body: &Map<String, Value>) -> Map<String, Value> {
    let is_named = body.contains_key("result") || !is_ok(body);
    let op = if is_named { body.get("op").or(body.get("tool_id")) } else { None };
    let mut meta: Map<String, Value> = op.map(|op| ("op".to_string(), op.clone())).into_iter().collect();
    let fields = body.get("meta").and_then(Value::as_object).into_iter().flatten();
    let fields = fields.filter(|(_, value)| value.as_array().is_none_or(|list| !list.is_empty()));
    meta.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
    meta.extend(body.get("repaired").map(|repaired| ("repaired".to_string(), repaired.clone())));
    meta
}

pub(super) fn is_ok(body: &Map<String, Value>) -> bool {
    body.get("ok") == Some(&Value::Bool(true))
}

fn json_text(fields: &Map<String, Value>) -> String {
    serde_json::to_string(fields).unwrap_or_default()
}
