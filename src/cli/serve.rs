//! `toolcrib serve`: the catalog through its doors.

use std::sync::Arc;

use super::catalog::{CatalogArgs, report_lost};
use super::{Failure, Outcome, note};
use crate::serve::live::Setting;
use crate::serve::{Live, mcp};

/// Serve the catalog to MCP clients.
#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// Serve the tools of this profile only.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// Speak MCP over stdin and stdout.
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
    /// Listen for HTTP at this address.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    listen: String,
}

impl Serve {
    pub(super) fn run(self) -> Outcome {
        let checked = self.catalog.open()?;
        report_lost(&checked);
        let templates = Arc::new(super::render::templates(&self.catalog, &checked, None)?);
        let setting = Setting { profile: self.profile.clone(), roles: Vec::new() };
        let live = Arc::new(Live::new(checked, setting, templates).map_err(Failure::Usage)?);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Findings(Some(format!("cannot start: {error}"))))?;
        let served = runtime.block_on(async {
            if self.stdio { mcp::stdio(live, stop()).await } else { self.http(live).await }
        });
        runtime.shutdown_background();
        served.map_err(|error| Failure::Findings(Some(format!("cannot serve: {error}"))))
    }

    async fn http(&self, live: Arc<Live>) -> std::io::Result<()> {
        let listener = tokio::net::TcpListener::bind(&self.listen).await?;
        note(format!("listening on http://{}", listener.local_addr()?));
        let service = mcp::service(live, mcp::Options::default());
        let streams = service.config.cancellation_token.clone();
        let router = axum::Router::new().nest_service("/mcp", service);
        axum::serve(listener, router)
            .with_graceful_shutdown(async move {
                stop().await;
                streams.cancel();
            })
            .await
    }
}

/// Ends when somebody asks the process to stop.
async fn stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = tokio::signal::ctrl_c() => return,
            }
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
