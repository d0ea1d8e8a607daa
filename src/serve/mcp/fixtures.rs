//! Fixtures of the official conformance suite: tools, resources and prompts that our server lacks. Compiled with the
//! feature `conformance` only; all other requests go to our own handler.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument, ReadResourceRequestParams,
    ReadResourceResponse, Resource, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use super::McpService;

static FIXTURES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("fixtures.json")).unwrap_or_default());

/// Our handler, with the fixtures.
#[derive(Debug)]
pub struct Fixtures(pub(super) McpService);

/// Part of an answer, as the SDK has it.
fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn all(kind: &str) -> impl Iterator<Item = (&'static String, &'static Value)> {
    FIXTURES.get(kind).and_then(Value::as_object).into_iter().flatten()
}

fn tools() -> impl Iterator<Item = Tool> {
    all("tools").map(|(name, tool)| {
        let schema = tool.get("schema").and_then(Value::as_object).cloned();
        let schema = schema.unwrap_or_else(|| Map::from_iter([("type".to_string(), "object".into())]));
        Tool::new(Cow::Borrowed(name.as_str()), "A fixture of the conformance suite", Arc::new(schema))
    })
}

/// Whether every requested input was answered.
fn answers(asks: &Value, responses: Option<&rmcp::model::InputResponses>) -> bool {
    let asked = asks.get("inputRequests").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    responses.is_some_and(|given| asked.into_iter().all(|name| given.get(name).is_some_and(Value::is_object)))
}

/// Text with `{name}` replaced by the argument of that name.
fn filled(text: &Value, arguments: &Map<String, Value>) -> Result<Value, ErrorData> {
    let mut text = text.to_string();
    for (name, value) in arguments {
        let value = Value::from(value.as_str().unwrap_or_default()).to_string();
        text = text.replace(&format!("{{{name}}}"), value.trim_matches('"'));
    }
    serde_json::from_str(&text).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.0.initialize(request, context).await
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.0.discover(context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.0.list_tools(request, context).await?;
        result.tools.extend(tools());
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.get_tool(name).or_else(|| tools().find(|tool| tool.name == name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((_, tool)) = all("tools").find(|(name, _)| **name == request.name) else {
            return self.0.call_tool(request, context).await;
        };
        if let (Some(needs), None) =
            (tool.get("needs"), context.client_capabilities().and_then(|has| has.sampling))
        {
            return Err(ErrorData::missing_required_client_capability(read(needs.clone())?));
        }
        if let Some(asks) = tool.get("asks").filter(|asks| !answers(asks, request.input_responses.as_ref())) {
            return read::<rmcp::model::InputRequiredResult>(asks.clone()).map(Into::into);
        }
        if let Some(token) = context.meta.get_progress_token() {
            for done in [0.0, 50.0, 100.0] {
                let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
                let _ = context.peer.notify_progress(progress).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        let mut result: rmcp::model::CallToolResult = read(tool["answer"].clone())?;
        result.result_type = Some(rmcp::model::ResultType::COMPLETE);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let is_first = request.as_ref().is_none_or(|request| request.cursor.is_none());
        let mut result = self.0.list_resources(request, context).await?;
        let ours = all("resources").filter(|_| is_first);
        result.resources.extend(ours.map(|(uri, _)| Resource::new(uri, uri)));
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.0.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let id = request.uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (id, all("resources").find(|(uri, _)| **uri == request.uri)) {
            (Some(id), _) => {
                let text =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string();
                json!({"uri": request.uri, "mimeType": "application/json", "text": text})
            }
            (None, Some((_, contents))) => contents.clone(),
            (None, None) => return self.0.read_resource(request, context).await,
        };
        let result =
            json!({"resultType": "complete", "contents": [contents], "ttlMs": 0, "cacheScope": "public"});
        read::<rmcp::model::ReadResourceResult>(result).map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |(name, prompt): (&String, &Value)| {
            let names = prompt["arguments"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let arguments: Vec<PromptArgument> =
                names.map(|name| PromptArgument::new(name).with_required(true)).collect();
            Prompt::new(name.as_str(), Some("A fixture of the conformance suite"), Some(arguments))
        };
        Ok(ListPromptsResult::with_all_items(all("prompts").map(prompt).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some((_, prompt)) = all("prompts").find(|(name, _)| **name == request.name) else {
            return Err(ErrorData::invalid_params("there is no such prompt", None));
        };
        let messages = filled(&prompt["messages"], &request.arguments.unwrap_or_default())?;
        let result = json!({"resultType": "complete", "messages": messages});
        read::<rmcp::model::GetPromptResult>(result).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.0.complete(request, context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.0.on_custom_request(request, context).await
    }
}
