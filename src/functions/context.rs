//! What a call of a function has at hand besides its arguments.

use std::sync::Arc;

use super::Edition;

/// What a call has at hand.
#[derive(Clone, Debug)]
pub struct Context {
    /// What the caller may see.
    pub edition: Arc<Edition>,
    /// What all calls share.
    pub services: Arc<Services>,
}

/// What outlives catalogs and is shared by all calls.
#[derive(Debug, Default)]
pub struct Services {}

impl Context {
    /// A call that sees this edition, with no services.
    pub fn of(edition: Arc<Edition>) -> Self {
        Self { edition, services: Arc::default() }
    }
}
