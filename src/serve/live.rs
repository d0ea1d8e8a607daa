//! The running catalog. A new one is built beside it and swapped in; a request sees one or the other, never a mixture.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::{ArcSwap, ArcSwapOption};
use http::HeaderName;
use tokio::sync::watch;

use super::ListingPolicy;
use super::background_indexer::BackgroundIndexer;
use super::http::ResponseCache;
use crate::catalog::Checked;
use crate::config::Config;
use crate::exec::Caller;
use crate::finding::{Finding, Severity};
use crate::functions::{CatalogView, Services};
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
    whole: Arc<ResponseCache>,
    /// What callers without any role see.
    open: Arc<ResponseCache>,
    by_roles: BTreeMap<Vec<String>, Arc<ResponseCache>>,
    /// The headers of callers that some server is sent.
    pub(super) caller_headers: Vec<HeaderName>,
}

/// What keeps the catalog on disk from being served: the last good one is, meanwhile.
#[derive(Debug)]
pub struct StaleCatalog {
    /// What is wrong, errors first.
    pub findings: Vec<Finding>,
}

/// What stays the same while catalogs come and go.
#[derive(Debug, Default)]
pub struct ServeOptions {
    /// The profile that is served; the whole catalog when there is none.
    pub profile: Option<String>,
    /// The sets of roles that tokens have, each sorted.
    pub roles: Vec<Vec<String>>,
    /// What the lists of clients show.
    pub listing: ListingPolicy,
}

/// The running catalog.
#[derive(Debug)]
pub struct LiveCatalog {
    options: ServeOptions,
    services: Arc<Services>,
    indexing: BackgroundIndexer,
    current: ArcSwap<Generation>,
    stale: ArcSwapOption<StaleCatalog>,
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
        options: &ServeOptions,
        templates: &Arc<Templates>,
        before: Option<&Self>,
    ) -> Result<Self, String> {
        let Checked { catalog, findings, .. } = checked;
        let findings: Arc<[Finding]> = findings.into();
        let configured = |config: &Config| serde_json::to_string(config).unwrap_or_default();
        let before = before.filter(|before| {
            configured(&before.unrestricted_view().catalog().config) == configured(&catalog.config)
        });
        // Who sees the same shares what is made of it; but only who is to see everything is told what was found.
        let mut views: Vec<_> = before.into_iter().flat_map(Self::views).map(Arc::clone).collect();
        let mut view = |roles: Option<&[String]>| {
            let profile = options.profile.as_deref();
            let made = CatalogView::new(&catalog, profile, roles, Arc::clone(templates))?;
            if let Some(known) = views.iter().find(|known| known.is_like(&made)) {
                return Ok::<_, String>(Arc::clone(known));
            }
            views.push(Arc::new(made));
            Ok(Arc::clone(&views[views.len() - 1]))
        };
        let whole = Arc::new(ResponseCache::new(view(None)?, Arc::clone(&findings), options.listing));
        let mut shelves: Vec<_> =
            before.into_iter().flat_map(Self::without_findings).map(Arc::clone).collect();
        let mut cache = |roles: &[String]| {
            let seen = view(Some(roles))?;
            if let Some(known) = shelves.iter().find(|known| Arc::ptr_eq(known.view(), &seen)) {
                return Ok::<_, String>(Arc::clone(known));
            }
            shelves.push(Arc::new(ResponseCache::new(seen, Arc::from([]), options.listing)));
            Ok(Arc::clone(&shelves[shelves.len() - 1]))
        };
        let open = cache(&[])?;
        let mut by_roles = BTreeMap::new();
        for roles in &options.roles {
            by_roles.insert(roles.clone(), cache(roles)?);
        }
        let (version, complete) = (whole.view().version().to_string(), catalog.complete);
        let caller_headers = caller_headers(&catalog.config);
        Ok(Self { version, complete, findings, whole, open, by_roles, caller_headers })
    }

    /// What this caller may see.
    pub fn view(&self, caller: &Caller) -> &Arc<CatalogView> {
        self.cache(caller).view()
    }

    /// What there is for callers with every role.
    pub fn unrestricted_view(&self) -> &Arc<CatalogView> {
        self.whole.view()
    }

    /// What there is for any caller.
    fn views(&self) -> impl Iterator<Item = &Arc<CatalogView>> {
        std::iter::once(&self.whole).chain(self.without_findings()).map(|cache| cache.view())
    }

    /// What is kept for callers who are not told what was found.
    fn without_findings(&self) -> impl Iterator<Item = &Arc<ResponseCache>> {
        std::iter::once(&self.open).chain(self.by_roles.values())
    }

    /// What the HTTP door keeps for this caller.
    pub(super) fn cache(&self, caller: &Caller) -> &Arc<ResponseCache> {
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
    let mut names: Vec<HeaderName> =
        names.filter(|name| !HOP_BY_HOP_HEADERS.contains(&name.as_str())).collect();
    names.sort_by(|one, other| one.as_str().cmp(other.as_str()));
    names.dedup();
    names
}

/// What a request says to the next hop only.
const HOP_BY_HOP_HEADERS: [&str; 11] = [
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

impl LiveCatalog {
    /// Starts with a catalog, even one of which not all could be read.
    pub fn new(checked: Checked, options: ServeOptions, templates: Arc<Templates>) -> Result<Self, String> {
        let stale = StaleCatalog::of(&checked);
        let generation = Generation::new(checked, &options, &templates, None)?;
        let (changed, _) = watch::channel(());
        let indexing = BackgroundIndexer::start();
        indexing.add(generation.views());
        Ok(Self {
            options,
            services: Arc::default(),
            indexing,
            current: ArcSwap::from_pointee(generation),
            stale: ArcSwapOption::new(stale.map(Arc::new)),
            changed,
            reloads: Reloads::default(),
        })
    }

    /// Gives calls these services.
    pub fn with_services(mut self, services: Services) -> Self {
        self.services = Arc::new(services);
        self.current().views().for_each(|view| self.services.prepare(view));
        self
    }

    /// What all calls share.
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// What the lists of clients show.
    pub fn listing(&self) -> ListingPolicy {
        self.options.listing
    }

    /// The current generation.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// What is wrong with the catalog on disk, if it is not the one that is served.
    pub fn stale(&self) -> Option<Arc<StaleCatalog>> {
        self.stale.load_full()
    }

    /// Tells of each new generation. Whether a caller sees anything else in it, [`CatalogView::content`] says.
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
        let stale = StaleCatalog::of(&checked);
        if is_worse {
            self.reloads.kept.fetch_add(1, Ordering::Relaxed);
            return self.stale.store(stale.map(Arc::new));
        }
        match Generation::new(checked, &self.options, templates, Some(&self.current())) {
            Ok(generation) => {
                let generation = Arc::new(generation);
                generation.views().for_each(|view| self.services.prepare(view));
                // Who sees the new catalog does not see what was wrong with the last one.
                self.stale.store(stale.map(Arc::new));
                self.current.store(Arc::clone(&generation));
                self.indexing.add(generation.views());
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
        self.stale.store(Some(Arc::new(StaleCatalog { findings: vec![finding] })));
    }
}

impl StaleCatalog {
    fn of(checked: &Checked) -> Option<Self> {
        let errors = || checked.findings.iter().filter(|finding| finding.severity == Severity::Error);
        checked.lost_input().then(|| Self { findings: errors().cloned().collect() })
    }
}
