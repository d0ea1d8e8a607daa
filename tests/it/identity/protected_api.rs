//! An HTTP API that asks an issuer about each request.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::issuer::Issuer;

/// A protected API. It ends when this is dropped.
pub struct ProtectedApi {
    /// Its base address, which is its resource too.
    pub url: String,
    /// The header `Authorization` of each request.
    seen: Arc<Mutex<Vec<String>>>,
    _runtime: Runtime,
}

impl ProtectedApi {
    /// Starts an API. `GET /who` needs a token, `/admin` the scope `api:admin`, and `/echo` repeats the token.
    pub fn start(issuer: &Arc<Issuer>) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}/api", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let answers = {
            let (issuer, url, seen) = (Arc::clone(issuer), url.clone(), Arc::clone(&seen));
            move |request: Request| {
                let answer = answer(&issuer, &url, &seen, &request);
                async move { answer }
            }
        };
        let router = Router::new().fallback(answers);
        runtime.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, seen, _runtime: runtime }
    }

    /// The header `Authorization` of each request since the last look.
    pub fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

fn answer(issuer: &Issuer, url: &str, seen: &Mutex<Vec<String>>, request: &Request) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    seen.lock().unwrap().push(given.unwrap_or_default().to_string());
    let path = request.uri().path().to_string();
    match issuer.check(given, url, if path == "/api/admin" { "api:admin" } else { "" }) {
        Ok(_) if path == "/api/echo" => given.unwrap_or_default().to_string().into_response(),
        Ok(claims) => {
            let body = json!({ "path": path, "sub": claims["sub"] }).to_string();
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Err((status, challenge)) => {
            (StatusCode::from_u16(status).unwrap(), [(header::WWW_AUTHENTICATE, challenge)]).into_response()
        }
    }
}
