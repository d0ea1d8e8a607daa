//! A caller who cannot see a change gets no notification of it.

use std::time::Duration;

use rmcp::model::{ProtocolVersion, SubscriptionFilter};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::{ADMIN, CONFIG, EDITED, GUEST, HIDDEN, VISIBLE, serve};
use crate::fixture::{folder, write};
use crate::serve::Server;

pub async fn connected(server: &Server, path: &str, token: &str) -> RunningService<RoleClient, ()> {
    let config = StreamableHttpClientTransportConfig::with_uri(server.url(path)).auth_header(token);
    let mode = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    ().serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), mode).await.unwrap()
}

#[test]
fn a_client_is_told_of_no_change_that_it_cannot_see() {
    let folder = folder(&[("people.json", VISIBLE), ("vault.json", HIDDEN), ("toolcrib.toml", CONFIG)]);
    let server = serve(&folder, &["--mode", "full"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let wanted = || {
            SubscriptionFilter::builder()
                .tools_list_changed()
                .resources_list_changed()
                .resource_subscription("toolcrib://tools/get_user.md")
                .resource_subscription("toolcrib://tools/read_vault.md")
                .build()
        };
        let (guest, admin) =
            (connected(&server, "/mcp", GUEST).await, connected(&server, "/mcp", ADMIN).await);
        let mut of_guest = guest.listen(wanted()).await.unwrap();
        let mut of_admin = admin.listen(wanted()).await.unwrap();
        let within = Duration::from_secs(20);
        let mut heard = Vec::new();
        // Until the server has notified those who may know.
        write(folder.path(), "vault.json", EDITED);
        while !heard.last().is_some_and(|last: &String| last.contains("read_vault")) {
            heard.push(format!("{:?}", tokio::time::timeout(within, of_admin.next()).await.expect("news")));
        }
        assert!(heard.iter().any(|news| news.contains("ToolListChanged")), "{heard:?}");
        // The next that the guest hears is of the visible edit: the list of docs, the list of tools, and the doc, once each.
        write(folder.path(), "people.json", &VISIBLE.replace("mail address", "address"));
        let mut heard = Vec::new();
        for _ in 0..3 {
            heard.push(format!("{:?}", tokio::time::timeout(within, of_guest.next()).await.expect("news")));
        }
        let expected = ["ResourceListChanged", "ToolListChanged", "get_user.md"];
        assert!(heard.iter().zip(expected).all(|(news, word)| news.contains(word)), "{heard:?}");
    });
    runtime.shutdown_background();
}
