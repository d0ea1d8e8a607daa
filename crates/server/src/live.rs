//! The running catalog. A new one is built beside it and swapped in; a request sees one or the other, never a mixture.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use http::HeaderName;
use tokio::sync::watch;

use super::listed_tools::{ListingOptions, Listings};
use super::request_catalog::{CacheBuilder, ProfileCaches};
use super::response::ResponseCache;
use toolcrib_catalog::config::{Config, EVERY_PROFILE, Server};
use toolcrib_catalog::sources::Awaited;
use toolcrib_catalog::{Checked, Findings, UnknownProfile};
use toolcrib_definition::finding::Finding;
use toolcrib_definition::guard::guarded_now;
use toolcrib_docs::Templates;
use toolcrib_front::address::Addresses;
use toolcrib_front::credentials::wants_caller_token;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::{CatalogView, Services};

/// Pause before indexing, so that a start or a reload has the cores to itself: first answers are small, and need no
/// search.
const PAUSE: Duration = Duration::from_millis(50);

/// One generation of the catalog with everything made from it; immutable.
#[derive(Debug)]
pub struct Generation {
    /// The registry version.
    pub version: String,
    /// The registry version in each `registry.json` that was read.
    pub registries: BTreeMap<String, String>,
    /// Whether all input could be read.
    pub complete: bool,
    /// Findings of the input.
    pub findings: Findings,
    /// The live servers that have not answered yet, and may do so soon.
    pub awaited: Option<Awaited>,
    /// The caches of requests that choose no profile, then of each profile that a request may choose.
    profiles: Vec<ProfileCaches>,
    /// The headers of callers that some server is configured to receive.
    pub(super) caller_headers: Vec<HeaderName>,
    /// Whether some server is called with the token of the caller.
    pub(super) wants_caller_tokens: bool,
}

/// Options that stay the same for every generation.
#[derive(Debug, Default)]
pub struct ServeOptions {
    /// The profile of requests that choose none; `None` for the whole catalog.
    pub profile: Option<String>,
    /// The profiles that a request may choose beside it; `*` is every profile. `None` for every one, or where there is a
    /// `profile`, no other.
    pub profiles: Option<Vec<String>>,
    /// The callers with a token.
    pub callers: Vec<Caller>,
    /// The lists of clients.
    pub listing: ListingOptions,
    /// The template of workspaces.
    pub workspace_template: Option<PathBuf>,
}

/// The running catalog.
#[derive(Debug)]
pub struct LiveCatalog {
    pub(super) options: ServeOptions,
    listings: ArcSwap<Listings>,
    /// Whether a client knows of a list, so that its kind must stay.
    is_listed: AtomicBool,
    services: Arc<Services>,
    nudge: Option<Nudge>,
    addresses: Addresses,
    current: ArcSwap<Generation>,
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

impl ServeOptions {
    /// The profiles of a generation: first the one of requests that choose none, then those that a request may choose.
    fn profiles<'c>(&'c self, config: &'c Config) -> impl Iterator<Item = Option<&'c str>> {
        let usual = self.profile.as_deref();
        let listed: Vec<&'c String> = match &self.profiles {
            Some(listed) if !listed.iter().any(|name| name == EVERY_PROFILE) => listed.iter().collect(),
            None if usual.is_some() => Vec::new(),
            _ => config.profiles.keys().collect(),
        };
        let others = listed.into_iter().map(|name| Some(name.as_str())).filter(move |name| *name != usual);
        std::iter::once(usual).chain(others)
    }
}

impl Generation {
    /// A generation that reuses the catalog views of `before` whose content has not changed.
    fn new(
        checked: Checked,
        options: &ServeOptions,
        listings: &Listings,
        templates: &Arc<Templates>,
        before: Option<&Self>,
    ) -> Result<Self, UnknownProfile> {
        let Checked { catalog, findings, registries, awaited, .. } = checked;
        let configured = |config: &Config| serde_json::to_string(config).unwrap_or_default();
        let before = before.filter(|before| {
            configured(&before.unrestricted_view().catalog().config) == configured(&catalog.config)
        });
        let known = before.into_iter().flat_map(Self::caches).cloned().collect();
        let mut builder = CacheBuilder { catalog: &catalog, findings: &findings, templates, listings, known };
        let names = options.profiles(&catalog.config);
        let profiles: Result<Vec<ProfileCaches>, UnknownProfile> =
            names.map(|name| builder.profile(name, &options.callers)).collect();
        let profiles = profiles?;
        Ok(Self {
            version: profiles[0].whole.view().version().to_string(),
            registries,
            complete: catalog.complete,
            findings,
            awaited,
            profiles,
            caller_headers: caller_headers(&catalog.config),
            wants_caller_tokens: servers(&catalog.config).any(wants_caller_token),
        })
    }

