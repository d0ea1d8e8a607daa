//! The address on this machine at which a browser comes back from a sign-in.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{Method, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use subtle::ConstantTimeEq;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use toolcrib_definition::clean_line;

/// Longest time of one request: browsers open connections that they never use.
const REQUEST_TIME: Duration = Duration::from_secs(10);
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
    task: tokio::task::JoinHandle<()>,
}

/// A browser that came back, and waits for its page.
pub(super) struct Arrival {
    /// The query of its address.
    pub(super) query: String,
    page: oneshot::Sender<http::Response<Body>>,
    /// Ends with the connection.
    connection: watch::Receiver<()>,
}

impl RedirectListener {
    /// Listens on this port of the machine, or on any free one.
    pub(super) async fn listen(port: Option<u16>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
        let address = format!("http://127.0.0.1:{}{PATH}", listener.local_addr()?.port());
        let (arrived, arrivals) = mpsc::channel(MAX_WAITING);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(timeout(REQUEST_TIME, serve(stream, arrived.clone())));
            }
        });
        Ok(Self { address, arrivals, task })
    }
}

impl Drop for RedirectListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Arrival {
    /// Shows a page to the person, and waits until it is written: the program may end then.
    pub(super) async fn show(mut self, status: StatusCode, heading: &str, text: &str) {
        let _ = self.page.send(page(status, heading, text));
        let _ = timeout(REQUEST_TIME, self.connection.changed()).await;
    }
}

/// Reads one request, and answers it once the sign-in has an outcome.
async fn serve(stream: TcpStream, arrived: mpsc::Sender<Arrival>) {
    // Dropped at the end, which the other side notices.
    let (_open, connection) = watch::channel(());
    let answering = service_fn(|request: http::Request<Incoming>| {
        let (page_sender, shown) = oneshot::channel();
        let query = request.uri().query().unwrap_or_default().to_string();
        let arrival = Arrival { query, page: page_sender, connection: connection.clone() };
        let is_ours = request.method() == Method::GET && request.uri().path() == PATH;
        let has_arrived = is_ours && arrived.try_send(arrival).is_ok();
        async move {
            let shown = if has_arrived { shown.await.ok() } else { None };
            let ended =
                || page(StatusCode::GONE, "This sign-in has ended", "Begin again with `toolcrib login`.");
            Ok::<_, Infallible>(shown.unwrap_or_else(ended))
        }
    });
    let _ = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), answering).await;
}

/// A page without anything of the request.
fn page(status: StatusCode, heading: &str, text: &str) -> http::Response<Body> {
    let safe = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let heading = safe(heading);
    let text = safe(text);
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{heading}</title><style>body{{font:1.1rem/1.5 system-ui;max-width:34rem;\
         margin:15vh auto;padding:0 1rem}}</style><h1>{heading}</h1><p>{text}</p></html>\n"
    );
    let mut response = http::Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    response.headers_mut().extend(headers.map(|(name, value)| (name, http::HeaderValue::from_static(value))));
    response
}

/// The code in a query for the sign-in with this state, or the reason why the authorization server refused; `None` where the
/// query belongs to another sign-in, or to none.
pub(super) fn outcome(query: &str, state: &str) -> Option<Result<String, String>> {
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
        return Some(Err(clean_line(&format!("{error}{said}")).chars().take(300).collect()));
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
            matches!(refused, Some(Err(why)) if why.starts_with("access_denied: no") && !why.contains('\u{1b}'))
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
