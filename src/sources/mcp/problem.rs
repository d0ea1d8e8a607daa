//! The reason why a server gives no connection or no list, with the next step.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::signed_client::{Signing, innermost};
use crate::credentials::SignInProblem;

/// The line that gives a server its token.
const TOKEN_LINE: &str = "headers = { Authorization = \"Bearer ${NAME}\" }";

/// The reason why a server cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The reason: one line, without secrets and addresses.
    pub reason: String,
    /// Whether the server refuses the caller (401 or 403).
    pub wants_token: bool,
    /// The reason why there is no token for it, with its name.
    pub(crate) sign_in: Option<(String, SignInProblem)>,
    /// The time before which it is not started again.
    pub(super) next_try: Option<Instant>,
}

impl Problem {
    /// The next step, for a server that wants a token.
    pub fn advice(&self) -> Option<String> {
        let what = "add this line to the server's table, with the token in the environment variable NAME";
        let sign_in = self.sign_in.as_ref().map(|(server, problem)| problem.next_step(server));
        match sign_in {
            Some(step) if self.wants_token => Some(format!("{step}, or {what}: {TOKEN_LINE}")),
            None => self.wants_token.then(|| format!("{what}: {TOKEN_LINE}")),
            step => step,
        }
    }

    /// The time until the server is started again; `None` where nothing holds that up.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let left = self.next_try?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn until(&self, next_try: Instant) -> Self {
        Self { next_try: Some(next_try), ..self.clone() }
    }

    /// The reason of an error, in the server's place.
    pub(super) fn of(error: &(dyn Error + 'static), signing: Option<&Signing>) -> Self {
        let problem = signing.and_then(|signing| Some((signing.name().into(), signing.problem_of(error)?)));
        let is_new = problem.as_ref().is_none_or(|(_, problem)| problem.is_first_sign_in());
        let reason = match (refused(error), &problem) {
            (Some(status), _) if is_new => format!("it wants a token: it answered {status}"),
            (_, Some((_, problem))) => problem.to_string(),
            (_, None) => return explain(error).into(),
        };
        Self { reason, wants_token: is_new, sign_in: problem, next_try: None }
    }
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Self { reason, wants_token: false, sign_in: None, next_try: None }
    }
}

impl From<&str> for Problem {
    fn from(reason: &str) -> Self {
        reason.to_string().into()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.advice() {
            Some(advice) => write!(to, "{}; {advice}", self.reason),
            None => to.write_str(&self.reason),
        }
    }
}

/// The status with which a server asks for a token.
fn refused(error: &(dyn Error + 'static)) -> Option<u16> {
    match innermost(error).downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
        StreamableHttpError::AuthRequired(_) => Some(401),
        StreamableHttpError::InsufficientScope(_) => Some(403),
        StreamableHttpError::HttpStatus(reply) => Some(reply.status),
        StreamableHttpError::Client(error) => error.status().map(|status| status.as_u16()),
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let status = text.strip_prefix("HTTP ")?;
            status.get(..3)?.parse().ok()
        }
        _ => None,
    }
    .filter(|status| matches!(status, 401 | 403))
}

/// Reason why a server does not answer, in one line, without its address.
pub(super) fn explain(error: &(dyn Error + 'static)) -> String {
    let error = innermost(error);
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => match error.status() {
            Some(status) => format!("it answered {status}"),
            None if error.is_timeout() => "it took too long".into(),
            None if error.is_connect() => "no connection".into(),
            None => "the connection broke".into(),
        },
        _ => error.to_string(),
    }
}
