//! The exchange of one call with a server: its token, retries if they do no harm, and redirects if configured.

use std::pin::Pin;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use reqwest::{Response, Url};
use tokio::time::{sleep, timeout};

use super::error_response::error;
use super::request::HttpRequest;
use super::response::{answer, connection_lost, too_slow};
use crate::caller::Caller;
use crate::exec::backend::backend_error::{BackendError, BackendErrorKind, Result};
use crate::exec::backend::request::{BackendRequest, BackendResponse};
use crate::exec::backend::servers::caller_token;
use toolcrib_catalog::config::{ActsAs, Server};
use toolcrib_definition::Effect;
use toolcrib_front::credentials::{CallerToken, Credentials, Refused, SecretToken, SignInProblem, acts_as};
use toolcrib_front::mcp::FilledSecrets;

/// Time before a retry: 100 ms at first, doubled each time, 5 s at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

const MAX_PAUSE: Duration = Duration::from_secs(5);

/// One call's exchange with a server.
pub(super) struct Exchange<'e> {
    pub(super) client: &'e reqwest::Client,
    pub(super) server: (&'e str, &'e Server),
    pub(super) call: BackendRequest<'e>,
    pub(super) request: &'e HttpRequest<'e>,
    pub(super) headers: HeaderMap,
    pub(super) secrets: &'e FilledSecrets,
    /// The credentials, for a server with `auth`.
    pub(super) credentials: Option<&'e Credentials>,
    /// The caller, unless the server is called with the operator's token.
    pub(super) caller: Option<CallerToken>,
}

/// The caller on whose behalf the server is called. It is an error if a required caller's token is missing.
pub(super) fn acting_caller(server: (&str, &Server), caller: &Caller) -> Result<Option<CallerToken>> {
    if server.1.auth.is_none() {
        return Ok(None);
    }
    let is_operator = caller.name.is_empty() || acts_as(server.1) != Some(ActsAs::Person);
    let own = || CallerToken { name: caller.name.clone(), token: None };
    Ok(caller_token(server, caller)?.or_else(|| (!is_operator).then(own)))
}

/// A request for a token. Its type is erased, because it contains a whole sign-in.
type Question<'a> = Pin<Box<dyn Future<Output = Result<Option<SecretToken>, SignInProblem>> + Send + 'a>>;

/// The token of an exchange.
struct SentToken {
    token: Option<SecretToken>,
    /// Whether the server has refused the first token.
    is_refused: bool,
}

