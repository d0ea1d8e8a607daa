//! Tasks as they are played in one mode. One catalog view serves all plays, with any full tools.

use std::collections::HashMap;
use std::sync::Arc;

use toolcrib::Mode;
use toolcrib::catalog::{Profile, Tool};
use toolcrib::config::{self, SearchBy};
use toolcrib::functions::CatalogView;
use toolcrib::report::{Meter, Options};
use toolcrib::tokens::Counter;

use crate::agent::{Agent, Events};
use crate::ledger::Ledger;
use crate::table::tenth;
use crate::tasks::Task;
use crate::{Result, Run};

/// The setting of all plays.
pub struct Replay<'a> {
    pub run: &'a Run<'a>,
    pub view: Arc<CatalogView>,
    pub meter: Meter<'a>,
    /// Tokens of each tool in full, by canonical name.
    pub definitions: HashMap<String, usize>,
    counter: Counter,
}

/// The tasks as they were played in one mode.
#[derive(Clone, Debug)]
pub struct Played {
    pub mode: Mode,
    pub bound: usize,
    pub prompt: usize,
    pub ledgers: Vec<Ledger>,
    pub events: Events,
}

impl<'a> Replay<'a> {
    pub fn new(run: &'a Run<'a>) -> Result<Self> {
        let name = run.profile_name();
        let view = Arc::new(CatalogView::new(run.catalog, name, None, Arc::clone(&run.templates))?);
        // Where a provider lets its client search, the client does.
        let provider = run.setting.provider;
        let payload = config::Payload { provider, search: SearchBy::Client, ..run.catalog.config.payload };
        let options = Options { profile: None, mode: None, payload, budget: None };
        let mut meter = Meter::new(run.catalog, &run.templates, options);
        let definitions = meter.whole(&run.catalog.profile(name)?);
        Ok(Self { run, view, meter, definitions, counter: Counter::default() })
    }

    /// Plays tasks in a mode; the error is the reason why it is not there.
    pub async fn play(&mut self, profile: &Profile<'_>, mode: Mode, tasks: &[&Task]) -> Result<Played> {
        let counted = self.meter.count(profile, mode)?;
        if counted.mode != mode {
            let taken = counted.mode.as_str();
            return Err(format!("it is the same as {taken}: the provider defers no tools").into());
        }
        let (bound, prompt) = (counted.bound, self.meter.prompt(profile, mode)?);
        let definitions = &self.definitions;
        let mut agent = Agent {
            mode,
            batched: self.run.setting.batched,
            view: Arc::clone(&self.view),
            profile,
            counter: &mut self.counter,
            definition: &|tool: &Tool| definitions.get(&tool.names.canonical).copied().unwrap_or_default(),
        };
        let (mut ledgers, mut events) = (Vec::new(), Events::default());
        for task in tasks {
            let (ledger, seen) = agent.play(task).await;
            ledgers.push(ledger);
            events.add(seen);
        }
        Ok(Played { mode, bound, prompt, ledgers, events })
    }
}

impl Played {
    /// Some of the tasks.
    pub fn among(&self, tasks: &[usize]) -> Self {
        let ledgers = tasks.iter().filter_map(|task| self.ledgers.get(*task).cloned()).collect();
        let Self { mode, bound, prompt, ref events, .. } = *self;
        Self { mode, bound, prompt, ledgers, events: events.clone() }
    }

    /// Tokens a task with this host context, on average.
    pub fn total(&self, run: &Run<'_>, host: usize) -> f64 {
        let fixed = host + self.bound + self.prompt;
        let all: f64 = self.ledgers.iter().map(|ledger| ledger.cost(fixed, run.setting.prompt_cache)).sum();
        all / self.ledgers.len().max(1) as f64
    }

    /// The average of a task, to one decimal.
    pub fn mean(&self, of: impl Fn(&Ledger) -> usize) -> f64 {
        tenth(self.ledgers.iter().map(of).sum::<usize>() as f64 / self.ledgers.len().max(1) as f64)
    }
}
