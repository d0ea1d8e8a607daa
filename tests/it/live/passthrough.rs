//! Everything that a live server offers beside tools, asked directly and through toolcrib: the same answers.
#![expect(deprecated, reason = "the older revision has log messages and subscriptions")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext,
    RoleClient, RunningService, ServiceError,
};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::offered::{Offered, of};
use super::server::Era;
use crate::fixture::{folder, program, text};
use crate::mcp::run;

/// A person who answers every question, and keeps what servers say.
#[derive(Clone, Default)]
struct Person {
    heard: Arc<Mutex<Vec<Value>>>,
    can_answer: bool,
}

impl Person {
    fn hear(&self, said: Value) {
        self.heard.lock().unwrap().push(said);
    }

    /// Waits until something was said.
    async fn has_heard(&self, said: &Value) {
        while !self.heard.lock().unwrap().contains(said) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = if self.can_answer { json!({ "elicitation": { "form": {} } }) } else { json!({}) };
        ClientConfig::new(of(capabilities), Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.hear(json!({ "asked": serde_json::to_value(request).unwrap()["message"] }));
        Ok(of(json!({ "action": "accept", "content": { "name": "Ada" } })))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.hear(json!({ "progress": progress.progress, "token": progress.progress_token }));
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hear(json!({ "log": message.data }));
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hear(json!({ "updated": updated.uri }));
    }
}

type Client = RunningService<RoleClient, Person>;

fn modes() -> [ClientLifecycleMode; 2] {
    let newer = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    [ClientLifecycleMode::Initialize, newer]
}

/// A catalog with these servers.
fn catalog(urls: &[(&str, &str)]) -> TempDir {
    let sources =
        urls.iter().map(|(name, url)| format!("[[source]]\nserver = '{name}'\nmcp.url = '{url}'\n"));
    let toml = sources.collect::<String>() + "[exec]\nallow = 'destructive'\n";
    folder(&[("toolcrib.toml", &toml)])
}

/// A client of toolcrib over stdio.
async fn over_stdio(catalog: &TempDir, mode: ClientLifecycleMode, person: &Person, more: &[&str]) -> Client {
    let arguments = [&["serve", "--stdio", "--mode", "full", text(catalog.path())], more].concat();
    let process = TokioChildProcess::new(tokio::process::Command::from(program(&arguments))).unwrap();
    person.clone().serve_with_lifecycle(process, mode).await.unwrap()
}

/// A server over HTTP; its process, and its address.
fn over_http(catalog: &TempDir) -> (std::process::Child, String) {
    use std::io::BufRead;
    let arguments = ["serve", "--mode", "full", "--listen", "127.0.0.1:0", text(catalog.path())];
    let mut process = program(&arguments).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(process.stderr.take().unwrap()).lines();
    let url = lines.find_map(|line| Some(line.unwrap().strip_prefix("listening on ")?.to_string()));
    std::thread::spawn(move || lines.for_each(drop));
    (process, format!("{}/mcp", url.unwrap()))
}

async fn connected(url: &str, mode: ClientLifecycleMode, person: &Person) -> Client {
    let transport = StreamableHttpClientTransport::from_uri(url.to_string());
    person.clone().serve_with_lifecycle(transport, mode).await.unwrap()
}

fn error(result: Result<impl std::fmt::Debug, ServiceError>) -> Value {
    match result.unwrap_err() {
        ServiceError::McpError(error) => serde_json::to_value(error).unwrap(),
        other => panic!("{other}"),
    }
}

/// Answers to all requests of a client that call no tool.
async fn everything(client: &Client, name: &str) -> Value {
    let own = format!("{name}://note");
    let complete =
        |reference| CompleteRequestParams::new(reference, of(json!({ "name": "who", "value": "A" })));
    let read = |uri: &str| client.read_resource(ReadResourceRequestParams::new(uri));
    let arguments = json!({ "who": "Ada" }).as_object().unwrap().clone();
    let greet = GetPromptRequestParams::new("greet").with_arguments(arguments);
    let is_ours = |uri: &str| uri.starts_with("toolcrib://tools/");
    let mut resources = client.list_all_resources().await.unwrap();
    resources.retain(|resource| !is_ours(&resource.uri));
    let mut templates = client.list_all_resource_templates().await.unwrap();
    templates.retain(|template| !is_ours(&template.uri_template));
    json!([
        resources,
        templates,
        client.list_all_prompts().await.unwrap(),
        read(&own).await.unwrap().contents,
        read(&format!("{name}://item/7")).await.unwrap().contents,
        error(read("nobody://note").await),
        client.get_prompt(greet).await.unwrap().messages,
        error(client.get_prompt(GetPromptRequestParams::new("gret")).await),
        client.complete(complete(Reference::for_prompt("greet"))).await.unwrap().completion,
        client
            .complete(complete(Reference::for_resource(format!("{name}://item/{{id}}"))))
            .await
            .unwrap()
            .completion,
        client.list_all_tools().await.unwrap(),
    ])
}

#[test]
fn resources_prompts_and_completions_are_those_of_the_server() {
    run(async {
        for (era, mode) in [(Era::Old, 0), (Era::New, 1)] {
            let (url, _) = Offered::start(era, "sky").await;
            let person = Person::default();
            let direct = everything(&connected(&url, modes()[mode].clone(), &person).await, "sky").await;
            let catalog = catalog(&[("sky", &url)]);
            let (mut process, through) = over_http(&catalog);
            for mode in modes() {
                let client = over_stdio(&catalog, mode.clone(), &person, &[]).await;
                let mut got = vec![everything(&client, "sky").await];
                got.push(everything(&connected(&through, mode, &person).await, "sky").await);
                for mut got in got {
                    // Each revision has its own code for a missing resource.
                    got[5]["code"] = direct[5]["code"].clone();
                    assert_eq!(got, direct, "{era:?}");
                }
            }
            process.kill().unwrap();
            process.wait().unwrap();
        }
    });
}

#[test]
fn a_server_asks_reports_and_logs_to_the_client_of_its_call() {
    run(async {
        for era in [Era::Old, Era::New] {
            let (url, _) = Offered::start(era, "sky").await;
            let catalog = catalog(&[("sky", &url)]);
            let (mut process, through) = over_http(&catalog);
            for (is_newer, mode) in modes().into_iter().enumerate() {
                for is_http in [true, false] {
                    // A server of the older revision can ask within a session, which the newer revision has not.
                    if era == Era::Old && is_newer == 1 {
                        continue;
                    }
                    let person = Person { can_answer: true, ..Person::default() };
                    let client = match is_http {
                        true => connected(&through, mode.clone(), &person).await,
                        false => over_stdio(&catalog, mode.clone(), &person, &[]).await,
                    };
                    if is_newer == 0 {
                        client.set_level(SetLevelRequestParams::new(LoggingLevel::Debug)).await.unwrap();
                    }
                    let answer = client.call_tool(CallToolRequestParams::new("ask")).await.unwrap();
                    let answer = serde_json::to_value(answer.content).unwrap().to_string();
                    assert!(answer.contains("Ada"), "{era:?} {is_newer} {is_http}: {answer}");
                    person.has_heard(&json!({ "asked": "The MCP server `sky` asks: Who are you?" })).await;
                    let request = ClientRequest::CallToolRequest(CallToolRequest::new(
                        CallToolRequestParams::new("work"),
                    ));
                    let mut meta = RequestMetaObject::new();
                    meta.0.insert("example.com/trace".into(), json!("kept"));
                    meta.set_log_level(LoggingLevel::Debug);
                    let options = PeerRequestOptions::no_options().with_meta(meta);
                    let call = client.send_request_with_option(request, options).await.unwrap();
                    let token = json!(call.progress_token.clone());
                    let answer = serde_json::to_value(call.await_response().await.unwrap()).unwrap();
                    assert_eq!(answer["content"][0]["text"], "\"kept\"");
                    for progress in [1.0, 2.0] {
                        person.has_heard(&json!({ "progress": progress, "token": token })).await;
                    }
                    person.has_heard(&json!({ "log": "it works" })).await;
                }
            }
            process.kill().unwrap();
            process.wait().unwrap();
        }
    });
}

#[test]
fn a_client_that_cannot_answer_is_not_asked() {
    run(async {
        let (url, _) = Offered::start(Era::Old, "sky").await;
        let person = Person::default();
        let client = over_stdio(&catalog(&[("sky", &url)]), modes()[0].clone(), &person, &[]).await;
        let answer = client.call_tool(CallToolRequestParams::new("ask")).await.unwrap();
        let answer = serde_json::to_value(answer.content).unwrap().to_string();
        assert!(answer.contains("elicitation/create"), "{answer}");
        assert!(person.heard.lock().unwrap().is_empty());
    });
}

#[test]
fn a_call_that_its_client_cancels_is_cancelled_at_the_server() {
    run(async {
        for era in [Era::Old, Era::New] {
            let (url, mut cancelled) = Offered::start(era, "sky").await;
            let person = Person::default();
            let client = over_stdio(&catalog(&[("sky", &url)]), modes()[0].clone(), &person, &[]).await;
            client.list_all_tools().await.unwrap();
            let request =
                ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("wait")));
            let call =
                client.send_request_with_option(request, PeerRequestOptions::no_options()).await.unwrap();
            // The server is asked before the call is taken back.
            client.call_tool(CallToolRequestParams::new("work")).await.unwrap();
            call.cancel(Some("enough".into())).await.unwrap();
            cancelled.wait_for(|cancelled| *cancelled).await.unwrap();
        }
    });
}

