//! The live servers behind us that a caller sees.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use rmcp::ErrorData;
use rmcp::model::{ClientRequest, InputRequiredResult, ServerCapabilities};
use rmcp::service::ServiceError;
use serde_json::Value;

use super::requester::{McpResult, Requester};
use toolcrib_catalog::config::{Source, live_server};
use toolcrib_catalog::sources::Introduction;
use toolcrib_definition::slug;
use toolcrib_front::mcp::{ServerList, Session, carrying};

/// The beginning of a URI with the name of its server.
pub(super) const QUALIFIED: &str = "toolcrib://servers/";

/// The scheme of our own URIs.
pub(super) const OUR_SCHEME: &str = "toolcrib://";

/// An answer with the questions of a server.
pub(super) fn asking(question: Value) -> InputRequiredResult {
    let mut asking = InputRequiredResult::new(None, None);
    asking.meta = Some(carrying(question));
    asking
}

/// A connected server.
#[derive(Clone)]
pub(super) struct Upstream {
    /// Its name within our addresses and names; stable as long as the configuration is.
    pub(super) name: String,
    /// Whether the names of its prompts begin with its name.
    pub(super) has_prefix: bool,
    pub(super) session: Arc<Session>,
}

impl Upstream {
    /// The answer to a request of a client, as the server wrote it, without secrets.
    pub(super) async fn request(&self, request: ClientRequest, requester: &Requester) -> McpResult<Value> {
        let origin = requester.caller.origin.as_ref();
        let answer = self.session.request_with_input(request, origin, Duration::MAX).await;
        let answer = answer.map_err(|error| self.session.request_error(error))?;
        Ok(self.session.secrets.hide_in(answer))
    }

    /// The error for an answer that does not fit its request.
    pub(super) fn unexpected(&self) -> ErrorData {
        let message =
            format!("the MCP server `{}` answers with something else than was asked for", self.name);
        ErrorData::internal_error(message, None)
    }

    /// A URI with the name of the server.
    pub(super) fn qualified(&self, uri: &str) -> String {
        format!("{QUALIFIED}{}/{uri}", self.name)
    }
}

/// The server of this name, `mcp:NAME`, if the caller sees it and it can be reached.
pub(super) async fn named(requester: &Requester, called: &str) -> Option<Upstream> {
    let (called, source) = seen(requester).find(|(name, _)| name == called)?;
    open(requester, called, source).await
}

/// The servers with a capability that the caller sees, in the order of the configuration. A server that cannot be
/// reached is left out.
pub(super) async fn with_capability(
    requester: &Requester,
    has: fn(&ServerCapabilities) -> bool,
) -> Vec<Upstream> {
    let opening = seen(requester).map(|(called, source)| open(requester, called, source));
    let mut found: Vec<Upstream> = join_all(opening).await.into_iter().flatten().collect();
    // The second and later servers of a name are numbered.
    for index in 1..found.len() {
        let (before, rest) = found.split_at_mut(index);
        let count = before.iter().filter(|earlier| earlier.name == rest[0].name).count();
        if count > 0 {
            rest[0].name = format!("{}_{}", rest[0].name, count + 1);
        }
    }
    found.retain(|upstream| has(&upstream.session.capabilities()));
    found
}

/// The names of the servers that the caller sees, and what they last said of themselves.
pub(super) fn introductions(requester: &Requester) -> Vec<(String, Introduction)> {
    let backends = &requester.services().backends;
    let said =
        |called: &str| Some((live_server(called)?.to_string(), backends.listing(called)?.introduction?));
    seen(requester).filter_map(|(called, _)| said(&called)).collect()
}

/// The servers that the caller may know of: those with a tool that the caller may use, and all of them for a caller who
/// sees everything.
fn seen(requester: &Requester) -> impl Iterator<Item = (String, &Source)> {
    let view = requester.view();
    let sees_all = requester.caller.sees_everything() && requester.profile_name().is_none();
    view.catalog().config.live_sources().filter(move |(called, _)| {
        let mut tools = view.catalog().tools.iter().enumerate();
        sees_all || tools.any(|(index, tool)| tool.origin.place.file == *called && !view.is_forbidden(index))
    })
}

async fn open(requester: &Requester, called: String, source: &Source) -> Option<Upstream> {
    let config = &requester.view().catalog().config;
    match requester.services().backends.live_server(&called, config, &requester.caller).await {
        Ok(session) => {
            let name = source.server.clone().or_else(|| session.server_name()).map(|name| slug(&name));
            let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| slug(&called));
            let has_several = config.live_sources().nth(1).is_some();
            Some(Upstream { name, has_prefix: source.prefix.unwrap_or(has_several), session })
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

/// One list of these servers, asked at the same time, with the place of the server of each item. A server that does not
/// answer is left out.
pub(super) async fn list_all(
    upstreams: &[Upstream],
    list: impl AsyncFn(&Session) -> Result<ServerList, ServiceError>,
) -> ServerList<(usize, Value)> {
    let mut all = ServerList::default();
    let answers = join_all(upstreams.iter().map(|upstream| list(&upstream.session))).await;
    for (place, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok(list) => {
                all.limit_caching(list.ttl_ms, list.is_private);
                all.items.extend(list.items.into_iter().map(|item| (place, item)));
            }
            Err(error) => {
                let Upstream { name, session, .. } = &upstreams[place];
                let problem = session.request_error(error);
                tracing::warn!(server = name, problem = %problem.message, "a list of it is left out");
            }
        }
    }
    all
}
