//! The first answers of a connection over stdio, given before the catalog is loaded: those that the last server with the
//! same catalog and the same options gave to the same requests.
//!
//! The server answers these requests once more when it is there. An equal answer is not sent twice; a different one
//! replaces the kept one, and the client is told that the list has changed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use indexmap::IndexMap;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, RequestId, ServerJsonRpcMessage, ServerNotification,
    ToolListChangedNotification,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::private_file;

/// Most answers that are kept for one catalog and its options; clients and their versions ask differently.
const MAX_ANSWERS: usize = 16;
/// Longest answer that is kept, in bytes.
const MAX_ANSWER: usize = 1 << 20;

/// Finds the file of answers, after a wait for the catalog to be kept where it is told to wait; there is none while the
/// catalog is not kept, or not as it was when it was read.
type Place = Box<dyn Fn(bool) -> Option<PathBuf> + Send + Sync>;

/// The first answers of one connection.
#[derive(Default)]
pub struct FirstAnswers {
    place: Option<Place>,
    /// Results, by request.
    kept: IndexMap<String, Box<RawValue>>,
    /// The handshake, which later answers depend on.
    handshake: String,
    /// Requests without a second answer, each with its text.
    asked: HashMap<RequestId, String>,
    /// Requests that were answered before the server was there.
    given: HashSet<RequestId>,
    /// Whether answers are not in the file yet.
    are_new: bool,
}

impl Drop for FirstAnswers {
    fn drop(&mut self) {
        if self.are_new {
            self.write(true);
        }
    }
}

impl FirstAnswers {
    /// The answers in the file at this place, which the place of a changed catalog no longer names.
    pub fn kept_at(place: impl Fn(bool) -> Option<PathBuf> + Send + Sync + 'static) -> Self {
        let limit = (MAX_ANSWERS * MAX_ANSWER) as u64;
        let text = place(false).and_then(|file| private_file::read(&file, limit).ok());
        let kept = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let (place, handshake, asked, given): (Option<Place>, _, _, _) =
            (Some(Box::new(place)), String::new(), HashMap::new(), HashSet::new());
        Self { place, kept, handshake, asked, given, are_new: false }
    }

    /// Whether there is any answer to give.
    pub(super) fn are_kept(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The kept answer to a request, as a message that is now given.
    pub(super) fn give(&mut self, message: &ClientJsonRpcMessage) -> Option<String> {
        self.note(message);
        let ClientJsonRpcMessage::Request(request) = message else { return None };
        let result = self.kept.get(self.asked.get(&request.id)?)?;
        let id = serde_json::to_string(&request.id).ok()?;
        self.given.insert(request.id.clone());
        Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}}}\n", result.get()))
    }

    /// Notes a request whose answer is kept.
    pub(super) fn note(&mut self, message: &ClientJsonRpcMessage) {
        let (Some(_), ClientJsonRpcMessage::Request(request)) = (&self.place, message) else { return };
        let is_handshake = match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::DiscoverRequest(_) => false,
            // On the older wire nothing is listed before the handshake.
            ClientRequest::ListToolsRequest(_) if self.handshake.is_empty() => {
                if request.request.get_meta().protocol_version().is_none() {
                    return;
                }
                false
            }
            ClientRequest::ListToolsRequest(_) => false,
            _ => return,
        };
        let Some(text) = text(&request.request) else { return };
        if is_handshake {
            self.handshake.clone_from(&text);
        }
        let asked = if is_handshake { text } else { format!("{} {text}", self.handshake) };
        self.asked.insert(request.id.clone(), asked);
    }

    /// The message to send in place of this one; `None` where its answer was given.
    pub(super) fn take(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        let (id, result) = match &message {
            ServerJsonRpcMessage::Response(response) => (Some(&response.id), Some(&response.result)),
            ServerJsonRpcMessage::Error(error) => (error.id.as_ref(), None),
            _ => return Some(message),
        };
        let Some((id, asked)) = id.and_then(|id| self.asked.remove_entry(id)) else { return Some(message) };
        let result = result.and_then(|result| serde_json::value::to_raw_value(result).ok());
        let is_same =
            result.as_ref().map(|result| result.get()) == self.kept.get(&asked).map(|kept| kept.get());
        if !is_same {
            self.keep(asked, result);
        }
        match (self.given.remove(&id), is_same) {
            (false, _) => Some(message),
            (true, true) => None,
            (true, false) => {
                let changed = ToolListChangedNotification::default();
                let changed = ServerNotification::ToolListChangedNotification(changed);
                Some(ServerJsonRpcMessage::notification(changed))
            }
        }
    }

    /// Keeps an answer for the next server, or forgets it. The file is written at once, since a later task could end before
    /// an earlier one, or not begin before the server ends; while the catalog is not kept, at the end.
    fn keep(&mut self, asked: String, result: Option<Box<RawValue>>) {
        match result.filter(|result| result.get().len() <= MAX_ANSWER) {
            Some(result) => self.kept.insert(asked, result),
            None => self.kept.shift_remove(&asked),
        };
        while self.kept.len() > MAX_ANSWERS {
            self.kept.shift_remove_index(0);
        }
        self.write(false);
    }

    /// Writes the file. Where that fails, the next server answers a little later.
    fn write(&mut self, waits: bool) {
        let file = self.place.as_ref().and_then(|place| place(waits));
        self.are_new = file.is_none();
        if let (Some(file), Ok(text)) = (file, serde_json::to_vec(&self.kept)) {
            let _ = private_file::write(&file, &text);
        }
    }
}

/// A request as text, without what changes from one connection to the next.
fn text(request: &ClientRequest) -> Option<String> {
    let mut request = serde_json::to_value(request).ok()?;
    if let Some(meta) = request.pointer_mut("/params/_meta").and_then(Value::as_object_mut) {
        meta.shift_remove("progressToken");
    }
    Some(request.to_string())
}
