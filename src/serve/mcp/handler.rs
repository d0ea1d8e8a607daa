//! The requests of MCP, answered from the current catalog and by the live servers behind it.
#![expect(deprecated, reason = "the older wire has levels of log messages")]

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
    ReadResourceRequestParams, ReadResourceResponse, Reference, ServerConfig, SetLevelRequestMethod,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::service::{MAX_WATCHED, McpService, caller, scope};
use super::{
    FRESH_FOR, forwarding, notifications, prompts, resources, skills, tools, upstream_resources, uri,
};
use crate::guard::{MISTAKE, guarded};
use crate::sources::mcp::{ClientInput, RequestOrigin};

/// Methods with parameters that may be wrong; without the methods that the newer wire has removed, which are unknown
/// there.
const KNOWN: [&str; 10] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "completion/complete",
    "prompts/get",
    "skills/get",
    "resources/directory/read",
    "subscriptions/listen",
];

/// The answer to a request, also after a panic: without one the client would wait forever.
async fn answered<T>(answering: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    let mistake = |_| Err(ErrorData::internal_error(format!("INTERNAL: {MISTAKE}"), None));
    guarded(answering).await.unwrap_or_else(mistake)
}

impl ServerHandler for McpService {
    fn get_info(&self) -> ServerConfig {
        self.config()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        answered(async move {
            context.peer.set_peer_info(request.clone());
            self.begin_session(&request.capabilities, &context);
            let mut result = self.negotiate_initialize(&request)?;
            result.instructions = Some(self.instructions(&context).await);
            if self.ended.is_none() {
                // Over HTTP this wire has no stream for notifications.
                result.capabilities.resources = Some(Default::default());
                result.capabilities.tools = Some(Default::default());
                result.capabilities.prompts = Some(Default::default());
                result.capabilities.logging = None;
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
            let after = uri::after_cursor(request)?;
            let (caller, catalog) = (caller(&context), self.whole_catalog(&context, Duration::MAX).await);
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
        let work = async |origin: &Arc<RequestOrigin>| {
            let (view, scope) = self.view(&context);
            let after = uri::after_cursor(request)?;
            let ours = resources::list(&view, after.as_deref(), scope)?;
            if after.is_some() {
                return Ok(ours);
            }
            let (caller, catalog) = (Self::asking(&context, origin), self.request_catalog(&context));
            self.follow_lists(&context.peer);
            Ok(upstream_resources::add_to_list(&catalog, &caller, ours).await)
        };
        answered(self.forwarded(&context, ClientInput::default(), work)).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let work = async |origin: &Arc<RequestOrigin>| {
            uri::one_page(request)?;
            let (view, scope) = self.view(&context);
            let (caller, catalog) = (Self::asking(&context, origin), self.request_catalog(&context));
            let ours = resources::templates(&view, scope);
            Ok(upstream_resources::add_to_templates(&catalog, &caller, ours).await)
        };
        answered(self.forwarded(&context, ClientInput::default(), work)).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let input = forwarding::input(request.input_responses.as_ref(), request.request_state.as_deref())?;
        let work = async |origin: &Arc<RequestOrigin>| {
            let (caller, catalog) = (Self::asking(&context, origin), self.request_catalog(&context));
            if request.uri.starts_with(uri::SKILLS) {
                let (view, scope) = self.view(&context);
                if let Some(file) = skills::read(&view, &request.uri, scope) {
                    return Ok(file.into());
                }
            }
            if upstream_resources::is_upstream(&request.uri) {
                return upstream_resources::read(&catalog, &caller, request, origin).await;
            }
            let (view, scope) = self.view(&context);
            resources::read(&view, &request.uri, scope).map(Into::into)
        };
        answered(self.forwarded(&context, input, work)).await
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        answered(async move {
            let (view, scope) = self.view(&context);
            skills::list(&view, uri::after_cursor(request)?.as_deref(), scope)
        })
        .await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        answered(async move {
            let (view, scope) = self.view(&context);
            skills::get(&view, &request.uri, scope)
        })
        .await
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        answered(async move {
            let (view, scope) = self.view(&context);
            skills::read_folder(&view, &request.uri, scope)
        })
        .await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let work = async |origin: &Arc<RequestOrigin>| {
            uri::one_page(request)?;
            let (_, scope) = self.view(&context);
            let (caller, catalog) = (Self::asking(&context, origin), self.request_catalog(&context));
            self.follow_lists(&context.peer);
            prompts::list(&catalog, &caller, scope).await
        };
        answered(self.forwarded(&context, ClientInput::default(), work)).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let input = forwarding::input(request.input_responses.as_ref(), request.request_state.as_deref())?;
        let work = async |origin: &Arc<RequestOrigin>| {
            let (caller, catalog) = (Self::asking(&context, origin), self.request_catalog(&context));
            prompts::get(&catalog, &caller, request, origin).await
        };
        answered(self.forwarded(&context, input, work)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let work = async |origin: &Arc<RequestOrigin>| {
            let (caller, catalog) = (Self::asking(&context, origin), self.request_catalog(&context));
            match request.r#ref.clone() {
                Reference::Prompt(prompt) => {
                    prompts::complete(&catalog, &caller, &prompt.name, request, origin).await
                }
                Reference::Resource(template) if upstream_resources::is_upstream(&template.uri) => {
                    upstream_resources::complete(&catalog, &caller, &template.uri, request, origin).await
                }
                Reference::Resource(_) => Ok(uri::complete(&self.view(&context).0, &request)),
                _ => Ok(CompleteResult::default()),
            }
        };
        answered(self.forwarded(&context, ClientInput::default(), work)).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            let has_servers = self.has_live_servers();
            uris.retain(|uri| has_servers || uri.starts_with(uri::ROOT));
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
            notifications::listen(catalog.for_session(), self.ended.clone(), &context, &caller).await;
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
            if upstream_resources::is_upstream(&request.uri) && self.has_live_servers() {
                return self.follow_resource(request.uri, &context.peer).await;
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
        self.forget_resource(&request.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.has_live_servers() {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.set_log_level(request.level);
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
            let Some(owner) = self.owner() else { return };
            let watched = Arc::clone(&self.watched);
            tokio::spawn(notifications::send_notifications(owner, ended.clone(), context.peer, watched));
        }
    }
}
