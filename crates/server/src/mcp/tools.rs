//! The tools of clients: functions of toolcrib, and the catalog's own tools by name, which run as in `tool_exec`. The
//! list depends on the configuration and, for the catalog's tools, on the caller's roles, never on earlier calls.
//! Unlisted tools can be called all the same.

use std::sync::{Arc, LazyLock, Mutex};

use indexmap::IndexMap;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, ErrorCode, JsonObject, ListToolsResult, MetaObject,
    ResultType, Tool, ToolAnnotations,
};
use serde_json::{Value, json};

use super::cursor::{ROOT, invalid_cursor, page_of};
use super::requester::{FRESH_FOR, McpResult, Requester};
use crate::call_limiter::CallLimiter;
use crate::listed_tools::ListedTools;
use crate::response::Problem;
use toolcrib_catalog::{Resolved, result_fits};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::guard::locked;
use toolcrib_definition::secret::REDACTED;
use toolcrib_definition::{clean_text, quoted};
use toolcrib_gateway::exec::backend::McpAnswer;
use toolcrib_gateway::exec::{CallMeta, Caller, Envelope};
use toolcrib_gateway::functions::{
    Answer, CatalogView, ClientAnswer, ClientBlock, Function, GivenNotes, ToolCall,
};
use toolcrib_gateway::state::Session;

/// Most tools in one answer.
const PER_PAGE: usize = 200;

/// The functions as tools of MCP.
static FUNCTIONS: LazyLock<Vec<Tool>> =
    LazyLock::new(|| Function::all().iter().filter_map(as_tool).collect());

fn as_tool(function: &Function) -> Option<Tool> {
    let definition = function.definition()?;
    // The whole schema, and not the compact one of `payload`: the list is short.
    let schema = definition.input.parameters.schema().as_object()?.clone();
    let hints = ToolAnnotations::new();
    let hints =
        if function.may_change() { hints.read_only(false).destructive(true) } else { hints.read_only(true) };
    Some(
        Tool::new(function.name(), clean_text(&definition.texts.description), schema).with_annotations(hints),
    )
}

/// One page of the list: the functions, then the catalog's tools. Clients of the older revisions refuse a list in which the
/// schema of a result is not that of an object.
pub(super) fn list(requester: &Requester, after: Option<&str>, is_newer: bool) -> McpResult<ListToolsResult> {
    let cache = &requester.served;
    let bound = cache.listed_tools();
    let is_listed = |name: &str| Function::named(name).is_some_and(|function| cache.listing.lists(function));
    // A listed tool of the catalog keeps its name.
    let functions =
        FUNCTIONS.iter().filter(|tool| is_listed(&tool.name) && bound.place(&tool.name).is_none());
    let all: Vec<&Tool> = functions.chain(bound.tools()).collect();
    let from = after.map_or(Ok(0), |after| following(&all, after))?;
    let address = |to: usize, last: &&Tool| format!("{ROOT}list/{to}/{}", last.name);
    let (shown, next_cursor) = page_of(&all, from, PER_PAGE, address);
    let for_client = |tool: &&Tool| {
        let mut tool = Tool::clone(tool);
        tool.output_schema = tool.output_schema.filter(|schema| is_newer || is_of_objects(schema));
        tool
    };
    let tools = shown.iter().map(for_client).collect();
    let result = ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools) };
    Ok(result.with_ttl_ms(FRESH_FOR).with_cache_scope(requester.scope()))
}

/// Whether clients of the older revisions can read results of this schema.
fn is_of_objects(schema: &JsonObject) -> bool {
    schema.get("type").is_some_and(|word| word == "object")
}

/// Index at which a list continues: after the last listed tool, or at its place when it is gone.
fn following(all: &[&Tool], after: &str) -> McpResult<usize> {
    let position = after.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix("list/")?.split_once('/'));
    let (place, name) = position
        .and_then(|(place, name)| Some((place.parse::<usize>().ok()?, name)))
        .ok_or_else(invalid_cursor)?;
    let known = all.iter().position(|tool| tool.name == name).map(|position| position + 1);
    Ok(known.unwrap_or(place).min(all.len()))
}

