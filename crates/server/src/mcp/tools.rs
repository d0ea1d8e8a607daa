//! The tools of clients: functions of toolcrib, and the catalog's own tools by name, which run as in `tool_exec`. The
//! list depends on the configuration and, for the catalog's tools, on the caller's roles, never on earlier calls.
//! Unlisted tools can be called all the same.

use std::sync::{Arc, LazyLock, Mutex};

use indexmap::IndexMap;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ContentBlock, ErrorCode, JsonObject, ListToolsResult, Tool, ToolAnnotations,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::cursor::{ROOT, invalid_cursor, page_of};
use super::requester::{FRESH_FOR, McpResult, Requester};
use super::resources::result_link;
use crate::call_limiter::CallLimiter;
use crate::listed_tools::{ListedTools, name_of};
use crate::response::Problem;
use toolcrib_catalog::{Resolved, result_fits};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::guard::locked;
use toolcrib_definition::secret::REDACTED;
use toolcrib_definition::{clean_text, quoted};
use toolcrib_front::mcp::carrying;
use toolcrib_gateway::exec::backend::McpAnswer;
use toolcrib_gateway::exec::{CallMeta, Caller, Envelope};
use toolcrib_gateway::functions::{
    Answer, CatalogView, ClientAnswer, ClientBlock, Function, GivenNotes, ToolCall,
};
use toolcrib_gateway::state::Session;

/// The field of a result with its data.
const DATA: &str = "structuredContent";

/// The beginning of our keys in `_meta`.
const OURS: &str = "toolcrib/";

/// Most tools in one answer.
const PER_PAGE: usize = 200;

/// The functions as tools of MCP.
static FUNCTIONS: LazyLock<Vec<Value>> =
    LazyLock::new(|| Function::all().iter().filter_map(as_tool).collect());

fn as_tool(function: &Function) -> Option<Value> {
    let definition = function.definition()?;
    // The whole schema, and not the compact one of `payload`: the list is short.
    let schema = definition.input.parameters.schema().as_object()?.clone();
    let hints = ToolAnnotations::new();
    let hints =
        if function.may_change() { hints.read_only(false).destructive(true) } else { hints.read_only(true) };
    let tool = Tool::new(function.name(), clean_text(&definition.texts.description), schema);
    serde_json::to_value(tool.with_annotations(hints)).ok()
}

/// One page of the list: the functions, then the catalog's tools. Clients of the older revisions refuse a list in which the
/// schema of a result is not that of an object.
pub(super) fn list(requester: &Requester, after: Option<&str>, is_newer: bool) -> McpResult<ListToolsResult> {
    let cache = &requester.served;
    let bound = cache.listed_tools();
    let is_listed = |name: &str| Function::named(name).is_some_and(|function| cache.listing.lists(function));
    // A listed tool of the catalog keeps its name.
    let functions =
        FUNCTIONS.iter().filter(|tool| is_listed(name_of(tool)) && bound.place(name_of(tool)).is_none());
    let all: Vec<&Value> = functions.chain(bound.tools()).collect();
    let from = after.map_or(Ok(0), |after| following(&all, after))?;
    let address = |to: usize, last: &&Value| format!("{ROOT}list/{to}/{}", name_of(last));
    let (shown, next_cursor) = page_of(&all, from, PER_PAGE, address);
    let for_client = |tool: &&Value| {
        let mut tool = Value::clone(tool);
        if !is_newer && let Some(fields) = tool.as_object_mut() {
            fields
                .retain(|key, schema| key != "outputSchema" || schema.as_object().is_some_and(is_of_objects));
        }
        tool
    };
    let result = ListToolsResult { next_cursor, ..ListToolsResult::default() };
    let result = result.with_ttl_ms(FRESH_FOR).with_cache_scope(requester.scope());
    let mut written = json!(result);
    written["tools"] = shown.iter().map(for_client).collect();
    Ok(ListToolsResult { meta: Some(carrying(written)), ..result })
}

/// Whether clients of the older revisions can read results of this schema.
fn is_of_objects(schema: &JsonObject) -> bool {
    schema.get("type").is_some_and(|word| word == "object")
}

/// Index at which a list continues: after the last listed tool, or at its place when it is gone.
fn following(all: &[&Value], after: &str) -> McpResult<usize> {
    let position = after.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix("list/")?.split_once('/'));
    let (place, name) = position
        .and_then(|(place, name)| Some((place.parse::<usize>().ok()?, name)))
        .ok_or_else(invalid_cursor)?;
    let known = all.iter().position(|tool| name_of(tool) == name).map(|position| position + 1);
    Ok(known.unwrap_or(place).min(all.len()))
}

/// The function with this name.
pub(super) fn named(name: &str) -> Option<Tool> {
    let tool = FUNCTIONS.iter().find(|tool| name_of(tool) == name)?;
    Tool::deserialize(tool).ok()
}

