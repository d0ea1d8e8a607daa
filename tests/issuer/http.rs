//! The HTTP server of an issuer.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::behaviour::Behaviour;
use super::keys::Keys;
use super::{Issuer, Shared, State, authorization, clients, discovery, grants, lock};

/// A request that is read.
pub(super) struct Request {
    path: String,
    query: String,
    pub(super) body: String,
    headers: axum::http::HeaderMap,
}

impl Request {
    /// A field of the form.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        field(&self.body, name)
    }

    /// A field of the query.
    pub(super) fn query_field(&self, name: &str) -> Option<String> {
        field(&self.query, name)
    }

    /// A header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

fn field(form: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(form.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// An answer.
pub(super) struct Reply {
    status: u16,
    location: Option<String>,
    body: String,
}

impl Reply {
    /// A JSON document.
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self { status, location: None, body: body.to_string() }
    }

    /// A redirect of a browser.
    pub(super) fn redirect(to: &str) -> Self {
        Self { status: 302, location: Some(to.into()), body: String::new() }
    }

    /// A redirect that asks for the same request elsewhere.
    pub(super) fn redirect_same_method(to: &str) -> Self {
        Self { status: 307, ..Self::redirect(to) }
    }

    fn response(self) -> axum::response::Response {
        let builder =
            axum::http::Response::builder().status(self.status).header("content-type", "application/json");
        let builder = match &self.location {
            Some(to) => builder.header("location", to),
            None => builder.header("cache-control", "no-store"),
        };
        builder.body(Body::from(self.body)).unwrap()
    }
}

/// An error of OAuth.
pub(super) fn refused(status: u16, error: &str) -> Reply {
    Reply::json(status, &json!({ "error": error }))
}

/// Starts the server on a thread of its own.
pub(super) fn start(address: SocketAddr) -> (String, Shared, oneshot::Sender<()>) {
    let listener = TcpListener::bind(address).unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let state = Arc::new(Mutex::new(State {
        url: url.clone(),
        behaviour: Behaviour::default(),
        keys: Keys::new(),
        clients: HashMap::new(),
        codes: HashMap::new(),
        refresh_tokens: HashMap::new(),
        issued: HashMap::new(),
        requests: HashMap::new(),
        received: Vec::new(),
        given: Vec::new(),
    }));
    let (stop, stopped) = oneshot::channel();
    let shared = Arc::clone(&state);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let router = axum::Router::new().fallback(move |request: axum::extract::Request| {
                let shared = Arc::clone(&shared);
                async move { answer(shared, request).await }
            });
            tokio::select! {
                served = axum::serve(listener, router).into_future() => served.unwrap(),
                _ = stopped => {}
            }
        });
    });
    (url, state, stop)
}

async fn answer(shared: Shared, request: axum::extract::Request) -> axum::response::Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap_or_default();
    let request = Request {
        path: parts.uri.path().into(),
        query: parts.uri.query().unwrap_or_default().into(),
        body: String::from_utf8_lossy(&body).into_owned(),
        headers: parts.headers,
    };
    let delay = Duration::from_millis(lock(&shared).behaviour.delay_ms);
    if !delay.is_zero() && !request.path.starts_with("/control") {
        tokio::time::sleep(delay).await;
    }
    if request.path == "/jwks" && lock(&shared).behaviour.endless_keys {
        let endless =
            futures_util::stream::repeat_with(|| Ok::<_, std::convert::Infallible>(vec![b' '; 1 << 16]));
        return axum::http::Response::new(Body::from_stream(endless));
    }
    if request.path == "/control/token" {
        return sign(shared, &request).response();
    }
    let sent = if request.body.is_empty() { request.query.clone() } else { request.body.clone() };
    let (reply, delay) = {
        let mut state = lock(&shared);
        *state.requests.entry(request.path.clone()).or_default() += 1;
        state.received.push((request.path.clone(), sent));
        let delay = if request.path == "/token" { state.behaviour.token_delay_ms } else { 0 };
        (route(&mut state, &request), Duration::from_millis(delay))
    };
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    reply.response()
}

fn route(state: &mut State, request: &Request) -> Reply {
    if state.behaviour.is_dead && !request.path.starts_with("/control") {
        return refused(503, "temporarily_unavailable");
    }
    match request.path.as_str() {
        path if state.behaviour.hides_metadata && path.starts_with("/.well-known/") => {
            refused(404, "not_found")
        }
        "/.well-known/oauth-authorization-server" | "/.well-known/openid-configuration" => {
            discovery::metadata(state)
        }
        "/jwks" => Reply::json(200, &state.keys.public()),
        "/register" => clients::register(state, request),
        "/authorize" => authorization::authorize(state, request),
        "/token" => grants::token(state, request),
        "/introspect" => grants::introspect(state, request),
        "/revoke" => grants::revoke(state, request),
        "/control/behaviour" => change(state, &request.body),
        "/control/client" => {
            let asked: Value = serde_json::from_str(&request.body).unwrap_or_default();
            let text = |name: &str| asked[name].as_str().unwrap_or_default().to_string();
            let uris: Vec<&str> =
                asked["redirect_uris"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            state.clients.insert(text("client_id"), clients::Client::known(&text("client_secret"), &uris));
            Reply::json(200, &json!({}))
        }
        "/control/rotate" => {
            state.keys = Keys::new();
            Reply::json(200, &json!({}))
        }
        _ => refused(404, "not_found"),
    }
}

/// Changes the behaviour, field by field.
fn change(state: &mut State, body: &str) -> Reply {
    let mut whole = serde_json::to_value(&state.behaviour).unwrap();
    let changes: Map<String, Value> = serde_json::from_str(body).unwrap_or_default();
    whole.as_object_mut().unwrap().extend(changes);
    match serde_json::from_value(whole) {
        Ok(behaviour) => {
            state.behaviour = behaviour;
            Reply::json(200, &json!({}))
        }
        Err(error) => Reply::json(400, &json!({ "error": error.to_string() })),
    }
}

/// Gives a token with the claims of a JSON document.
fn sign(shared: Shared, request: &Request) -> Reply {
    let url = lock(&shared).url.clone();
    let issuer = Issuer { url, state: shared, stop: None };
    let claims: Map<String, Value> = serde_json::from_str(&request.body).unwrap_or_default();
    let token = claims.into_iter().fold(issuer.token(), |token, (name, value)| token.claim(&name, value));
    Reply::json(200, &json!({ "token": token.issue() }))
}
