//! What a chat model is to those who ask it.

use super::ModelError;

/// Something that answers a question in text.
pub trait ChatModel: Sync {
    /// The answer, or why there is none.
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError>;
}
