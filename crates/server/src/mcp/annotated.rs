//! The list of tools with annotations that the SDK does not know: it would drop them, and a client may go by them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, JsonObject, ListToolsResult, ProtocolVersion,
    ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use super::as_written::AsWritten;
use super::requester::Requester;
use super::service::McpService;

/// Where the handler of a list leaves the annotations of each listed tool that the SDK does not know.
#[derive(Clone, Default)]
pub(super) struct MoreAnnotations(Arc<OnceLock<Vec<JsonObject>>>);

impl MoreAnnotations {
    /// Keeps what a list lacks.
    pub(super) fn keep(&self, list: &ListToolsResult, requester: &Requester) {
        let more =
            |name: &str| requester.served.listed_tools().more_annotations(name).cloned().unwrap_or_default();
        let all: Vec<JsonObject> = list.tools.iter().map(|tool| more(&tool.name)).collect();
        if all.iter().any(|more| !more.is_empty()) {
            let _ = self.0.set(all);
        }
    }

    /// The result with what was kept.
    fn added_to(&self, result: ServerResult) -> ServerResult {
        let Some(all) = self.0.get() else { return result };
        let Ok(mut list) = serde_json::to_value(&result) else { return result };
        let tools = list.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten();
        for (tool, more) in tools.zip(all).filter(|(_, more)| !more.is_empty()) {
            if let Value::Object(annotations) = &mut tool["annotations"] {
                annotations.extend(more.clone());
            } else {
                tool["annotations"] = more.clone().into();
            }
        }
        ServerResult::CustomResult(CustomResult(list))
    }
}

/// The service of one connection. The SDK serves HTTP with its own handlers only, whose lists stay as it reads them.
#[derive(Clone, Debug)]
pub(super) struct Annotated(pub(super) McpService);

impl Service<RoleServer> for Annotated {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let more = MoreAnnotations::default();
        context.extensions.insert(more.clone());
        let written = AsWritten::default();
        context.extensions.insert(written.clone());
        // Boxed: the SDK's own future would hold this large one several times.
        let answer = Box::pin(Service::handle_request(&self.0, request, context)).await;
        answer.map(|result| match written.kept() {
            Some(written) => ServerResult::CustomResult(CustomResult(written.clone())),
            None => more.added_to(result),
        })
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
