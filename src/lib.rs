//! Tool definitions for agents: documentation on disk, the smallest payload, and the rest on demand.
//!
//! A [`Catalog`] is opened once and does the jobs of an agent: it seeds a workspace, renders docs, binds tools for a
//! [`Provider`], reads calls out of responses, and finds tools by words. Without features, the crate has neither tokio nor
//! network nor SQL in its tree.
//!
//! ```
//! use toolcrib::{Catalog, PayloadOptions, Provider};
//!
//! let catalog = Catalog::open("examples/universal-agent")?;
//! let payload = catalog.payload(&PayloadOptions::new(Provider::OpenAi).profile("creator"))?;
//! assert!(payload.body["tools"].is_array());
//! let doc = catalog.doc("web_search", None)?;
//! assert!(doc.starts_with("# web_search"));
//! # Ok::<(), toolcrib::Error>(())
//! ```
//!
//! The items of this page are the interface. Modules are the stages behind it, and may change with any
//! release.

#![warn(missing_docs)]

mod api; // the interface for other programs
mod built_in; // the templates
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli; // the command line

#[doc(hidden)]
pub use toolcrib_catalog::{self as catalog, arguments, config, sources};
#[doc(hidden)]
pub use toolcrib_definition::{self as definition, document, finding, schema, secret, tokens};
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub use toolcrib_front::{address, credentials, mcp, watch};
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub use toolcrib_gateway::{exec, functions, state, tool_error};
#[doc(hidden)]
pub use toolcrib_providers::{self as providers, report};
#[doc(hidden)]
pub use toolcrib_render::{self as render, help};
#[doc(hidden)]
pub use toolcrib_search::{self as search, model};
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub use toolcrib_server::{self as server, site};

pub use api::{
    Call, Catalog, Error, Found, FoundTool, Payload, PayloadOptions, ToolSummary, WorkspaceTemplate, Written,
};
#[doc(hidden)]
pub use built_in::BUILT_IN;
pub use toolcrib_catalog::UnknownProfile;
pub use toolcrib_catalog::arguments::{FieldError, Repair};
pub use toolcrib_catalog::config::Mode;
pub use toolcrib_definition::Effect;
pub use toolcrib_definition::finding::{Finding, Severity};
pub use toolcrib_providers::call::CallError;
pub use toolcrib_providers::report::Report as TokenReport;
pub use toolcrib_providers::{Provider, RequestHeader};
