//! The door over the standard streams: one client, one connection, and the process ends with it.

use std::io::{self, Cursor};
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use super::McpService;
use super::first_answers::FirstAnswers;
use super::line_transport::LineTransport;
use crate::serve::LiveCatalog;
use crate::sources::mcp::problem_of;

/// Most bytes that are read before the catalog is there.
const MAX_EARLY: usize = 1 << 20;

/// The streams of one client.
pub struct Connection<R, W> {
    read: R,
    write: W,
    answers: FirstAnswers,
    /// Bytes that were read before the catalog was there, which the server reads again.
    early: Vec<u8>,
}

/// The client at stdin and stdout; called in a runtime.
///
/// A read of stdin may still be waiting on a thread of its own when the connection has ended: end the runtime with
/// `shutdown_background`.
pub fn stdio(
    answers: FirstAnswers,
) -> Connection<impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin> {
    let (read, write) = stdio_pipes();
    Connection { read, write, answers, early: Vec::new() }
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
    Connection { read, write, answers: FirstAnswers::default(), early: Vec::new() }.serve(live, stop).await
}

impl<R, W> Connection<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Gives the answers that are kept until the catalog is there.
    pub async fn answer_until<T>(&mut self, ready: impl Future<Output = T>) -> T {
        let mut ready = std::pin::pin!(ready);
        let (mut begin, mut has_more) = (0, self.answers.are_kept());
        loop {
            let room = MAX_EARLY.saturating_sub(self.early.len());
            let mut limited = (&mut self.read).take(room as u64);
            tokio::select! {
                biased;
                ready = &mut ready => return ready,
                read = limited.read_buf(&mut self.early), if has_more => {
                    has_more = read.is_ok_and(|count| count > 0) && self.answer_lines(&mut begin).await.is_ok();
                }
            }
        }
    }

    /// Answers the whole lines from `begin` on, as far as their answers are kept.
    async fn answer_lines(&mut self, begin: &mut usize) -> io::Result<()> {
        while let Some(length) = self.early[*begin..].iter().position(|byte| *byte == b'\n') {
            let line = &self.early[*begin..*begin + length];
            *begin += length + 1;
            let message = serde_json::from_slice(line).ok().filter(|_| problem_of(line).is_none());
            if let Some(answer) = message.and_then(|message| self.answers.give(&message)) {
                self.write.write_all(answer.as_bytes()).await?;
                self.write.flush().await?;
            }
        }
        Ok(())
    }

    /// Serves the client until its stream ends or `stop` resolves; requests in progress are finished.
    pub async fn serve(self, live: Arc<LiveCatalog>, stop: impl Future<Output = ()>) -> io::Result<()> {
        let (end, ended) = watch::channel(false);
        let door = McpService::connected(live, ended);
        let read = Cursor::new(self.early).chain(self.read);
        let lines = LineTransport::new(read, self.write, end.clone()).with_answers(self.answers);
        let mut stop = std::pin::pin!(stop);
        let begun = tokio::select! {
            begun = door.serve(lines) => begun,
            () = &mut stop => return Ok(()),
        };
        let session = match begun {
            Ok(session) => session,
            // The client left before the handshake.
            Err(
                ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::TransportError { .. },
            ) => {
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
}
