//! What one request is known by in answers, logs and traces.

use std::sync::{Arc, OnceLock};

use crate::state::random_id;

/// What one request is known by, made when somebody wants to know.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<OnceLock<String>>);

impl Trace {
    /// The id.
    pub fn id(&self) -> &str {
        self.0.get_or_init(|| random_id("tr"))
    }
}
