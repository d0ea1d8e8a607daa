//! A real HTTP server that remembers what arrives, and answers as its path says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrived {
    pub method: String,
    pub path: String,
    pub query: String,
    /// By lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Arrived {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }
}

type Log = Arc<Mutex<Vec<Arrived>>>;

/// The server; it ends with this.
pub struct Recorder {
    pub url: String,
    log: Log,
    _runtime: Runtime,
}

impl Recorder {
    pub fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Log::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&log));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { url, log, _runtime: runtime }
    }

    /// The requests since the last look.
    pub fn arrived(&self) -> Vec<Arrived> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    #[track_caller]
    pub fn only(&self) -> Arrived {
        let arrived = self.arrived();
        assert_eq!(arrived.len(), 1, "{arrived:#?}");
        arrived.into_iter().next().unwrap()
    }
}

async fn answer(State(log): State<Log>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = String::from_utf8_lossy(&to_bytes(body, 64 << 20).await.unwrap()).into_owned();
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let path = parts.uri.path().to_string();
    let query = parts.uri.query().unwrap_or_default().to_string();
    let earlier = log.lock().unwrap().iter().filter(|earlier| earlier.path == path).count();
    log.lock().unwrap().push(Arrived {
        method: parts.method.to_string(),
        path: path.clone(),
        query,
        headers,
        body,
    });
    let of = |status: u16, kind: &'static str, body: Vec<u8>| {
        (StatusCode::from_u16(status).unwrap(), [("content-type", kind)], body).into_response()
    };
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match segments.as_slice() {
        ["text"] => of(200, "text/plain", b"gr\xc3\xbc\xc3\x9fe \xff".to_vec()),
        ["latin"] => of(200, "text/plain; charset=ISO-8859-1", b"gr\xfc\xdfe".to_vec()),
        ["binary"] => of(200, "image/png", vec![0x89, b'P', b'N', b'G']),
        ["empty"] => StatusCode::NO_CONTENT.into_response(),
        ["problem+json"] => of(200, "application/vnd.x+json", br#"{"a": [1]}"#.to_vec()),
        ["broken-json"] => of(200, "application/json", b"{\"a\": ".to_vec()),
        ["untyped"] => Response::new(Body::from(r#"{"b": 2}"#)),
        ["huge"] => of(200, "text/plain", vec![b'x'; 3 << 20]),
        ["slow"] => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            of(200, "text/plain", Vec::new())
        }
        ["events"] => {
            let events = futures_util::stream::unfold(0, |count| async move {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Some((Ok::<_, std::convert::Infallible>(format!("data: {count}\n\n")), count + 1))
            });
            ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response()
        }
        ["status", status] => {
            let echo = json!({ "detail": "no s3cr3t-token here" }).to_string();
            of(status.parse().unwrap(), "application/json", echo.into_bytes())
        }
        ["busy", times] if earlier < times.parse().unwrap() => {
            (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")], "busy").into_response()
        }
        ["redirect", status, to @ ..] => {
            let to = match to {
                ["elsewhere"] => "http://localhost:9/stolen".into(),
                to => format!("/{}", to.join("/")),
            };
            (StatusCode::from_u16(status.parse().unwrap()).unwrap(), [("location", to)]).into_response()
        }
        _ => of(200, "application/json", json!({ "ok": true, "path": path }).to_string().into_bytes()),
    }
}