    /// The catalog view with every tool, for requests that choose no profile.
    pub fn unrestricted_view(&self) -> &Arc<CatalogView> {
        self.profiles[0].whole.view()
    }

    /// Whether some list of clients has tools of the catalog.
    pub(super) fn lists_tools(&self) -> bool {
        self.profiles.iter().any(|profile| profile.whole.lists_tools())
    }

    /// The names of the profiles that a request may choose, beside the one of requests that choose none.
    pub fn choices(&self) -> impl Iterator<Item = &str> {
        self.profiles.iter().skip(1).filter_map(|profile| profile.name.as_deref())
    }

    /// Position of the caches of a profile.
    pub(super) fn position(&self, profile: Option<&str>) -> Option<usize> {
        self.profiles.iter().position(|known| known.name.as_deref() == profile)
    }

    /// The caches of the profile at this position.
    pub(super) fn profile(&self, position: usize) -> &ProfileCaches {
        self.profiles.get(position).unwrap_or(&self.profiles[0])
    }

    fn caches(&self) -> impl Iterator<Item = &Arc<ResponseCache>> {
        self.profiles.iter().flat_map(ProfileCaches::all)
    }

    /// All catalog views.
    fn views(&self) -> impl Iterator<Item = &Arc<CatalogView>> {
        self.caches().map(|cache| cache.view())
    }
}

/// All servers: those of `[server.NAME]`, and live sources.
fn servers(config: &Config) -> impl Iterator<Item = &Server> {
    config.servers.values().chain(config.sources.iter().filter_map(|source| source.mcp.as_ref()))
}

/// The headers of callers that servers are configured to receive, as `${caller:NAME}`.
fn caller_headers(config: &Config) -> Vec<HeaderName> {
    let values = servers(config).flat_map(|server| server.headers.values());
    let named = values.flat_map(|value| value.split("${caller:").skip(1));
    let names = named.filter_map(|rest| HeaderName::try_from(rest.split_once('}')?.0.trim()).ok());
    let mut names: Vec<HeaderName> =
        names.filter(|name| !HOP_BY_HOP_HEADERS.contains(&name.as_str())).collect();
    names.sort_by(|one, other| one.as_str().cmp(other.as_str()));
    names.dedup();
    names
}

/// Headers for the next hop only.
const HOP_BY_HOP_HEADERS: [&str; 11] = [
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
];

impl LiveCatalog {
    /// Starts with a catalog, even one whose input could not all be read.
    pub fn new(
        checked: Checked,
        options: ServeOptions,
        templates: Arc<Templates>,
    ) -> Result<Self, UnknownProfile> {
        let stale = stale(&checked);
        let catalog = &checked.catalog;
        let listings = Listings::of(options.listing, catalog, &templates, options.profiles(&catalog.config));
        let generation = Generation::new(checked, &options, &listings, &templates, None)?;
        let (changed, _) = watch::channel(());
        index_soon(generation.views());
        Ok(Self {
            options,
            listings: ArcSwap::from_pointee(listings),
            is_listed: AtomicBool::new(false),
            services: Arc::default(),
            nudge: None,
            addresses: Addresses::default(),
            current: ArcSwap::from_pointee(generation),
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

    /// The addresses of its registries.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Has the catalog read again at once; false where nothing follows it.
    pub fn nudge(&self) -> bool {
        self.nudge.as_ref().map(|nudge| nudge.0()).is_some()
    }

    /// The services that all calls share.
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// The current generation.
    pub fn current(&self) -> Arc<Generation> {
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
            .any(|server| server.tools.is_some() && awaited.servers.contains(&server.name))
    }

    /// The findings that keep the catalog on disk from being served, if any do.
    pub fn stale(&self) -> Option<Arc<Vec<Finding>>> {
        self.stale.load_full()
    }

    /// Signals each new generation. [`CatalogView::content`] shows whether anything changes for a caller.
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
        if current.awaited.is_some() && !self.is_listed.load(Ordering::Relaxed) {
            let catalog = &checked.catalog;
            let options = &self.options;
            let listings =
                Listings::of(options.listing, catalog, templates, options.profiles(&catalog.config));
            self.listings.store(Arc::new(listings));
        }
        let listings = self.listings.load();
        match Generation::new(checked, &self.options, &listings, templates, Some(&current)) {
            Ok(generation) => {
                // The new catalog is served without the findings of the last one.
                self.stale.store(stale.map(Arc::new));
                let generation = Arc::new(generation);
                generation.views().for_each(|view| self.services.prepare(view));
                self.current.store(Arc::clone(&generation));
                index_soon(generation.views());
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
