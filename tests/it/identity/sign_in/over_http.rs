//! Clients over HTTP that are asked to open an address.

use std::sync::{Arc, Mutex};

use rmcp::model::*;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RoleClient};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ErrorData};
use serde_json::{Value, json};

use super::operator::{Operator, browse, until};
use crate::fixture::text;
use crate::serve::Server;

/// A person who opens every address, and keeps what was said.
#[derive(Clone, Default)]
struct Person {
    asked: Arc<Mutex<Vec<Value>>>,
    completed: Arc<Mutex<Vec<Value>>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = serde_json::from_value(json!({"elicitation": {"url": {}}})).unwrap();
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = serde_json::to_value(request).unwrap();
        let url = request["url"].as_str().unwrap().to_string();
        let page = tokio::task::spawn_blocking(move || browse(&url)).await.unwrap();
        assert!(page.contains("Signed in"), "{page}");
        self.asked.lock().unwrap().push(request);
        Ok(serde_json::from_value(json!({"action": "accept"})).unwrap())
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _: NotificationContext<RoleClient>,
    ) {
        if notification.method == "notifications/elicitation/complete" {
            self.completed.lock().unwrap().push(notification.params.unwrap_or_default());
        }
    }
}

/// Calls a tool of a server that nobody is signed in to, as a client of this revision.
fn called(is_newer: bool) -> (Value, Person) {
    let operator = Operator::new(is_newer, "");
    operator.login();
    operator.remember();
    operator.run(&["login", "hosted", "--sign-out"]);
    let state = text(operator.state.path());
    let more = ["--mode", "full"];
    let server = Server::start(text(operator.catalog.path()), &more, &[("XDG_STATE_HOME", state)]);
    let newer = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let mode = if is_newer { newer } else { ClientLifecycleMode::Initialize };
    let person = Person::default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answer = runtime.block_on(async {
        let transport = StreamableHttpClientTransport::from_uri(server.url("/mcp"));
        let client = person.clone().serve_with_lifecycle(transport, mode).await.unwrap();
        let answer = client.call_tool(CallToolRequestParams::new("whoami")).await.unwrap();
        if !is_newer {
            let completed = Arc::clone(&person.completed);
            let is_told = move || !completed.lock().unwrap().is_empty();
            let told = move || until("the end of the sign-in is reported", is_told);
            tokio::task::spawn_blocking(told).await.unwrap();
        }
        client.cancel().await.unwrap();
        serde_json::to_value(answer).unwrap()
    });
    (answer, person)
}

#[test]
fn a_client_of_the_older_protocol_signs_in_over_http_and_is_told_when_that_is_done() {
    let (answer, person) = called(false);
    assert!(answer.to_string().contains("whoami for amy"), "{answer}");
    let (asked, completed) = (person.asked.lock().unwrap(), person.completed.lock().unwrap());
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(*completed, [json!({"elicitationId": asked[0]["elicitationId"]})]);
}

#[test]
fn a_client_of_the_newer_protocol_signs_in_over_http_and_its_call_goes_on() {
    let (answer, person) = called(true);
    assert!(answer.to_string().contains("whoami for amy"), "{answer}");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
}
