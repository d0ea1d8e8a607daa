//! Answers of servers over HTTP that are wrong in some way.

use std::path::Path;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use futures_util::StreamExt;
use http::StatusCode;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, NumberOrString};
use serde_json::{Value, json};

use super::*;
use crate::credentials::Credentials;
use crate::mcp::as_written::written;
use crate::mcp::endpoint::Endpoint;
use crate::mcp::pace::MAX_NOTIFICATIONS;
use crate::mcp::secrets::FilledSecrets;
use toolcrib_catalog::config::{Environment, Server};

fn answer(kind: &str, body: impl Into<Body>) -> Response {
    ([("content-type", kind)], body.into()).into_response()
}

/// The messages with which a server answers a call at a path.
fn call(server: fn() -> Router, path: &str) -> Result<Vec<Value>, HttpError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{path}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, server()).await });
        let credentials = Arc::new(Credentials::new(Environment::new(|_| None)));
        let server = Server { url: Some(url.clone()), ..Server::default() };
        let endpoint = Endpoint::new("x", &server, Path::new("."));
        let signing = Arc::new(Signing::new(&endpoint, &credentials, &FilledSecrets::default()));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().redirect(redirects()).build().unwrap();
        let moves = Moves::of(&signing);
        let client = SignedClient { http, signing, notes: ListNotes::default(), moves };
        let call = CallToolRequest::new(CallToolRequestParams::new("read"));
        let request = ClientRequest::CallToolRequest(call);
        let message = ClientJsonRpcMessage::request(request, NumberOrString::Number(7));
        match client.post_message(url.into(), message, None, None, Headers::new()).await? {
            StreamableHttpPostResponse::Json(message, _) => {
                Ok(vec![as_written(serde_json::to_value(message).unwrap())])
            }
            StreamableHttpPostResponse::Sse(events, _) => {
                let data: Vec<_> = events.filter_map(async |event| event.ok()?.data).collect().await;
                Ok(data.iter().map(|data| as_written(serde_json::from_str(data).unwrap())).collect())
            }
            _ => Ok(Vec::new()),
        }
    })
}

/// A message with its result as it was written.
fn as_written(mut message: Value) -> Value {
    message.get_mut("result").into_iter().for_each(|result| *result = written(result.take()));
    message
}

fn servers() -> Router {
    let result = |text: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{text}"}}}}"#);
    let fine = result("fine");
    let events = [
        b"data: no message\n\ndata: ".as_slice(),
        result("caf\u{1}").replace('\u{1}', "X").as_bytes(),
        b"\n\n",
    ]
    .concat();
    let events: Vec<u8> = events.iter().map(|byte| if *byte == b'X' { 0xe9 } else { *byte }).collect();
    Router::new()
        .route("/fine/", post(move || async move { answer("application/json", fine) }))
        .route("/fine", post(|| async { Redirect::permanent("/fine/") }))
        .route("/moved", post(|| async { (StatusCode::MOVED_PERMANENTLY, [("location", "/fine/")]) }))
        .route("/round", post(|| async { (StatusCode::MOVED_PERMANENTLY, [("location", "/round")]) }))
        .route("/gone", post(|| async { Redirect::permanent("http://localhost:9/") }))
        .route("/temporary", post(|| async { Redirect::temporary("/fine") }))
        .route("/changed", post(|| async { Redirect::to("/fine/") }))
        .route("/circle", post(|| async { Redirect::temporary("/circle") }))
        .route("/away", post(|| async { Redirect::temporary("http://localhost:9/") }))
        .route(
            "/surrogate",
            post(|| async {
                answer("application/json", r#"{"jsonrpc":"2.0","id":7,"result":{"a":"\ud83d"}}"#)
            }),
        )
        .route("/html", post(|| async { answer("application/json", "<html>") }))
        .route("/page", post(|| async { answer("text/html", "<html>") }))
        .route("/events", post(move || async move { answer("text/event-stream", events) }))
}

#[test]
fn redirects_are_followed_with_the_message_on_the_same_host() {
    let fine = vec![json!({"jsonrpc": "2.0", "id": 7, "result": {"a": "fine"}})];
    for path in ["/fine/", "/fine", "/moved", "/temporary"] {
        assert_eq!(call(servers, path).unwrap(), fine, "{path}");
    }
    for path in ["/changed", "/circle", "/round", "/away", "/gone"] {
        let error = call(servers, path).unwrap_err();
        assert!(error.to_string().contains("HTTP 30"), "{path}: {error}");
    }
}

#[test]
fn text_that_is_no_unicode_costs_no_answer() {
    let of = |text: &str| vec![json!({"jsonrpc": "2.0", "id": 7, "result": {"a": text}})];
    assert_eq!(call(servers, "/surrogate").unwrap(), of("\u{fffd}"));
    assert_eq!(call(servers, "/events").unwrap(), of("caf\u{fffd}"));
}

#[test]
fn a_page_in_place_of_an_answer_is_an_error_at_once() {
    let message = &call(servers, "/html").unwrap()[0];
    assert_eq!(message["id"], 7);
    assert!(message["error"]["message"].as_str().unwrap().contains("no JSON"), "{message}");
    assert!(matches!(call(servers, "/page"), Err(HttpError::UnexpectedContentType(_))));
}

#[test]
fn a_flood_of_events_is_read_at_its_pace() {
    const EVENT: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";
    let flood = || {
        let events = async || answer("text/event-stream", EVENT.repeat(2 * MAX_NOTIFICATIONS + 1));
        Router::new().route("/flood", post(events))
    };
    let start = std::time::Instant::now();
    assert_eq!(call(flood, "/flood").unwrap().len(), 2 * MAX_NOTIFICATIONS + 1);
    assert!(start.elapsed().as_secs_f64() > 1.9, "{:?}", start.elapsed());
}
