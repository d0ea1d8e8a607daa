//! One connection of a client over stdio, one session over HTTP, or one request: the state behind all answers.
#![expect(deprecated, reason = "the older wire has levels of log messages")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ClientCapabilities, Implementation, LoggingLevel,
    SKILLS_EXTENSION_ID, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::{Semaphore, oneshot, watch};

use super::notifications::{Followed, Follower};
use super::tools::NotesBySession;
use super::{forwarding, notifications, prompts, skills, tools, upstreams};
use crate::exec::Caller;
use crate::functions::{CatalogView, Function};
use crate::serve::{CallLimiter, LiveCatalog, RequestCatalog, SessionCatalog};
use crate::sources::mcp::{ClientInput, ClientSession, RequestOrigin, to_client};
use crate::state::{Session, random_id};

/// Longest wait of a client that connects for the lists of new servers: clients give up after ten seconds or more.
const PATIENCE: Duration = Duration::from_secs(4);

/// Key of the session in the `_meta` of a request.
const SESSION: &str = "toolcrib/session";

/// Most resources that one client may subscribe to.
pub(super) const MAX_WATCHED: usize = 1_000;

/// Most subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 64;

/// One connection over stdio, or one request over HTTP, which has no connections.
#[derive(Debug)]
pub struct McpService {
    pub(super) live: Arc<LiveCatalog>,
    /// Turns true when the connection ends; `None` over HTTP.
    pub(super) ended: Option<watch::Receiver<bool>>,
    /// Docs that a client of the older wire subscribed to, with the versions it knows.
    pub(super) watched: Arc<Mutex<HashMap<String, Option<String>>>>,
    pub(super) tells: AtomicBool,
    /// Places for subscriptions.
    pub(super) permits: Arc<Semaphore>,
    /// The limiter of calls where the HTTP layer has none for them.
    limiter: Arc<CallLimiter>,
    /// The session of calls without one, where there are connections.
    session: Option<Arc<str>>,
    /// The notes on calls that sessions have got.
    notes: Arc<NotesBySession>,
    /// The client of the connection, where servers can ask it.
    client: OnceLock<Arc<ClientSession>>,
    /// The catalog and the caller of the handshake.
    owner: OnceLock<(SessionCatalog, Caller)>,
    /// The level of log messages that the client has set.
    level: Mutex<Option<LoggingLevel>>,
    /// Resources of live servers that the client subscribed to; a subscription ends when its sender is dropped.
    subscribed: Mutex<HashMap<String, oneshot::Sender<()>>>,
    /// Whether the lists of live servers are followed.
    follows: AtomicBool,
    /// The sender of `ended`, for a session that ends with its handler.
    _end: Option<watch::Sender<bool>>,
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
            client: OnceLock::new(),
            owner: OnceLock::new(),
            level: Mutex::default(),
            subscribed: Mutex::default(),
            follows: AtomicBool::new(false),
            _end: None,
        }
    }

    /// A handler for one connection, and the sender that signals its end.
    pub(super) fn connected(live: Arc<LiveCatalog>, ended: watch::Receiver<bool>) -> Self {
        let permits = Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS));
        let limiter = call_limiter(&live);
        let session = Some(random_id("s").into());
        Self { ended: Some(ended), session, ..Self::stateless(live, permits, limiter, Arc::default()) }
    }

    /// The same handler for a session over HTTP, which ends with it.
    pub(super) fn in_session(self) -> Self {
        let (end, ended) = watch::channel(false);
        let permits = Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS));
        Self { ended: Some(ended), _end: Some(end), permits, ..self }
    }

    /// The limiter of a call: the one of the HTTP layer, if the call comes from there.
    pub(super) fn call_limiter<'g>(&'g self, context: &'g RequestContext<RoleServer>) -> &'g CallLimiter {
        let parts = context.extensions.get::<http::request::Parts>();
        parts.and_then(|parts| parts.extensions.get::<Arc<CallLimiter>>()).unwrap_or(&self.limiter)
    }

    /// The catalog of the request: as the HTTP layer has loaded it, else the current one.
    pub(super) fn request_catalog(&self, context: &RequestContext<RoleServer>) -> RequestCatalog {
        let parts = context.extensions.get::<http::request::Parts>();
        let loaded = parts.and_then(|parts| parts.extensions.get::<RequestCatalog>()).cloned();
        loaded.unwrap_or_else(|| self.live.for_request())
    }

    /// The catalog view of the caller, and the scope in which the answer may be cached.
    pub(super) fn view(&self, context: &RequestContext<RoleServer>) -> (Arc<CatalogView>, CacheScope) {
        let (caller, catalog) = (caller(context), self.request_catalog(context));
        (Arc::clone(catalog.view(&caller)), scope(&caller, &catalog))
    }

    /// The catalog of a request, once the live servers have listed their tools, or have had this time for it.
    pub(super) async fn whole_catalog(
        &self,
        context: &RequestContext<RoleServer>,
        patience: Duration,
    ) -> RequestCatalog {
        let catalog = self.request_catalog(context);
        self.live.listed_within(patience).await;
        match catalog.generation().awaited {
            Some(_) => catalog.for_session().now().unwrap_or(catalog),
            None => catalog,
        }
    }

    pub(super) async fn instructions(&self, context: &RequestContext<RoleServer>) -> String {
        let (caller, catalog) = (caller(context), self.whole_catalog(context, PATIENCE).await);
        let awaited = catalog.generation().awaited.as_ref().filter(|_| caller.sees_everything());
        prompts::instructions(catalog.view(&caller), catalog.cache(&caller).listing(), awaited)
    }

    pub(super) async fn run_tool(
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
            }
            None => caller.session = caller.session.or_else(|| self.session.clone()),
        }
        let catalog = self.request_catalog(&context);
        let input = forwarding::input(request.input_responses.as_ref(), request.request_state.as_deref())?;
        let is_batch = Function::spelled(&request.name).is_some_and(Function::runs_several_tools);
        let call = async |origin: &Arc<RequestOrigin>| {
            if is_batch {
                origin.refuse_input();
            }
            caller.origin = Some(Arc::clone(origin));
            let answer =
                tools::call(&catalog, &caller, (self.call_limiter(&context), &self.notes), request).await;
            match origin.take_required_input() {
                Some(question) => Ok(question.into()),
                None => answer.map(Into::into),
            }
        };
        self.forwarded(&context, input, call).await
    }

    /// Does the work for a request that a live server may answer.
    pub(super) async fn forwarded<T>(
        &self,
        context: &RequestContext<RoleServer>,
        input: ClientInput,
        work: impl AsyncFnOnce(&Arc<RequestOrigin>) -> Result<T, ErrorData>,
    ) -> Result<T, ErrorData> {
        let is_connected = self.ended.is_some();
        let work = async |origin: &Arc<RequestOrigin>| {
            tokio::select! {
                answer = work(origin) => answer,
                () = context.ct.cancelled() => {
                    // Over HTTP the client may be gone without a wish, and a write goes on in its own task.
                    if is_connected {
                        origin.cancel();
                    }
                    Err(ErrorData::internal_error("the request was cancelled", None))
                }
            }
        };
        let level = *self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let caller = caller(context).name;
        forwarding::forwarded(context, (&caller, self.client.get(), level), input, work).await
    }

    /// Begins a session of the older wire. Over stdio all connections are for its client; over HTTP a client that servers
    /// can ask gets connections of its own.
    pub(super) fn begin_session(
        &self,
        capabilities: &ClientCapabilities,
        context: &RequestContext<RoleServer>,
    ) {
        if self.ended.is_none() {
            return;
        }
        let catalog = self.request_catalog(context);
        let is_only = self._end.is_none();
        let (messages, received) = to_client();
        let client = Arc::new(ClientSession::new(capabilities.clone(), messages, is_only));
        if self.has_live_servers() && (is_only || client.can_answer()) && self.client.set(client).is_ok() {
            tokio::spawn(forwarding::forward_all(context.peer.clone(), received));
            if let Some(client) = self.client.get().filter(|_| is_only) {
                catalog.services().backends.serve_client(client);
            }
        }
        let _ = self.owner.set((catalog.for_session(), caller(context)));
    }

    /// Our name, and our capabilities together with those that a live server may have.
    pub(super) fn config(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_completions()
            // Without live servers there are no prompts; but clients ask for them, and every client accepts an empty list.
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        capabilities.extensions = Some([(SKILLS_EXTENSION_ID.to_string(), skills::settings())].into());
        if let Some(tools) = capabilities.tools.as_mut().filter(|_| self.live.current().lists_tools()) {
            tools.list_changed = Some(true);
        }
        if self.has_live_servers() {
            if let Some(prompts) = capabilities.prompts.as_mut() {
                prompts.list_changed = Some(true);
            }
            capabilities.logging = Some(Default::default());
        }
        let server = Implementation::new("toolcrib", env!("CARGO_PKG_VERSION"))
            .with_title("toolcrib")
            .with_description("Tool documentation, read when it is needed");
        ServerConfig::new(capabilities).with_server_info(server)
    }

    pub(super) fn has_live_servers(&self) -> bool {
        upstreams::has_live_servers(&self.live.current().unrestricted_view().catalog().config)
    }

    /// Sets the level of log messages for the client.
    pub(super) fn set_log_level(&self, level: LoggingLevel) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
        if let Some(client) = self.client.get() {
            client.set_level(level);
        }
    }

    /// Follows the lists of live servers, once the client of the older wire has asked for one.
    pub(super) fn follow_lists(&self, client: &Peer<RoleServer>) {
        let (Some(ended), Some(followed)) = (self.ended.clone(), self.followed(client)) else { return };
        if self.follows.swap(true, Ordering::Relaxed) {
            return;
        }
        let wanted = SubscriptionFilter::builder().prompts_list_changed().resources_list_changed().build();
        tokio::spawn(async move {
            tokio::select! {
                () = followed.follow(wanted) => {}
                () = notifications::end(Some(ended)) => {}
            }
        });
    }

    /// Subscribes a client of the older wire to a resource of a live server.
    pub(super) async fn follow_resource(
        &self,
        uri: String,
        client: &Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        let not_found = ErrorData::method_not_found::<rmcp::model::SubscribeRequestMethod>;
        let followed = self.followed(client).ok_or_else(not_found)?;
        if self.lock_subscribed().len() >= MAX_WATCHED {
            return Err(ErrorData::invalid_params("one client watches at most 1,000 resources", None));
        }
        let (stop, stopped) = oneshot::channel();
        followed.subscribed(uri.clone(), stopped).await?;
        self.lock_subscribed().insert(uri, stop);
        Ok(())
    }

    /// Ends the subscription to a resource of a live server.
    pub(super) fn forget_resource(&self, uri: &str) {
        self.lock_subscribed().remove(uri);
    }

    fn lock_subscribed(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The catalog and the caller of the handshake.
    pub(super) fn owner(&self) -> Option<(SessionCatalog, Caller)> {
        self.owner.get().cloned()
    }

    /// The servers as the client of the handshake follows them.
    fn followed(&self, client: &Peer<RoleServer>) -> Option<Followed> {
        let (catalog, caller) = self.owner.get()?.clone();
        let origin = Arc::new(RequestOrigin::of_session(self.client.get().cloned()));
        let caller = Caller { origin: Some(origin), ..caller };
        Some(Followed { catalog, caller, follower: Follower::Client(client.clone()) })
    }

    /// The caller, with the request that servers get to know.
    pub(super) fn asking(context: &RequestContext<RoleServer>, origin: &Arc<RequestOrigin>) -> Caller {
        Caller { origin: Some(Arc::clone(origin)), ..caller(context) }
    }
}

/// Scope in which an answer may be cached.
pub(super) fn scope(caller: &Caller, catalog: &RequestCatalog) -> CacheScope {
    let is_public = caller.roles.is_none() && catalog.is_shared();
    if is_public { CacheScope::Public } else { CacheScope::Private }
}

/// A limiter with the configured limits of the catalog.
pub(super) fn call_limiter(live: &LiveCatalog) -> Arc<CallLimiter> {
    let generation = live.current();
    let limits = &generation.unrestricted_view().catalog().config.serve.limits;
    Arc::new(CallLimiter::new(limits, Arc::clone(live.services())))
}

/// The caller: as the HTTP layer found it, or the client that has started this process for its person.
pub(super) fn caller(context: &RequestContext<RoleServer>) -> Caller {
    match context.extensions.get::<http::request::Parts>() {
        Some(parts) => parts.extensions.get::<Caller>().cloned().unwrap_or_default(),
        None => Caller { asks_its_person: true, ..Caller::default() },
    }
}
