//! The public interface: a catalog and its jobs. The command line calls the same stages.

mod catalog;
mod error;
mod tools;
mod values;

pub use catalog::Catalog;
pub use error::Error;
pub use toolcrib_render::WorkspaceTemplate;
pub use values::{Call, Found, FoundTool, Payload, PayloadOptions, ToolSummary, Written};
