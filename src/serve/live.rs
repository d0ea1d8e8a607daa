//! The running catalog. A new one is built beside it and swapped in; a request sees one or the other, never a mixture.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::{ArcSwap, ArcSwapOption};
use http::HeaderName;
use tokio::sync::watch;

use super::http::Shelf;
use super::indexing::Indexing;
use super::{Seen, Shown};
use crate::catalog::Checked;
use crate::config::Config;
use crate::exec::Caller;
use crate::finding::{Finding, Severity};
use crate::functions::{Edition, Services};
use crate::render::Templates;

/// One state of the catalog and all that is made of it; immutable.
#[derive(Debug)]
pub struct Generation {
    /// The registry version.
    pub version: String,
    /// Whether all input could be read.
    pub complete: bool,
    /// What was found in the input.
    pub findings: Arc<[Finding]>,
    whole: Arc<Shelf>,
    /// What callers without any role see.
    open: Arc<Shelf>,
    by_roles: BTreeMap<Vec<String>, Arc<Shelf>>,
    /// The headers of callers that some server is sent.
    pub(super) caller_headers: Vec<HeaderName>,
}

/// What keeps the catalog on disk from being served: the last good one is, meanwhile.
#[derive(Debug)]
pub struct Trouble {
    /// What is wrong, errors first.
    pub findings: Vec<Finding>,
}

/// What stays the same while catalogs come and go.
#[derive(Debug, Default)]
pub struct Setting {
    /// The profile that is served; the whole catalog when there is none.
    pub profile: Option<String>,
    /// The sets of roles that tokens have, each sorted.
    pub roles: Vec<Vec<String>>,
    /// What the lists of clients show.
    pub shown: Shown,
}

/// The running catalog.
#[derive(Debug)]
pub struct Live {
    setting: Setting,
    services: Arc<Services>,
    indexing: Indexing,
    current: ArcSwap<Generation>,
    trouble: ArcSwapOption<Trouble>,
    changed: watch::Sender<()>,
    reloads: Reloads,
}

/// What became of catalogs that were built anew.
#[derive(Debug, Default)]
struct Reloads {
    taken: AtomicU64,
    kept: AtomicU64,
    failed: AtomicU64,
}

impl Generation {
    /// What a caller saw in the generation `before`, and sees now, stays as it is: nothing is made anew for them.
    fn new(
        checked: Checked,
        setting: &Setting,
        templates: &Arc<Templates>,
        before: Option<&Self>,
    ) -> Result<Self, String> {
        let Checked { catalog, findings, .. } = checked;
        let findings: Arc<[Finding]> = findings.into();
        let configured = |config: &Config| serde_json::to_string(config).unwrap_or_default();
        let before = before.filter(|before| {
            configured(&before.everything().catalog().config) == configured(&catalog.config)
        });
        // Who sees the same shares what is made of it; but only who is to see everything is told what was found.
        let mut editions: Vec<_> = before.into_iter().flat_map(Self::editions).map(Arc::clone).collect();
        let mut edition = |roles: Option<&[String]>| {
            let profile = setting.profile.as_deref();
            let made = Edition::new(&catalog, profile, roles, Arc::clone(templates))?;
            if let Some(known) = editions.iter().find(|known| known.is_like(&made)) {
                return Ok::<_, String>(Arc::clone(known));
            }
            editions.push(Arc::new(made));
            Ok(Arc::clone(&editions[editions.len() - 1]))
        };
        let whole = Arc::new(Shelf::new(edition(None)?, Arc::clone(&findings), setting.shown));
        let mut shelves: Vec<_> =
            before.into_iter().flat_map(Self::without_findings).map(Arc::clone).collect();
        let mut shelf = |roles: &[String]| {
            let seen = edition(Some(roles))?;
            if let Some(known) = shelves.iter().find(|known| Arc::ptr_eq(known.edition(), &seen)) {
                return Ok::<_, String>(Arc::clone(known));
            }
            shelves.push(Arc::new(Shelf::new(seen, Arc::from([]), setting.shown)));
            Ok(Arc::clone(&shelves[shelves.len() - 1]))
        };
        let open = shelf(&[])?;
        let mut by_roles = BTreeMap::new();
        for roles in &setting.roles {
            by_roles.insert(roles.clone(), shelf(roles)?);
        }
        let (version, complete) = (whole.edition().version().to_string(), catalog.complete);
        let caller_headers = caller_headers(&catalog.config);
        Ok(Self { version, complete, findings, whole, open, by_roles, caller_headers })
    }

    /// What this caller may see.
    pub fn edition(&self, caller: &Caller) -> &Arc<Edition> {
        self.shelf(caller).edition()
    }

    /// What there is for callers with every role.
    pub fn everything(&self) -> &Arc<Edition> {
        self.whole.edition()
    }

