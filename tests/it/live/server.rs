//! A real MCP server whose tools the tests change: over HTTP in this process, over stdio in one of its own.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use rmcp::model::{
    DiscoverRequestMethod, DiscoverResult, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The eras of the protocol that a server may speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Knows nothing of the newer protocol.
    Older,
    /// Knows that there is one.
    Old,
    New,
}

/// Lists these names, two a page; a list that begins with `endless` has no end.
#[derive(Clone)]
pub struct Tools {
    pub era: Era,
    pub names: watch::Receiver<Vec<String>>,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("weather", "1"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(match self.era {
            Era::Older | Era::Old => &[ProtocolVersion::V_2025_11_25],
            Era::New => &[ProtocolVersion::V_2026_07_28],
        })
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        match self.era {
            Era::Older => Err(ErrorData::method_not_found::<DiscoverRequestMethod>()),
            _ => Ok(DiscoverResult::from_server_info(
                self.supported_protocol_versions().into_owned(),
                self.get_info(),
            )),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut names = self.names.clone();
        tokio::spawn(async move {
            while names.changed().await.is_ok() && context.peer.notify_tool_list_changed().await.is_ok() {}
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut names = self.names.clone();
        loop {
            tokio::select! {
                changed = names.changed() => if changed.is_err() { return Ok(()) },
                () = context.cancelled() => return Ok(()),
            }
            if context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = self.names.borrow().clone();
        let start: usize = request.and_then(|request| request.cursor?.parse().ok()).unwrap_or(0);
        let is_endless = names.first().is_some_and(|name| name == "endless");
        let page = if is_endless {
            vec![format!("endless_{start}")]
        } else {
            names.iter().skip(start).take(2).cloned().collect()
        };
        let schema = serde_json::json!({"type": "object", "properties": {"zeta": {"type": "string", "description": "Z."}, "alpha": {"type": "number", "description": "A."}}});
        let schema = Arc::new(schema.as_object().unwrap().clone());
        let tool =
            |name: String| Tool::new(name.clone(), format!("Tells the weather of {name}."), schema.clone());
        let mut result = ListToolsResult::with_all_items(page.into_iter().map(tool).collect());
        if is_endless || start + 2 < names.len() {
            result.next_cursor = Some((start + 2).to_string());
        }
        Ok(result)
    }

    fn get_tool(&self, _: &str) -> Option<Tool> {
        None
    }
}

/// A server over HTTP, which can go away and come back.
pub struct Http {
    pub url: String,
    pub names: watch::Sender<Vec<String>>,
    era: Era,
    port: u16,
    runtime: Runtime,
    serving: Option<JoinHandle<()>>,
}

impl Http {
    pub fn start(era: Era, names: &[&str]) -> Self {
        let (names, _) = watch::channel(owned(names));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut server = Self { url: String::new(), names, era, port: 0, runtime, serving: None };
        server.come_back();
        server
    }

    pub fn list(&self, names: &[&str]) {
        self.names.send_replace(owned(names));
    }

    pub fn go_away(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
        }
        // Connections that are open have tasks of their own.
        let new = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        std::mem::replace(&mut self.runtime, new).shutdown_background();
    }

    pub fn come_back(&mut self) {
        let tools = Tools { era: self.era, names: self.names.subscribe() };
        let config = StreamableHttpServerConfig::default();
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(tools.clone()), sessions, config);
        let router = Router::new().route_service("/mcp", service);
        let address = format!("127.0.0.1:{}", self.port);
        let listener = self.runtime.block_on(async {
            loop {
                match tokio::net::TcpListener::bind(&address).await {
                    Ok(listener) => return listener,
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        });
        self.port = listener.local_addr().unwrap().port();
        self.url = format!("http://127.0.0.1:{}/mcp", self.port);
        self.serving = Some(self.runtime.spawn(async move {
            // Otherwise each answer waits for the client to confirm the one before.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            axum::serve(listener, router).await.unwrap()
        }));
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// The `mcp` table of a source that runs this very test as a server; it lists the names in a file, one a line. The
/// harness prints to stdout, which is why the server has another way out.
pub fn stdio(era: Era, file: &std::path::Path) -> String {
    slow_stdio(era, file, 0)
}

/// The same, but it takes so many seconds to start.
pub fn slow_stdio(era: Era, file: &std::path::Path, seconds: u32) -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        r#"{{ command = ["sh", "-c", "sleep {seconds}; exec \"$0\" --exact live::server::over_stdio --nocapture 3>&1 >/dev/null", '{}'], env = {{ TOOLCRIB_TEST_TOOLS = '{}', TOOLCRIB_TEST_ERA = '{era:?}' }} }}"#,
        program.display(),
        file.display(),
    )
}

/// Not a test, but a server that runs when a variable names its tools.
#[test]
fn over_stdio() {
    let Some(file) = std::env::var_os("TOOLCRIB_TEST_TOOLS") else { return };
    let eras = [Era::Older, Era::Old, Era::New];
    let named = std::env::var_os("TOOLCRIB_TEST_ERA").unwrap();
    let era = *eras.iter().find(|era| named == *format!("{era:?}")).unwrap();
    let ended = std::path::PathBuf::from(&file).with_extension("ended");
    let read = move || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        text.lines().map(str::to_string).collect::<Vec<_>>()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (sender, names) = watch::channel(read());
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(30)).await;
                let now = read();
                if now.iter().any(|name| name == "die") {
                    std::process::exit(3);
                }
                sender.send_if_modified(|names| std::mem::replace(names, now.clone()) != now);
            }
        });
        let out = tokio::net::unix::pipe::OpenOptions::new().open_sender("/dev/fd/3").unwrap();
        eprintln!("ready");
        let tools = Tools { era, names };
        let session = tools.serve((tokio::io::stdin(), out)).await.unwrap();
        session.waiting().await.unwrap();
        // Nobody that is killed comes here.
        let _ = std::fs::write(ended, "");
    });
    std::process::exit(0);
}
