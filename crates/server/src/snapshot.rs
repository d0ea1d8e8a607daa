//! One snapshot of the catalog with everything made from it; immutable. The next one shares the parts that stay equal.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use http::HeaderName;

use crate::ListingOptions;
use crate::listing::Listings;
use crate::served_view::{ProfileViews, ServedView, ViewBuilder};
use toolcrib_catalog::config::{Config, EVERY_PROFILE, Server};
use toolcrib_catalog::sources::Awaited;
use toolcrib_catalog::{Checked, Findings, UnknownProfile};
use toolcrib_front::credentials::wants_caller_token;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::CatalogView;
use toolcrib_render::Templates;

/// One snapshot of the catalog with everything made from it; immutable.
#[derive(Debug)]
pub struct Snapshot {
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
    /// What clients list.
    pub(super) listings: Arc<Listings>,
    /// The views of requests that choose no profile, then of each profile that a request may choose.
    profiles: Vec<ProfileViews>,
    /// The headers of callers that some server is configured to receive.
    pub(super) caller_headers: Vec<HeaderName>,
    /// Whether some server is called with the token of the caller.
    pub(super) wants_caller_tokens: bool,
}

/// Options that stay the same for every snapshot.
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
    pub workspace_template: Option<PathBuf>,
}

impl ServeOptions {
    /// The profiles of a snapshot: first the one of requests that choose none, then those that a request may choose.
    pub(super) fn profiles<'c>(&'c self, config: &'c Config) -> impl Iterator<Item = Option<&'c str>> {
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

impl Snapshot {
    /// A snapshot that reuses the catalog views of `before` whose content has not changed. Without `listings`, they are decided now.
    pub(super) fn new(
        checked: Checked,
        options: &ServeOptions,
        listings: Option<Arc<Listings>>,
        templates: &Arc<Templates>,
        before: Option<&Self>,
    ) -> Result<Self, UnknownProfile> {
        let Checked { catalog, findings, registries, awaited, .. } = checked;
        let listings = listings.unwrap_or_else(|| {
            let profiles = options.profiles(&catalog.config);
            Arc::new(Listings::of(options.listing, &catalog, templates, profiles))
        });
        let configured = |config: &Config| serde_json::to_string(config).unwrap_or_default();
        let before = before.filter(|before| {
            configured(&before.unrestricted_view().catalog().config) == configured(&catalog.config)
        });
        let known = before.into_iter().flat_map(Self::served).cloned().collect();
        let mut builder =
            ViewBuilder { catalog: &catalog, findings: &findings, templates, listings: &listings, known };
        let names = options.profiles(&catalog.config);
        let profiles: Result<Vec<_>, _> = names.map(|name| builder.profile(name, &options.callers)).collect();
        let profiles = profiles?;
        Ok(Self {
            version: profiles[0].whole.view.version().to_string(),
            registries,
            complete: catalog.complete,
            findings,
            awaited,
            listings,
            profiles,
            caller_headers: caller_headers(&catalog.config),
            wants_caller_tokens: servers(&catalog.config).any(wants_caller_token),
        })
    }

    /// The catalog view with every tool, for requests that choose no profile.
    pub fn unrestricted_view(&self) -> &Arc<CatalogView> {
        &self.profiles[0].whole.view
    }

    /// Whether some list of clients has tools of the catalog.
    pub(super) fn lists_tools(&self) -> bool {
        self.profiles.iter().any(|profile| profile.whole.lists_tools())
    }

    /// The names of the profiles that a request may choose, beside the one of requests that choose none.
    pub fn choices(&self) -> impl Iterator<Item = &str> {
        self.profiles.iter().skip(1).filter_map(|profile| profile.name.as_deref())
    }

    /// Position of the views of a profile.
    pub(super) fn position(&self, profile: Option<&str>) -> Option<usize> {
        self.profiles.iter().position(|known| known.name.as_deref() == profile)
    }

    /// The views of the profile at this position.
    pub(super) fn profile(&self, position: usize) -> &ProfileViews {
        self.profiles.get(position).unwrap_or(&self.profiles[0])
    }

    fn served(&self) -> impl Iterator<Item = &Arc<ServedView>> {
        self.profiles.iter().flat_map(ProfileViews::all)
    }

    /// All catalog views.
    pub(super) fn views(&self) -> impl Iterator<Item = &Arc<CatalogView>> {
        self.served().map(|served| &served.view)
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
