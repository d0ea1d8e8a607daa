//! The trace id of a request, in answers, logs and traces.

use std::sync::{Arc, OnceLock};

use crate::state::random_id;

/// Trace id of one request, made at its first use.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<OnceLock<String>>);

impl Trace {
    /// The id.
    pub fn id(&self) -> &str {
        self.0.get_or_init(|| random_id("tr"))
    }
}
