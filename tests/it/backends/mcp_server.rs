//! A real MCP server whose tools answer in every way that there is, over HTTP and, in a process of its own, over stdio.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The data of a picture.
pub const PICTURE: &str = "iVBORw0KGgo=";

/// The file of notes: starts, calls and cancellations, a line each.
#[derive(Clone)]
pub struct Answers {
    pub notes: std::path::PathBuf,
}

impl Answers {
    fn note(&self, what: &str) {
        use std::io::Write;
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.notes);
        writeln!(file.unwrap(), "{what}").unwrap();
    }
}

impl ServerHandler for Answers {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = [
            "echo", "text", "json", "texts", "image", "nothing", "fail", "refuse", "slow", "die",
            "read_and_die", "large", "rich", "rich_fail", "half", "data_only", "promised",
        ];
        let schema = |schema: Value| Arc::new(schema.as_object().cloned().unwrap());
        let tool = |name: &&'static str| {
            let mut tool = Tool::new(*name, "Answers.", schema(json!({ "type": "object" })));
            if *name == "promised" {
                let limit = json!({ "limit": { "type": "integer" }, "dry": { "type": "boolean" } });
                tool.input_schema = schema(json!({ "type": "object", "properties": limit }));
                let trees = json!({ "trees": { "type": "integer" }, "key": { "minLength": 12 } });
                let output = json!({ "type": "object", "properties": trees, "required": ["trees"], "additionalProperties": false });
                tool.output_schema = Some(schema(output));
            }
            tool.with_annotations(ToolAnnotations::new().read_only(*name == "read_and_die"))
        };
        Ok(ListToolsResult::with_all_items(names.iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: &str| CallToolResult::success(vec![ContentBlock::text(text)]);
        self.note(&format!("call {}", request.name));
        let result = match request.name.as_ref() {
            "echo" => CallToolResult::structured(Value::Object(request.arguments.unwrap_or_default())),
            "text" => text("plain [text"),
            "json" => text("{\"a\": [1]}"),
            "texts" => CallToolResult::success(vec![ContentBlock::text("one"), ContentBlock::text("two")]),
            "image" => CallToolResult::success(vec![
                ContentBlock::text("see"),
                ContentBlock::image("AAAA", "image/png"),
            ]),
            "nothing" => CallToolResult::success(Vec::new()),
            "fail" => CallToolResult::error(vec![ContentBlock::text("no \u{1b}[31mluck with s3cr3t-token")]),
            "refuse" => return Err(ErrorData::invalid_params("not like this", Some(json!({ "why": 1 })))),
            "rich" => rich(Some("see"), false),
            "rich_fail" => rich(None, true),
            "half" => half(vec![ContentBlock::text("done")]),
            "data_only" => half(Vec::new()),
            "promised" => match request.arguments.is_some_and(|arguments| arguments.contains_key("limit")) {
                true => half_with(
                    vec![ContentBlock::text("done")],
                    json!({ "trees": 41, "key": "k3y-of-the-garden" }),
                ),
                false => half(vec![ContentBlock::text("done")]),
            },
            "large" => text(&"x".repeat(5000)),
            "slow" => {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(20)) => {}
                    () = context.ct.cancelled() => self.note("cancelled"),
                }
                text("late")
            }
            _ => {
                eprintln!("out of memory");
                std::process::exit(3)
            }
        };
        Ok(result.into())
    }

    fn get_tool(&self, _: &str) -> Option<Tool> {
        None
    }
}

/// A result whose data is in its structured content alone.
fn half(content: Vec<ContentBlock>) -> CallToolResult {
    half_with(content, json!({ "trees": 41 }))
}

fn half_with(content: Vec<ContentBlock>, data: Value) -> CallToolResult {
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(data);
    result
}

/// A result with everything that a result can have.
fn rich(status: Option<&str>, is_error: bool) -> CallToolResult {
    let result = json!({
        "resultType": "complete",
        "content": [
            { "type": "text", "text": "A chart, with [a list]", "annotations": { "audience": ["user"], "priority": 0.5 } },
            { "type": "image", "data": PICTURE, "mimeType": "image/png", "_meta": { "own": 1 } },
            { "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" },
            { "type": "resource_link", "uri": "demo://a", "name": "a", "size": 3 },
            { "type": "resource", "resource": { "uri": "demo://b", "mimeType": "application/pdf", "blob": "JVBERi0=" } },
            { "type": "resource", "resource": { "uri": "demo://c", "text": "words" } },
        ],
        "isError": is_error,
        "_meta": { "example.com/own": { "kept": true }, "toolcrib/op": "forged" },
    });
    let mut result: CallToolResult = serde_json::from_value(result).unwrap();
    result.structured_content = status.map(|status| json!({ "status": status, "picture": PICTURE }));
    result
}

/// The server over HTTP; it ends with the runtime.
pub fn over_http(notes: &std::path::Path) -> (String, Runtime) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let answers = Answers { notes: notes.to_path_buf() };
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(
        move || Ok(answers.clone()),
        sessions,
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().route_service("/mcp", service);
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    runtime.spawn(async move { axum::serve(listener, router).await });
    (url, runtime)
}

/// The table of a server that is this very test. The harness prints to stdout, which is why the server has another way
/// out.
pub fn command(notes: &std::path::Path) -> String {
    format!(
        r#"command = ["sh", "-c", "exec \"$0\" --exact backends::mcp_server::over_stdio --nocapture 3>&1 >/dev/null", '{}'], env = {{ TOOLCRIB_TEST_NOTES = '{}', TOKEN = '${{TOKEN}}' }}"#,
        std::env::current_exe().unwrap().display(),
        notes.display(),
    )
}

/// Not a test, but a server that runs when a variable names its log file.
#[test]
fn over_stdio() {
    let Some(notes) = std::env::var_os("TOOLCRIB_TEST_NOTES") else { return };
    let answers = Answers { notes: notes.into() };
    answers.note("start");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let out = tokio::net::unix::pipe::OpenOptions::new().open_sender("/dev/fd/3").unwrap();
        let session = answers.clone().serve((tokio::io::stdin(), out)).await.unwrap();
        let _ = session.waiting().await;
        answers.note("end");
    });
    std::process::exit(0);
}
