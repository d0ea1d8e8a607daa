//! `GET /v1/results/ID/blocks/N`: a picture, a sound or other data of a result, for the caller whose call it was.

use axum::extract::Path;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

use super::{RequestContext, Response};
use crate::exec::Caller;
use crate::functions::{Answer, Services, linked_data};
use crate::serve::response::no_store;
use crate::serve::response::problem::{Problem, ProblemCode};

/// The media type of data that a browser should not open.
const DATA: &str = "application/octet-stream";

/// Answers a request.
pub(super) async fn show(
    Path((id, block)): Path<(String, String)>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let RequestContext { catalog, caller, .. } = context;
    let data =
        linked_data(&catalog.services().state, &caller.name, (&id, &block)).await.map_err(|error| {
            tracing::warn!(%error, "state cannot be read");
            Problem::new(ProblemCode::StateUnavailable, "results cannot be read now")
        })?;
    let Some(data) = data else {
        let problem = Problem::new(ProblemCode::NotFound, "this data is not stored, or no longer");
        return Err(problem.next("send the call again"));
    };
    let media = data.media_type.as_deref().filter(|media| is_harmless(media));
    let media = media.and_then(|media| HeaderValue::try_from(media).ok());
    let mut response = no_store(StatusCode::OK, DATA, data.bytes);
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

/// Adds a link to all data of an answer.
pub(super) async fn link(answer: &mut Answer, services: &Services, caller: &Caller) {
    if !answer.originals().is_empty()
        && let Err(error) = answer.link_data(&services.state, &caller.name).await
    {
        tracing::warn!(%error, "the data of a result cannot be stored");
    }
}