/// The function with this name.
pub(super) fn named(name: &str) -> Option<Tool> {
    FUNCTIONS.iter().find(|tool| tool.name == name).cloned()
}

/// Answers a call, and gives the answer as it is to be written, with what the SDK does not know. An error in the arguments is a
/// result for the model; an unknown tool is a protocol error.
pub(super) async fn call(
    requester: &Requester,
    (limiter, notes): (&CallLimiter, &NotesBySession),
    request: CallToolRequestParams,
    is_newer: bool,
) -> McpResult<(CallToolResult, Option<Value>)> {
    let view = requester.view();
    let cache = &requester.served;
    let bound = cache.listed_tools();
    let target = call_target(view, bound, &request.name);
    let promised = bound.output_schema(&request.name).filter(|schema| is_newer || is_of_objects(schema));
    // A client asks by the annotations of what it lists.
    let is_asked = match &target {
        Some(CallTarget::Tool(call)) => call.is_listed,
        Some(CallTarget::Function(function)) => function.only_writes() && cache.listing.lists(function),
        None => false,
    };
    let mut asking = requester.clone();
    asking.caller.asks_its_person = asking.caller.is_own_client && is_asked;
    let caller = &asking.caller;
    let context = &asking.context();
    let given = request.arguments.map_or(Value::Null, Value::Object);
    let (answer, session) = match target {
        Some(CallTarget::Function(function)) => {
            let named = given.get("session").and_then(Value::as_str).and_then(|id| Session::named(id).ok());
            let answer = async { limiter.acquire(function, &caller.name)?.call(context, given).await };
            (answer.await, named)
        }
        Some(CallTarget::Tool(call)) => {
            let function = Function::tool_exec();
            let arguments = if given.is_null() { json!({}) } else { given };
            let call = ToolCall { arguments, as_is: true, ..call };
            let answer =
                async { limiter.acquire(function, &caller.name)?.call_tool(context, call).await }.await;
            if let Ok(Some(envelope)) = answer.as_ref().map(Answer::envelope)
                && let Some(original) = &envelope.original
            {
                return by_its_name(original, envelope, promised.map(AsRef::as_ref), is_newer);
            }
            (answer, None)
        }
        None => return Err(unknown(requester, &request.name)),
    };
    let mut about = requester.meta();
    about.0.extend(answer.as_ref().ok().and_then(meta_of_server).cloned().unwrap_or_default());
    about.0.insert("toolcrib/trace_id".to_string(), context.trace.id().into());
    let own_data = |answer: &Answer| answer.envelope()?.outcome.as_ref().ok().cloned();
    let data = promised.and_then(|_| own_data(answer.as_ref().ok()?));
    let mut blocks = None;
    let mut result = match answer {
        Ok(answer) => {
            if answer.is_ok() {
                // Some call of a batch may lack a right, and others have results.
                caller.note_lacked_right(false);
            }
            let session = named_or_own(session, caller);
            let notes = notes.of(session);
            let client_answer = answer.for_client(&mut locked(&notes));
            blocks = client_answer
                .content
                .iter()
                .any(|block| matches!(block, ClientBlock::Original(_)))
                .then(|| client_answer.content.iter().map(written_block).collect::<Value>());
            call_result(client_answer, answer.is_ok(), &mut about)
        }
        Err(stopped) => limit_result(&stopped),
    };
    match promised {
        Some(schema) => keep_promise(&mut result, schema, data),
        None => _ = !is_newer && drop_unreadable_data(&mut result),
    }
    result.meta = Some(about);
    let written = blocks.and_then(|blocks| {
        let mut written = serde_json::to_value(&result).ok()?;
        written["content"] = blocks;
        if !is_newer {
            written.as_object_mut()?.shift_remove("resultType");
        }
        Some(written)
    });
    Ok((result, written))
}

