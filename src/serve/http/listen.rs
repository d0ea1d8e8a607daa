//! Connections: as many as there may be at once, none of them idle or slow for long, and all finished before the end.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::Door;
use super::patience::Patient;
use super::workers::Workers;

/// The longest head of a request, and how many headers it may have.
const MAX_HEAD: usize = 32 * 1024;
const MAX_HEADERS: usize = 64;

/// How many connections are told at once that there is no room; further ones are just closed.
const TOLD: usize = 64;

const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 142\r\n\
retry-after: 1\r\nconnection: close\r\n\r\n\
{\"ok\":false,\"error\":{\"code\":\"OVERLOADED\",\"message\":\"there are too many connections\",\
\"next_action\":\"try again in a second, on fewer of them\"}}\n";

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

    /// The address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop`, then finishes what is in flight, for a while.
    pub async fn serve(self, door: Arc<Door>, stop: impl Future<Output = ()>) -> io::Result<()> {
        let workers = Workers::start()?;
        let limits = door.limits();
        let room = Arc::new(Semaphore::new(limits.connections));
        let told = Arc::new(Semaphore::new(TOLD));
        let flight = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = &mut stop => break,
            };
            match (accepted, Arc::clone(&room).try_acquire_owned()) {
                (Ok((stream, _)), Ok(permit)) => {
                    if let Ok(stream) = stream.into_std() {
                        workers.spawn(answer(stream, permit, Arc::clone(&door), flight.watcher()));
                    }
                }
                (Ok((stream, _)), Err(_)) => turn_away(stream, &door, &told),
                (Err(error), _) => {
                    // Out of file descriptors, as a rule; some will be given back.
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

/// Serves one connection, from first to last.
async fn answer(stream: std::net::TcpStream, permit: OwnedSemaphorePermit, door: Arc<Door>, flight: Watcher) {
    let Ok(stream) = TcpStream::from_std(stream) else { return };
    let _ = stream.set_nodelay(true);
    let limits = door.limits();
    let stream = Patient::new(stream, Duration::from_secs(limits.write_seconds));
    let own = Arc::clone(&door);
    let service = service_fn(move |request| {
        let door = Arc::clone(&own);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // A doc is small: copied behind its head it goes out in one piece.
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

/// Says that there is no room, and closes.
fn turn_away(mut stream: TcpStream, door: &Arc<Door>, told: &Arc<Semaphore>) {
    door.metrics().turned_away();
    let Ok(permit) = Arc::clone(told).try_acquire_owned() else { return };
    tokio::spawn(async move {
        let tell = async {
            stream.write_all(NO_ROOM).await?;
            stream.shutdown().await?;
            // What was sent is read, since closing before that could cost the client our answer.
            let mut ignored = [0; 1024];
            while stream.read(&mut ignored).await? > 0 {}
            io::Result::Ok(())
        };
        let _ = timeout(Duration::from_secs(1), tell).await;
        drop(permit);
    });
}

#[cfg(test)]
mod tests {
    use super::NO_ROOM;

    #[test]
    fn the_answer_without_room_is_as_long_as_it_says() {
        let text = std::str::from_utf8(NO_ROOM).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
