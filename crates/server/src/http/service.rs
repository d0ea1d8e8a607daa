//! The server of HTTP: its state and its routers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;

use super::host_check::Hosts;
use super::request_context::{MAX_SLOW, Shared, bodies};
use super::routes::routes;
use crate::call_limiter::CallLimiter;
use crate::{Authenticator, LiveCatalog, mcp};
use toolcrib_catalog::config::ServeLimits;
use toolcrib_front::shares::Shares;

/// The server of HTTP.
#[derive(Debug)]
pub struct HttpService {
    pub(super) shared: Arc<Shared>,
    pub(super) router: Router,
}

impl HttpService {
    /// A server of the running catalog.
    pub fn new(
        live: Arc<LiveCatalog>,
        hosts: Hosts,
        authenticator: Authenticator,
        limits: ServeLimits,
    ) -> Self {
        let shared = Arc::new(Shared {
            hosts,
            authenticator,
            cookie_key: Default::default(),
            is_stopping: AtomicBool::new(false),
            connections: Arc::default(),
            call_limiter: Arc::new(CallLimiter::new(&limits, Arc::clone(live.services()))),
            slow_work: Shares::new(MAX_SLOW, MAX_SLOW / 2),
            bodies: bodies(&limits),
            limits,
            live,
        });
        Self { router: routes(&shared, None), shared }
    }

    /// The same server with one for MCP. It gets the extensions of each request: the [`crate::RequestCatalog`], and the
    /// [`CallLimiter`] for calls of functions.
    pub fn with_mcp(self, service: mcp::Service) -> Self {
        Self { router: routes(&self.shared, Some(service)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use axum::body::Body;
    use http::header::HOST;
    use http::{Method, StatusCode};
    use toolcrib_catalog::Checked;
    use toolcrib_catalog::config::{Serve, ServeToken};
    use toolcrib_render::{BuiltIn, Templates};
    use tower::ServiceExt;

    use super::*;
    use crate::{ServeOptions, Tokens};

    /// A server that wants a token, and has no tools.
    fn service() -> HttpService {
        let templates = Templates::from(BuiltIn { templates: &[], workspace: &[] });
        let options = ServeOptions::default();
        let live = Arc::new(LiveCatalog::new(Checked::default(), options, Arc::new(templates)).unwrap());
        let mut tokens = Tokens::default();
        tokens.add("0123456789abcdef", &ServeToken::default()).unwrap();
        let authenticator = Authenticator::new(tokens, &Serve::default(), Path::new(""), None).unwrap();
        let hosts = Hosts::new("127.0.0.1:80".parse().unwrap(), &[]);
        let mcp = mcp::service(Arc::clone(&live), 1 << 20);
        HttpService::new(live, hosts, authenticator, ServeLimits::default()).with_mcp(mcp)
    }

    #[tokio::test]
    async fn without_a_token_only_open_routes_answer() {
        let router = service().router;
        let status = async |method: &Method, path: &str| {
            let request = http::Request::builder().method(method).uri(path).header(HOST, "localhost");
            router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status()
        };
        let rows = include_str!("routes.md").lines().filter_map(|line| line.strip_prefix("| `"));
        let rows = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
        let rows: Vec<(String, bool)> =
            rows.map(|row| (row[0].replace(['`', '{', '}', '*'], ""), row[2] == "everybody")).collect();
        let others = ["/", "/assets/", "/assets/a/b", "/healthz/", "/p/any", "/p/any/", "/mcp/", "/mcp/any"];
        let others = others.map(|path| (path.to_string(), false));
        let all = rows.iter().filter(|(path, _)| path.starts_with('/')).chain(&others);
        for (path, is_open) in all {
            for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"] {
                let method = &method.parse().unwrap();
                let is_refused = status(method, path).await == StatusCode::UNAUTHORIZED;
                assert_eq!(is_refused, !is_open, "{method} {path}");
                let path = format!("/p/any{path}");
                assert_eq!(status(method, &path).await, StatusCode::UNAUTHORIZED, "{method} {path}");
            }
        }
    }
}