/// The result of a server for a client that called its tool by name, and the same as it is to be written.
fn by_its_name(
    original: &McpAnswer,
    envelope: &Envelope,
    promised: Option<&JsonObject>,
    is_newer: bool,
) -> McpResult<(CallToolResult, Option<Value>)> {
    let (mut result, mut written) = passed_on(original, envelope)?;
    let has_data = result.structured_content.is_some();
    if let Some(schema) = promised
        && let Some(data) = result.structured_content.take_if(|data| data.to_string().contains(REDACTED))
    {
        keep_promise(&mut result, schema, Some(data));
    }
    if !is_newer && drop_unreadable_data(&mut result) && !original.says_its_data() {
        let data = original.structured().map(Value::to_string);
        result.content.extend(data.map(ContentBlock::text));
    }
    if is_newer && let Some(fields) = written.as_object_mut() {
        fields.insert("resultType".into(), "complete".into());
    }
    let is_same = result.structured_content.is_some() == has_data;
    Ok((result, is_same.then_some(written)))
}

/// The metadata that a server gave its result.
fn meta_of_server(answer: &Answer) -> Option<&JsonObject> {
    match answer.envelope()?.original.as_deref()? {
        McpAnswer::Result(original) => original.get("_meta")?.as_object(),
        McpAnswer::Error { .. } => None,
    }
}

fn written_block(block: &ClientBlock) -> Value {
    match block {
        ClientBlock::Text(text) => json!({"type": "text", "text": text}),
        ClientBlock::Original(block) => block.clone(),
    }
}

/// The answer of an MCP server, unchanged, with our metadata next to its own; first as the SDK reads it.
fn passed_on(original: &McpAnswer, envelope: &Envelope) -> McpResult<(CallToolResult, Value)> {
    let mut written = match original {
        McpAnswer::Result(result) => result.clone(),
        McpAnswer::Error { code, message, data } => {
            return Err(ErrorData::new(ErrorCode(*code), message.clone(), data.clone()));
        }
    };
    let CallMeta { trace_id, warnings, .. } = &envelope.meta;
    let about = &mut written["_meta"];
    if !about.is_object() {
        *about = json!({});
    }
    about["toolcrib/trace_id"] = json!(trace_id);
    if let Some(warnings) = warnings.as_ref().filter(|warnings| !warnings.is_empty()) {
        about["toolcrib/warnings"] = json!(warnings);
    }
    let mut result = as_the_sdk_reads(&written);
    result.result_type = Some(ResultType::COMPLETE);
    Ok((result, written))
}

/// A result of an MCP server with the texts of blocks that the SDK does not know.
fn as_the_sdk_reads(written: &Value) -> CallToolResult {
    serde_json::from_value(written.clone()).unwrap_or_else(|_| {
        let mut known = written.clone();
        for block in known.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            if serde_json::from_value::<ContentBlock>(block.clone()).is_err() {
                *block = json!({"type": "text", "text": block.to_string()});
            }
        }
        serde_json::from_value(known).unwrap_or_default()
    })
}

/// Gives a result of our own the data that its listed schema promises. Clients refuse other data, also in an error, and a result
/// without data that is no error.
fn keep_promise(result: &mut CallToolResult, schema: &JsonObject, data: Option<Value>) {
    let schema = Value::Object(schema.clone());
    result.structured_content = data.filter(|data| result_fits(&schema, data));
    if result.structured_content.is_none() {
        result.is_error = Some(true);
    }
}

/// Drops data that clients of the older revisions cannot read, since it is no object.
fn drop_unreadable_data(result: &mut CallToolResult) -> bool {
    result.structured_content.take_if(|data| !data.is_object()).is_some()
}

