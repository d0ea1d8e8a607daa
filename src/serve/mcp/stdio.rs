//! The door over the standard streams: one client, one connection, and the process ends with it.

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::McpService;
use super::line_transport::LineTransport;
use crate::serve::LiveCatalog;

/// Serves the client at stdin and stdout until its stream ends or `stop` resolves.
///
/// A read of stdin may still be waiting on a thread of its own when the connection has ended: end the runtime with
/// `shutdown_background`.
pub async fn stdio(live: Arc<LiveCatalog>, stop: impl Future<Output = ()>) -> io::Result<()> {
    let (read, write) = stdio_pipes();
    streams(live, read, write, stop).await
}

/// Serves one client over streams until `read` ends or `stop` resolves; requests in progress are finished.
pub async fn streams<R, W>(
    live: Arc<LiveCatalog>,
    read: R,
    write: W,
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (end, ended) = watch::channel(false);
    let door = McpService::connected(live, ended);
    let lines = LineTransport::new(read, write, end.clone());
    let mut stop = std::pin::pin!(stop);
    let begun = tokio::select! {
        begun = door.serve(lines) => begun,
        () = &mut stop => return Ok(()),
    };
    let session = match begun {
        Ok(session) => session,
        // The client left before the handshake.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::TransportError { .. }) => {
            return Ok(());
        }
        Err(problem) => return Err(io::Error::other(problem.to_string())),
    };
    let mut session = std::pin::pin!(session.waiting());
    let done = tokio::select! {
        done = &mut session => done,
        () = &mut stop => {
            end.send_replace(true);
            session.await
        }
    };
    done.map(drop).map_err(io::Error::other)
}
