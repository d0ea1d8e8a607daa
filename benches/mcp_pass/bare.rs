//! A gateway that does nothing: an MCP server over stdio that passes each call to the server behind it. Its arguments
//! are that server's command. It runs on many threads as `#[tokio::main]` does or, after `--one-thread`, on one.
//! `benches/mcp_pass.py` compares `toolcrib serve --stdio` with it.

use std::process::Stdio;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler, ServiceError, ServiceExt};

struct Bare(RunningService<RoleClient, ()>);

fn passed(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        error => ErrorData::internal_error(error.to_string(), None),
    }
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        asked: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.0.list_tools(asked).await.map_err(passed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.0.call_tool(request).await.map_err(passed)?.into())
    }
}

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_one = arguments.first().is_some_and(|first| first == "--one-thread");
    arguments.drain(..usize::from(is_one));
    let mut runtime = match is_one {
        true => tokio::runtime::Builder::new_current_thread(),
        false => tokio::runtime::Builder::new_multi_thread(),
    };
    let Ok(runtime) = runtime.enable_all().build() else { std::process::exit(1) };
    runtime.block_on(pass(&arguments))
}

async fn pass(arguments: &[String]) -> ! {
    let Some((program, arguments)) = arguments.split_first() else { std::process::exit(2) };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let Ok(mut child) = command.spawn() else { std::process::exit(1) };
    let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
        std::process::exit(1)
    };
    let Ok(behind) = ().serve((stdout, stdin)).await else { std::process::exit(1) };
    if let Ok(served) = Bare(behind).serve(rmcp::transport::stdio_pipes()).await {
        let _ = served.waiting().await;
    }
    std::process::exit(0);
}
