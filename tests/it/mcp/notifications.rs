//! A catalog that changes while clients are connected.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ProtocolVersion, ReadResourceRequestParams, ResourceUpdatedNotificationParam, SubscriptionFilter,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, serve_client};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use toolcrib::catalog::Checked;
use toolcrib::server::{LiveCatalog, mcp};

use super::{live_of, run, served, templates};
use crate::fixture;

/// A client that writes down its notifications.
#[derive(Clone)]
struct Listener(UnboundedSender<String>);

impl ClientHandler for Listener {
    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send("list".into());
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send("tools".into());
    }

    async fn on_resource_updated(
        &self,
        changed: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(changed.uri);
    }
}

fn catalog(about_one: &str, about_two: &str) -> Checked {
    let tool = |name: &str, about: &str| serde_json::json!({"name": name, "description": about, "category": "Things", "parameters": {"type": "object"}});
    let tools = serde_json::json!([tool("one", about_one), tool("two", about_two)]);
    fixture::open_text("tools.json", &tools.to_string())
}

async fn told(news: &mut UnboundedReceiver<String>, count: usize) -> Vec<String> {
    let mut told = Vec::new();
    while told.len() < count {
        told.push(tokio::time::timeout(Duration::from_secs(10), news.recv()).await.expect("news").unwrap());
    }
    assert!(
        tokio::time::timeout(Duration::from_millis(200), news.recv()).await.is_err(),
        "more than {told:?}"
    );
    // A client handles notifications side by side, so they have no order.
    told.sort();
    told
}

async fn over_streams(live: Arc<LiveCatalog>, listener: Listener) -> RunningService<RoleClient, Listener> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(theirs);
    tokio::spawn(mcp::streams(live, read, write, std::future::pending()));
    serve_client(listener, tokio::io::split(ours)).await.unwrap()
}

#[test]
fn a_client_of_the_older_wire_is_told() {
    run(async {
        let live = live_of(catalog("Does one.", "Does two."));
        let (send, mut news) = unbounded_channel();
        let client = over_streams(Arc::clone(&live), Listener(send)).await;
        client.list_all_resources().await.unwrap();
        #[allow(deprecated)]
        for name in ["one", "two"] {
            let uri = format!("toolcrib://tools/{name}.md");
            client.subscribe(rmcp::model::SubscribeRequestParams::new(uri)).await.unwrap();
        }
        live.replace(catalog("Does one.", "Does two, and better."), false, &templates());
        assert_eq!(told(&mut news, 2).await, ["list", "toolcrib://tools/two.md"]);
        let read =
            client.read_resource(ReadResourceRequestParams::new("toolcrib://tools/two.md")).await.unwrap();
        assert!(format!("{:?}", read.contents).contains("and better"));
        // The same catalog again is no news.
        live.replace(catalog("Does one.", "Does two, and better."), false, &templates());
        live.replace(fixture::open_text("tools.json", "[{\"name\": \"one\""), true, &templates());
        told(&mut news, 0).await;
        assert!(live.stale().is_some());
        live.replace(catalog("Does one.", "Does two."), false, &templates());
        assert_eq!(told(&mut news, 2).await, ["list", "toolcrib://tools/two.md"]);
        drop(client);
    });
}

#[test]
fn a_subscription_of_the_newer_wire_is_told_over_http_and_streams() {
    run(async {
        let live = live_of(catalog("Does one.", "Does two."));
        let mode = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let http = StreamableHttpClientTransport::from_uri(served(Arc::clone(&live)).await);
        let by_http = ().serve_with_lifecycle(http, mode.clone()).await.unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        tokio::spawn(mcp::streams(Arc::clone(&live), read, write, std::future::pending()));
        let by_stream = ().serve_with_lifecycle(tokio::io::split(ours), mode).await.unwrap();
        for client in [by_http, by_stream] {
            live.replace(catalog("Does one.", "Does two."), false, &templates());
            let wanted = SubscriptionFilter::builder()
                .tools_list_changed()
                .resources_list_changed()
                .resource_subscription("toolcrib://tools/two.md")
                .resource_subscription("toolcrib://tools/one.md")
                .build();
            let mut subscription = client.listen(wanted).await.unwrap();
            live.replace(catalog("Does one.", "Does two, and better."), false, &templates());
            let mut heard = Vec::new();
            for _ in 0..2 {
                let next =
                    tokio::time::timeout(Duration::from_secs(10), subscription.next()).await.expect("news");
                heard.push(format!("{next:?}"));
            }
            assert!(heard[0].contains("ResourceListChanged") && heard[1].contains("two.md"), "{heard:?}");
        }
    });
}