impl Exchange<'_> {
    pub(super) async fn run(&self, url: Url) -> Result<BackendResponse> {
        let mut pause = FIRST_PAUSE;
        let mut retries = self.server.1.retries;
        let token = match self.credentials {
            Some(known) => self.ask(Box::pin(known.token(self.server, self.caller.as_ref()))).await?,
            None => None,
        };
        let mut sent = SentToken { token, is_refused: false };
        loop {
            let error = match self.attempt(url.clone(), &mut sent).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let wait = match error.kind {
                BackendErrorKind::NotSent if !sent.is_refused => pause,
                BackendErrorKind::Busy | BackendErrorKind::ConnectionLost if self.is_repeatable() => {
                    error.retry_after_seconds.map_or(pause, Duration::from_secs)
                }
                _ => return Err(error),
            };
            if retries == 0 || wait > MAX_PAUSE.min(self.longest_silence()) {
                return Err(error);
            }
            retries -= 1;
            sleep(wait).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Whether the call may be sent twice: it changes nothing, or the server gets an idempotency key.
    fn is_repeatable(&self) -> bool {
        let tool = self.call.tool;
        // An effect guessed from the tool's name is not enough for a method that writes.
        let is_sure = self.request.method.is_safe() || !tool.rules.is_effect_guessed;
        let has_key = self.server.1.idempotency_header.is_some() && self.call.idempotency_key.is_some();
        has_key || (tool.rules.effect == Effect::Read && is_sure)
    }

    /// Longest silence of the server.
    fn longest_silence(&self) -> Duration {
        self.server.1.longest_silence().unwrap_or(self.call.longest_silence)
    }

    async fn attempt(&self, mut url: Url, sent: &mut SentToken) -> Result<BackendResponse> {
        let silence = self.longest_silence();
        let mut method = self.request.method.clone();
        let mut redirects = self.server.1.redirects;
        loop {
            let response = self.send((&method, &url), sent.token.as_ref()).await?;
            if response.status().is_success() {
                return answer(response, self.server, self.call.tool.rules.effect, silence).await;
            }
            // A server that refuses the token has not run the call.
            if self.has_other_token(&response, sent).await? {
                continue;
            }
            if redirects > 0
                && let Some((to, with)) = self.redirect(&response, &url, &method)
            {
                redirects -= 1;
                (url, method) = (to, with);
                continue;
            }
            return Err(
                error(response, self.server.0, self.call.tool.rules.effect, self.secrets, silence).await
            );
        }
    }

    /// Waits for a token, as long as for a connection.
    pub async fn ask(&self, question: Question<'_>) -> Result<Option<SecretToken>> {
        let too_slow = || SignInProblem::Refused("its authorization server did not answer in time".into());
        let answer = timeout(self.server.1.timeout(), question).await.unwrap_or_else(|_| Err(too_slow()));
        let token = answer.map_err(|problem| BackendError::of_sign_in(self.server.0, &problem))?;
        token.iter().for_each(|token| self.secrets.add_token(token));
        Ok(token)
    }

    /// Whether the server has refused the token and there is another one. This happens at most once per call.
    async fn has_other_token(&self, response: &Response, sent: &mut SentToken) -> Result<bool> {
        let (Some(credentials), false) = (self.credentials, sent.is_refused) else { return Ok(false) };
        let status = response.status().as_u16();
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let wants_more = challenge.is_some_and(|challenge| challenge.contains("insufficient_scope"));
        if !(status == 401 || (status == 403 && wants_more)) {
            return Ok(false);
        }
        sent.is_refused = true;
        let refused = Refused { token: sent.token.as_ref(), status, challenge };
        let question = credentials.rejected(self.server, self.caller.as_ref(), refused);
        let Some(token) = self.ask(Box::pin(question)).await? else { return Ok(false) };
        sent.token = Some(token);
        Ok(true)
    }

    async fn send(&self, (method, url): (&Method, &Url), token: Option<&SecretToken>) -> Result<Response> {
        let mut request = reqwest::Request::new(method.clone(), url.clone());
        *request.headers_mut() = self.headers.clone();
        if let Some(token) = token {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose())).map_err(|_| {
                let server = self.server.0;
                let what = "has characters that a header cannot have";
                BackendError::unconfigured(format!("the token for the server `{server}` {what}"))
            })?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        if *method == self.request.method {
            let content = self.request.body.as_ref().map(|body| body.content.clone());
            *request.body_mut() = content.map(Into::into);
        } else {
            request.headers_mut().remove(CONTENT_TYPE);
            request.headers_mut().remove(CONTENT_LENGTH);
        }
        self.call.begun.mark();
        match timeout(self.longest_silence(), self.client.execute(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.connect_error(&error)),
            Err(_) => Err(too_slow(self.server.0)),
        }
    }

    fn connect_error(&self, error: &reqwest::Error) -> BackendError {
        let name = self.server.0;
        if error.is_builder() {
            return BackendError::unconfigured(format!("cannot build a request for the server `{name}`"));
        }
        if error.is_connect() {
            let message = format!("the server `{name}` cannot be reached; nothing was sent");
            let next = "try again later, or tell the user";
            return BackendError::new(BackendErrorKind::NotSent, message, next);
        }
        connection_lost(name)
    }

    /// The address and the method of a redirect that may be followed: within the origin. Clients disagree on whether a
    /// 301 or 302 keeps the method of a write, so writes follow neither.
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
