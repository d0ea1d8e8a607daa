//! Tasks as they are played on one surface: one catalog view for all plays, whose profile may have any modes.

use std::collections::HashMap;
use std::sync::Arc;

use super::agent::{Agent, Events, Mistakes};
use super::ledger::Ledger;
use super::{Simulation, SimulationError, Task};
use crate::catalog::{Profile, Tool};
use crate::config::Surface;
use crate::functions::CatalogView;
use crate::report::{RequestMeter, tenth};
use crate::tokens::Counter;

/// The setting of all plays.
pub(super) struct Replay<'a> {
    pub(super) simulation: &'a Simulation<'a>,
    pub(super) view: Arc<CatalogView>,
    pub(super) meter: RequestMeter<'a>,
    /// Tokens of each tool in full, by canonical name.
    pub(super) definitions: HashMap<String, usize>,
    counter: Counter,
}

/// The tasks as they were played on one surface.
#[derive(Clone, Debug)]
pub(super) struct Played {
    pub(super) surface: Surface,
    pub(super) bound: usize,
    pub(super) prompt: usize,
    pub(super) ledgers: Vec<Ledger>,
    pub(super) events: Events,
}

impl<'a> Replay<'a> {
    pub(super) fn new(simulation: &'a Simulation<'a>) -> Result<Self, SimulationError> {
        let Simulation { catalog, profile, templates, provider, .. } = simulation;
        let view = CatalogView::new(catalog, *profile, None, Arc::clone(templates));
        let view = Arc::new(view.map_err(SimulationError::Profile)?);
        let mut meter = RequestMeter::new(catalog, templates, *provider);
        let definitions = meter.definitions(&catalog.profile(*profile).map_err(SimulationError::Profile)?);
        Ok(Self { simulation, view, meter, definitions, counter: Counter::default() })
    }

    /// Plays tasks on a surface; the error is the reason why it is not there.
    pub(super) async fn play(
        &mut self,
        profile: &Profile<'_>,
        surface: Surface,
        tasks: &[&Task],
        progress: &dyn Fn(),
    ) -> Result<Played, String> {
        let (taken, bound, prompt) = self.meter.request(profile, surface)?;
        if taken != surface {
            let why = match surface {
                Surface::Core => "no tool of the profile is full; `toolcrib tune` chooses some",
                _ => "the provider defers no tools",
            };
            return Err(format!("it is the same as {}, since {why}", taken.as_str()));
        }
        let definitions = &self.definitions;
        let mut agent = Agent {
            surface,
            batched: self.simulation.batched,
            view: Arc::clone(&self.view),
            profile,
            counter: &mut self.counter,
            definition: &|tool: &Tool| definitions.get(&tool.name).copied().unwrap_or_default(),
        };
        let mut mistakes = self.simulation.noise.map(Mistakes::of);
        let (mut ledgers, mut events) = (Vec::new(), Events::default());
        for task in tasks {
            let (ledger, seen) = agent.play(task, mistakes.as_mut()).await;
            ledgers.push(ledger);
            events.add(seen);
            progress();
        }
        Ok(Played { surface, bound, prompt, ledgers, events })
    }
}

impl Played {
    /// Some of the tasks.
    pub(super) fn among(&self, tasks: &[usize]) -> Self {
        let ledgers = tasks.iter().filter_map(|task| self.ledgers.get(*task).cloned()).collect();
        let Self { surface, bound, prompt, ref events, .. } = *self;
        Self { surface, bound, prompt, ledgers, events: events.clone() }
    }

    /// Tokens a task with this host context, on average.
    pub(super) fn total(&self, simulation: &Simulation<'_>, host: usize) -> f64 {
        let fixed = host + self.bound + self.prompt;
        let all: f64 = self.ledgers.iter().map(|ledger| ledger.cost(fixed, simulation.cache)).sum();
        all / self.ledgers.len().max(1) as f64
    }

    /// The average of a task, to one decimal.
    pub(super) fn mean(&self, of: impl Fn(&Ledger) -> usize) -> f64 {
        tenth(self.ledgers.iter().map(of).sum::<usize>() as f64 / self.ledgers.len().max(1) as f64)
    }
}
