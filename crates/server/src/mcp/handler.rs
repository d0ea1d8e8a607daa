//! The requests of MCP, answered from the current catalog and by the live servers behind it.
#![expect(
    deprecated,
    reason = "the older protocol has levels of log messages, and subscriptions to one resource"
)]

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
    ReadResourceRequestParams, ReadResourceResponse, Reference, ServerConfig, SetLevelRequestMethod,
    SetLevelRequestParams, SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::connection::{MAX_WATCHED, too_many_watched};
use super::cursor::{after_cursor, one_page};
use super::requester::{FRESH_FOR, McpResult, Requester};
use super::resources::{self, is_ours, is_result};
use super::service::{INITIALIZE, McpService, PATIENCE, PROBE_PATIENCE, answered, is_newer};
use super::upstream_resources::{limit_caching, put_before};
use super::{completion, notifications, prompts, skills, tools, upstream_resources};
use toolcrib_definition::guard::locked;
use toolcrib_front::mcp::{ClientInput, Session};

type McpContext = RequestContext<RoleServer>;
type PageRequest = Option<PaginatedRequestParams>;

/// Methods with parameters that may be wrong; without the methods that the newer protocol has removed, which are unknown
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

impl ServerHandler for McpService {
    fn get_info(&self) -> ServerConfig {
        self.config()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: McpContext,
    ) -> McpResult<InitializeResult> {
        let work = async |requester: Requester| {
            context.peer.set_peer_info(request.clone());
            self.begin_session(&request.capabilities, &context.peer, &requester);
            let mut result = self.negotiate_initialize(&request)?;
            let greeting = self.greeting(requester, PATIENCE).await;
            result.instructions = greeting.instructions;
            result.server_info = greeting.server_info;
            result.capabilities.extensions = greeting.capabilities.extensions;
            result.meta = greeting.meta;
            if self.connection.is_none() {
                // Over HTTP the older protocol has no stream for notifications.
                result.capabilities.resources = Some(Default::default());
                result.capabilities.tools = Some(Default::default());
                result.capabilities.prompts = Some(Default::default());
                result.capabilities.logging = None;
            }
            Ok(result)
        };
        self.answer_plain(INITIALIZE, &context, work).await
    }

    async fn discover(&self, context: McpContext) -> McpResult<DiscoverResult> {
        let work = async |requester: Requester| {
            let scope = requester.scope();
            let info = self.greeting(requester, PROBE_PATIENCE).await;
            let versions = self.supported_protocol_versions().into_owned();
            let result = DiscoverResult::from_server_info(versions, info);
            Ok(result.with_ttl_ms(FRESH_FOR).with_cache_scope(scope))
        };
        self.answer_plain("server/discover", &context, work).await
    }

