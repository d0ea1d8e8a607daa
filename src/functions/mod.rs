//! Functions of toolcrib, with which agents find, read and call tools. Each takes one JSON object and gives one answer, the
//! same through every door (the command line, HTTP, MCP).
//!
//! 1. [`CatalogView`] is what one kind of caller may see: a restricted catalog, and its docs.
//! 2. [`ALL`] has an entry for each [`Function`] with its facts; its definition is in `catalog/functions/`, its handler in a
//!    file here. Doors, lists, limits and metrics read the table.
//! 3. [`arguments`] validates arguments by the definition and reads them into the handler's own type.
//! 4. [`trace`] records the calls of a session, and counts searches and pages.
//! 5. [`answer`] is the result: JSON, text where a model reads it, or a [`Refusal`] with the next step. [`client_answer`] is
//!    what a client of MCP gets of it.

mod answer;
mod arguments;
mod catalog_view;
mod client_answer;
mod discovery;
mod function;
pub mod pick;
mod read_tool_doc;
mod tool_batch;
mod tool_exec;
mod tool_help;
mod tool_search;
mod trace;

use crate::exec::EffectLimit;
use crate::state::EventKind;
use crate::tool::is_respelled;
use function::FunctionList::{All, Discovery, Gateway, Hybrid, SplitAll, SplitGateway};
use function::{AnswerFuture, Handler, MaybeAsync, TimeLimit};

pub use crate::refusal::{ErrorCode, Refusal};
pub use answer::{Answer, BlockData, linked_data};
pub use arguments::{FunctionContext, SemanticSearch, Services, Trace};
pub use catalog_view::{CatalogView, DocPage, IndexPage, ServedSkill, SkillFile};
pub use client_answer::{ClientAnswer, ClientBlock, GivenNotes};
pub use function::{Function, FunctionList};
pub use tool_exec::ToolCall;
pub use tool_search::{SearchOutcome, SearchQuery};
pub use trace::Counters;

/// Finds tools by what they do.
const TOOL_SEARCH: Function = Function::new("tool_search", Handler::Async(tool_search::run))
    .listed(&[Gateway, SplitGateway, Hybrid, All, SplitAll])
    .traced(EventKind::Search);

/// Runs a tool by its op. Twice a call's time: a call with a key may first wait for another one with the same key.
const TOOL_EXEC: Function = Function::new("tool_exec", Handler::RawAsync(tool_exec::run))
    .listed(&[Gateway, All])
    .runs(EffectLimit::None, TimeLimit::Calls(2))
    .idempotent()
    .example(function::call);

/// Every function, in the order in which lists show them.
static ALL: [Function; 14] = [
    Function::new("read_tool_doc", Handler::MaybeAsync(read_tool_doc::run))
        .listed(&[Discovery, Hybrid, All, SplitAll])
        .traced(EventKind::Read)
        .example(function::doc),
    TOOL_SEARCH,
    Function::new("tool_help", Handler::MaybeAsync(tool_help::run))
        .listed(&[Gateway, SplitGateway, All, SplitAll])
        .traced(EventKind::Read)
        .example(function::help),
    TOOL_EXEC,
    Function::new("tool_exec_read", Handler::RawAsync(tool_exec::run))
        .listed(&[SplitGateway, SplitAll])
        .runs(EffectLimit::ReadsOnly, TimeLimit::Calls(2))
        .example(function::read),
    Function::new("tool_exec_write", Handler::RawAsync(tool_exec::run))
        .listed(&[SplitGateway, SplitAll])
        .runs(EffectLimit::WritesOnly, TimeLimit::Calls(2))
        .idempotent()
        .example(function::write),
    Function::new("tool_batch", Handler::RawAsync(tool_batch::run))
        .listed(&[Gateway, All, SplitAll])
        .runs(EffectLimit::None, TimeLimit::Batch)
        .example(function::batch),
    Function::new("read_result", Handler::Async(tool_exec::read_result)),
    Function::new("list", Handler::Async(discovery::list))
        .listed(&[Discovery, All, SplitAll])
        .traced(EventKind::Search),
    Function::new("search_nodes", Handler::Async(discovery::search_nodes))
        .listed(&[Discovery, All, SplitAll])
        .traced(EventKind::Search),
    Function::new("search_tool_by_category", Handler::Async(discovery::search_tool_by_category))
        .listed(&[Discovery, All, SplitAll])
        .traced(EventKind::Search),
    Function::new("expand_tool", Handler::MaybeAsync(discovery::expand_tool))
        .listed(&[Discovery, All, SplitAll])
        .traced(EventKind::Expand)
        .example(function::expand),
    Function::new("call_tool", Handler::Async(discovery::call_tool))
        .listed(&[Discovery, All, SplitAll])
        .runs(EffectLimit::None, TimeLimit::Calls(1))
        .example(function::call_tool),
    Function::new("pick", Handler::Async(pick::run)).traced(EventKind::Search),
];

impl Function {
    /// Every function, in the order in which lists show them.
    pub fn all() -> &'static [Function] {
        &ALL
    }

    /// The function of this name.
    pub fn named(name: &str) -> Option<&'static Function> {
        ALL.iter().find(|function| function.name() == name)
    }

    /// The function of this name, also in other spellings: `tool.exec`, `tool-exec`, `Tool_Exec`.
    pub fn spelled(name: &str) -> Option<&'static Function> {
        ALL.iter().find(|function| is_respelled(name.trim(), function.name()))
    }

    /// The function that finds tools.
    pub fn tool_search() -> &'static Function {
        &TOOL_SEARCH
    }

    /// The function that runs a tool by any of its names.
    pub fn tool_exec() -> &'static Function {
        &TOOL_EXEC
    }
}
