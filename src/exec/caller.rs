//! The caller of a call, as the doors find out.

use std::sync::Arc;

use http::HeaderMap;

use crate::state::Session;
use crate::tool::Effect;

/// Somebody who calls, after authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name in traces; empty where everybody may come in.
    pub name: Arc<str>,
    /// The roles of the token that was shown, sorted; `None` where no tokens are configured, which stands for all.
    pub roles: Option<Vec<String>>,
    /// The most that their calls may change, whatever the configuration allows.
    pub allow: Effect,
    /// The name of the session that this belongs to.
    pub session: Option<Arc<str>>,
    /// Whether the call itself says so, and not the door that it came through.
    pub names_session: bool,
    /// The headers of their request that backends are to be sent.
    pub headers: HeaderMap,
}

impl Default for Caller {
    fn default() -> Self {
        Self {
            name: Arc::from(""),
            roles: None,
            allow: Effect::Destructive,
            session: None,
            names_session: false,
            headers: HeaderMap::new(),
        }
    }
}

/// The role that stands for all others.
pub const EVERY_ROLE: &str = "*";

impl Caller {
    /// Whether the configuration says that no tool is hidden from them. Only to them the server tells of what is wrong with
    /// the catalog: findings name tools, and that nothing is hidden from a caller must not show either.
    pub fn sees_everything(&self) -> bool {
        self.roles.as_ref().is_none_or(|roles| roles.iter().any(|role| role == EVERY_ROLE))
    }

    /// The session, which is theirs alone.
    pub fn session(&self) -> Option<Session> {
        let id = Arc::clone(self.session.as_ref()?);
        Some(Session { caller: Arc::clone(&self.name), id })
    }
}
