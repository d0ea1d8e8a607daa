//! The running catalog. A new one is built beside it and swapped in; a request sees one or the other, never a mixture.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::watch;

use crate::snapshot::Snapshot;
use toolcrib_catalog::sources::Awaited;
use toolcrib_catalog::{Checked, UnknownProfile};
use toolcrib_definition::finding::Finding;
use toolcrib_definition::guard::guarded_now;
use toolcrib_front::address::Addresses;
use toolcrib_gateway::functions::{CatalogView, Services};
use toolcrib_render::Templates;

pub use crate::snapshot::ServeOptions;

/// Pause before indexing, so that a start or a reload has the cores to itself: first answers are small, and need no
/// search.
const PAUSE: Duration = Duration::from_millis(50);

/// The running catalog.
#[derive(Debug)]
pub struct LiveCatalog {
    pub(super) options: ServeOptions,
    /// Whether a client knows of a list, so that its kind must stay.
    is_listed: AtomicBool,
    services: Arc<Services>,
    nudge: Option<Nudge>,
    /// The addresses of its registries.
    pub(super) addresses: Addresses,
    current: ArcSwap<Snapshot>,
    /// The findings that keep the catalog on disk from being served, errors first; the last good one is served meanwhile.
    stale: ArcSwapOption<Vec<Finding>>,
    changed: watch::Sender<()>,
}

/// Makes the follower of the catalog read it again.
struct Nudge(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Nudge {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Nudge")
    }
}

/// Longest time in which a new list is read into the catalog.
const READING: Duration = Duration::from_secs(5);

/// Outcomes of catalogs that were rebuilt: taken, not taken because input is missing, or failed.
const OUTCOMES: [&str; 3] = ["taken", "kept_last", "failed"];

impl LiveCatalog {
    /// Starts with a catalog, even one whose input could not all be read.
    pub fn new(
        checked: Checked,
        options: ServeOptions,
        templates: Arc<Templates>,
    ) -> Result<Self, UnknownProfile> {
        let stale = stale(&checked);
        let snapshot = Snapshot::new(checked, &options, None, &templates, None)?;
        let (changed, _) = watch::channel(());
        index_soon(snapshot.views());
        Ok(Self {
            options,
            is_listed: AtomicBool::new(false),
            services: Arc::default(),
            nudge: None,
            addresses: Addresses::default(),
            current: ArcSwap::from_pointee(snapshot),
            stale: ArcSwapOption::new(stale.map(Arc::new)),
            changed,
        })
    }

    /// Sets the services of calls.
    pub fn with_services(mut self, services: Services) -> Self {
        self.services = Arc::new(services);
        OUTCOMES.iter().for_each(|outcome| self.count_reloads(outcome, 0));
        self.current().views().for_each(|view| self.services.prepare(view));
        self
    }

    /// Sets the function that makes its follower read the catalog again.
    pub fn with_nudge(self, nudge: impl Fn() + Send + Sync + 'static) -> Self {
        Self { nudge: Some(Nudge(Box::new(nudge))), ..self }
    }

    /// Sets the addresses of its registries.
    pub fn with_addresses(self, addresses: Addresses) -> Self {
        Self { addresses, ..self }
    }

    /// Has the catalog read again at once; false where nothing follows it.
    pub fn nudge(&self) -> bool {
        self.nudge.as_ref().map(|nudge| nudge.0()).is_some()
    }

    /// The services that all calls share.
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// The current snapshot.
    pub fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Waits until all live servers have listed their tools or failed, or have had the time for it that is configured; from
    /// then on lists keep their kind. It does not wait longer than `patience`.
    pub async fn listed_within(&self, patience: Duration) {
        if tokio::time::timeout(patience, self.all_listed()).await.is_ok() {
            self.is_listed.store(true, Ordering::Relaxed);
        }
    }

    async fn all_listed(&self) {
        let mut changed = self.subscribe();
        while let Some(awaited) = &self.current().awaited {
            let until = tokio::time::Instant::from_std(awaited.until);
            if tokio::time::timeout_at(until, changed.changed()).await.is_err() {
                // A list that came in time may still be on its way into the catalog.
                let reading = tokio::time::timeout(READING, changed.changed());
                if !self.is_listed_since(awaited) || reading.await.is_err() {
                    return;
                }
            }
        }
    }

    /// Whether an awaited server has listed its tools after the catalog was read.
    fn is_listed_since(&self, awaited: &Awaited) -> bool {
        let servers = self.services.backends.connections().map(|connections| connections.servers());
        servers
            .into_iter()
            .flatten()
            .any(|server| server.state.tools().is_some() && awaited.servers.contains(&server.endpoint.name))
    }

    /// The findings that keep the catalog on disk from being served, if any do.
    pub fn stale(&self) -> Option<Arc<Vec<Finding>>> {
        self.stale.load_full()
    }

    /// Signals each new snapshot. [`CatalogView::content`] shows whether anything changes for a caller.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn count_reloads(&self, outcome: &str, count: u64) {
        self.services.counts.add("toolcrib_reloads_total", &format!("outcome=\"{outcome}\""), count);
    }

    /// Takes over a rebuilt catalog, unless it lacks input that the last one had.
    pub fn replace(&self, checked: Checked, is_worse: bool, templates: &Arc<Templates>) {
        let stale = stale(&checked);
        if is_worse {
            self.count_reloads("kept_last", 1);
            return self.stale.store(stale.map(Arc::new));
        }
        let current = self.current();
        let is_undecided = current.awaited.is_some() && !self.is_listed.load(Ordering::Relaxed);
        let listings = (!is_undecided).then(|| Arc::clone(&current.listings));
        match Snapshot::new(checked, &self.options, listings, templates, Some(&current)) {
            Ok(snapshot) => {
                // The new catalog is served without the findings of the last one.
                self.stale.store(stale.map(Arc::new));
                let snapshot = Arc::new(snapshot);
                snapshot.views().for_each(|view| self.services.prepare(view));
                self.current.store(Arc::clone(&snapshot));
                index_soon(snapshot.views());
                self.changed.send_replace(());
                self.count_reloads("taken", 1);
            }
            Err(problem) => self.fail(problem.to_string()),
        }
    }

    /// Keeps the last catalog, since the new one cannot be served: its templates or its profile are missing.
    pub fn fail(&self, problem: String) {
        self.count_reloads("failed", 1);
        let finding = Finding::new(toolcrib_definition::finding::Code::ConfigInvalid, problem);
        self.stale.store(Some(Arc::new(vec![finding])));
    }
}

/// The errors that keep a catalog from being served.
fn stale(checked: &Checked) -> Option<Vec<Finding>> {
    checked.lost_input().then(|| checked.findings.errors().cloned().collect())
}

/// Builds the search indexes of new catalog views on a thread of its own, and not at the first search. Without the thread,
/// searches build them.
fn index_soon<'v>(views: impl Iterator<Item = &'v Arc<CatalogView>>) {
    let views: Vec<Weak<CatalogView>> = views.map(Arc::downgrade).collect();
    let indexing = move || {
        for view in views {
            // A dropped catalog view is no longer wanted.
            if view.upgrade().is_none_or(|view| view.is_indexed()) {
                continue;
            }
            std::thread::sleep(PAUSE);
            if let Some(view) = view.upgrade() {
                // A failure here happens again where the index is used, and is reported there; the next catalog view is
                // indexed all the same.
                let _ = guarded_now(|| view.build_indexes());
            }
        }
    };
    let _ = std::thread::Builder::new().name("words".into()).spawn(indexing);
}
