//! The reason why a server gives no connection or no list, with the next step.

use std::time::{Duration, Instant};

use super::secrets::Missing;
use crate::credentials::SignInProblem;

/// The line that gives a server its token.
const TOKEN_LINE: &str = "headers = { Authorization = \"Bearer ${NAME}\" }";

/// The reason why a server cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}{}", self.advice().map(|advice| format!("; {advice}")).unwrap_or_default())]
pub struct Problem {
    /// The reason: one line, without secrets and addresses.
    pub reason: String,
    /// Whether the server refuses the caller (401 or 403).
    pub wants_token: bool,
    /// The reason why there is no token for it, with its name.
    pub sign_in: Option<(String, SignInProblem)>,
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
    pub fn retry_after(&self) -> Option<Duration> {
        let left = self.next_try?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn until(&self, next_try: Instant) -> Self {
        Self { next_try: Some(next_try), ..self.clone() }
    }
}

impl<T: Into<String>> From<T> for Problem {
    fn from(reason: T) -> Self {
        Self { reason: reason.into(), wants_token: false, sign_in: None, next_try: None }
    }
}

impl From<Missing> for Problem {
    fn from(missing: Missing) -> Self {
        missing.to_string().into()
    }
}
