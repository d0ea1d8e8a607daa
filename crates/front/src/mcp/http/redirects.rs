//! Redirects of servers: many redirect `/mcp` to `/mcp/`. They are followed with the message, and on the same host alone.

use std::sync::{Arc, OnceLock};

use http::StatusCode;
use http::header::LOCATION;
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, Url};

use super::signing::Signing;

/// Most redirects of one request.
const MAX_REDIRECTS: usize = 3;

/// Follows redirects for this time that keep the message, on the same origin. Those for ever are those of [`Moves`].
pub(super) fn redirects() -> Policy {
    Policy::custom(|attempt| {
        let keeps_message = attempt.status() == StatusCode::TEMPORARY_REDIRECT;
        let is_same = attempt.previous().first().is_some_and(|url| url.origin() == attempt.url().origin());
        if keeps_message && is_same && attempt.previous().len() <= MAX_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

/// The address that a server has moved to.
#[derive(Clone)]
pub(super) struct Moves {
    signing: Arc<Signing>,
    moved: Arc<OnceLock<Url>>,
}

impl Moves {
    pub(super) fn of(signing: &Arc<Signing>) -> Self {
        Self { signing: Arc::clone(signing), moved: Arc::default() }
    }

    /// The address of the server now.
    pub(super) fn address(&self, uri: &Arc<str>) -> Arc<str> {
        self.moved.get().map_or_else(|| Arc::clone(uri), |moved| moved.as_str().into())
    }

    /// Sends a message. A server that has moved for ever gets it again.
    pub(super) async fn sent(&self, request: RequestBuilder) -> reqwest::Result<Response> {
        let (http, request) = request.build_split();
        let mut request = request?;
        for _ in 0..MAX_REDIRECTS {
            let again = request.try_clone();
            let response = http.execute(request).await?;
            let (Some(mut next), Some(moved)) = (again, moved_to(&response)) else { return Ok(response) };
            *next.url_mut() = moved.clone();
            self.note(moved);
            request = next;
        }
        http.execute(request).await
    }

    /// Notes that the server has moved, and says so once.
    fn note(&self, moved: Url) {
        if self.moved.set(moved.clone()).is_ok() {
            let shown = self.signing.secrets.line(moved.as_str());
            tracing::warn!(
                server = self.signing.endpoint.name,
                "it has moved to {shown}; write that as its `url`"
            );
        }
    }
}

/// The address on the same host that a server has moved to. A token goes there too, and so never from https to http.
fn moved_to(response: &Response) -> Option<Url> {
    if !matches!(response.status(), StatusCode::MOVED_PERMANENTLY | StatusCode::PERMANENT_REDIRECT) {
        return None;
    }
    let from = response.url();
    let to = from.join(response.headers().get(LOCATION)?.to_str().ok()?).ok()?;
    let is_safer = from.scheme() == "http" && to.scheme() == "https";
    (to.origin() == from.origin() || (is_safer && to.host() == from.host())).then_some(to)
}
