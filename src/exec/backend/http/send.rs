//! Sending a request: again where that cannot do harm, and after redirects where that is configured.

use std::time::Duration;

use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, Method, StatusCode};
use reqwest::{Response, Url};
use tokio::time::{Instant, sleep, timeout_at};

use super::request::Request;
use super::{refused, reply};
use crate::config::Server;
use crate::exec::backend::{Fault, FaultKind, Order, Reply};
use crate::sources::mcp::Secrets;
use crate::tool::Effect;

/// How long to wait before a request is sent again: at first, and at most.
const SOON: Duration = Duration::from_millis(100);
const AT_MOST: Duration = Duration::from_secs(5);

/// One call's exchange with a server.
pub(super) struct Exchange<'e> {
    pub(super) client: &'e reqwest::Client,
    pub(super) name: &'e str,
    pub(super) server: &'e Server,
    pub(super) order: Order<'e>,
    pub(super) request: &'e Request<'e>,
    pub(super) headers: HeaderMap,
    pub(super) secrets: &'e Secrets,
}

/// Why an attempt has no result.
pub(super) struct Trouble {
    fault: Fault,
    again: Again,
}

/// Whether the request may be sent again.
enum Again {
    /// Never.
    No,
    /// Always: nothing was run.
    Harmless,
    /// If it may run twice; after this time, if the server says so.
    Repeatable(Option<Duration>),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        let again = match fault.kind {
            FaultKind::NotSent => Again::Harmless,
            FaultKind::Lost => Again::Repeatable(None),
            _ => Again::No,
        };
        Self { fault, again }
    }
}

impl Exchange<'_> {
    pub(super) async fn run(&self, url: Url) -> Result<Reply, Fault> {
        let deadline = Instant::now() + self.server.patience().min(self.order.time);
        let mut pause = SOON;
        let mut retries = self.server.retries;
        loop {
            let trouble = match self.attempt(url.clone(), deadline).await {
                Ok(reply) => return Ok(reply),
                Err(trouble) => trouble,
            };
            let wait = match trouble.again {
                Again::Harmless => pause,
                Again::Repeatable(after) if self.is_repeatable() => after.unwrap_or(pause),
                Again::No | Again::Repeatable(_) => return Err(trouble.fault),
            };
            if retries == 0 || wait > AT_MOST || Instant::now() + wait >= deadline {
                return Err(trouble.fault);
            }
            retries -= 1;
            sleep(wait).await;
            pause = (pause * 2).min(AT_MOST);
        }
    }

    /// Whether the call may run twice: it changes nothing, or the server knows it by its key.
    fn is_repeatable(&self) -> bool {
        let tool = self.order.tool;
        // That a name sounds like reading is not enough for a method that writes.
        let is_sure = self.request.method.is_safe() || tool.definition.effect.is_some();
        let has_key = self.server.idempotency_header.is_some() && self.order.idempotency_key.is_some();
        has_key || (tool.effect == Effect::Read && is_sure)
    }

    async fn attempt(&self, mut url: Url, deadline: Instant) -> Result<Reply, Trouble> {
        let mut method = self.request.method.clone();
        let mut redirects = self.server.redirects;
        loop {
            let response = self.send(&method, &url, deadline).await?;
            let status = response.status();
            if status.is_success() {
                let read = reply::Reading {
                    name: self.name,
                    tool: self.order.tool,
                    max_bytes: self.server.max_bytes,
                };
                return Ok(read.answer(response, deadline).await?);
            }
            if let Some((to, with)) = self.redirect(&response, &url, &method).filter(|_| redirects > 0) {
                redirects -= 1;
                (url, method) = (to, with);
                continue;
            }
            let after = retry_after(&response);
            let is_busy = matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            );
            let location =
                response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).map(str::to_string);
            let body = reply::read_error(response, deadline).await;
            let refused = refused::Refused {
                name: self.name,
                status: status.as_u16(),
                body,
                location,
                after,
                effect: self.order.tool.effect,
                secrets: self.secrets,
            };
            let again = if is_busy { Again::Repeatable(after) } else { Again::No };
            return Err(Trouble { fault: refused.fault(), again });
        }
    }

    async fn send(&self, method: &Method, url: &Url, deadline: Instant) -> Result<Response, Fault> {
        let mut request = reqwest::Request::new(method.clone(), url.clone());
        *request.headers_mut() = self.headers.clone();
        if *method == self.request.method {
            let content = self.request.body.as_ref().map(|body| body.content.clone());
            *request.body_mut() = content.map(Into::into);
        } else {
            request.headers_mut().remove(CONTENT_TYPE);
        }
        self.order.begun.mark();
        match timeout_at(deadline, self.client.execute(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.unsent(&error)),
            Err(_) => Err(refused::too_slow(self.name)),
        }
    }

    fn unsent(&self, error: &reqwest::Error) -> Fault {
        let name = self.name;
        if error.is_builder() {
            return Fault::unconfigured(format!("no request can be made for the server `{name}`"));
        }
        if error.is_connect() {
            let message = format!("the server `{name}` cannot be reached; nothing was sent");
            return Fault::new(FaultKind::NotSent, message, "try again later, or tell the user");
        }
        refused::lost(name)
    }

    /// Where a redirect leads, and with which method, if that can be followed: within the origin, and without turning
    /// what writes into something else.
    fn redirect(&self, response: &Response, from: &Url, method: &Method) -> Option<(Url, Method)> {
        let to = from.join(response.headers().get(LOCATION)?.to_str().ok()?).ok()?;
        let method = match response.status() {
            StatusCode::SEE_OTHER if *method != Method::HEAD => Method::GET,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND if !method.is_safe() => return None,
            StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT => method.clone(),
            _ => return None,
        };
        (to.origin() == from.origin()).then_some((to, method))
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
