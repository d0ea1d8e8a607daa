//! A server that lists the tools of a file, and searches them with the bare loop of `benches/search/bare.rs`: what
//! `benches/scale.py` measures `toolcrib` against. Takes the path of the file, a JSON array of definitions.

#[path = "../search/bare.rs"]
mod search;

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;

struct Bare {
    tools: Vec<Tool>,
    index: Mutex<search::Bare>,
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let found = self.index.lock().unwrap_or_else(PoisonError::into_inner).find(query);
        let names: Vec<&str> =
            found.iter().map(|(_, place)| self.tools[*place as usize].name.as_ref()).collect();
        Ok(CallToolResult::success(vec![ContentBlock::text(names.join("\n"))]).into())
    }
}

fn tool(mut definition: Value) -> Tool {
    let schema = definition.get_mut("parameters").map(Value::take);
    let schema = schema.and_then(|schema| schema.as_object().cloned()).unwrap_or_default();
    let text = |field: &str| definition.get(field).and_then(Value::as_str).unwrap_or_default().to_string();
    Tool::new(text("name"), text("description"), Arc::new(schema))
}

#[tokio::main]
async fn main() {
    let file = std::env::args().nth(1).unwrap_or_default();
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let definitions: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
    let tools: Vec<Tool> = definitions.into_iter().map(tool).collect();
    let texts =
        tools.iter().map(|tool| (tool.name.as_ref(), tool.description.as_deref().unwrap_or_default()));
    let index = Mutex::new(search::Bare::new(texts));
    let served = Bare { tools, index }.serve(rmcp::transport::stdio_pipes()).await;
    if let Ok(served) = served {
        let _ = served.waiting().await;
    }
    std::process::exit(0);
}
