//! The rest of a body that no handler read, as after a refused token. hyper closes a connection with such a rest and does not
//! say so, and then the client's next request on this connection fails.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Request};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tower::ServiceExt;

use crate::response::Response;

/// Longest rest in bytes, and how long it may take to arrive. Beyond that, the answer says that the connection closes.
const MAX_REST: usize = 64 * 1024;
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Answers a request, and reads what its handler left of the body.
pub(super) async fn answered(router: Router, request: Request<Incoming>) -> Result<Response, Infallible> {
    let (give_back, mut rest) = oneshot::channel();
    let request = request.map(|body| Body::new(Lent { body: Some(body), give_back: Some(give_back) }));
    let mut response = router.oneshot(request).await?;
    if let Ok(rest) = rest.try_recv()
        && !is_read(rest).await
    {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

async fn is_read(rest: Incoming) -> bool {
    let is_short = rest.size_hint().lower() <= MAX_REST as u64;
    let reading = Limited::new(rest, MAX_REST).collect();
    is_short && timeout(MAX_WAIT, reading).await.is_ok_and(|read| read.is_ok())
}

/// A body that comes back from a handler that drops it before its end.
struct Lent {
    body: Option<Incoming>,
    give_back: Option<oneshot::Sender<Incoming>>,
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.body.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(body), Some(give_back)) = (self.body.take(), self.give_back.take())
            && !body.is_end_stream()
        {
            // Nobody waits for it where the answer is already under way.
            let _ = give_back.send(body);
        }
    }
}
