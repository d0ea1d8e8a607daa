//! The MCP transport, with the SDK's own client and raw lines: over stdio, the real program; over HTTP, a real server.

mod client;
mod hostile;
pub mod line_transport;
mod modes;
mod notifications;
mod passed_on;
mod resources;
mod short_answers;

use std::path::Path;
use std::sync::Arc;

use toolcrib::catalog::Checked;
use toolcrib::config::ServeMode;
use toolcrib::render::Templates;
use toolcrib::server::live::ServeOptions;
use toolcrib::server::{ListingOptions, LiveCatalog, mcp};

use crate::fixture;

/// A catalog file with this many tools in ten categories.
pub fn many(tools: usize) -> tempfile::TempDir {
    let one = |index: usize| {
        let (group, name) = (index % 10, format!("tool_{index:05}"));
        serde_json::json!({
            "name": name, "description": format!("Does thing {index} of group {group}."), "category": format!("Group {group}"),
            "parameters": {"type": "object", "properties": {"id": {"type": "string", "description": "Which one"}}, "required": ["id"]},
        })
    };
    let tools: Vec<serde_json::Value> = (0..tools).map(one).collect();
    fixture::folder(&[("tools.json", &serde_json::to_string(&tools).unwrap())])
}

/// A running catalog.
pub fn live(catalog: &Path) -> Arc<LiveCatalog> {
    live_of(fixture::open(catalog))
}

fn live_of(checked: Checked) -> Arc<LiveCatalog> {
    let listing = ListingOptions { mode: ServeMode::Gateway, ..Default::default() };
    let options = ServeOptions { listing, ..Default::default() };
    Arc::new(LiveCatalog::new(checked, options, templates()).unwrap())
}

pub fn templates() -> Arc<Templates> {
    Arc::new(Templates::from(toolcrib::BUILT_IN))
}

/// A server over HTTP on a port of its own, for as long as the runtime lasts; its address.
pub async fn served(live: Arc<LiveCatalog>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().nest_service("/mcp", mcp::service(live, 1 << 20));
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/mcp")
}

/// Runs a test that waits for things, for a minute at most.
pub fn run(test: impl Future<Output = ()>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_secs(60), test).await.unwrap() });
    runtime.shutdown_background();
}
