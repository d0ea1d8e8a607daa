//! Requests that the SDK would misread or pass over, and their errors.

use axum::http::StatusCode;
use rmcp::ErrorData;
use rmcp::model::RequestId;
use serde_json::json;

use toolcrib_definition::document::MAX_OTHERS_VALUES;
use toolcrib_front::mcp::{BadLine, LineProblem, problem_of};

/// The answer to a request that the SDK would misread or pass over, and its status.
pub(crate) fn refusal(request: &[u8]) -> Option<(StatusCode, String)> {
    let (id, error) = bad_request(problem_of(request)?);
    let status = if id.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    Some((status, json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()))
}

/// The id of a bad request, where one can be made out, and its error.
pub(super) fn bad_request(bad: BadLine) -> (Option<RequestId>, ErrorData) {
    let id = bad.id.and_then(|id| serde_json::from_value(id).ok());
    let params = |message: String| ErrorData::invalid_params(message, None);
    let request = |message: String| ErrorData::invalid_request(message, None);
    let error = match bad.problem {
        LineProblem::KeyTwice(problem) => {
            params(format!("VALIDATION_ERROR: in the message {problem}; send it once"))
        }
        LineProblem::NotJson(problem) => {
            let message = "MALFORMED_JSON: the message is no JSON that can be read";
            ErrorData::parse_error(format!("{message}: {problem}; send it again as JSON"), None)
        }
        LineProblem::WrongField(field @ "params") => {
            params(format!("VALIDATION_ERROR: `{field}` of the message is no object; name the parameters"))
        }
        LineProblem::WrongField(field) => {
            request(format!("VALIDATION_ERROR: `{field}` of the message is no text; name the method"))
        }
        LineProblem::TooLong => {
            request("CONTENT_TOO_LARGE: the message is longer than a line may be; send less at once".into())
        }
        LineProblem::TooManyValues => request(format!(
            "CONTENT_TOO_LARGE: a message may have {MAX_OTHERS_VALUES} values; send less at once"
        )),
    };
    (id, error)
}
