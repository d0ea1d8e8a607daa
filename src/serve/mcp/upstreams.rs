//! The live servers that a caller sees, each with its connection.

use std::sync::Arc;

use futures_util::future::join_all;
use rmcp::ErrorData;
use rmcp::model::ServerCapabilities;
use rmcp::service::ServiceError;
use tokio::task::JoinSet;

use crate::config::{Config, Source};
use crate::exec::Caller;
use crate::functions::CatalogView;
use crate::serve::RequestCatalog;
use crate::sources::mcp::{ServerList, Session};
use crate::tool::slug;

/// A connected server.
#[derive(Clone)]
pub(super) struct Upstream {
    /// Its name within our addresses and names; stable as long as the configuration is.
    pub(super) name: String,
    /// Whether the names of its prompts begin with its name.
    pub(super) has_prefix: bool,
    pub(super) session: Arc<Session>,
}

/// Whether a catalog has live servers.
pub(super) fn has_live_servers(config: &Config) -> bool {
    config.live_sources().next().is_some()
}

/// The servers with a capability that the caller sees, in the order of the configuration. A server that cannot be
/// reached is left out.
pub(super) async fn with_capability(
    catalog: &RequestCatalog,
    caller: &Caller,
    has: fn(&ServerCapabilities) -> bool,
) -> Vec<Upstream> {
    let mut found = connected(catalog, caller).await;
    found.retain(|upstream| has(&upstream.session.capabilities()));
    found
}

/// The lists of these servers, asked at the same time. A server that does not answer is left out.
pub(super) async fn lists<T>(
    upstreams: Vec<Upstream>,
    list: impl AsyncFn(&Session) -> Result<ServerList<T>, ServiceError>,
) -> Vec<(Upstream, ServerList<T>)> {
    let asked = join_all(upstreams.iter().map(|upstream| list(&upstream.session))).await;
    let answered = upstreams.into_iter().zip(asked).filter_map(|(upstream, answer)| match answer {
        Ok(list) => Some((upstream, list)),
        Err(error) => {
            let problem = upstream.session.request_error(error);
            tracing::warn!(server = upstream.name, problem = %problem.message, "a list of it is left out");
            None
        }
    });
    answered.collect()
}

/// The server of this name, `mcp:NAME`, if the caller sees it and it can be reached.
pub(super) async fn named(catalog: &RequestCatalog, caller: &Caller, called: &str) -> Option<Upstream> {
    let mut sources = seen(catalog, caller).into_iter();
    open(catalog, caller, sources.find(|seen| seen.called == called)?).await
}

/// All servers that the caller sees.
async fn connected(catalog: &RequestCatalog, caller: &Caller) -> Vec<Upstream> {
    let mut opening = JoinSet::new();
    for (place, server) in seen(catalog, caller).into_iter().enumerate() {
        let (catalog, caller) = (catalog.clone(), caller.clone());
        opening.spawn(async move { Some((place, open(&catalog, &caller, server).await?)) });
    }
    let mut found: Vec<(usize, Upstream)> = opening.join_all().await.into_iter().flatten().collect();
    found.sort_by_key(|(place, _)| *place);
    let mut found: Vec<Upstream> = found.into_iter().map(|(_, upstream)| upstream).collect();
    number(&mut found);
    found
}

/// A server that a caller sees.
struct SeenServer {
    called: String,
    /// The name in the configuration.
    name: Option<String>,
    has_prefix: bool,
}

fn seen(catalog: &RequestCatalog, caller: &Caller) -> Vec<SeenServer> {
    let view = catalog.view(caller);
    let sources: Vec<_> = view.catalog().config.live_sources().collect();
    let has_several = sources.len() > 1;
    let seen = sources.into_iter().filter(|(called, _)| is_seen(catalog, caller, view, called));
    let server = |(called, source): (String, &Source)| SeenServer {
        called,
        name: source.server.clone(),
        has_prefix: source.prefix.unwrap_or(has_several),
    };
    seen.map(server).collect()
}

async fn open(catalog: &RequestCatalog, caller: &Caller, server: SeenServer) -> Option<Upstream> {
    let SeenServer { called, name, has_prefix } = server;
    let config = &catalog.view(caller).catalog().config;
    match catalog.services().backends.live_server(&called, config, caller).await {
        Ok(session) => {
            let name = name.or_else(|| session.server_name()).map(|name| slug(&name));
            let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| slug(&called));
            Some(Upstream { name, has_prefix, session })
        }
        Err(error) => {
            tracing::warn!(
                server = called,
                problem = error.message,
                "its resources and prompts are left out"
            );
            None
        }
    }
}

/// Whether a server is there for the caller. One of whose tools the caller may use none is not, nor is a server without
/// tools for a caller who does not see everything.
fn is_seen(catalog: &RequestCatalog, caller: &Caller, view: &CatalogView, called: &str) -> bool {
    if caller.sees_everything() && catalog.profile_name().is_none() {
        return true;
    }
    let tools = view.catalog().tools.iter().enumerate();
    tools.into_iter().any(|(index, tool)| tool.place.file == called && !view.is_forbidden(index))
}

/// Numbers the second and later servers of a name.
fn number(upstreams: &mut [Upstream]) {
    for index in 1..upstreams.len() {
        let (before, rest) = upstreams.split_at_mut(index);
        let count = before.iter().filter(|earlier| earlier.name == rest[0].name).count();
        if count > 0 {
            rest[0].name = format!("{}_{}", rest[0].name, count + 1);
        }
    }
}

/// The only server, if there is one: its errors are the errors of our answers.
pub(super) fn only(upstreams: &[Upstream]) -> Option<&Upstream> {
    upstreams.first().filter(|_| upstreams.len() == 1)
}

/// The error for an answer that does not fit its request.
pub(super) fn unexpected(upstream: &Upstream) -> ErrorData {
    let message =
        format!("the MCP server `{}` answers with something else than was asked for", upstream.name);
    ErrorData::internal_error(message, None)
}
