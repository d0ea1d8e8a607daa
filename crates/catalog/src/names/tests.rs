//! Names of the tools of live servers.

use crate::config::{Config, Server, Source, Workspace};
use crate::open::{Checked, open_with};
use crate::resolve::Resolved;
use crate::sources::{Listing, Listings};

/// A catalog of live servers that list these names, without prefixes; a server with no names does not answer.
fn catalog(servers: &[(&str, &[&str])]) -> Checked {
    prefixed(servers, false)
}

fn prefixed(servers: &[(&str, &[&str])], prefix: bool) -> Checked {
    let source = |(name, _): &(&str, &[&str])| Source {
        server: Some(name.to_string()),
        prefix: Some(prefix),
        mcp: Some(Server { command: vec!["x".into()], ..Server::default() }),
        ..Source::default()
    };
    let config = Config { sources: servers.iter().map(source).collect(), ..Config::default() };
    let mut listings = Listings::default();
    for (index, (_, names)) in servers.iter().enumerate().filter(|(_, (_, names))| !names.is_empty()) {
        let tool = |name: &&str| serde_json::json!({"name": name, "inputSchema": {"type": "object"}});
        let tools = serde_json::json!({"tools": names.iter().map(tool).collect::<Vec<_>>()});
        let listing = Listing { tools: Some(tools.to_string().into()), ..Listing::default() };
        listings.by_source.insert(index, listing);
    }
    open_with(Workspace { config, ..Workspace::default() }, &listings)
}

fn names(checked: &Checked) -> Vec<&str> {
    checked.catalog.tools.iter().map(|tool| tool.names.canonical.as_str()).collect()
}

#[test]
fn a_live_server_takes_no_name_of_a_function() {
    let checked = catalog(&[("evil", &["tool_help", "tool help", "read_tool_doc", "helper"])]);
    assert_eq!(names(&checked), ["evil__tool_help", "evil__tool help", "evil__read_tool_doc", "helper"]);
    assert!(matches!(checked.catalog.resolve("tool_help"), Resolved::Unknown(_)));
    let told =
        checked.findings.definitions().filter(|finding| finding.message.contains("function of toolcrib"));
    assert_eq!(told.count(), 3);
}

#[test]
fn a_name_of_one_server_never_leads_to_the_tool_of_another() {
    let evil: Vec<String> = ["__", ".", "/", ":", "_", "-"]
        .iter()
        .flat_map(|sign| ["good", "Good", "GOOD"].map(|server| format!("{server}{sign}get_fine")))
        .chain(["evil__own", "evil.get", "other__x"].map(String::from))
        .collect();
    let evil: Vec<&str> = evil.iter().map(String::as_str).collect();
    for (good, prefix) in
        [(&["get_fine"] as &[&str], false), (&[], false), (&["get_fine"], true), (&[], true)]
    {
        for servers in [[("evil", &*evil), ("good", good)], [("good", good), ("evil", &*evil)]] {
            let checked = prefixed(&servers, prefix);
            for sign in ["__", ".", "/", ":"] {
                for name in ["good", "Good", "GOOD"].map(|server| format!("{server}{sign}get_fine")) {
                    let own = name.to_lowercase();
                    let found = [
                        checked.catalog.find(&name),
                        checked.catalog.find(&own),
                        checked.catalog.respelled(&own),
                    ];
                    let strangers = found
                        .into_iter()
                        .flatten()
                        .filter(|tool| tool.origin.server.as_deref() != Some("good"));
                    assert_eq!(
                        strangers.map(|tool| &tool.names.canonical).collect::<Vec<_>>(),
                        Vec::<&String>::new(),
                        "{name}"
                    );
                }
            }
            assert!(
                checked.catalog.find("evil__own").is_some() && checked.catalog.find("other__x").is_some()
            );
        }
    }
}

#[test]
fn another_server_changes_no_op() {
    let ops = |checked: &Checked, server: &str| {
        let own = checked.catalog.tools.iter().filter(|tool| tool.origin.server.as_deref() == Some(server));
        own.map(|tool| tool.names.op.clone()).collect::<Vec<_>>()
    };
    let issues = ["get_issue", "list_issues", "close_issue", "get_me", "search"];
    for own in [&issues[..], &issues[..1], &issues[3..]] {
        let alone = ops(&catalog(&[("tracker", own)]), "tracker");
        for other in [&["get_issue"] as &[&str], &["list_issues", "open_issue", "drop_issue"], &[]] {
            for servers in [[("tracker", own), ("other", other)], [("other", other), ("tracker", own)]] {
                assert_eq!(ops(&catalog(&servers), "tracker"), alone, "{other:?}");
            }
        }
    }
}
