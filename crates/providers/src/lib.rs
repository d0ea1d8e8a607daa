//! Every provider's format: the smallest payload out, checked calls in, results out.
//!
//! 1. [`mod@payload`] decides which functions a mode binds, and to which extent. It gives each a name that the provider
//!    takes, and [`view`] a schema that the provider takes.
//! 2. A [`mod@format`] is the whole of one provider: rules, payload, calls, results. One file has those of one family, and
//!    [`provider`] names the format of each provider.
//! 3. [`call`] reads the arguments of calls, validates them, and explains errors.
//! 4. [`results`] takes what the calls returned back to the model.
//! 5. [`report`] counts what all of it costs.

mod anthropic;
pub mod call;
mod chat_completions;
mod format;
mod gemini;
mod mcp;
mod openai_responses;
mod payload;
mod provider;
pub mod report;
mod results;
mod view;

pub use format::{BoundFunction, Extent, FoundTool, RequestHeader, ToolResult};
pub use payload::error::PayloadError;
pub use payload::request::PayloadRequest;
pub use payload::selection::READ_TOOL_DOC;
pub use payload::{Payload, payload, payload_of_any_size};
pub use provider::ProviderFormat;
pub use results::{AnsweredCalls, AnswersError, result_messages};
pub use toolcrib_catalog::config::Provider;
