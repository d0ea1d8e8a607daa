//! Whole tasks, replayed by a scripted agent through the real functions, and their cost in tokens.
//!
//! 1. [`task`] reads tasks: the calls that solve each are known. [`sessions`] makes them of recorded sessions.
//! 2. [`agent`] plays a task on a surface: it searches, reads and calls as [`wording`] and the surface say.
//! 3. [`ledger`] adds up what each request of the task carries.
//! 4. [`replay`] plays all tasks on a surface, with any modes of the profile's tools.
//! 5. [`report`] compares the surfaces; [`table`] prints that for people, and [`picture()`] draws it.
//! 6. [`tune`] chooses surface and full tools with half of the tasks: [`estimate`] adds up what a choice costs, [`mod@choice`]
//!    searches for the cheapest, and [`patch`] has it as settings.
//! 7. [`usage`] counts what sessions used; [`price`] has the tools that they never called.
//!
//! The agent is a script, and no model: it knows which tool it needs, and words its searches without knowing its name.

mod agent;
mod choice;
mod estimate;
mod ledger;
mod patch;
mod picture;
mod price;
mod replay;
mod report;
mod sessions;
mod table;
mod task;
mod tune;
mod tune_table;
mod usage;
mod wording;

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;

use crate::catalog::{Catalog, Resolved, Tool, UnknownProfile};
use crate::config::{Overlay, Surface, Workspace};
use crate::provider::Provider;
use crate::render::Templates;
use crate::tool::Effect;

pub use ledger::PromptCache;
pub use patch::Patch;
pub use picture::picture;
pub use report::{LeftOut, Report, SurfaceCost};
pub use sessions::Recorded;
pub use table::gains;
pub use task::{Task, TaskCall, read};
pub use tune::{CHOICES, Tuning};
pub use usage::{Usage, events_of};

/// The result of a call for which a task has none.
pub const STUB: &str = "{\"ok\":true}";

/// Surfaces that a scripted agent can play. `files` binds nothing that could call a tool.
pub const SURFACES: [Surface; 6] =
    [Surface::Full, Surface::Hybrid, Surface::Native, Surface::Toolset, Surface::Core, Surface::Gateway];

/// The setting of a simulation.
pub struct Simulation<'a> {
    pub catalog: &'a Catalog,
    pub profile: Option<&'a str>,
    pub templates: Arc<Templates>,
    pub provider: Provider,
    pub surfaces: &'a [Surface],
    /// Tokens that the host's own context has in every request.
    pub hosts: &'a [usize],
    pub cache: PromptCache,
    /// Whether steps are searched for, read and called together where they can be.
    pub batched: bool,
    /// The seed of an agent that makes mistakes.
    pub noise: Option<u64>,
}

/// Reason why tasks cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// There is no such profile.
    #[error("{0}")]
    Profile(UnknownProfile),
    /// A file of tasks cannot be used.
    #[error("{0}")]
    Tasks(String),
    /// A payload or a section of the prompt cannot be made.
    #[error("{0}")]
    Counts(String),
}

/// Gives every tool of a workspace a backend that answers [`STUB`], and lets all of them run.
pub fn stub_backends(workspace: &mut Workspace) {
    let overlay = json!({
        "match": "*", "backend": { "type": "static", "content": { "ok": true } }, "approval": false, "dry_run": false,
    });
    workspace.overlays.extend(serde_json::from_value::<Overlay>(overlay).ok());
    workspace.config.exec.allow = Some(Effect::Destructive);
}

/// A catalog of a number of tools: those of the tasks, then its others, then tools of the other catalogs, in turn from
/// each. A tool of those
/// whose names are taken stays out. The tools of the tasks are there at any size.
pub fn resized(catalog: &Catalog, others: &[Catalog], tasks: &[Task], size: Option<usize>) -> Catalog {
    let names = |tool: &Tool| [tool.name.clone(), tool.safe_name.clone(), tool.op.clone()];
    let needed: HashSet<&str> = tasks
        .iter()
        .flat_map(|task| &task.calls)
        .filter_map(|call| match catalog.resolve(&call.name) {
            Resolved::Tool(tool) => Some(tool.name.as_str()),
            _ => None,
        })
        .collect();
    let size = size.unwrap_or(usize::MAX);
    let mut room = size.saturating_sub(needed.len());
    let mut tools = catalog.tools.clone();
    tools.retain(|tool| {
        let is_taken = needed.contains(tool.name.as_str()) || room > 0;
        room -= usize::from(is_taken && !needed.contains(tool.name.as_str()));
        is_taken
    });
    let mut taken: HashSet<String> = catalog.tools.iter().flat_map(|tool| names(tool)).collect();
    let longest = others.iter().map(|other| other.tools.len()).max().unwrap_or(0);
    let in_turn =
        (0..longest).flat_map(|index| others.iter().filter_map(move |other| other.tools.get(index)));
    for tool in in_turn.take_while(|_| size > catalog.tools.len()) {
        if tools.len() < size && names(tool).iter().all(|name| !taken.contains(name)) {
            taken.extend(names(tool));
            tools.push(Arc::clone(tool));
        }
    }
    catalog.with_tools(tools)
}
