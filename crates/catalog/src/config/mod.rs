//! `toolcrib.toml`: read with places, checked, and passed on as plain values.
//!
//! 1. [`mod@read`] finds the configuration of a catalog, and reads it field by field into [`settings`].
//! 2. [`selector`]s pick tools by name, category, tag, source, server or effect.
//! 3. [`overlay`]s add fields to imported tools; [`preset`]s are overlays that ship with toolcrib.
//! 4. [`clients`] reads the configuration of an MCP client in its place.

mod address;
mod clients;
mod difference;
mod editor_schema;
mod env_file;
mod environment;
mod exec;
mod issuer;
mod lint;
mod live_name;
mod overlay;
mod pages;
mod payload;
mod preset;
mod profile;
mod proxy;
mod read;
mod search;
mod selector;
mod serve;
mod server;
mod server_auth;
mod settings;
mod source;
mod state;
mod tool_filter;

pub use address::{is_safe_address, network, shown_address};
pub use clients::{
    CLIENTS, Client, ClientPlace, TIMEOUT_KEYS, client_format, format_of_table, read_client_text,
};
pub use difference::Difference;
pub use editor_schema::schemas_for_editors;
pub use env_file::{env_line, env_variables};
pub use environment::{Environment, MissingVariable};
pub use exec::{ApprovalNotice, ApprovalPlace, Exec, RequireDoc, TrustHints};
pub use issuer::{IssuerGrant, ServeIssuer};
pub use lint::{Ignore, Lint, LintLevel};
pub use live_name::{live_name, live_server};
pub use overlay::{Overlay, ResultRule, SetArgument};
pub use pages::{Category, Render, ShortDescription};
pub use payload::{Deferred, Mode, ModeChoice, Payload, Provider, Repair, SearchBy};
pub use preset::preset_names;
pub use profile::{EVERY_PROFILE, Profile};
pub use proxy::ServeProxy;
pub(crate) use read::leads_out;
pub use read::{FetchError, LeftOut, NAME_IT, Workspace, at_address, read, read_found};
pub use search::{Eval, Search, SearchModel, SearchSemantic};
pub use selector::{Facts, InvalidSelector, Selector, Selectors};
pub use serve::{Serve, ServeLimits, ServeMode, ServeToken, ToolList};
pub use server::{Server, Start};
pub use server_auth::{ActsAs, ServerAuth};
pub use settings::Config;
pub use source::{BaseUrlFrom, Source, Trust};
pub use state::{State, Telemetry, WhenUnwritable};
pub use tool_filter::ToolFilter;
