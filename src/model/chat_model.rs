//! The trait of chat models.

use super::{ModelError, ModelUsage};

/// A model that answers a question in text.
pub trait ChatModel: Sync {
    /// The answer, or the reason why there is none.
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError>;

    /// Name of the model, for provenance; `None` where it has none.
    fn name(&self) -> Option<&str> {
        None
    }

    /// The calls so far, where they are counted.
    fn usage(&self) -> ModelUsage {
        ModelUsage::default()
    }
}
