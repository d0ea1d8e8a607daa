//! The answer as an MCP client gets it: its text is all that a model needs, and the metadata is for programs. The other
//! transports send the whole envelope.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value, json, to_value};

use super::answer::{Answer, Batch, Batched, CalledTool, Reply};
use crate::exec::backend::McpAnswer;
use crate::exec::standing_scope;
use crate::fields::fields;

/// Most standing warnings of one session that are remembered: from then on they are repeated.
const MAX_WARNINGS: usize = 500;

/// The text of an empty text: some providers refuse a block without one.
const EMPTY: &str = "(empty)";

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
    fn of_texts(
        texts: impl IntoIterator<Item = String>,
        data: Option<Value>,
        meta: Map<String, Value>,
    ) -> Self {
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

/// Notes on a call that are new to the session.
#[derive(Default)]
struct NewNotes {
    /// Repairs and metadata.
    fields: Map<String, Value>,
    /// The cursor of the next part of a long result.
    next: Option<String>,
    /// Whether the result was cut.
    is_cut: bool,
}

/// The part of an answer that a model needs.
enum ModelAnswer<'a> {
    /// A result as if the client had called the tool itself, and notes on the call.
    Result(Cow<'a, Value>, NewNotes),
    /// Fields of a function, or an error.
    Fields(Map<String, Value>),
}

impl Answer {
    /// The answer for a client that was `given` notes before.
    pub fn for_client(&self, given: &mut GivenNotes) -> ClientAnswer {
        if let Ok(Reply::Batch(batch)) = &self.reply {
            return batch.for_client(self.client_meta(), given);
        }
        if let Some(markdown) = self.markdown() {
            return ClientAnswer::of_texts([markdown], None, self.client_meta());
        }
        let shown = self.for_model(given);
        match self.original() {
            Some(original) => shown.with_original(original, self.client_meta()),
            None => ClientAnswer::of_texts(shown.texts(), shown.data(), self.client_meta()),
        }
    }

    fn for_model(&self, given: &mut GivenNotes) -> ModelAnswer<'_> {
        let notes = self.notes(given);
        if let Some((result, next)) = self.result_for_model() {
            let next = next.map(str::to_string);
            return ModelAnswer::Result(result, NewNotes { next, ..notes });
        }
        let mut fields = self.body();
        fields.retain(|name, _| name != "meta" && name != "repaired");
        fields.extend(notes.fields);
        ModelAnswer::Fields(fields)
    }

    /// The result of a tool, or a part of a long result with the cursor of the next one.
    fn result_for_model(&self) -> Option<(Cow<'_, Value>, Option<&str>)> {
        match self.reply.as_ref().ok()? {
            Reply::Call(envelope) | Reply::Discovered(envelope) => {
                Some((Cow::Borrowed(envelope.outcome.as_ref().ok()?), None))
            }
            Reply::Part(part) => Some((part.whole()?, part.next.as_deref())),
            Reply::AsTool(function) => {
                let result =
                    || Some((Cow::Owned(to_value(function.answer.reply.as_ref().ok()?).ok()?), None));
                function.answer.result_for_model().or_else(result)
            }
            _ => None,
        }
    }

    /// The notes on a call that are new to the session.
    fn notes(&self, given: &mut GivenNotes) -> NewNotes {
        let Some(CalledTool { op, meta, repaired }) = self.called_tool() else { return NewNotes::default() };
        let mut told = Map::new();
        let warnings = meta.warnings.iter().flatten();
        let warnings: Vec<&String> = warnings.filter(|warning| given.is_new(warning, op)).collect();
        if let Some(more) = &meta.more {
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
        if meta.replayed {
            told.insert("replayed".into(), true.into());
        }
        if let Some(context) = meta.context.as_ref().filter(|context| given.is_new_context(context)) {
            told.insert("context".into(), context.clone());
        }
        let fields = fields([
            ("repaired", (!repaired.is_empty()).then(|| json!(repaired))),
            ("meta", (!told.is_empty()).then_some(Value::Object(told))),
        ]);
        NewNotes { fields, next: None, is_cut: meta.more.is_some() }
    }

    /// The metadata of a call, with its op and its repairs.
    fn client_meta(&self) -> Map<String, Value> {
        let called = self.called_tool();
        let op = called.as_ref().map(|called| ("op".to_string(), called.op.into()));
        let mut meta: Map<String, Value> = op.into_iter().collect();
        meta.extend(
            self.meta().into_iter().filter(|(_, value)| value.as_array().is_none_or(|list| !list.is_empty())),
        );
        let repaired = called.map(|called| called.repaired).filter(|repaired| !repaired.is_empty());
        meta.extend(repaired.map(|repaired| ("repaired".to_string(), json!(repaired))));
        meta
    }
}

impl Batch {
    /// The answers, each in its own block under the index of its call; below it blocks that are no text.
    fn for_client(&self, mut meta: Map<String, Value>, given: &mut GivenNotes) -> ClientAnswer {
        let mut content = Vec::new();
        let mut items = Vec::new();
        let mut metas = Vec::new();
        for Batched { index, id, answer, .. } in &self.results {
            metas.push(Value::Object(answer.client_meta()));
            let shown = answer.for_model(given);
            let texts: Vec<String> = shown.texts().collect();
            content.push(ClientBlock::Text(format!("[{index}]\n{}", texts.join("\n"))));
            content.extend(ClientBlock::others(answer.original()));
            let id = id.as_ref().map(|id| ("id".to_string(), id.as_str().into()));
            items.push(id.into_iter().chain(shown.of_item()).collect::<Value>());
        }
        meta.insert("calls".into(), metas.into());
        let data = json!({ "results": items, "failed": self.failed });
        ClientAnswer { content, data: Some(data), meta, leaves_out_is_error: false }
    }
}

impl ModelAnswer<'_> {
    /// The result of an MCP server: its own blocks, its data where they do not say it, and then the notes. A result that is cut is
    /// text, and an error its envelope; blocks that are no text stand next to it.
    fn with_original(self, original: &McpAnswer, meta: Map<String, Value>) -> ClientAnswer {
        match &self {
            ModelAnswer::Result(result, notes) if !notes.is_cut => {
                let own = original.blocks().iter().cloned().map(ClientBlock::Original);
                let unsaid = (!original.says_its_data()).then(|| result.to_string());
                let texts = unsaid.into_iter().chain(notes.texts()).map(ClientBlock::Text);
                let content = own.chain(texts).collect();
                let data = original.structured().map(|data| notes.added_to(data.clone()));
                let leaves_out_is_error = !original.says_is_error();
                ClientAnswer { content, data, meta, leaves_out_is_error }
            }
            _ => {
                let texts: Vec<String> = self.texts().collect();
                let mut answer = ClientAnswer::of_texts(texts, self.data(), meta);
                answer.content.extend(ClientBlock::others(Some(original)));
                answer
            }
        }
    }

    fn texts(&self) -> impl Iterator<Item = String> + use<> {
        let (first, notes) = match self {
            ModelAnswer::Fields(fields) => (json!(fields).to_string(), None),
            ModelAnswer::Result(result, notes) => {
                let text = match &**result {
                    Value::String(text) if text.is_empty() => EMPTY.to_string(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                (text, Some(notes.texts()))
            }
        };
        std::iter::once(first).chain(notes.into_iter().flatten())
    }

    /// An object that says the same.
    fn data(self) -> Option<Value> {
        match self {
            ModelAnswer::Result(result, notes) => {
                result.is_object().then(|| notes.added_to(result.into_owned()))
            }
            ModelAnswer::Fields(fields) => Some(Value::Object(fields)),
        }
    }

    /// The fields of an item of a batch.
    fn of_item(self) -> Map<String, Value> {
        match self {
            ModelAnswer::Result(result, notes) => {
                let fields = [("ok".to_string(), true.into()), ("result".to_string(), result.into_owned())];
                fields.into_iter().chain(notes.all()).collect()
            }
            ModelAnswer::Fields(fields) => fields,
        }
    }
}

impl NewNotes {
    fn all(&self) -> Map<String, Value> {
        let mut all = self.fields.clone();
        all.extend(self.next.as_deref().map(|cursor| ("next".to_string(), cursor.into())));
        all
    }

    /// Data of a result together with the notes: a client that shows data in place of texts would lose them.
    fn added_to(&self, data: Value) -> Value {
        match self.all() {
            notes if notes.is_empty() => data,
            notes => Some(("result".to_string(), data)).into_iter().chain(notes).collect(),
        }
    }

    /// The notes as texts: metadata, and then the cursor of the next part.
    fn texts(&self) -> impl Iterator<Item = String> + use<> {
        let fields = (!self.fields.is_empty()).then(|| json!(self.fields).to_string());
        let next = self.next.as_ref().map(|cursor| format!("next {cursor}"));
        fields.into_iter().chain(next)
    }
}

impl GivenNotes {
    /// Whether a warning is about this call alone, or the first of its kind.
    fn is_new(&mut self, warning: &str, op: &str) -> bool {
        let Some(scope) = standing_scope(warning, op) else { return true };
        let key = format!("{scope}\n{warning}");
        let is_new = !self.warnings.contains(&key);
        if is_new && self.warnings.len() < MAX_WARNINGS {
            self.warnings.insert(key);
        }
        is_new
    }

    fn is_new_context(&mut self, context: &Value) -> bool {
        let hash = blake3::hash(context.to_string().as_bytes());
        self.context.replace(hash) != Some(hash)
    }
}
