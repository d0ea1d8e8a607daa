//! MCP: functions as tools, docs as resources, in both protocols (2025-11-25 and 2026-07-28), over HTTP and stdio.
//!
//! 1. [`handler`] answers requests of both transports, with the state in [`mod@service`], which also passes on what live
//!    servers say to the client meanwhile. The handler alone knows the SDK's `ServerHandler`.
//! 2. [`tools`] lists and calls the functions, and the catalog's tools that are [listed](super::listed_tools), and explains this
//!    server to a model; [`resources`] lists and reads the docs, page by page, and the skills made of them.
//! 3. [`upstreams`] are the live servers behind us; their prompts and resources pass through.
//! 4. [`notifications`] announces changes to clients, ours and theirs.
//! 5. [`http`] is the endpoint for a router, with sessions where servers may ask; [`mod@stdio`] the same over the standard
//!    streams.

mod handler;
mod http;
mod notifications;
mod resources;
mod service;
mod stdio;
mod tools;
mod upstreams;

use axum::http::StatusCode;
use rmcp::ErrorData;
use rmcp::model::RequestId;
use serde_json::json;

use toolcrib_definition::finding::MAX_OTHERS_VALUES;
use toolcrib_front::mcp::{BadLine, LineProblem, problem_of};

pub use http::{Service, service};
pub use service::McpService;
pub use stdio::{stdio, streams};

/// The answer to a request, or its error.
type McpResult<T> = Result<T, ErrorData>;

/// The answer to a request that the SDK would misread or pass over, and its status.
pub(super) fn refusal(request: &[u8]) -> Option<(StatusCode, String)> {
    let (id, error) = bad_request(problem_of(request)?);
    let status = if id.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    Some((status, json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()))
}

/// The id of a bad request, where one can be made out, and its error.
fn bad_request(bad: BadLine) -> (Option<RequestId>, ErrorData) {
    let id = bad.id.and_then(|id| serde_json::from_value(id).ok());
    let error = match bad.problem {
        LineProblem::KeyTwice(problem) => ErrorData::invalid_params(
            format!("VALIDATION_ERROR: in the message {problem}; send it once"),
            None,
        ),
        LineProblem::NotJson(problem) => ErrorData::parse_error(
            format!(
                "MALFORMED_JSON: the message is no JSON that can be read: {problem}; send it again as JSON"
            ),
            None,
        ),
        LineProblem::WrongField(field @ "params") => ErrorData::invalid_params(
            format!("VALIDATION_ERROR: `{field}` of the message is no object; name the parameters"),
            None,
        ),
        LineProblem::WrongField(field) => ErrorData::invalid_request(
            format!("VALIDATION_ERROR: `{field}` of the message is no text; name the method"),
            None,
        ),
        LineProblem::TooLong => ErrorData::invalid_request(
            "CONTENT_TOO_LARGE: the message is longer than a line may be; send less at once".to_string(),
            None,
        ),
        LineProblem::TooManyValues => ErrorData::invalid_request(
            format!("CONTENT_TOO_LARGE: a message may have {MAX_OTHERS_VALUES} values; send less at once"),
            None,
        ),
    };
    (id, error)
}

/// Milliseconds that a client may cache a list, a doc or our instructions. Clients obey it to the letter, and not all
/// of them listen for changes, so this is how stale they may become.
const FRESH_FOR: u64 = 5_000;
