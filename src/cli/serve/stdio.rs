//! One client at the standard streams.

use std::sync::Arc;
use std::time::Duration;

use super::wait_for_signal;
use crate::serve::LiveCatalog;
use crate::serve::mcp::{self, StandardStreams};

/// The standard streams, once the client has sent its first line; `None` when it is to stop.
pub(super) async fn opened() -> Option<StandardStreams> {
    tokio::select! {
        client = StandardStreams::opened() => Some(client),
        () = wait_for_signal() => None,
    }
}

/// Speaks MCP over the standard streams. A client that no longer reads does not keep the process alive.
pub(super) async fn serve_stdio(
    live: Arc<LiveCatalog>,
    client: StandardStreams,
    patience: Duration,
) -> std::io::Result<()> {
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let late = async move {
        wait_for_signal().await;
        stop.send_replace(true);
        tokio::select! {
            () = tokio::time::sleep(patience) => {}
            () = wait_for_signal() => {}
        }
    };
    let asked = async move {
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    tokio::select! {
        served = mcp::stdio(live, client, asked) => served,
        () = late => Ok(()),
    }
}
