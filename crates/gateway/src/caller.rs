//! The caller of a call: who it is, what it may use, and the request that it came with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::HeaderMap;
use serde::{Deserialize, Serialize};

use super::state::Session;
use toolcrib_definition::Effect;
use toolcrib_front::credentials::SecretToken;
use toolcrib_front::mcp::RequestOrigin;

/// A caller, after authentication. Only who it is can be stored, and not its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The name in traces; empty where no tokens are configured.
    pub name: Arc<str>,
    /// The roles of the token, sorted; `None` where no tokens are configured, which means all roles.
    pub roles: Option<Vec<String>>,
    /// The profiles of the token, the first one for requests that choose none; `None` for every profile.
    pub profiles: Option<Arc<[String]>>,
    /// The strongest effect of its calls; the configuration may allow less.
    pub allow: Effect,
    /// The name of the session.
    #[serde(skip)]
    pub session: Option<Arc<str>>,
    /// Whether the call itself names the session, and not its transport.
    #[serde(skip)]
    pub names_session: bool,
    /// Whether it is the client that has started this process for its person.
    #[serde(skip)]
    pub is_own_client: bool,
    /// Whether its client has asked its person about this call, by the annotations of what it lists.
    #[serde(skip)]
    pub asks_its_person: bool,
    /// Headers of the request that are sent to backends.
    #[serde(skip)]
    pub headers: HeaderMap,
    /// The bearer token of the request, where some server is called with it; never one
    /// of our own tokens.
    #[serde(skip)]
    pub token: Option<SecretToken>,
    /// The request of an MCP client, for live servers.
    #[serde(skip)]
    pub origin: Option<Arc<RequestOrigin>>,
    /// Whether this request was refused for a right that its token lacks; `None` where no token could have more.
    #[serde(skip)]
    pub lacked_right: Option<LackedRight>,
}

/// A note for the transport of a request: it was refused as a whole, for a right that another token of the caller could have.
#[derive(Clone, Debug, Default)]
pub struct LackedRight(Arc<AtomicBool>);

impl LackedRight {
    /// Notes whether a right is lacking.
    pub fn set(&self, is_lacking: bool) {
        self.0.store(is_lacking, Ordering::Relaxed);
    }

    /// Whether a right is lacking.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for LackedRight {
    /// It is about a request, and says nothing of the caller.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LackedRight {}

impl Default for Caller {
    fn default() -> Self {
        Self {
            name: Arc::from(""),
            roles: None,
            profiles: None,
            allow: Effect::Destructive,
            session: None,
            names_session: false,
            is_own_client: false,
            asks_its_person: false,
            headers: HeaderMap::new(),
            token: None,
            origin: None,
            lacked_right: None,
        }
    }
}

/// The role that has the rights of all roles.
pub const EVERY_ROLE: &str = "*";

impl Caller {
    /// Whether the configuration hides no tool from this caller. Only such a caller gets the findings of the catalog, since
    /// findings name tools. The catalog's content does not matter: it must not show whether hidden tools exist.
    pub fn sees_everything(&self) -> bool {
        self.profiles.is_none()
            && self.roles.as_ref().is_none_or(|roles| roles.iter().any(|role| role == EVERY_ROLE))
    }

    /// Whether the token is for this profile; `None` is the whole catalog.
    pub fn may_use(&self, profile: Option<&str>) -> bool {
        let own = self.profiles.as_ref();
        own.is_none_or(|own| profile.is_some_and(|profile| own.iter().any(|own| own == profile)))
    }

    /// Notes whether a right is lacking, where another token could have it.
    pub fn note_lacked_right(&self, is_lacking: bool) {
        if let Some(note) = &self.lacked_right {
            note.set(is_lacking);
        }
    }

    /// The session; it belongs to this caller alone.
    pub fn session(&self) -> Option<Session> {
        let id = Arc::clone(self.session.as_ref()?);
        Some(Session { caller: Arc::clone(&self.name), id })
    }
}