    async fn list_tools(&self, request: PageRequest, context: McpContext) -> McpResult<ListToolsResult> {
        let work = async |requester: Requester| {
            let after = after_cursor(request)?;
            let requester = self.with_all_listed(requester, Duration::MAX).await;
            tools::list(&requester, after.as_deref(), is_newer(&context))
        };
        self.answer_plain("tools/list", &context, work).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::named(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: McpContext,
    ) -> McpResult<CallToolResponse> {
        self.run_tool(request, context).await
    }

    async fn list_resources(
        &self,
        request: PageRequest,
        context: McpContext,
    ) -> McpResult<ListResourcesResult> {
        let work = async |requester: Requester| {
            let after = after_cursor(request)?;
            let requester = self.with_all_listed(requester, PATIENCE).await;
            let mut ours = resources::list(&requester, after.as_deref())?;
            if after.is_none() {
                self.connection.iter().for_each(|connection| connection.follow_lists(&context.peer));
                let theirs = upstream_resources::resources(&requester, Session::resources, "uri").await;
                limit_caching(&theirs, &mut ours.ttl_ms, &mut ours.cache_scope);
                ours.meta = Some(put_before(theirs, &ours, "resources"));
            }
            Ok(ours)
        };
        self.answer_plain("resources/list", &context, work).await
    }

    async fn list_resource_templates(
        &self,
        request: PageRequest,
        context: McpContext,
    ) -> McpResult<ListResourceTemplatesResult> {
        let work = async |requester: Requester| {
            one_page(request)?;
            let mut ours = resources::templates(&requester);
            let listed = Session::resource_templates;
            let theirs = upstream_resources::resources(&requester, listed, "uriTemplate").await;
            limit_caching(&theirs, &mut ours.ttl_ms, &mut ours.cache_scope);
            ours.meta = Some(put_before(theirs, &ours, "resourceTemplates"));
            Ok(ours)
        };
        self.answer_plain("resources/templates/list", &context, work).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: McpContext,
    ) -> McpResult<ReadResourceResponse> {
        let input = ClientInput::read(request.input_responses.as_ref(), request.request_state.as_deref())?;
        let work = async |requester: Requester| match skills::read_skill(&requester, &request.uri) {
            Some(file) => Ok(file.into()),
            None if is_ours(&request.uri) => resources::read(&requester, &request.uri).map(Into::into),
            None if is_result(&request.uri) => {
                resources::read_rest(&requester, &request.uri).await.map(Into::into)
            }
            None => upstream_resources::read(&requester, request).await,
        };
        self.answer(("resources/read", None), &context, input, work, |_| false).await
    }

    async fn list_skills(&self, request: PageRequest, context: McpContext) -> McpResult<ListSkillsResult> {
        let work =
            async |requester: Requester| skills::list_skills(&requester, after_cursor(request)?.as_deref());
        self.answer_plain("skills/list", &context, work).await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: McpContext,
    ) -> McpResult<GetSkillResult> {
        self.answer_plain("skills/get", &context, async |requester: Requester| {
            skills::skill(&requester, &request.uri)
        })
        .await
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: McpContext,
    ) -> McpResult<ReadResourceDirectoryResult> {
        self.answer_plain("resources/directory/read", &context, async |requester: Requester| {
            skills::skill_folder(&requester, &request.uri)
        })
        .await
    }

    async fn list_prompts(&self, request: PageRequest, context: McpContext) -> McpResult<ListPromptsResult> {
        let work = async |requester: Requester| {
            one_page(request)?;
            self.connection.iter().for_each(|connection| connection.follow_lists(&context.peer));
            Ok(prompts::list_prompts(&requester).await)
        };
        self.answer_plain("prompts/list", &context, work).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: McpContext,
    ) -> McpResult<GetPromptResponse> {
        let input = ClientInput::read(request.input_responses.as_ref(), request.request_state.as_deref())?;
        let work = async |requester: Requester| prompts::get_prompt(&requester, request).await;
        self.answer(("prompts/get", None), &context, input, work, |_| false).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: McpContext,
    ) -> McpResult<CompleteResult> {
        let work = async |requester: Requester| match &request.r#ref {
            Reference::Resource(template) if is_ours(&template.uri) => {
                Ok(completion::of_docs(requester.view(), &request))
            }
            _ => completion::of_servers(&requester, request).await,
        };
        self.answer_plain("completion/complete", &context, work).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            let has_servers = self.has_live_servers();
            uris.retain(|uri| has_servers || is_ours(uri));
            uris.truncate(MAX_WATCHED);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> McpResult<()> {
        answered(async move {
            let requester = self.requester(context.request_context());
            let Some(_place) = self.permits.try_take(&requester.caller.name, 1) else {
                return Err(ErrorData::internal_error("there are too many subscriptions", None));
            };
            let ended = self.connection.as_ref().and_then(|connection| connection.ended.clone());
            notifications::listen(&context, requester, ended).await;
            Ok(())
        })
        .await
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: McpContext) -> McpResult<()> {
        let work = async |requester: Requester| {
            let Some(connection) = &self.connection else {
                return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
            };
            if !is_ours(&request.uri) && self.has_live_servers() {
                return connection.follow_resource(request.uri, &context.peer).await;
            }
            resources::find(requester.view(), &request.uri)?;
            let version = resources::version(requester.view(), &request.uri);
            let mut watched = locked(&connection.watched);
            if watched.len() >= MAX_WATCHED && !watched.contains_key(&request.uri) {
                return Err(too_many_watched());
            }
            watched.insert(request.uri, version);
            Ok(())
        };
        self.answer_plain("resources/subscribe", &context, work).await
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: McpContext) -> McpResult<()> {
        self.connection.iter().for_each(|connection| connection.forget_resource(&request.uri));
        Ok(())
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: McpContext) -> McpResult<()> {
        if !self.has_live_servers() {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.connection.iter().for_each(|connection| connection.set_level(request.level));
        Ok(())
    }

    /// The SDK treats a request with unreadable parameters as an unknown one.
    async fn on_custom_request(&self, request: CustomRequest, _: McpContext) -> McpResult<CustomResult> {
        Err(if KNOWN.contains(&request.method.as_str()) {
            ErrorData::invalid_params(format!("the parameters of {} do not fit", request.method), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there is no such method", None)
        })
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        let client = self.connection.as_ref().and_then(|connection| connection.client.get());
        client.into_iter().for_each(|client| client.roots_changed());
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.connection.iter().for_each(|connection| connection.notify(&context.peer));
    }
}
