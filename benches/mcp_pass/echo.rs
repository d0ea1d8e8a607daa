//! An MCP server over stdio with one tool, which answers with its arguments: what stands behind the gateways that
//! `benches/mcp_pass.py` compares.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

struct Echo(Tool);

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.0.clone()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured(Value::Object(request.arguments.unwrap_or_default())).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "minLength": 1, "description": "What it is called." },
            "count": { "type": "integer", "minimum": 0, "description": "How many there are." },
            "labels": { "type": "array", "items": { "type": "string" }, "description": "Free labels." },
        },
        "required": ["title"],
        "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    let tool = Tool::new("get_echo", "Answers with its arguments.", Arc::new(schema));
    if let Ok(served) = Echo(tool).serve(rmcp::transport::stdio_pipes()).await {
        let _ = served.waiting().await;
    }
    std::process::exit(0);
}
