//! The reason why a server gives no connection or no list, with the next step.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::secrets::{Missing, excerpt};
use crate::credentials::SignInProblem;
use toolcrib_catalog::sources::NoList;

/// The line that gives a server its token.
const TOKEN_LINE: &str = "headers = { Authorization = \"Bearer ${NAME}\" }";

/// The reason why a server cannot be used now. Each is shown on one line, without secrets and addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerProblem {
    /// A variable or a header that it needs is missing.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// It did not answer within this time.
    #[error("no answer within {} second{}", .0.as_secs(), if .0.as_secs() == 1 { "" } else { "s" })]
    NoAnswer(Duration),
    /// It wants a token, with the status that says so.
    #[error("it wants a token: it answered {0}")]
    WantsToken(u16, Option<NoToken>),
    /// There is no token that it takes.
    #[error("{}", .0.problem)]
    NoToken(NoToken),
    /// The connection did not begin or has ended, and what a command said last on stderr.
    #[error("{}", excerpt(&format!("{why}{}{said}", if said.is_empty() { "" } else { "; it said: " })))]
    Ended { why: String, said: String },
    /// Another reason, which nobody decides by.
    #[error("{0}")]
    Other(Cow<'static, str>),
}

/// The reason why there is no token for the server of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoToken {
    pub server: String,
    pub problem: SignInProblem,
}

impl ServerProblem {
    /// The end of a connection, for this reason.
    pub(super) fn ended(why: impl Into<String>) -> Self {
        Self::Ended { why: why.into(), said: String::new() }
    }

    /// The next step, for a server that wants a token.
    pub fn advice(&self) -> Option<String> {
        let step = self.no_token().map(|NoToken { server, problem }| problem.next_step(server));
        if !matches!(self, Self::WantsToken(..)) {
            return step;
        }
        let what = "add this line to the server's table, with the token in the environment variable NAME";
        let step = step.map(|step| format!("{step}, or ")).unwrap_or_default();
        Some(format!("{step}{what}: {TOKEN_LINE}"))
    }

    /// The reason with the next step.
    pub fn with_advice(&self) -> String {
        format!("{self}{}", self.advice().map(|advice| format!("; {advice}")).unwrap_or_default())
    }

    /// The reason why there is no list of its tools.
    pub(super) fn no_list(&self) -> NoList {
        match self {
            Self::Missing(Missing::Variable(missing)) => missing.clone().into(),
            other => NoList::Other(other.with_advice()),
        }
    }

    /// The reason why there is no token for it.
    pub fn no_token(&self) -> Option<&NoToken> {
        match self {
            Self::WantsToken(_, no_token) => no_token.as_ref(),
            Self::NoToken(no_token) => Some(no_token),
            _ => None,
        }
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for ServerProblem {
    fn from(reason: T) -> Self {
        Self::Other(reason.into())
    }
}

/// A server that cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Away {
    /// The reason.
    pub problem: ServerProblem,
    /// The time before which it is not started again.
    pub(super) next_try: Option<Instant>,
}

impl Away {
    /// The time until the server is started again; `None` where nothing holds that up.
    pub fn retry_after(&self) -> Option<Duration> {
        let left = self.next_try?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

impl<T: Into<ServerProblem>> From<T> for Away {
    fn from(problem: T) -> Self {
        Self { problem: problem.into(), next_try: None }
    }
}
