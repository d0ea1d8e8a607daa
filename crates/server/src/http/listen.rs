//! Accepts connections up to a limit, drops idle and slow ones, and finishes all others before the server stops. `axum::serve`
//! has no limit of connections, of time, or of the head of a request.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::ConnectInfo;
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use super::metrics;
use super::service::HttpService;
use super::unread;

/// Longest head of a request in bytes, and most headers.
const MAX_HEAD: usize = 32 * 1024;
const MAX_HEADERS: usize = 64;

/// The whole answer to a connection beyond the limit.
const OVERLOADED: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 142\r\n\
retry-after: 1\r\nconnection: close\r\n\r\n\
{\"ok\":false,\"error\":{\"code\":\"OVERLOADED\",\"message\":\"there are too many connections\",\
\"next_action\":\"try again in a second, on fewer of them\"}}\n";

/// When silent connections are tested: a client that has vanished must not keep the place of its call.
const KEEPALIVE: TcpKeepalive =
    TcpKeepalive::new().with_time(Duration::from_secs(60)).with_interval(Duration::from_secs(15));

/// How long the answer of the last call may take to be written, after the call has ended.
const LAST_ANSWER: Duration = Duration::from_millis(250);

/// Most connections that are being refused.
const MAX_REFUSALS: usize = 128;

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

    /// Answers until `stop`, and some time longer for clients that have not noticed. Then finishes requests in progress, for a
    /// limited time: first calls, then streams, which `end_streams` ends.
    pub async fn serve(
        self,
        service: Arc<HttpService>,
        stop: impl Future<Output = ()>,
        end_streams: impl FnOnce(),
    ) -> io::Result<()> {
        let limits = &service.shared.limits;
        let files = file_limit();
        let permits = Arc::new(Semaphore::new(most(limits.connections, files)));
        let refusals = Arc::new(Semaphore::new((files / 8).clamp(1, MAX_REFUSALS)));
        let open = GracefulShutdown::new();
        let drained = async {
            stop.await;
            service.shared.is_stopping.store(true, Ordering::Relaxed);
            sleep(Duration::from_secs(limits.drain_seconds)).await;
        };
        let mut drained = std::pin::pin!(drained);
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = &mut drained => break,
            };
            match (accepted, Arc::clone(&permits).try_acquire_owned()) {
                (Ok(connection), Ok(permit)) => {
                    tokio::spawn(answer(connection, permit, Arc::clone(&service), open.watcher()));
                }
                (Ok((stream, _)), Err(_)) => {
                    metrics::connection_rejected(&service.shared.live.services().counts);
                    let place = Arc::clone(&refusals).acquire_owned();
                    if let Ok(Ok(place)) = timeout(Duration::from_millis(50), place).await {
                        tokio::spawn(refuse(stream, place));
                    }
                }
                // Usually the process is out of file descriptors.
                (Err(error), _) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(self.socket);
        let unanswered = open.count();
        let ending = async {
            service.shared.call_limiter.until_idle().await;
            sleep(LAST_ANSWER).await;
            end_streams();
        };
        let finished = async { tokio::join!(ending, open.shutdown()) };
        if timeout(Duration::from_secs(limits.stop_seconds), finished).await.is_err() {
            tracing::warn!(unanswered, "stopped before all requests were answered");
        }
        Ok(())
    }
}

/// The limit of files that this process may have open.
fn file_limit() -> usize {
    #[cfg(unix)]
    return match rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        Some(files) => usize::try_from(files).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    #[cfg(not(unix))]
    1024
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

/// Refuses a connection. If it is closed before its request has arrived, the client may lose the answer.
async fn refuse(mut stream: TcpStream, _place: OwnedSemaphorePermit) {
    let refusing = async {
        stream.write_all(OVERLOADED).await?;
        stream.shutdown().await?;
        stream.read(&mut [0; 4096]).await
    };
    let _ = timeout(Duration::from_secs(1), refusing).await;
}

/// Serves one connection, from first to last.
async fn answer(
    (stream, peer): (TcpStream, SocketAddr),
    permit: OwnedSemaphorePermit,
    service: Arc<HttpService>,
    open: Watcher,
) {
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(&stream).set_tcp_keepalive(&KEEPALIVE);
    let limits = &service.shared.limits;
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.client_time()));
    let answering = service_fn(|mut request: http::Request<Incoming>| async {
        request.extensions_mut().insert(ConnectInfo(peer));
        let mut answered = unread::answered(service.router.clone(), request).await;
        // The client's next request goes to another server.
        if let Ok(response) = &mut answered
            && service.shared.is_stopping.load(Ordering::Relaxed)
        {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answered
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.client_time())
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), answering);
    let connected = Arc::clone(&service.shared.connections);
    if let Err(error) = open.watch(connection).await {
        tracing::debug!(%error, "connection closed");
    }
    drop((connected, permit));
}

#[cfg(test)]
mod tests {
    use super::OVERLOADED;

    #[test]
    fn the_answer_without_room_is_as_long_as_it_says() {
        let text = std::str::from_utf8(OVERLOADED).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
