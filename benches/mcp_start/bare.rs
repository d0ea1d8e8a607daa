//! A server that does nothing but list tools that it has in memory: what the start of `toolcrib serve --stdio` is
//! measured against, by `benches/mcp_start.py`. Takes the number of tools.

use std::sync::Arc;

use rmcp::model::{ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};

struct Bare(Vec<Tool>);

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.clone()))
    }
}

/// As `benches/mcp_start.py` writes them.
fn tool(index: usize) -> Tool {
    let property = |number: usize| {
        let about = format!("Argument {number} of the operation, which says how thing {index} is looked up");
        (format!("argument_{number}"), json!({"type": "string", "description": about}))
    };
    let properties: Map<String, Value> = (0..8).map(property).collect();
    let schema =
        json!({"type": "object", "properties": properties, "required": ["argument_0", "argument_1"]});
    let schema = schema.as_object().cloned().unwrap_or_default();
    let about = format!(
        "Looks up thing {index} in the records of group {}. Use it when a question is about such a thing and nothing \
         more particular is at hand.",
        index % 40
    );
    Tool::new(format!("look_up_{index}"), about, Arc::new(schema))
}

#[tokio::main]
async fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let served = Bare((0..count).map(tool).collect()).serve(rmcp::transport::stdio_pipes()).await;
    if let Ok(served) = served {
        let _ = served.waiting().await;
    }
    std::process::exit(0);
}