    /// What there is for any caller.
    fn editions(&self) -> impl Iterator<Item = &Arc<Edition>> {
        std::iter::once(&self.whole).chain(self.without_findings()).map(|shelf| shelf.edition())
    }

    /// What is kept for callers who are not told what was found.
    fn without_findings(&self) -> impl Iterator<Item = &Arc<Shelf>> {
        std::iter::once(&self.open).chain(self.by_roles.values())
    }

    /// What the HTTP door keeps for this caller.
    pub(super) fn shelf(&self, caller: &Caller) -> &Arc<Shelf> {
        match &caller.roles {
            Some(roles) if !caller.sees_everything() => self.by_roles.get(roles).unwrap_or(&self.open),
            _ => &self.whole,
        }
    }
}

/// The headers of callers that servers are configured to be sent, as `${caller:NAME}`.
fn caller_headers(config: &Config) -> Vec<HeaderName> {
    let values = config.servers.values().flat_map(|server| server.headers.values());
    let named = values.flat_map(|value| value.split("${caller:").skip(1));
    let names = named.filter_map(|rest| HeaderName::try_from(rest.split_once('}')?.0.trim()).ok());
    let mut names: Vec<HeaderName> = names.filter(|name| !IS_OF_ONE_HOP.contains(&name.as_str())).collect();
    names.sort_by(|one, other| one.as_str().cmp(other.as_str()));
    names.dedup();
    names
}

/// What a request says to the next hop only.
const IS_OF_ONE_HOP: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Live {
    /// Starts with a catalog, even one of which not all could be read.
    pub fn new(checked: Checked, setting: Setting, templates: Arc<Templates>) -> Result<Self, String> {
        let trouble = Trouble::of(&checked);
        let generation = Generation::new(checked, &setting, &templates, None)?;
        let (changed, _) = watch::channel(());
        let indexing = Indexing::start();
        indexing.add(generation.editions());
        Ok(Self {
            setting,
            services: Arc::default(),
            indexing,
            current: ArcSwap::from_pointee(generation),
            trouble: ArcSwapOption::new(trouble.map(Arc::new)),
            changed,
            reloads: Reloads::default(),
        })
    }

    /// Gives calls these services.
    pub fn with_services(mut self, services: Services) -> Self {
        self.services = Arc::new(services);
        self.now().editions().for_each(|edition| self.services.prepare(edition));
        self
    }

    /// What all calls share.
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// What the lists of clients show.
    pub fn shown(&self) -> Shown {
        self.setting.shown
    }

    /// The current generation.
    pub fn now(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// The same for a request, which asks no more than once.
    pub fn seen(self: &Arc<Self>) -> Seen {
        Seen::of(self)
    }

    /// What is wrong with the catalog on disk, if it is not the one that is served.
    pub fn trouble(&self) -> Option<Arc<Trouble>> {
        self.trouble.load_full()
    }

    /// Tells of each new generation. Whether a caller sees anything else in it, [`Edition::content`] says.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// How often a catalog that was built anew was taken, and how often it was not, by what became of it.
    pub fn reloads(&self) -> [(&'static str, u64); 3] {
        let Reloads { taken, kept, failed } = &self.reloads;
        [("taken", taken), ("kept_last", kept), ("failed", failed)]
            .map(|(outcome, count)| (outcome, count.load(Ordering::Relaxed)))
    }

    /// Takes over a catalog that was built anew, unless it lacks what the last one had.
    pub fn replace(&self, checked: Checked, is_worse: bool, templates: &Arc<Templates>) {
        let trouble = Trouble::of(&checked);
        if is_worse {
            self.reloads.kept.fetch_add(1, Ordering::Relaxed);
            return self.trouble.store(trouble.map(Arc::new));
        }
        match Generation::new(checked, &self.setting, templates, Some(&self.now())) {
            Ok(generation) => {
                let generation = Arc::new(generation);
                generation.editions().for_each(|edition| self.services.prepare(edition));
                // Who sees the new catalog does not see what was wrong with the last one.
                self.trouble.store(trouble.map(Arc::new));
                self.current.store(Arc::clone(&generation));
                self.indexing.add(generation.editions());
                self.changed.send_replace(());
                self.reloads.taken.fetch_add(1, Ordering::Relaxed);
            }
            Err(problem) => self.fail(problem),
        }
    }

    /// Goes on with the last catalog, since of the new one nothing can be made: its templates or its profile are gone.
    pub fn fail(&self, problem: String) {
        self.reloads.failed.fetch_add(1, Ordering::Relaxed);
        let finding = Finding::new(crate::finding::Code::ConfigInvalid, problem);
        self.trouble.store(Some(Arc::new(Trouble { findings: vec![finding] })));
    }
}

impl Trouble {
    fn of(checked: &Checked) -> Option<Self> {
        let errors = || checked.findings.iter().filter(|finding| finding.severity == Severity::Error);
        checked.lost_input().then(|| Self { findings: errors().cloned().collect() })
    }
}
