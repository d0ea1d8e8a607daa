//! A result as its server wrote it, on its way past the SDK.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

/// Where the handler of a call leaves a result as it is to be written, with what the SDK does not know.
#[derive(Clone, Default)]
pub(super) struct AsWritten(Arc<OnceLock<Value>>);

impl AsWritten {
    pub(super) fn keep(&self, result: Value) {
        let _ = self.0.set(result);
    }

    pub(super) fn kept(&self) -> Option<&Value> {
        self.0.get()
    }
}
