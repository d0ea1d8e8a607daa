//! The context of a call, which functions and calls of tools get: what its caller may see, who it is, and the services that all calls share.

mod agent_skills;
mod catalog_view;
mod counters;
mod services;

use std::sync::{Arc, OnceLock};

use super::caller::Caller;
use super::state::random_id;

pub use agent_skills::{ServedSkill, SkillFile};
pub(crate) use catalog_view::HelpTarget;
pub use catalog_view::{CatalogView, DocPage, IndexPage};
pub use counters::Counters;
pub use services::{SemanticSearch, Services};

/// The context of a function call.
#[derive(Clone, Debug)]
pub struct FunctionContext {
    /// The catalog view of the caller.
    pub view: Arc<CatalogView>,
    /// The services that all calls share.
    pub services: Arc<Services>,
    pub caller: Arc<Caller>,
    /// Trace id of the request.
    pub trace: Trace,
}

impl FunctionContext {
    /// Whether a tool may be missing because its source could not be read. False for callers with hidden tools, who
    /// must not learn of the unread source.
    pub(super) fn lacks_sources(&self) -> bool {
        self.caller.sees_everything() && !self.view.catalog().complete
    }

    /// A call that sees this catalog view, with no services.
    pub fn of(view: Arc<CatalogView>) -> Self {
        Self { view, services: Arc::default(), caller: Arc::default(), trace: Trace::default() }
    }
}

/// Trace id of one request, made at its first use.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<OnceLock<String>>);

impl Trace {
    pub fn id(&self) -> &str {
        self.0.get_or_init(|| random_id("tr"))
    }
}