/// The result of a call as it is to be written. An error in the arguments is a result for the model; an unknown tool is a protocol
/// error.
pub(super) async fn call(
    requester: &Requester,
    (limiter, notes): (&CallLimiter, &NotesBySession),
    request: CallToolRequestParams,
    is_newer: bool,
) -> McpResult<Value> {
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
                return by_its_name(original, envelope, promised, is_newer);
            }
            (answer, None)
        }
        None => return Err(unknown(requester, &request.name)),
    };
    let mut about = requester.meta().0;
    about.extend(answer.as_ref().ok().and_then(meta_of_server).into_iter().flatten());
    about.insert("toolcrib/trace_id".to_string(), context.trace.id().into());
    let own_data = |answer: &Answer| answer.envelope()?.outcome.as_ref().ok().cloned();
    let data = promised.and_then(|_| own_data(answer.as_ref().ok()?));
    let mut result = match answer {
        Ok(answer) => {
            if answer.is_ok() {
                // Some call of a batch may lack a right, and others have results.
                caller.note_lacked_right(false);
            }
            let session = named_or_own(session, caller);
            let notes = notes.of(session);
            call_result(answer.for_client(&mut locked(&notes)), answer.is_ok(), &mut about)
        }
        Err(stopped) => limit_result(&stopped),
    };
    match promised {
        Some(schema) => keep_promise(&mut result, schema, data),
        None => _ = !is_newer && drop_unreadable_data(&mut result),
    }
    result.insert("_meta".into(), about.into());
    Ok(Value::Object(result))
}

/// The result of a server for a client that called its tool by name: unchanged, with our metadata next to its own, which has no
/// keys of ours.
fn by_its_name(
    original: &McpAnswer,
    envelope: &Envelope,
    promised: Option<&JsonObject>,
    is_newer: bool,
) -> McpResult<Value> {
    let mut result = match original {
        McpAnswer::Result(result) => result.as_object().cloned().unwrap_or_default(),
        McpAnswer::Error { code, message, data } => {
            return Err(ErrorData::new(ErrorCode(*code), message.clone(), data.clone()));
        }
    };
    let about = &mut result.entry("_meta").or_insert_with(|| json!({}));
    match about.as_object_mut() {
        Some(own) => own.retain(|key, _| !key.starts_with(OURS)),
        None => **about = json!({}),
    }
    let CallMeta { trace_id, warnings, .. } = &envelope.meta;
    about["toolcrib/trace_id"] = json!(trace_id);
    if let Some(warnings) = warnings.as_ref().filter(|warnings| !warnings.is_empty()) {
        about["toolcrib/warnings"] = json!(warnings);
    }
    let data = original.structured();
    if let (Some(schema), Some(data)) = (promised, data.filter(|data| data.to_string().contains(REDACTED))) {
        keep_promise(&mut result, schema, Some(data.clone()));
    }
    if !is_newer && drop_unreadable_data(&mut result) && !original.says_its_data() {
        let said = data.map(|data| json!(ContentBlock::text(data.to_string())));
        let content = result.entry("content").or_insert_with(|| json!([]));
        content.as_array_mut().into_iter().for_each(|blocks| blocks.extend(said.clone()));
    }
    Ok(Value::Object(result))
}

/// Adds a link to the rest of a result that is cut.
pub(super) fn link_rest(result: &mut Value) {
    let cursor = result.pointer("/_meta/toolcrib~1more/cursor").and_then(Value::as_str).map(str::to_string);
    if let (Some(cursor), Some(Value::Array(content))) = (cursor, result.get_mut("content")) {
        content.push(result_link(&cursor));
    }
}

/// The metadata that a server gave its result, without keys of ours.
fn meta_of_server(answer: &Answer) -> Option<JsonObject> {
    let McpAnswer::Result(original) = answer.envelope()?.original.as_deref()? else { return None };
    let mut meta = original.get("_meta")?.as_object()?.clone();
    meta.retain(|key, _| !key.starts_with(OURS));
    Some(meta)
}

/// Gives a result of our own the data that its listed schema promises. Clients refuse other data, also in an error, and a result
/// without data that is no error.
fn keep_promise(result: &mut JsonObject, schema: &JsonObject, data: Option<Value>) {
    let schema = Value::Object(schema.clone());
    result.shift_remove(DATA);
    match data.filter(|data| result_fits(&schema, data)) {
        Some(data) => _ = result.insert(DATA.into(), data),
        None => _ = result.insert("isError".into(), true.into()),
    }
}

/// Drops data that clients of the older revisions cannot read, since it is no object.
fn drop_unreadable_data(result: &mut JsonObject) -> bool {
    let is_unreadable = result.get(DATA).is_some_and(|data| !data.is_object());
    is_unreadable && result.shift_remove(DATA).is_some()
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
fn limit_result(stopped: &Problem) -> JsonObject {
    let body = json!({ "ok": false, "error": stopped.error("") });
    let text = ContentBlock::text(body.to_string());
    result_of(json!([text]), Some(body), Some(true))
}

fn result_of(content: Value, data: Option<Value>, is_error: Option<bool>) -> JsonObject {
    let fields = [("content", Some(content)), (DATA, data), ("isError", is_error.map(Value::from))];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

/// The result of an answer: blocks for the model, and the same as data. Its metadata goes to `about`.
fn call_result(answer: ClientAnswer, is_ok: bool, about: &mut JsonObject) -> JsonObject {
    let block = |block: ClientBlock| match block {
        ClientBlock::Text(text) => json!(ContentBlock::text(text)),
        ClientBlock::Original(block) => block,
    };
    let content: Value = answer.content.into_iter().map(block).collect();
    about.extend(answer.meta.into_iter().map(|(name, value)| (format!("{OURS}{name}"), value)));
    result_of(content, answer.data, (!answer.leaves_out_is_error).then_some(!is_ok))
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
