//! The running catalog. A new one is built beside it and swapped in; a request sees one or the other, never a mixture.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::watch;

use super::Caller;
use crate::catalog::Checked;
use crate::finding::{Finding, Severity};
use crate::functions::Edition;
use crate::render::Templates;

/// One state of the catalog and all that is made of it; immutable.
#[derive(Debug)]
pub struct Generation {
    /// The registry version.
    pub version: String,
    /// Whether all input could be read.
    pub complete: bool,
    /// What was found in the input.
    pub findings: Vec<Finding>,
    whole: Arc<Edition>,
    by_roles: HashMap<Vec<String>, Arc<Edition>>,
}

/// What keeps the catalog on disk from being served: the last good one is, meanwhile.
#[derive(Debug)]
pub struct Trouble {
    /// What is wrong, errors first.
    pub findings: Vec<Finding>,
}

/// What stays the same while catalogs come and go.
#[derive(Debug)]
pub struct Setting {
    /// The profile that is served; the whole catalog when there is none.
    pub profile: Option<String>,
    /// The sets of roles that tokens have, each sorted.
    pub roles: Vec<Vec<String>>,
}

/// The running catalog.
#[derive(Debug)]
pub struct Live {
    setting: Setting,
    current: ArcSwap<Generation>,
    trouble: ArcSwapOption<Trouble>,
    changed: watch::Sender<String>,
}

impl Generation {
    fn new(checked: Checked, setting: &Setting, templates: &Arc<Templates>) -> Result<Self, String> {
        let Checked { catalog, findings, .. } = checked;
        let edition = |roles: Option<&[String]>| {
            Edition::new(&catalog, setting.profile.as_deref(), roles, Arc::clone(templates)).map(Arc::new)
        };
        let whole = edition(None)?;
        let is_open = catalog.tools.iter().all(|tool| tool.definition.allowed_roles.is_empty());
        let mut by_roles = HashMap::new();
        for roles in &setting.roles {
            let edition = if is_open { Arc::clone(&whole) } else { edition(Some(roles))? };
            by_roles.insert(roles.clone(), edition);
        }
        Ok(Self { version: catalog.version.clone(), complete: catalog.complete, findings, whole, by_roles })
    }

    /// What this caller may see.
    pub fn edition(&self, caller: &Caller) -> &Arc<Edition> {
        match &caller.roles {
            None => &self.whole,
            Some(roles) => self.by_roles.get(roles).unwrap_or(&self.whole),
        }
    }
}

impl Live {
    /// Starts with a catalog, even one of which not all could be read.
    pub fn new(checked: Checked, setting: Setting, templates: Arc<Templates>) -> Result<Self, String> {
        let trouble = Trouble::of(&checked);
        let generation = Generation::new(checked, &setting, &templates)?;
        let (changed, _) = watch::channel(generation.version.clone());
        Ok(Self {
            setting,
            current: ArcSwap::from_pointee(generation),
            trouble: ArcSwapOption::new(trouble.map(Arc::new)),
            changed,
        })
    }

    /// The current generation.
    pub fn now(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// What is wrong with the catalog on disk, if it is not the one that is served.
    pub fn trouble(&self) -> Option<Arc<Trouble>> {
        self.trouble.load_full()
    }

    /// Tells the version of each new generation.
    pub fn subscribe(&self) -> watch::Receiver<String> {
        self.changed.subscribe()
    }

    /// Takes over a catalog that was built anew. One of which not all could be read does not replace one that is whole.
    pub fn replace(&self, checked: Checked, templates: &Arc<Templates>) {
        let trouble = Trouble::of(&checked);
        let keeps_last = trouble.is_some() && self.current.load().complete;
        if !keeps_last {
            match Generation::new(checked, &self.setting, templates) {
                Ok(generation) => {
                    let version = generation.version.clone();
                    self.current.store(Arc::new(generation));
                    self.changed
                        .send_if_modified(|known| std::mem::replace(known, version.clone()) != version);
                }
                Err(problem) => return self.trouble.store(Some(Arc::new(Trouble::of_profile(problem)))),
            }
        }
        self.trouble.store(trouble.map(Arc::new));
    }
}

impl Trouble {
    fn of(checked: &Checked) -> Option<Self> {
        let errors = || checked.findings.iter().filter(|finding| finding.severity == Severity::Error);
        checked.lost_input().then(|| Self { findings: errors().cloned().collect() })
    }

    fn of_profile(problem: String) -> Self {
        Self { findings: vec![Finding::new(crate::finding::Code::ConfigInvalid, problem)] }
    }
}
