//! Accepts connections: up to a limit, none of them idle or slow for long, all finished before the server stops.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::HttpService;
use super::refused_connections::{RefusedConnections, file_limit};
use super::workers::Workers;
use super::write_timeout::WriteTimeout;

/// Longest head of a request in bytes, and most headers.
const MAX_HEAD: usize = 32 * 1024;
const MAX_HEADERS: usize = 64;

/// A socket that listens.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens on an address; on any free port for port 0.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        Ok(Self { address: socket.local_addr()?, socket })
    }

    /// The listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop`, then finishes requests in progress, for a limited time.
    pub async fn serve(self, door: Arc<HttpService>, stop: impl Future<Output = ()>) -> io::Result<()> {
        let workers = Workers::start()?;
        let limits = door.limits();
        let files = file_limit();
        let permits = Arc::new(Semaphore::new(most(limits.connections, files)));
        let mut refused = RefusedConnections::new(files);
        let flight = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = refused.close_oldest() => continue,
                () = &mut stop => break,
            };
            let permit = Arc::clone(&permits).try_acquire_owned().ok().filter(|_| !refused.is_exhausted());
            match (accepted.and_then(|(stream, peer)| Ok((stream.into_std()?, peer))), permit) {
                (Ok(connection), Some(permit)) => {
                    workers.spawn(answer(connection, permit, Arc::clone(&door), flight.watcher()));
                }
                (Ok((stream, _)), None) => {
                    door.metrics().connection_rejected();
                    refused.refuse(stream);
                }
                // Usually the process is out of file descriptors.
                (Err(_), _) if refused.free_files() => {}
                (Err(error), _) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
        drop(self.socket);
        door.close();
        let open = flight.count();
        if timeout(Duration::from_secs(limits.stop_seconds), flight.shutdown()).await.is_err() {
            tracing::warn!(open, "stopped before all requests were answered");
        }
        Ok(())
    }
}

/// Most connections. A quarter of the files that can be open is left for the backends of calls.
fn most(configured: usize, files: usize) -> usize {
    let most = files - files / 4;
    if most < configured {
        tracing::warn!(
            "there is room for {most} connections, not {configured}: {files} files may be open (ulimit -n)"
        );
    }
    most.min(configured).clamp(1, Semaphore::MAX_PERMITS)
}

/// Serves one connection, from first to last.
async fn answer(
    (stream, peer): (std::net::TcpStream, SocketAddr),
    permit: OwnedSemaphorePermit,
    door: Arc<HttpService>,
    flight: Watcher,
) {
    let Ok(stream) = TcpStream::from_std(stream) else { return };
    let _ = stream.set_nodelay(true);
    let limits = door.limits();
    let stream = WriteTimeout::new(stream, Duration::from_secs(limits.write_seconds));
    let own = Arc::clone(&door);
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let door = Arc::clone(&own);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // A doc is small: copied behind its head, it is sent in one piece.
        .writev(false)
        .header_read_timeout(Duration::from_secs(limits.idle_seconds))
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let open = door.metrics().connected();
    if let Err(error) = flight.watch(connection).await {
        tracing::debug!(%error, "connection closed");
    }
    drop((open, permit));
}
