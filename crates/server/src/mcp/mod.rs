//! MCP: functions as tools, docs as resources, in both protocols (2025-11-25 and 2026-07-28), over HTTP and stdio.
//!
//! 1. [`handler`] answers requests of both transports, with the state in [`mod@service`] and [`connection`], which also
//!    passes on what live servers say to the client meanwhile. The handler alone knows the SDK's `ServerHandler`,
//!    whose results carry what is [written](toolcrib_front::mcp::written_out) in their place.
//! 2. [`tools`] lists and calls the functions, and the catalog's tools that are [listed](super::listed_tools);
//!    [`mod@instructions`] explain this server to a model; [`resources`] lists and reads the docs, page by page, and
//!    [`skills`] the skills made of them.
//! 3. [`upstreams`] are the live servers behind us; their [`prompts`] and [resources](upstream_resources) pass through.
//! 4. [`notifications`] announces changes to clients, ours and theirs.
//! 5. [`http`] is the endpoint for a router, with sessions where servers may ask; [`mod@stdio`] the same over the standard
//!    streams.

mod bad_request;
mod client_messages;
mod completion;
mod connection;
mod cursor;
mod handler;
mod http;
mod instructions;
mod introduction;
mod notifications;
mod prompts;
mod requester;
mod resources;
mod service;
mod skills;
mod stdio;
mod tools;
mod upstream_resources;
mod upstreams;

pub(crate) use bad_request::refusal;
pub use http::{Service, service};
pub use stdio::{stdio, streams};
