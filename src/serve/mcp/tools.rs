//! Our functions as MCP tools. Which of them are listed depends on the configuration alone, and all of them can be called:
//! the list is the same for every caller and every catalog, and only answers differ.

use std::sync::{Arc, LazyLock};

use rmcp::ErrorData;
use rmcp::model::{CacheScope, CallToolRequestParams, CallToolResult, ContentBlock, ListToolsResult, Tool};
use serde_json::{Value, json};

use super::{FRESH_FOR, meta};
use crate::catalog::{Profile, ProfileTool, functions};
use crate::config::{Listed, Surface};
use crate::functions::{Answer, Context, Function};
use crate::provider::{self, Provider};
use crate::serve::Gate;
use crate::serve::gate::Stopped;
use crate::tool::DescriptionMode;

/// The definitions, as `payload` writes them for MCP.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let tools = Function::all().iter().filter_map(Function::definition);
    let tools = tools.map(|tool| ProfileTool { tool, mode: DescriptionMode::Full }).collect();
    let profile = Profile { name: None, description: None, tools, picked: false };
    let request = provider::Request {
        catalog: functions(),
        profile: &profile,
        provider: Provider::Mcp,
        surface: Surface::Full,
        options: Default::default(),
        load: &[],
    };
    let body = provider::payload(request).map(|payload| payload.body).unwrap_or_default();
    let mut tools: Vec<Tool> =
        body.get("tools").cloned().and_then(|tools| serde_json::from_value(tools).ok()).unwrap_or_default();
    for tool in &mut tools {
        // The whole schema, and not the compact one for requests with many tools: there are few here.
        if let Some(Value::Object(schema)) =
            functions().named(&tool.name).map(|known| known.parameters.schema())
        {
            tool.input_schema = Arc::new(schema.clone());
        }
    }
    tools
});

/// The tools that are listed, on one page.
pub(super) fn list(listed: Listed, scope: CacheScope) -> ListToolsResult {
    let tools = TOOLS.iter().filter(|tool| is_listed(listed, &tool.name)).cloned().collect();
    ListToolsResult::with_all_items(tools).with_ttl_ms(FRESH_FOR).with_cache_scope(scope)
}

fn is_listed(listed: Listed, name: &str) -> bool {
    match listed {
        Listed::Gateway => ["read_tool_doc", "tool_search"].contains(&name),
        Listed::Discovery => !["tool_search", "pick"].contains(&name),
        Listed::All => true,
    }
}

/// The tool of this name.
pub(super) fn named(name: &str) -> Option<Tool> {
    TOOLS.iter().find(|tool| tool.name == name).cloned()
}

/// Answers a call. What is wrong with the arguments is an answer for the model; that there is no such tool is not.
pub(super) async fn call(
    context: &Context,
    gate: &Gate,
    request: CallToolRequestParams,
) -> Result<CallToolResult, ErrorData> {
    let Some(function) = Function::named(&request.name) else {
        let known: Vec<&str> = Function::all().iter().map(Function::name).collect();
        let shown: String = request.name.chars().take(80).collect();
        let shown = crate::tool::clean_line(&shown);
        let message = format!("there is no tool {shown}; tools are: {}", known.join(", "));
        return Err(ErrorData::invalid_params(message, None));
    };
    let arguments = request.arguments.map_or(Value::Null, Value::Object);
    let answer = match gate.enter(function) {
        Ok(passing) => passing.call(context, arguments).await,
        Err(stopped) => Err(stopped),
    };
    let mut result = answer.map_or_else(refused, |answer| answered(&answer));
    let mut about = meta(&context.edition);
    about.0.insert("toolcrib/trace_id".to_string(), context.trace.id().into());
    result.meta = Some(about);
    Ok(result)
}

/// Why there is no answer, in the words of the HTTP door. It is for the model, which can wait, or ask for less.
fn refused(stopped: Stopped) -> CallToolResult {
    let error = json!({ "code": stopped.code(), "message": stopped.to_string(), "next_action": stopped.next_action() });
    let body = json!({ "ok": false, "error": error });
    let mut result = CallToolResult::error(vec![ContentBlock::text(body.to_string())]);
    result.structured_content = Some(body);
    result
}

/// An answer is sent once: as text that a model reads, and as JSON beside it only where the text is that JSON anyway.
fn answered(answer: &Answer) -> CallToolResult {
    let text = vec![ContentBlock::text(answer.text())];
    let mut result = if answer.is_ok() { CallToolResult::success(text) } else { CallToolResult::error(text) };
    result.structured_content = (!answer.is_markdown()).then(|| Value::Object(answer.body().clone()));
    result
}
