//! The facts of a function stand in its table entry, from which every transport, list and page takes them, so that a
//! new function is an entry, a definition and a handler.

use std::collections::BTreeSet;
use std::fs;

use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use toolcrib::catalog::{Profile, ProfileTool, functions};
use toolcrib::config::Mode;
use toolcrib::functions::{Function, FunctionList};
use toolcrib::providers::{self, PayloadRequest, Provider};
use walkdir::WalkDir;

use crate::fixture;
use crate::mcp::run;
use crate::serve::{Server, client};

fn names() -> BTreeSet<String> {
    Function::all().iter().map(|function| function.name().to_string()).collect()
}

#[test]
fn every_function_is_defined_and_every_definition_is_of_a_function() {
    let defined: BTreeSet<String> =
        functions().tools.iter().map(|tool| tool.names.canonical.clone()).collect();
    // Toolsets are loaded by the program that binds them.
    let expected = names().into_iter().collect();
    assert_eq!(defined, expected);
    for function in Function::all() {
        assert!(function.definition().is_some_and(|tool| tool.input.call.is_some()), "{}", function.name());
    }
}

#[test]
fn every_function_is_on_every_transport() {
    client();
    let server = Server::github();
    let api = server.json("/openapi.json");
    let listed = server.json("/v1");
    let name = |function: &Value| function["name"].as_str().unwrap().to_string();
    let listed: BTreeSet<String> = listed["functions"].as_array().unwrap().iter().map(name).collect();
    assert_eq!(listed, names());
    for name in names() {
        assert_eq!(api["paths"][format!("/v1/{name}")]["post"]["operationId"], name.as_str());
        let status = server.post(&name, "{}").status();
        assert!(status != 404 && status != 405, "{name}: {status}");
        let metrics = server.text("/metrics");
        assert!(metrics.contains(&format!("function=\"{name}\"")), "{name} is not counted");
    }
    let told = fixture::run(&["call", "no_such_function", "{}", "examples/github"]).stderr;
    let missing: Vec<String> = names().into_iter().filter(|name| !told.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "the command line does not know {missing:?}: {told}");
}

#[test]
fn every_function_is_in_a_list_of_mcp() {
    for (flags, list) in [
        (["--tool-list", "all"].as_slice(), FunctionList::All),
        (&["--tool-list", "all", "--split-exec"], FunctionList::SplitAll),
        (&["--tool-list", "gateway"], FunctionList::Gateway),
        (&["--tool-list", "gateway", "--split-exec"], FunctionList::SplitGateway),
        (&["--tool-list", "discovery"], FunctionList::Discovery),
    ] {
        client();
        let server = Server::start("examples/github", flags, &[]);
        let listed = Function::all().iter().filter(|function| function.is_in(list));
        let expected: Vec<String> = listed.map(|function| function.name().to_string()).collect();
        run(async {
            let transport = StreamableHttpClientTransport::from_uri(server.url("/mcp"));
            let client = ().serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.unwrap();
            let tools = client.list_all_tools().await.unwrap();
            assert_eq!(tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>(), expected);
            client.cancel().await.unwrap();
        });
    }
    let is_in_all =
        |function: &Function| function.is_in(FunctionList::All) || function.is_in(FunctionList::SplitAll);
    assert!(Function::all().iter().all(is_in_all));
}

#[test]
fn the_gateway_of_a_payload_is_the_gateway_of_the_server() {
    let tool = functions().named("tool_help").unwrap();
    let tools = vec![ProfileTool { tool, mode: toolcrib::definition::DescriptionMode::Deferred }];
    let profile = Profile { name: None, description: None, tools, picked: false };
    let request = PayloadRequest {
        catalog: functions(),
        profile: &profile,
        provider: Provider::Mcp,
        mode: Mode::Gateway,
        options: Default::default(),
    };
    let body = providers::payload(request).unwrap().body;
    let bound = body["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]);
    let listed = Function::all().iter().filter(|function| function.is_in(FunctionList::Gateway));
    assert_eq!(bound.cloned().collect::<Vec<_>>(), listed.map(|one| json!(one.name())).collect::<Vec<_>>());
}

/// Files that name functions beside the table, and why.
const NAMED: [(&str, &str); 4] = [
    ("crates/gateway/src/functions/mod.rs", "the table"),
    (
        "crates/gateway/src/functions/client_answer.rs",
        "a batch and a part of a result have texts of their own",
    ),
    ("crates/gateway/src/functions/tool_batch.rs", "the definition of a batch says which functions it takes"),
    (
        "crates/providers/src/payload/selection.rs",
        "which functions a payload binds is decided below the table",
    ),
];

#[test]
fn no_other_file_names_a_function() {
    let mut wrong = Vec::new();
    let folders = ["src", "crates"].map(|folder| WalkDir::new(fixture::package().join(folder)));
    for entry in folders.into_iter().flatten().map(Result::unwrap) {
        let name = entry.path().strip_prefix(fixture::package()).unwrap().to_str().unwrap().to_string();
        let is_code = name.ends_with(".rs") && !name.contains("test");
        if !is_code || NAMED.iter().any(|(file, _)| *file == name) {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        // Providers have a kind of tool that is called `tool_search` as well; `list` and `pick` are words.
        let kinds =
            ["{\"type\": \"tool_search\"", "\"type\": \"tool_search\",", "starts_with(\"tool_search\")"];
        let code = kinds.iter().fold(code.to_string(), |code, kind| code.replace(kind, ""));
        let is_own = |function: &str| entry.path().file_stem().is_some_and(|stem| stem == function);
        let named = names()
            .into_iter()
            .filter(|name| name.contains('_') && !is_own(name) && code.contains(&format!("\"{name}\"")));
        wrong.extend(named.map(|function| format!("{name}: {function}")));
    }
    assert!(wrong.is_empty(), "the facts of a function stand in its entry of the table: {wrong:#?}");
}