#[test]
fn a_resource_that_changes_at_its_server_is_announced_under_its_uri_here() {
    run(async {
        let ((one, _), (two, _)) =
            (Offered::start(Era::Old, "one").await, Offered::start(Era::Old, "two").await);
        let person = Person::default();
        let catalog = catalog(&[("one", &one), ("two", &two)]);
        let client = over_stdio(&catalog, modes()[0].clone(), &person, &[]).await;
        for uri in ["two://note", "toolcrib://servers/one/shared://note"] {
            client.subscribe(SubscribeRequestParams::new(uri)).await.unwrap();
            person.has_heard(&json!({ "updated": uri })).await;
        }
    });
}

#[test]
fn names_and_uris_of_several_servers_are_told_apart() {
    run(async {
        let ((one, _), (two, _)) =
            (Offered::start(Era::Old, "one").await, Offered::start(Era::New, "two").await);
        let person = Person::default();
        let catalog = catalog(&[("one", &one), ("two", &two)]);
        let client = over_stdio(&catalog, modes()[0].clone(), &person, &[]).await;
        let listed = client.list_all_resources().await.unwrap();
        let uris: Vec<&str> = listed.iter().map(|resource| resource.uri.as_str()).take(4).collect();
        let expected = [
            "toolcrib://servers/one/shared://note",
            "one://note",
            "toolcrib://servers/two/shared://note",
            "two://note",
        ];
        assert_eq!(uris, expected);
        for uri in expected {
            let contents = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap().contents;
            let contents = serde_json::to_value(contents).unwrap();
            let server = if uri.contains("two") { "two" } else { "one" };
            assert_eq!(contents[0]["uri"], uri);
            assert!(contents[0]["text"].as_str().unwrap().ends_with(server), "{contents}");
        }
        let prompts = client.list_all_prompts().await.unwrap();
        let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(names, ["one__greet", "two__greet"]);
        let prompt = client.get_prompt(GetPromptRequestParams::new("two__greet")).await.unwrap();
        assert!(serde_json::to_string(&prompt.messages).unwrap().contains("two greets"));
        let unknown = error(client.get_prompt(GetPromptRequestParams::new("two__gret")).await);
        assert!(unknown["message"].as_str().unwrap().contains("two__greet"), "{unknown}");
    });
}

#[test]
fn a_server_whose_tools_a_profile_lacks_has_no_resources_or_prompts_in_it() {
    run(async {
        let ((one, _), (two, _)) =
            (Offered::start(Era::Old, "one").await, Offered::start(Era::Old, "two").await);
        let catalog = catalog(&[("one", &one), ("two", &two)]);
        let toml = catalog.path().join("toolcrib.toml");
        let with_profile =
            std::fs::read_to_string(&toml).unwrap() + "[profile.small]\ninclude = ['one__*']\n";
        std::fs::write(&toml, with_profile).unwrap();
        let person = Person::default();
        let client = over_stdio(&catalog, modes()[0].clone(), &person, &["--profile", "small"]).await;
        let resources = serde_json::to_string(&client.list_all_resources().await.unwrap()).unwrap();
        assert!(resources.contains("one://note") && !resources.contains("two"), "{resources}");
        let prompts = client.list_all_prompts().await.unwrap();
        assert_eq!(prompts.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["one__greet"]);
        for uri in ["two://note", "toolcrib://servers/two/shared://note"] {
            error(client.read_resource(ReadResourceRequestParams::new(uri)).await);
        }
    });
}