/// The session that the call names, else that of its transport.
fn named_or_own(named: Option<Arc<str>>, caller: &Caller) -> Option<Session> {
    let id = named.or_else(|| caller.session.clone())?;
    Some(Session { caller: Arc::clone(&caller.name), id })
}

/// Target of a name.
enum CallTarget<'a> {
    /// A function of toolcrib.
    Function(&'static Function),
    /// A tool, which `tool_exec` runs.
    Tool(ToolCall<'a>),
}

/// A tool that is listed under the name comes first, then our functions, then tools by any of their names.
fn call_target<'a>(view: &'a CatalogView, bound: &ListedTools, name: &'a str) -> Option<CallTarget<'a>> {
    if let Some(place) = bound.place(name) {
        return Some(CallTarget::Tool(ToolCall::listed(view, place)));
    }
    if let Some(function) = Function::named(name) {
        return Some(CallTarget::Function(function));
    }
    match view.catalog().resolve(name) {
        Resolved::Unknown(_) => Function::spelled(name).map(CallTarget::Function),
        _ => Some(CallTarget::Tool(ToolCall::named(view, name))),
    }
}

fn unknown(requester: &Requester, name: &str) -> ErrorData {
    let view = requester.view();
    let shown = quoted(name);
    let is_listed = |function: &&Function| requester.served.listing.lists(function);
    let ours: Vec<&str> = Function::all().iter().filter(is_listed).map(Function::name).collect();
    let mut near = match view.catalog().resolve(name) {
        Resolved::Unknown(near) => near,
        _ => Vec::new(),
    };
    near.extend(nearest(name, ours.iter().copied()));
    let near = if near.is_empty() { String::new() } else { format!("; nearest: {}", near.join(", ")) };
    let starting = requester.services().backends.unlisted(&requester.caller);
    let functions =
        if ours.is_empty() { String::new() } else { format!("; functions are: {}", ours.join(", ")) };
    let message = format!("there is no tool {shown}{near}{starting}{functions}");
    ErrorData::invalid_params(message, None)
}

/// The error of a call over a limit, with the codes of HTTP. The model reads it, and can wait or ask for
/// less.
fn limit_result(stopped: &Problem) -> CallToolResult {
    let body = json!({ "ok": false, "error": stopped.error("") });
    let mut result = CallToolResult::error(vec![ContentBlock::text(body.to_string())]);
    result.structured_content = Some(body);
    result
}

fn block(block: ClientBlock) -> Option<ContentBlock> {
    match block {
        ClientBlock::Text(text) => Some(ContentBlock::text(text)),
        ClientBlock::Original(block) => serde_json::from_value(block).ok(),
    }
}

/// The result of an answer: blocks for the model, the same as data, and metadata.
fn call_result(answer: ClientAnswer, is_ok: bool, about: &mut MetaObject) -> CallToolResult {
    let content = answer.content.into_iter().filter_map(block).collect();
    let mut result = if is_ok { CallToolResult::success(content) } else { CallToolResult::error(content) };
    if answer.leaves_out_is_error {
        result.is_error = None;
    }
    result.structured_content = answer.data;
    about.0.extend(answer.meta.into_iter().map(|(name, value)| (format!("toolcrib/{name}"), value)));
    result
}

/// Most sessions that are remembered; a forgotten one gets its notes again.
const MAX_SESSIONS: usize = 1_024;

/// The notes of each session; without a session every note is new.
#[derive(Debug, Default)]
pub struct NotesBySession(Mutex<IndexMap<Session, Arc<Mutex<GivenNotes>>>>);

impl NotesBySession {
    /// The notes of a session.
    pub(super) fn of(&self, session: Option<Session>) -> Arc<Mutex<GivenNotes>> {
        let Some(session) = session else { return Arc::default() };
        let mut sessions = locked(&self.0);
        if sessions.len() >= MAX_SESSIONS && !sessions.contains_key(&session) {
            sessions.shift_remove_index(0);
        }
        Arc::clone(sessions.entry(session).or_default())
    }
}
