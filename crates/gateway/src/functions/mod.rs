//! toolcrib's functions, with which agents find, read and call tools. Each takes one JSON object and returns one
//! answer, which is the same over every transport (CLI, HTTP, MCP).
//!
//! 1. [`CatalogView`] is what one kind of caller may see: a restricted catalog, and its pages.
//! 2. [`ALL`] is the table of every [`Function`] and its properties. The definition of a function is in
//!    `catalog/functions/`, its handler in a file here. Transports, lists, limits and metrics read the table.
//! 3. [`Function::call`] runs a call: [`arguments`] validates the arguments against the definition and parses them into
//!    the handler's type, the handler answers, and [`trace`] records the call for its session.
//! 4. [`Answer`] is the [`Reply`] of the function, or a [`ToolError`] with the next step. [`answer`] writes it as JSON and as
//!    text for a model, [`client_answer`] for an MCP client, and [`trace`] takes the facts for the trace and for metrics.

mod answer;
mod arguments;
mod block_data;
mod call;
mod call_tool;
mod client_answer;
mod discovery;
mod examples;
mod function;
pub mod pick;
mod read_result;
mod read_tool_doc;
mod search;
mod tool_batch;
mod tool_exec;
mod tool_help;
mod tool_search;
mod trace;

use serde_json::json;

use crate::exec::EffectLimit;
use crate::state::EventKind;
use examples::{called, harmless, reads, tools};
use function::FunctionList::{All, Discovery, Gateway, Hybrid, SplitAll, SplitGateway};
use toolcrib_catalog::called_names;
use toolcrib_definition::is_respelled;

pub use crate::context::{
    CatalogView, Counters, DocPage, FunctionContext, IndexPage, SemanticSearch, ServedSkill, Services,
    SkillFile, Trace,
};
pub use crate::tool_error::{ErrorCode, ToolError};
pub use answer::{Answer, Reply};
pub use block_data::{BlockData, linked_data};
pub use client_answer::{ClientAnswer, ClientBlock, GivenNotes};
pub use function::{Function, FunctionList};
pub use search::SearchOutcome;
pub use tool_exec::ToolCall;
pub use tool_search::{Hits, QueryHits, ToolHit};

/// Finds tools by what they do.
const TOOL_SEARCH: Function = Function::new::<tool_search::ToolSearch>("tool_search")
    .listed(&[Gateway, SplitGateway, Hybrid, All, SplitAll])
    .traced(EventKind::Search);

/// Runs a tool by its op.
const TOOL_EXEC: Function = Function::raw("tool_exec", tool_exec::run)
    .listed(&[Gateway, All])
    .runs(EffectLimit::None)
    .idempotent()
    .example(|view| harmless(view).map(called));

/// Every function, in the order in which lists show them.
static ALL: [Function; 14] = [
    Function::new::<read_tool_doc::ReadToolDoc>("read_tool_doc")
        .listed(&[Discovery, Hybrid, All, SplitAll])
        .traced(EventKind::Read)
        .example(|view| Some(json!({ "names": [harmless(view)?.names.canonical] }))),
    TOOL_SEARCH,
    Function::new::<tool_help::ToolHelp>("tool_help")
        .listed(&[Gateway, SplitGateway, All, SplitAll])
        .traced(EventKind::Read)
        .example(|view| Some(json!({ "path": harmless(view)?.names.op, "format": "short" }))),
    TOOL_EXEC,
    Function::raw("tool_exec_read", tool_exec::run)
        .listed(&[SplitGateway, SplitAll])
        .runs(EffectLimit::ReadsOnly)
        .example(|view| tools(view).find(reads).map(called)),
    Function::raw("tool_exec_write", tool_exec::run)
        .listed(&[SplitGateway, SplitAll])
        .runs(EffectLimit::WritesOnly)
        .idempotent()
        .example(|view| tools(view).find(|tool| !reads(tool)).map(called)),
    Function::raw("tool_batch", tool_batch::run)
        .listed(&[Gateway, All, SplitAll])
        .runs(EffectLimit::None)
        .several()
        .example(tool_batch::example),
    Function::new::<read_result::ReadResult>("read_result"),
    Function::new::<discovery::List>("list").listed(&[Discovery, All, SplitAll]).traced(EventKind::Search),
    Function::new::<discovery::SearchNodes>("search_nodes")
        .listed(&[Discovery, All, SplitAll])
        .traced(EventKind::Search),
    Function::new::<discovery::SearchToolByCategory>("search_tool_by_category")
        .listed(&[Discovery, All, SplitAll])
        .traced(EventKind::Search),
    Function::new::<discovery::ExpandTool>("expand_tool")
        .listed(&[Discovery, All, SplitAll])
        .traced(EventKind::Expand)
        .example(|view| Some(json!({ "tool_id": harmless(view)?.names.op }))),
    Function::new::<call_tool::CallTool>("call_tool")
        .listed(&[Discovery, All, SplitAll])
        .runs(EffectLimit::None)
        .example(|view| {
            harmless(view).map(|tool| json!({ "tool_id": tool.names.op, "arguments": tool.input.call }))
        }),
    Function::new::<pick::Pick>("pick").traced(EventKind::Search),
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

    /// The function that a model means by this name: `tool.exec`, `Tool_Exec`, `functions.tool_exec`.
    pub fn spelled(name: &str) -> Option<&'static Function> {
        let mut names = called_names(name).into_iter();
        names.find_map(|called| ALL.iter().find(|function| is_respelled(called.name, function.name())))
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
