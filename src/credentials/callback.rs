//! The address on this machine at which a browser comes back from a sign-in.

use std::time::Duration;

use subtle::ConstantTimeEq;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::tool::clean_line;

/// Most bytes of a request: a code and a state, with the headers of a browser.
const MAX_REQUEST: usize = 64 << 10;
/// Longest time of one request: browsers open connections that they never use.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Most requests that wait at the same time.
const MAX_WAITING: usize = 16;
/// The path at which the browser comes back.
const PATH: &str = "/callback";

/// A listener for one sign-in. It ends when this is dropped.
pub(super) struct Callback {
    address: String,
    arrivals: mpsc::Receiver<Arrival>,
    task: tokio::task::JoinHandle<()>,
}

/// A browser that came back, and waits for its page.
pub(super) struct Arrival {
    /// The query of its address.
    pub(super) query: String,
    page: oneshot::Sender<String>,
    /// Ends when the page is written.
    written: oneshot::Receiver<()>,
}

/// The outcome of a sign-in, as the authorization server tells it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The query belongs to another sign-in, or to none.
    Foreign,
    /// The server refused, for this reason.
    Refused(String),
    /// The code is in the query.
    Code,
}

impl Callback {
    /// Listens on this port of the machine, or on any free one.
    pub(super) async fn listen(port: Option<u16>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
        let address = format!("http://127.0.0.1:{}{PATH}", listener.local_addr()?.port());
        let (arrived, arrivals) = mpsc::channel(MAX_WAITING);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let arrived = arrived.clone();
                tokio::spawn(async move {
                    let _ = timeout(REQUEST_TIME, serve(stream, arrived)).await;
                });
            }
        });
        Ok(Self { address, arrivals, task })
    }

    /// The address to come back to.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The next browser that comes back.
    pub(super) async fn arrival(&mut self) -> Option<Arrival> {
        self.arrivals.recv().await
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Arrival {
    /// Shows a page to the person, and waits until it is written: the program may end then.
    pub(super) async fn show(self, status: &str, heading: &str, text: &str) {
        let _ = self.page.send(page(status, heading, text));
        let _ = timeout(REQUEST_TIME, self.written).await;
    }
}

/// Reads one request, and answers it once the sign-in has an outcome.
async fn serve(mut stream: TcpStream, arrived: mpsc::Sender<Arrival>) {
    let Some(target) = target(&mut stream).await else { return };
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    // Dropped at the end, which tells the other side.
    let (_writing, written) = oneshot::channel();
    let answer = if path == PATH {
        let (page, shown) = oneshot::channel();
        match arrived.try_send(Arrival { query: query.into(), page, written }) {
            Ok(()) => shown.await.ok(),
            Err(_) => None,
        }
    } else {
        Some(page("404 Not Found", "Nothing is here", "This address is for a sign-in of toolcrib."))
    };
    let ended = || page("410 Gone", "This sign-in has ended", "Begin again with `toolcrib login`.");
    let _ = stream.write_all(answer.unwrap_or_else(ended).as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// The target of a GET request, once all its headers are there.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(&part[..read]);
        if head.len() > MAX_REQUEST {
            return None;
        }
    }
    let text = String::from_utf8_lossy(&head);
    let mut words = text.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_string)).flatten()
}

/// A page without anything of the request.
fn page(status: &str, heading: &str, text: &str) -> String {
    let safe = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (heading, text) = (safe(heading), safe(text));
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{heading}</title><style>body{{font:1.1rem/1.5 system-ui;max-width:34rem;\
         margin:15vh auto;padding:0 1rem}}</style><h1>{heading}</h1><p>{text}</p></html>\n"
    );
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The outcome in a query for the sign-in with this state.
pub(super) fn outcome(query: &str, state: &str) -> Outcome {
    let values = |name: &str| -> Vec<String> {
        let pairs = form_urlencoded::parse(query.as_bytes());
        pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
    };
    let [given] = values("state").try_into().unwrap_or_default();
    let given: String = given;
    if state.is_empty() || !bool::from(given.as_bytes().ct_eq(state.as_bytes())) {
        return Outcome::Foreign;
    }
    if let Some(error) = values("error").into_iter().next() {
        let said = values("error_description").into_iter().next();
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        return Outcome::Refused(clean_line(&format!("{error}{said}")).chars().take(300).collect());
    }
    if values("code").len() == 1 && values("iss").len() <= 1 { Outcome::Code } else { Outcome::Foreign }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_counts_for_its_own_sign_in_alone() {
        assert_eq!(outcome("code=a&state=s&iss=x", "s"), Outcome::Code);
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
            assert_eq!(outcome(foreign, "s"), Outcome::Foreign, "{foreign}");
        }
        assert_eq!(outcome("code=a&state=", ""), Outcome::Foreign);
        let refused = outcome("error=access_denied&error_description=no%0A%1b[31m&state=s", "s");
        assert!(
            matches!(refused, Outcome::Refused(why) if why.starts_with("access_denied: no") && !why.contains('\u{1b}'))
        );
    }

    #[test]
    fn a_page_repeats_no_markup() {
        assert!(page("200 OK", "<script>", "a & b").contains("<h1>&lt;script&gt;</h1><p>a &amp; b"));
    }
}
