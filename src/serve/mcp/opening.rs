//! The first line of a client over stdio, read before live servers are started: a server learns what the client can do
//! when it is connected, and is connected once.

use std::io::Cursor;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, Chain};
use tokio::sync::mpsc;

use super::line_transport::MAX_LINE;
use crate::sources::mcp::{ClientSession, ServerMessage, to_client};

/// The input of a client, from its first line on.
pub type OpenedInput<R> = Chain<Cursor<Vec<u8>>, BufReader<R>>;

/// The client of the older wire that has begun a session, and the messages of servers for it.
pub(super) type OpeningClient = (Arc<ClientSession>, mpsc::Receiver<ServerMessage>);

/// The input of a client whose first line has been read.
pub struct Opening<R> {
    pub(super) input: OpenedInput<R>,
    pub(super) client: Option<OpeningClient>,
}

impl<R: AsyncRead + Unpin> Opening<R> {
    /// Reads the first line.
    pub async fn read(input: R) -> Self {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        // Input that cannot be read is read again, and answered, by the connection.
        let _ = (&mut input).take(MAX_LINE as u64).read_until(b'\n', &mut line).await;
        let client = capabilities(&line).map(|capabilities| {
            let (messages, received) = to_client();
            (Arc::new(ClientSession::new(capabilities, messages).alone()), received)
        });
        Self { input: Cursor::new(line).chain(input), client }
    }

    /// The input of a client that is read later.
    pub fn unread(input: R) -> Self {
        Self { input: Cursor::new(Vec::new()).chain(BufReader::new(input)), client: None }
    }

    /// The client, where it has begun a session of the older wire.
    pub fn client(&self) -> Option<Arc<ClientSession>> {
        self.client.as_ref().map(|(client, _)| Arc::clone(client))
    }
}

fn capabilities(line: &[u8]) -> Option<rmcp::model::ClientCapabilities> {
    match serde_json::from_slice(line).ok()? {
        ClientJsonRpcMessage::Request(request) => match request.request {
            ClientRequest::InitializeRequest(begin) => Some(begin.params.capabilities),
            _ => None,
        },
        _ => None,
    }
}
