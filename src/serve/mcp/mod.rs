//! The MCP door: functions as tools, docs as resources, both wires (2025-11-25 and 2026-07-28), over HTTP and stdio.
//!
//! 1. [`handler`] answers requests of both transports. It alone knows the SDK's `ServerHandler`.
//! 2. [`tools`] lists and calls the functions, and the catalog's tools that are [`listed_tools`]; [`resources`] lists
//!    and reads the docs, page by page ([`cursor`]).
//! 3. [`instructions`] explains this server to a model; [`notifications`] announces changes to clients.
//! 4. [`http`] is the endpoint for a router, [`stdio`] the same over the standard streams ([`line_transport`]).

mod completion;
mod cursor;
#[cfg(feature = "conformance")]
mod fixtures;
mod handler;
mod http;
mod instructions;
mod line_transport;
mod listed_tools;
mod notifications;
mod resources;
mod stdio;
mod tools;
mod uri;

use rmcp::model::{JsonObject, MetaObject};
use serde_json::json;

use crate::functions::CatalogView;
use crate::sources::mcp::key_twice;

#[cfg(feature = "conformance")]
pub use fixtures::Fixtures;
pub use handler::McpService;
pub use http::{Options, Service, service};
pub(super) use listed_tools::ListedTools;
pub use stdio::{stdio, streams};

/// The error of a request with a repeated key. The SDK would keep one of the two values without a word.
pub(super) fn refusal(request: &[u8]) -> Option<String> {
    let error = line_transport::twice(&key_twice(request)?);
    Some(json!({ "jsonrpc": "2.0", "id": line_transport::id_of(request), "error": error }).to_string())
}

/// Milliseconds that a client may cache a list, a doc or our instructions. Clients obey it to the letter, and not all
/// of them listen for changes, so this is how stale they may become.
const FRESH_FOR: u64 = 5_000;

/// Metadata of results: the registry version of their catalog.
fn meta(view: &CatalogView) -> MetaObject {
    let version = view.catalog().version.as_str();
    MetaObject(JsonObject::from_iter([("toolcrib/registry_version".to_string(), version.into())]))
}
