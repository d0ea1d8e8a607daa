//! The door over the standard streams: one client, one connection, and the process ends with it.

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::McpService;
use super::line_transport::LineTransport;
use super::opening::Opening;
use crate::serve::LiveCatalog;
use crate::sources::mcp::ClientSession;

/// Serves one client over stdin and stdout until stdin ends or `stop` resolves; requests in progress are finished.
///
/// A read of stdin may still be waiting on a thread of its own when this returns: end the runtime with
/// `shutdown_background`.
pub async fn stdio(
    live: Arc<LiveCatalog>,
    client: StandardStreams,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve(live, (client.opening, client.write), stop).await
}

/// The standard streams, and the client at their other end.
pub struct StandardStreams {
    opening: Opening<StdioReader>,
    write: StdioWriter,
}

impl StandardStreams {
    /// Streams from which nothing has been read.
    pub fn unread() -> Self {
        let (read, write) = stdio_pipes();
        Self { opening: Opening::unread(read), write }
    }

    /// Waits for the first line of the client.
    pub async fn opened() -> Self {
        let (read, write) = stdio_pipes();
        Self { opening: Opening::read(read).await, write }
    }

    /// The client, where it has begun a session of the older wire.
    pub fn client(&self) -> Option<Arc<ClientSession>> {
        self.opening.client()
    }
}

/// Serves one client over other streams.
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
    serve(live, (Opening::unread(read), write), stop).await
}

async fn serve<R, W>(
    live: Arc<LiveCatalog>,
    (opening, write): (Opening<R>, W),
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (end, ended) = watch::channel(false);
    let door = McpService::connected(live, ended, opening.client);
    let read = opening.input;
    let mut stop = std::pin::pin!(stop);
    let begun = tokio::select! {
        begun = door.serve(LineTransport::new(read, write, end.clone())) => begun,
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
