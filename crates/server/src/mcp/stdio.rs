//! MCP over the standard streams: one client, one connection, and the process ends with it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use rmcp::{ErrorData, RoleServer, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, Sink, sink};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;
use tokio::time::{Duration, Instant, timeout_at};

use super::bad_request::bad_request;
use super::service::McpService;
use crate::LiveCatalog;
use toolcrib_front::mcp::{Line, LineCheck, LineProblem, unread, written_out};

/// Serves the client at stdin and stdout until its stream ends or `stop` resolves.
///
/// A read of stdin may still be waiting on a thread of its own when the connection has ended: end the runtime with
/// `shutdown_background`.
pub async fn stdio(live: Arc<LiveCatalog>, stop: impl Future<Output = ()>) -> io::Result<()> {
    let (read, write) = stdio_pipes();
    streams(live, read, write, stop).await
}

/// Serves one client over streams until `read` ends or `stop` resolves; requests in progress are finished.
pub async fn streams(
    live: Arc<LiveCatalog>,
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (end, ended) = watch::channel(false);
    let handler = McpService::connected(live, ended);
    let lines = LineTransport::new(Box::new(read), Box::new(write), end.clone());
    let mut stop = std::pin::pin!(stop);
    let begun = tokio::select! {
        begun = handler.serve(lines) => begun,
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

/// Longest line; a longer one is skipped without being stored.
const MAX_LINE: usize = 4 << 20;

/// Most requests in progress before more are read.
const MAX_IN_FLIGHT: usize = 64;

/// Longest wait for requests in progress after the end of input.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// A line that the SDK does not answer: its id, where one can be made out, and its answer.
type Refused = (Option<RequestId>, ErrorData);

/// Answers a bad line, unless it is a notification; returns what the SDK reads.
type ReadLine = Box<dyn FnMut(Line) -> Option<Vec<u8>> + Send>;

/// The streams of a client.
type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// One connection.
struct LineTransport {
    lines: AsyncRwTransport<RoleServer, LineCheck<Input, ReadLine>, Sink>,
    write: Arc<Mutex<Output>>,
    /// Lines that are no message, are too long, or in which a key is there twice.
    refused: UnboundedReceiver<Refused>,
    in_flight: watch::Sender<InFlight>,
    answered: watch::Receiver<InFlight>,
    has_begun: bool,
    ended: watch::Sender<bool>,
    /// Time at which the connection is given up, once input has ended.
    until: Option<Instant>,
}

impl LineTransport {
    /// Reads and writes lines; `ended` turns true at the end of input, or when no more is to be read.
    fn new(read: Input, write: Output, ended: watch::Sender<bool>) -> Self {
        let (to, refused) = unbounded_channel();
        let check: ReadLine = Box::new(move |line| {
            let bad = match line.checked() {
                Ok(line) => return Some(str::from_utf8(&line).ok().and_then(unread).map_or(line, as_line)),
                Err(bad) => bad,
            };
            let is_message = matches!(bad.problem, LineProblem::KeyTwice(_) | LineProblem::WrongField(_));
            let (id, error) = bad_request(bad);
            // A notification has no answer. A line that is no message has one without an id, as MCP writes it since 2025-11-25.
            if id.is_some() || !is_message {
                let _ = to.send((id, error));
            }
            Some(Vec::new())
        });
        let read = LineCheck::new(read, MAX_LINE, check);
        let lines = AsyncRwTransport::new_server(read, sink()).with_max_line_length(MAX_LINE);
        let write = Arc::new(Mutex::new(write));
        let (in_flight, answered) = watch::channel(InFlight::default());
        Self { lines, write, refused, in_flight, answered, has_begun: false, ended, until: None }
    }

    /// Whether a message is to be handled. Before a handshake, only requests are; the SDK would hang up at others.
    fn accepts(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            ClientJsonRpcMessage::Request(request) => self.has_begun |= begins(&request.request),
            _ if !self.has_begun => return false,
            _ => {}
        }
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let lasts = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                self.in_flight.send_modify(|requests| _ = requests.insert(request.id.clone(), lasts));
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    finish(&self.in_flight, id);
                }
            }
            _ => {}
        }
        true
    }
}

/// Whether a request begins a session: the handshake of the older protocol, or a request of the newer one.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let is_known = |version| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(is_known)
        }
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
            ServerJsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let write = Arc::clone(&self.write);
        let in_flight = self.in_flight.clone();
        async move {
            let line = serde_json::to_value(message).map(|message| as_line(written_out(message).to_string()));
            let sent = written_line(&write, line.map_err(io::Error::other)).await;
            answered.iter().for_each(|id| finish(&in_flight, id));
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut ended = self.ended.subscribe();
        while self.until.is_none() {
            let _ = self.answered.wait_for(has_room).await;
            // Bad lines are answered before more is read, so that few wait.
            let received = tokio::select! {
                biased;
                Some(refused) = self.refused.recv() => Err(refused),
                received = self.lines.receive() => Ok(received),
                _ = ended.wait_for(|ended| *ended) => Ok(None),
            };
            match received {
                Err((id, error)) => {
                    // Within a task, since this future may be dropped in the middle of a line.
                    let _ = tokio::spawn(self.send(ServerJsonRpcMessage::error(error, id))).await;
                }
                Ok(Some(message)) if self.accepts(&message) => return Some(message),
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.ended.send_replace(true);
                    self.until = Some(Instant::now() + LAST_ANSWERS);
                }
            }
        }
        // The SDK sends nothing after `None`, so open requests are answered first.
        let _ = timeout_at(self.until?, self.answered.wait_for(HashMap::is_empty)).await;
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.write.lock().await.shutdown().await
    }
}

async fn written_line(write: &Mutex<Output>, line: io::Result<Vec<u8>>) -> io::Result<()> {
    let mut write = write.lock().await;
    write.write_all(&line?).await?;
    write.flush().await
}

fn as_line(message: String) -> Vec<u8> {
    (message + "\n").into_bytes()
}

/// Requests that were read and have no answer yet, and whether each is a subscription, which lasts as long as the
/// connection.
type InFlight = HashMap<RequestId, bool>;

fn has_room(requests: &InFlight) -> bool {
    requests.values().filter(|lasts| !**lasts).count() < MAX_IN_FLIGHT
}

fn finish(in_flight: &watch::Sender<InFlight>, id: &RequestId) {
    in_flight.send_if_modified(|requests| requests.remove(id).is_some());
}
