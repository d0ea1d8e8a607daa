//! The address on this machine at which a browser comes back from a sign-in.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{Method, Response, StatusCode};
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::reasons::{SignInError, hidden};

/// Longest wait until a browser has got its page.
const CLOSING: Duration = Duration::from_secs(10);
/// Most requests that wait at the same time.
const MAX_WAITING: usize = 16;
/// The path at which the browser comes back.
const PATH: &str = "/callback";

/// A listener for one sign-in. It ends when this is dropped.
pub(super) struct RedirectListener {
    /// The address to come back to.
    pub(super) address: String,
    /// The browsers that come back.
    pub(super) arrivals: mpsc::Receiver<Arrival>,
    end: Option<oneshot::Sender<()>>,
    serving: JoinSet<std::io::Result<()>>,
}

/// A browser that came back, and waits for its page.
pub(super) struct Arrival {
    /// The query of its address.
    pub(super) query: String,
    page: oneshot::Sender<Response<Body>>,
}

impl RedirectListener {
    /// Listens on this port of the machine, or on any free one.
    pub(super) async fn listen(port: Option<u16>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
        let address = format!("http://127.0.0.1:{}{PATH}", listener.local_addr()?.port());
        let (arrived, arrivals) = mpsc::channel(MAX_WAITING);
        let (end, ended) = oneshot::channel();
        let router = Router::new().fallback(come_back).with_state(arrived);
        let server = axum::serve(listener, router).with_graceful_shutdown(async { _ = ended.await });
        let mut serving = JoinSet::new();
        serving.spawn(server.into_future());
        Ok(Self { address, arrivals, end: Some(end), serving })
    }

    /// Waits until all pages are written: the program may end then.
    pub(super) async fn close(&mut self) {
        self.end = None;
        let _ = timeout(CLOSING, self.serving.join_next()).await;
    }
}

impl Arrival {
    /// Shows a page to the person.
    pub(super) fn show(self, status: StatusCode, heading: &str, text: &str) {
        let _ = self.page.send(page(status, heading, text));
    }
}

/// Answers a browser once the sign-in has an outcome.
async fn come_back(State(arrived): State<mpsc::Sender<Arrival>>, request: Request) -> Response<Body> {
    let (page_sender, shown) = oneshot::channel();
    let query = request.uri().query().unwrap_or_default().to_string();
    let is_ours = request.method() == Method::GET && request.uri().path() == PATH;
    let has_arrived = is_ours && arrived.try_send(Arrival { query, page: page_sender }).is_ok();
    let shown = if has_arrived { shown.await.ok() } else { None };
    let ended = || page(StatusCode::GONE, "This sign-in has ended", "Begin again with `toolcrib login`.");
    shown.unwrap_or_else(ended)
}

/// A page without anything of the request.
fn page(status: StatusCode, heading: &str, text: &str) -> Response<Body> {
    let safe = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let heading = safe(heading);
    let text = safe(text);
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{heading}</title><style>body{{font:1.1rem/1.5 system-ui;max-width:34rem;\
         margin:15vh auto;padding:0 1rem}}</style><h1>{heading}</h1><p>{text}</p></html>\n"
    );
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    (status, headers, body).into_response()
}

/// The code in a query for the sign-in with this state, or the reason why the authorization server refused; `None` where the
/// query belongs to another sign-in, or to none.
pub(super) fn outcome(query: &str, state: &str) -> Option<Result<String, SignInError>> {
    let values = |name: &str| -> Vec<String> {
        let pairs = form_urlencoded::parse(query.as_bytes());
        pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
    };
    let [given]: [String; 1] = values("state").try_into().ok()?;
    if state.is_empty() || !bool::from(given.as_bytes().ct_eq(state.as_bytes())) {
        return None;
    }
    if let Some(error) = values("error").first() {
        let said = values("error_description").first().map(|said| format!(": {said}")).unwrap_or_default();
        return Some(Err(hidden(&format!("{error}{said}"), &[]).into()));
    }
    let [code]: [String; 1] = values("code").try_into().ok()?;
    (values("iss").len() <= 1).then_some(Ok(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_counts_for_its_own_sign_in_alone() {
        assert_eq!(outcome("code=a&state=s&iss=x", "s"), Some(Ok("a".into())));
        for foreign in [
            "",
            "code=a",
            "code=a&state=other",
            "code=a&state=s&state=s",
            "code=a&code=b&state=s",
            "code=a&state=s&iss=x&iss=y",
            "state=s",
            "error=access_denied",
        ] {
            assert_eq!(outcome(foreign, "s"), None, "{foreign}");
        }
        assert_eq!(outcome("code=a&state=", ""), None);
        let refused = outcome("error=access_denied&error_description=no%0A%1b[31m&state=s", "s");
        assert!(
            matches!(refused, Some(Err(SignInError::Other(why))) if why.starts_with("access_denied: no") && !why.contains('\u{1b}'))
        );
    }

    #[tokio::test]
    async fn a_page_repeats_no_markup() {
        let page = page(StatusCode::OK, "<script>", "a & b").into_body();
        let page = axum::body::to_bytes(page, 10_000).await.unwrap();
        let page = std::str::from_utf8(&page).unwrap();
        assert!(page.contains("<h1>&lt;script&gt;</h1><p>a &amp; b"));
    }
}
