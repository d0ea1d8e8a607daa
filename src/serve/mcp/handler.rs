//! The requests of MCP, answered from the current catalog.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, Implementation, InitializeRequestParams,
    InitializeResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::{Semaphore, watch};

use super::notes_by_session::NotesBySession;
use super::{FRESH_FOR, completion, cursor, instructions, notifications, resources, tools, uri};
use crate::exec::Caller;
use crate::functions::CatalogView;
use crate::guard::{MISTAKE, guarded};
use crate::serve::{CallLimiter, LiveCatalog, RequestCatalog};
use crate::state::{Session, random_id};

/// Methods with parameters that may be wrong; without the methods that the newer wire has removed, which are unknown
/// there.
const KNOWN: [&str; 8] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "completion/complete",
    "prompts/get",
    "subscriptions/listen",
];

/// Key of the session in the `_meta` of a request.
const SESSION: &str = "toolcrib/session";

/// Longest wait of a client that connects for the lists of new servers: clients give up after ten seconds or more.
const PATIENCE: Duration = Duration::from_secs(4);

/// Most docs that one client may subscribe to.
const MAX_WATCHED: usize = 1_000;

/// Most subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 64;

/// One connection over stdio, or one request over HTTP, which has no connections.
#[derive(Debug)]
pub struct McpService {
    live: Arc<LiveCatalog>,
    /// Turns true when the connection ends; `None` over HTTP.
    ended: Option<watch::Receiver<bool>>,
    /// Docs that a client of the older wire subscribed to, with the versions it knows.
    watched: Arc<Mutex<HashMap<String, Option<String>>>>,
    tells: AtomicBool,
    /// Places for subscriptions.
    permits: Arc<Semaphore>,
    /// The limiter of calls where the HTTP layer has none for them.
    limiter: Arc<CallLimiter>,
    /// The session of calls without one, where there are connections.
    session: Option<Arc<str>>,
    /// The notes on calls that sessions have got.
    notes: Arc<NotesBySession>,
}

impl McpService {
    /// A handler for single requests, which share the `permits` of subscriptions, the `limiter` of calls and
    /// the `notes` of sessions.
    pub(super) fn stateless(
        live: Arc<LiveCatalog>,
        permits: Arc<Semaphore>,
        limiter: Arc<CallLimiter>,
        notes: Arc<NotesBySession>,
    ) -> Self {
        Self {
            live,
            ended: None,
            watched: Arc::default(),
            tells: AtomicBool::new(false),
            permits,
            limiter,
            session: None,
            notes,
        }
    }

    /// A handler for one connection, and the sender that signals its end.
    pub(super) fn connected(live: Arc<LiveCatalog>, ended: watch::Receiver<bool>) -> Self {
        let permits = Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS));
        let limiter = call_limiter(&live);
        let session = Some(random_id("s").into());
        Self { ended: Some(ended), session, ..Self::stateless(live, permits, limiter, Arc::default()) }
    }

    /// The limiter of a call: the one of the HTTP layer, if the call comes from there.
    fn call_limiter<'g>(&'g self, context: &'g RequestContext<RoleServer>) -> &'g CallLimiter {
        let parts = context.extensions.get::<http::request::Parts>();
        parts.and_then(|parts| parts.extensions.get::<Arc<CallLimiter>>()).unwrap_or(&self.limiter)
    }

    /// The catalog of the request: as the HTTP layer has loaded it, else the current one.
    fn request_catalog(&self, context: &RequestContext<RoleServer>) -> RequestCatalog {
        let parts = context.extensions.get::<http::request::Parts>();
        let loaded = parts.and_then(|parts| parts.extensions.get::<RequestCatalog>()).cloned();
        loaded.unwrap_or_else(|| self.live.for_request())
    }

    /// The catalog view of the caller, and the scope in which the answer may be cached.
    fn view(&self, context: &RequestContext<RoleServer>) -> (Arc<CatalogView>, CacheScope) {
        let (caller, catalog) = (caller(context), self.request_catalog(context));
        (Arc::clone(catalog.view(&caller)), scope(&caller, &catalog))
    }

    async fn instructions(&self, context: &RequestContext<RoleServer>) -> String {
        self.live.listed_within(PATIENCE).await;
        let (caller, catalog) = (caller(context), self.request_catalog(context));
        let awaited = catalog.generation().awaited.as_ref().filter(|_| caller.sees_everything());
        instructions::instructions(catalog.view(&caller), catalog.cache(&caller).listing(), awaited)
    }

    async fn run_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut caller = caller(&context);
        match context.meta.0.get(SESSION) {
            Some(id) => {
                let invalid = |why| {
                    let message = format!("VALIDATION_ERROR: `_meta[\"{SESSION}\"]` does not fit: {why}");
                    ErrorData::invalid_params(message, None)
                };
                caller.session = Some(Session::named(id.as_str().unwrap_or_default()).map_err(invalid)?);
                caller.has_issued_session = false;
            }
            None => {
                caller.has_issued_session |= caller.session.is_none();
                caller.session = caller.session.or_else(|| self.session.clone());
            }
        }
        let catalog = self.request_catalog(&context);
        tokio::select! {
            answer = tools::call(&catalog, &caller, (self.call_limiter(&context), &self.notes), request) => answer.map(Into::into),
            // A write goes on in its own task.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
        }
    }
}

