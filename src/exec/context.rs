//! The context of a call: its caller, catalog, state and backends.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderMap;
use serde_json::Value;

use super::backend::{BackendError, Backends};
use crate::catalog::Catalog;
use crate::credentials::SecretToken;
use crate::sources::mcp::RequestOrigin;
use crate::state::{Session, StateStore};
use crate::tool::Effect;

/// The context of a call.
pub trait CallContext: Send + Sync {
    /// The catalog with the tools that the caller may see.
    fn catalog(&self) -> &Catalog;
    /// Whether the caller may see the tool at this index, but not call it.
    fn is_forbidden(&self, index: usize) -> bool;
    /// The doc of the tool at this index.
    fn doc(&self, index: usize) -> Option<Doc>;
    /// The name of the caller's profile.
    fn profile(&self) -> Option<&str>;
    /// The caller.
    fn caller(&self) -> &Caller;
    /// The state: keys, approvals, sessions, traces.
    fn state(&self) -> &StateStore;
    /// The trace id of the request.
    fn trace_id(&self) -> &str;
    /// Counts an answered call for metrics; `outcome` is `ok` or the code of its error.
    fn count(&self, outcome: &str, took: Duration);
    /// The backends of the catalog.
    fn backends(&self) -> &Backends;
    /// Whether any tool has a `context_shift`.
    fn has_context_shifts(&self) -> bool;
    /// Runs a function of toolcrib as a tool.
    fn function<'h>(&'h self, name: &'h str, input: Value) -> FunctionFuture<'h>;
}

/// The result of a function that is run as a tool.
pub type FunctionFuture<'h> = Pin<Box<dyn Future<Output = Result<Value, BackendError>> + Send + 'h>>;

/// The version and the receipt of a doc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The doc version.
    pub version: String,
    /// The receipt.
    pub receipt: String,
}

/// A caller, after authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub session: Option<Arc<str>>,
    /// Whether the call itself names the session, and not its door.
    pub names_session: bool,
    /// Whether it is a client that asks its person before it calls a tool, by the annotations of the tool.
    pub asks_its_person: bool,
    /// Headers of the request that are sent to backends.
    pub headers: HeaderMap,
    /// The bearer token of the request, where some server is called with it; never one
    /// of our own tokens.
    pub token: Option<SecretToken>,
    /// The request of an MCP client, for live servers.
    pub origin: Option<Arc<RequestOrigin>>,
    /// Whether this request was refused for a right that its token lacks; `None` where no token could have more.
    pub lacked_right: Option<LackedRight>,
}

/// A note for the door of a request: it was refused as a whole, for a right that another token of the caller could have.
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
