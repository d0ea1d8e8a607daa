//! A real MCP server that asks an issuer about each request, in either version of the protocol.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use tokio::runtime::Runtime;

use crate::issuer::Issuer;

/// The scope of every request, and the one that the tool `admin` needs too.
pub const SCOPE: &str = "tools:read";
pub const ADMIN: &str = "tools:read tools:admin";

/// A protected server. It ends when this is dropped.
pub struct Protected {
    pub url: String,
    /// Requests that were let in.
    pub let_in: Arc<AtomicUsize>,
    _runtime: Runtime,
}

#[derive(Clone)]
struct Tools {
    version: ProtocolVersion,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(vec![self.version.clone()])
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(serde_json::json!({"type": "object"}).as_object().unwrap().clone());
        let tool = |name: &'static str| {
            Tool::new(name, format!("Says {name}."), Arc::clone(&schema))
                .with_annotations(ToolAnnotations::new().read_only(true))
        };
        Ok(ListToolsResult::with_all_items(vec![tool("whoami"), tool("admin")]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let parts = context.extensions.get::<axum::http::request::Parts>().unwrap();
        let who = parts.headers["x-sub"].to_str().unwrap();
        Ok(CallToolResult::success(vec![ContentBlock::text(format!("{} for {who}", request.name))]).into())
    }

    fn get_tool(&self, _: &str) -> Option<Tool> {
        None
    }
}

impl Protected {
    /// Starts a server of the newer protocol, or of the older one alone.
    pub fn start(issuer: &Arc<Issuer>, is_newer: bool) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://127.0.0.1:{}/mcp", listener.local_addr().unwrap().port());
        let let_in = Arc::new(AtomicUsize::new(0));
        let version = if is_newer { ProtocolVersion::V_2026_07_28 } else { ProtocolVersion::V_2025_11_25 };
        let tools = Tools { version };
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(
            move || Ok(tools.clone()),
            sessions,
            StreamableHttpServerConfig::default(),
        );
        let guard = {
            let (issuer, url, let_in) = (Arc::clone(issuer), url.clone(), Arc::clone(&let_in));
            move |request: Request, next: Next| {
                let (issuer, url, let_in) = (Arc::clone(&issuer), url.clone(), Arc::clone(&let_in));
                async move { checked(&issuer, &url, &let_in, request, next).await }
            }
        };
        let metadata = serde_json::json!({
            "resource": url, "authorization_servers": [issuer.url()], "scopes_supported": [SCOPE],
        });
        let metadata =
            get(move || async move { ([(header::CONTENT_TYPE, "application/json")], metadata.to_string()) });
        let router = Router::new()
            .route_service("/mcp", service)
            .layer(from_fn(guard))
            .route("/.well-known/oauth-protected-resource/mcp", metadata);
        runtime.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, let_in, _runtime: runtime }
    }

    pub fn let_in(&self) -> usize {
        self.let_in.load(SeqCst)
    }
}

/// Lets a request in with a good token; otherwise it is challenged.
async fn checked(issuer: &Issuer, url: &str, let_in: &AtomicUsize, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let is_admin = body.windows(14).any(|part| part == b"\"name\":\"admin\"");
    let given = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match issuer.check(given, url, if is_admin { ADMIN } else { SCOPE }) {
        Ok(claims) => {
            let_in.fetch_add(1, SeqCst);
            let who = claims["sub"].as_str().unwrap().parse().unwrap();
            parts.headers.insert("x-sub", who);
            next.run(Request::from_parts(parts, Body::from(body))).await
        }
        Err((status, challenge)) => {
            let challenge = HeaderValue::from_str(&challenge).unwrap();
            (StatusCode::from_u16(status).unwrap(), [(header::WWW_AUTHENTICATE, challenge)]).into_response()
        }
    }
}