/// The answer to a request, also after a panic: without one the client would wait forever.
async fn answered<T>(answering: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    let mistake = |_| Err(ErrorData::internal_error(format!("INTERNAL: {MISTAKE}"), None));
    guarded(answering).await.unwrap_or_else(mistake)
}

/// Scope in which an answer may be cached.
fn scope(caller: &Caller, catalog: &RequestCatalog) -> CacheScope {
    let is_public = caller.roles.is_none() && catalog.is_shared();
    if is_public { CacheScope::Public } else { CacheScope::Private }
}

/// A limiter with the configured limits of the catalog.
pub(super) fn call_limiter(live: &LiveCatalog) -> Arc<CallLimiter> {
    let generation = live.current();
    let limits = &generation.unrestricted_view().catalog().config.serve.limits;
    Arc::new(CallLimiter::new(limits, Arc::default()))
}

/// The caller: as the HTTP layer found it, or the user who started this process.
fn caller(context: &RequestContext<RoleServer>) -> Caller {
    let parts = context.extensions.get::<http::request::Parts>();
    parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned().unwrap_or_default()
}

impl ServerHandler for McpService {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_completions()
            // There are no prompts; but clients ask for them, and every client accepts an empty list.
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        if let Some(tools) = capabilities.tools.as_mut().filter(|_| self.live.current().lists_tools()) {
            tools.list_changed = Some(true);
        }
        let server = Implementation::new("toolcrib", env!("CARGO_PKG_VERSION"))
            .with_title("toolcrib")
            .with_description("Tool documentation, read when it is needed");
        ServerConfig::new(capabilities).with_server_info(server)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        answered(async move {
            context.peer.set_peer_info(request.clone());
            let mut result = self.negotiate_initialize(&request)?;
            result.instructions = Some(self.instructions(&context).await);
            if self.ended.is_none() {
                // Over HTTP this wire has no stream for notifications.
                result.capabilities.resources = Some(Default::default());
                result.capabilities.tools = Some(Default::default());
            }
            Ok(result)
        })
        .await
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        answered(async move {
            let (_, scope) = self.view(&context);
            let info = self.get_info().with_instructions(self.instructions(&context).await);
            let versions = self.supported_protocol_versions().into_owned();
            Ok(DiscoverResult::from_server_info(versions, info)
                .with_ttl_ms(FRESH_FOR)
                .with_cache_scope(scope))
        })
        .await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        answered(async move {
            let after = cursor::after(request)?;
            self.live.listed().await;
            let (caller, catalog) = (caller(&context), self.request_catalog(&context));
            let scope = scope(&caller, &catalog);
            tools::list(catalog.cache(&caller), after.as_deref(), scope)
        })
        .await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::named(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        answered(self.run_tool(request, context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        answered(async move {
            let (view, scope) = self.view(&context);
            resources::list(&view, cursor::after(request)?.as_deref(), scope)
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        cursor::none(request)?;
        let (view, scope) = self.view(&context);
        Ok(resources::templates(&view, scope))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        answered(async move {
            let (view, scope) = self.view(&context);
            resources::read(&view, &request.uri, scope).map(Into::into)
        })
        .await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        answered(async move { Ok(completion::complete(&self.view(&context).0, &request)) }).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| uri.starts_with(uri::ROOT));
            uris.truncate(MAX_WATCHED);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        answered(async move {
            let Ok(_place) = Arc::clone(&self.permits).try_acquire_owned() else {
                return Err(ErrorData::internal_error("there are too many subscriptions", None));
            };
            let request = context.request_context();
            let (caller, catalog) = (caller(request), self.request_catalog(request));
            notifications::listen(catalog, self.ended.clone(), &context, &caller).await;
            Ok(())
        })
        .await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        answered(async move {
            if self.ended.is_none() {
                return Err(ErrorData::method_not_found::<rmcp::model::SubscribeRequestMethod>());
            }
            let (view, _) = self.view(&context);
            uri::find(&view, &request.uri)?;
            let version = resources::version(&view, &request.uri);
            let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
            if watched.len() >= MAX_WATCHED && !watched.contains_key(&request.uri) {
                return Err(ErrorData::invalid_params("one client watches at most 1,000 resources", None));
            }
            watched.insert(request.uri, version);
            Ok(())
        })
        .await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
        Ok(())
    }

    /// The SDK treats a request with unreadable parameters as an unknown one.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let is_known = KNOWN.contains(&request.method.as_str());
        Err(match is_known {
            true => {
                ErrorData::invalid_params(format!("the parameters of {} do not fit", request.method), None)
            }
            false => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there is no such method", None),
        })
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(ended) = &self.ended else { return };
        let is_older_wire = context.peer.peer_info().is_some();
        if is_older_wire && !self.tells.swap(true, Ordering::Relaxed) {
            let (live, watched) = (Arc::clone(&self.live), Arc::clone(&self.watched));
            tokio::spawn(notifications::send_notifications(live, ended.clone(), context.peer, watched));
        }
    }
}
