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
//! let doc = catalog.doc("web_search")?;
//! assert!(doc.starts_with("# web_search"));
//! # Ok::<(), toolcrib::Error>(())
//! ```
//!
//! The items of this page are the interface. Modules are the stages behind it, and may change with any
//! release.

// Modules are hidden from the docs: the ones of a module are read with `--document-private-items`.
#![allow(rustdoc::private_intra_doc_links)]
// Items that only the runtime uses are unused in the core; the whole crate is checked for both.
#![cfg_attr(not(feature = "runtime"), allow(dead_code, unused_imports))]

mod api; // the interface for other programs
#[doc(hidden)]
pub mod arguments; // read, coerced, validated, explained, corrected
#[doc(hidden)]
pub mod catalog; // raw tools in, one checked catalog out
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli; // the command line
#[doc(hidden)]
pub mod config; // toolcrib.toml
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod credentials; // tokens for the servers of tools
mod embedded; // files of the checkout that are part of the program
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod exec; // a call is checked, gated, run, and wrapped
#[doc(hidden)]
pub mod finding; // what is wrong with the input, and where
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod functions; // what agents call, and what they get
#[cfg(feature = "runtime")]
mod guard; // a panic ends the call in which it happens
#[doc(hidden)]
pub mod help; // short and full answers on ops and groups
#[doc(hidden)]
pub mod model; // a model behind an OpenAI-compatible API
#[cfg(feature = "runtime")]
mod private_file; // files for their owner alone
#[doc(hidden)]
pub mod provider; // every provider's wire: payloads out, calls in, results out
#[doc(hidden)]
pub mod render; // a catalog becomes documentation
#[doc(hidden)]
pub mod report; // what a catalog costs, in tokens
mod schema; // JSON Schemas: keywords, places, words
#[doc(hidden)]
pub mod search; // which tools fit what somebody wants
#[doc(hidden)]
pub mod secret; // one answer to "is this secret?"
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod serve; // the server: the running catalog, and the doors to it
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod site; // web pages for people
#[doc(hidden)]
pub mod sources; // bytes in, raw tools out
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod state; // what outlives a call: keys, approvals, sessions, traces
#[doc(hidden)]
pub mod tokens; // token counts, offline
#[doc(hidden)]
pub mod tool; // the nouns of one tool
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod tool_error; // why a call has no result
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod watch; // when what a catalog is made of changes

pub use api::{
    Call, Catalog, Error, Found, FoundTool, Payload, PayloadOptions, ToolSummary, WorkspaceTemplate, Written,
};
pub use arguments::{FieldError, Repair};
pub use catalog::UnknownProfile;
pub use config::Mode;
pub use finding::{Finding, Severity};
pub use provider::call::CallError;
pub use provider::{Provider, RequestHeader};
pub use report::Report as TokenReport;
pub use tool::Effect;
