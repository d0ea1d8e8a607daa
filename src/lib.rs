//! Tool definitions for agents: documentation on disk, the smallest payload, and the rest on demand.
//!
//! Data flows from [`sources`] through [`catalog`] to [`render`], [`provider`] and [`report`]; each module imports only from
//! those before it.
//!
//! ```no_run
//! use toolcrib::{catalog, config, render};
//!
//! let checked = catalog::open(config::read("tools.json".as_ref()));
//! let templates = render::Templates::load(None)?;
//! let profile = checked.catalog.profile(None)?;
//! render::Docs::new(&checked.catalog, profile, &templates).write("tools".as_ref(), &|_| {})?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod arguments; // read, coerced, validated, explained, corrected
pub mod catalog; // raw tools in, one checked catalog out
pub mod cli; // the command line
pub mod config; // toolcrib.toml
pub mod exec; // a call is checked, gated, run, and wrapped
pub mod finding; // what is wrong with the input, and where
pub mod functions; // what agents call, and what they get
mod guard; // a panic ends the call in which it happens
pub mod help; // short and full answers on ops and groups
pub mod model; // a model behind an OpenAI-compatible API
pub mod provider; // every provider's wire: payloads out, calls in, results out
pub mod refusal; // why a call has no result
pub mod render; // a catalog becomes documentation
pub mod report; // what a catalog costs, in tokens
pub mod search; // which tools fit what somebody wants
pub mod secret; // one answer to "is this secret?"
pub mod serve; // the server: the running catalog, and the doors to it
pub mod site; // web pages for people
pub mod sources; // bytes in, raw tools out
pub mod state; // what outlives a call: keys, approvals, sessions, traces
pub mod tokens; // token counts, offline
pub mod tool; // the nouns of one tool
pub mod trust; // folders that the operator has trusted
pub mod watch; // when what a catalog is made of changes
