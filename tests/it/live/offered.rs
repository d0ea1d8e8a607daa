//! A real MCP server that offers more than tools: over HTTP, in both eras of the protocol.
#![expect(deprecated, reason = "the older revision has log messages")]

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::server::Era;

/// Has tools, resources and prompts under its name, and one resource that others have too.
#[derive(Clone)]
pub struct Offered {
    era: Era,
    name: &'static str,
    cancelled: watch::Sender<bool>,
}

/// A value of the SDK from its JSON.
pub fn of<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}

/// The question of the server.
pub fn question() -> Value {
    json!({
        "mode": "form",
        "message": "Who are you?",
        "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
    })
}

impl Offered {
    /// Starts the server; returns its address, and the sign that a call was cancelled.
    pub async fn start(era: Era, name: &'static str) -> (String, watch::Receiver<bool>) {
        let server = Self { era, name, cancelled: watch::Sender::new(false) };
        let cancelled = server.cancelled.subscribe();
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            sessions,
            StreamableHttpServerConfig::default(),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, Router::new().route_service("/mcp", service)).await });
        (url, cancelled)
    }

    /// The answer to the question of this server.
    async fn asked(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Value> {
        if self.era == Era::New {
            return Some(request.input_responses.as_ref()?.get("who")?.clone());
        }
        let question = ServerRequest::ElicitRequest(ElicitRequest::new(of(question())));
        match context.peer.send_request(question).await {
            Ok(answer) => serde_json::to_value(answer).ok(),
            Err(error) => Some(json!(error.to_string())),
        }
    }
}

impl ServerHandler for Offered {
    fn get_info(&self) -> ServerConfig {
        let capabilities: ServerCapabilities = of(json!({
            "tools": {}, "prompts": { "listChanged": true }, "logging": {}, "completions": {},
            "resources": { "subscribe": true, "listChanged": true },
        }));
        ServerConfig::new(capabilities).with_server_info(Implementation::new(self.name, "1"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(match self.era {
            Era::New => &[ProtocolVersion::V_2026_07_28],
            _ => &[ProtocolVersion::V_2025_11_25],
        })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &str| {
            json!({
                "name": name, "description": "Works.", "inputSchema": { "type": "object" },
                "annotations": { "title": "Work", "openWorldHint": false }, "_meta": { "ui": name },
            })
        };
        Ok(of(json!({ "tools": [tool("work"), tool("ask"), tool("wait")] })))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: String| Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        match &*request.name {
            "ask" => match self.asked(&request, &context).await {
                Some(answer) => text(answer.to_string()),
                None => {
                    let ask = json!({ "method": "elicitation/create", "params": question() });
                    let round = json!({ "resultType": "input_required", "inputRequests": { "who": ask } });
                    Ok(of::<InputRequiredResult>(round).into())
                }
            },
            "wait" => {
                context.ct.cancelled().await;
                self.cancelled.send_replace(true);
                text("too late".into())
            }
            _ => {
                if let Some(token) = context.meta.get_progress_token() {
                    for done in [1.0, 2.0] {
                        let progress = ProgressNotificationParam::new(token.clone(), done);
                        context.peer.notify_progress(progress).await.unwrap();
                    }
                }
                let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!("it works"));
                let _ = context.peer.notify_logging_message(line).await;
                text(context.meta.0.get("example.com/trace").map_or("done".into(), |trace| trace.to_string()))
            }
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |uri: String| json!({ "uri": uri, "name": self.name, "_meta": { "of": self.name } });
        let listed = [resource("shared://note".into()), resource(format!("{}://note", self.name))];
        Ok(of(json!({ "resources": listed })))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let uri = format!("{}://item/{{id}}", self.name);
        Ok(of(json!({ "resourceTemplates": [{ "uriTemplate": uri, "name": "item" }] })))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = &request.uri;
        if uri != "shared://note" && !uri.starts_with(&format!("{}://", self.name)) {
            let data = json!({ "uri": uri });
            return Err(ErrorData::resource_not_found("no such resource", Some(data)));
        }
        let contents = json!({ "uri": uri, "text": format!("{uri} of {}", self.name) });
        Ok(of::<ReadResourceResult>(json!({ "contents": [contents] })).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let updated = ResourceUpdatedNotificationParam::new(request.uri);
        tokio::spawn(async move { context.peer.notify_resource_updated(updated).await });
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(of(
            json!({ "prompts": [{ "name": "greet", "arguments": [{ "name": "who", "required": true }] }] }),
        ))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != "greet" {
            return Err(ErrorData::invalid_params("there is no such prompt", None));
        }
        let text = format!("{} greets {:?}", self.name, request.arguments.unwrap_or_default().get("who"));
        let messages = json!([{ "role": "user", "content": { "type": "text", "text": text } }]);
        Ok(of::<GetPromptResult>(json!({ "messages": messages })).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = [format!("{} {}", self.name, request.argument.value)];
        Ok(of(json!({ "completion": { "values": values, "total": 1, "hasMore": false } })))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}
