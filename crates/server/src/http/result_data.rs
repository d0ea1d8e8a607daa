//! Pictures, sounds and other data of a result, for the caller whose call it was.

use axum::extract::Path;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

use super::request_context::RequestContext;
use crate::response::{Problem, ProblemCode, Response, no_store};
use toolcrib_gateway::functions::linked_data;

/// The media type of data that a browser should not open.
const DATA: &str = "application/octet-stream";

/// `GET /v1/results/ID/blocks/N`: a picture, a sound or other data of a result, for the caller whose call it was.
pub(super) async fn result_data(
    Path((id, block)): Path<(String, String)>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let catalog = context.catalog;
    let data = linked_data(&catalog.services().state, &catalog.caller.name, (&id, &block)).await;
    let data = data.map_err(|error| Problem::of_state(&error, "results cannot be read now"))?;
    let Some((data, bytes)) = data.and_then(|data| data.bytes().map(|bytes| (data, bytes))) else {
        let problem = Problem::new(ProblemCode::NotFound, "this data is not stored, or no longer");
        return Err(problem.next("send the call again"));
    };
    let media = data.media_type.as_deref().filter(|media| is_harmless(media));
    let media = media.and_then(|media| HeaderValue::try_from(media).ok());
    let mut response = no_store(StatusCode::OK, DATA, bytes);
    let headers = response.headers_mut();
    match media {
        Some(media) => headers.insert(CONTENT_TYPE, media),
        None => headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
    };
    Ok(response)
}

/// Whether a browser runs nothing in data of this type: servers are strangers, and the page would be one of ours.
fn is_harmless(media: &str) -> bool {
    let is_media = ["image/", "audio/", "video/"].iter().any(|kind| media.starts_with(kind));
    (is_media && !media.contains("xml")) || media == "application/pdf"
}
