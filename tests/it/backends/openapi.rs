//! Operations of real OpenAPI documents, called.

use std::path::Path;

use serde_json::{Value, json};

use super::Running;
use super::recorder::Recorder;
use crate::fixture::{catalog, codes, folder, open, write};

/// A document with a server that records.
fn imported(path: &Path, recorder: &Recorder) -> (tempfile::TempDir, Running) {
    let root = folder(&[]);
    write(root.path(), "api.json", &std::fs::read_to_string(path).unwrap());
    let toml = format!(
        "[server.api]\nurl = '{}/2.0'\nheaders = {{ Authorization = 'Bearer ${{TOKEN}}' }}\n[[source]]\npath = 'api.json'\n",
        recorder.url
    );
    write(root.path(), "toolcrib.toml", &toml);
    let running = Running::open(root.path());
    (root, running)
}

/// Checks that an operation arrives with this method, path, query and body.
#[track_caller]
fn check(
    running: &Running,
    recorder: &Recorder,
    tool: &str,
    arguments: Value,
    line: &str,
    body: Option<Value>,
) {
    running.call(tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error:?}"));
    let arrived = recorder.only();
    let query = if arrived.query.is_empty() { String::new() } else { format!("?{}", arrived.query) };
    assert_eq!(format!("{} {}{query}", arrived.method, arrived.path), line, "{tool}");
    assert_eq!(arrived.header("authorization"), Some("Bearer s3cr3t-token"), "{tool}");
    match body {
        Some(Value::String(body)) => assert_eq!(arrived.body, body, "{tool}"),
        Some(body) => assert_eq!(arrived.json(), body, "{tool}"),
        None => assert_eq!(arrived.body, "", "{tool}"),
    }
}

#[test]
fn an_api_key_of_the_query_that_no_server_has_is_a_warning() {
    let document = json!({ "openapi": "3.0.3", "info": { "title": "W" }, "servers": [{ "url": "https://w.example" }],
        "components": { "securitySchemes": { "k": { "type": "apiKey", "in": "query", "name": "appid" } } },
        "paths": { "/w": { "get": { "operationId": "w", "summary": "Weather." } } } });
    let warns = |server: &str| {
        let toml = format!("[[source]]\npath = 'api.json'\n{server}");
        let root = folder(&[("toolcrib.toml", &toml), ("api.json", &document.to_string())]);
        codes(&open(root.path())).iter().any(|(code, ..)| *code == "field-invalid")
    };
    assert!(warns("[server.W]\nurl = 'https://w.example'\n") && warns("base_url_from = 'document'\n"));
    let with_header = "[server.W]\nurl = 'https://w.example'\nheaders = { X-Key = '${K}' }\n";
    for fine in ["", "[server.W]\nurl = 'https://w.example?appid=${K}'\n", with_header] {
        assert!(!warns(fine), "{fine}");
    }
}

#[test]
fn box_operations_arrive_as_its_document_has_them() {
    let (path, _) = catalog("box-openapi.json");
    let recorder = Recorder::start();
    let (_root, running) = imported(&path, &recorder);
    let arrives = |tool: &str, arguments: Value, line: &str, body: Option<Value>| {
        check(&running, &recorder, tool, arguments, line, body);
    };
    arrives(
        "get_files_id",
        json!({"file_id": "12/3", "fields": ["id", "name"]}),
        "GET /2.0/files/12%2F3?fields=id,name",
        None,
    );
    arrives(
        "get_folders_id_items",
        json!({"folder_id": "0", "limit": 10, "usemarker": true}),
        "GET /2.0/folders/0/items?limit=10&usemarker=true",
        None,
    );
    arrives(
        "put_files_id",
        json!({"file_id": "1", "name": "n", "tags": ["a"]}),
        "PUT /2.0/files/1",
        Some(json!({"name": "n", "tags": ["a"]})),
    );
    arrives(
        "post_folders",
        json!({"name": "n", "parent": {"id": "0"}}),
        "POST /2.0/folders",
        Some(json!({"name": "n", "parent": {"id": "0"}})),
    );
    arrives(
        "delete_folders_id",
        json!({"folder_id": "5", "recursive": true}),
        "DELETE /2.0/folders/5?recursive=true",
        None,
    );
    arrives(
        "get_search",
        json!({"query": "a b", "content_types": ["name", "tag"]}),
        "GET /2.0/search?query=a%20b&content_types=name,tag",
        None,
    );
    arrives(
        "post_oauth2_revoke",
        json!({"client_id": "c", "token": "t&t"}),
        "POST /2.0/oauth2/revoke",
        Some(json!("client_id=c&token=t%26t")),
    );
    arrives(
        "put_files_id_metadata_id_id",
        json!({"file_id": "1", "scope": "global", "template_key": "t", "body": [{"op": "add", "path": "/a", "value": "b"}]}),
        "PUT /2.0/files/1/metadata/global/t",
        Some(json!([{"op": "add", "path": "/a", "value": "b"}])),
    );
    arrives(
        "post_files_id_copy",
        json!({"file_id": "1", "parent": {"id": "0"}}),
        "POST /2.0/files/1/copy",
        Some(json!({"parent": {"id": "0"}})),
    );

    let with_header =
        running.call("get_files_id", json!({"file_id": "1", "if-none-match": "v1", "boxapi": "b"}));
    with_header.unwrap();
    let arrived = recorder.only();
    assert_eq!((arrived.header("if-none-match"), arrived.header("boxapi")), (Some("v1"), Some("b")));

    running
        .call(
            "post_files_content",
            json!({"attributes": {"name": "a", "parent": {"id": "0"}}, "file": "text"}),
        )
        .unwrap();
    let arrived = recorder.only();
    assert!(arrived.header("content-type").unwrap().starts_with("multipart/form-data; boundary="));
    assert!(
        arrived.body.contains("name=\"attributes\"\r\nContent-Type: application/json\r\n\r\n{\"name\":\"a\""),
        "{}",
        arrived.body
    );
    assert!(
        arrived.body.contains(
            "name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\ntext\r\n"
        ),
        "{}",
        arrived.body
    );
}

#[test]
fn every_imported_operation_can_be_shown() {
    let recorder = Recorder::start();
    for name in ["box-openapi.json", "notion-openapi.json", "discord-openapi.json"] {
        let (path, _) = catalog(name);
        let (_root, running) = imported(&path, &recorder);
        let (mut shown, mut without_call, mut wrong) = (0, 0, Vec::new());
        for tool in &running.checked.catalog.tools {
            let Some(arguments) = tool.input.call.clone() else {
                without_call += 1;
                continue;
            };
            match running.preview(&tool.names.canonical, Value::Object(arguments)) {
                Ok(_) => shown += 1,
                Err(error) => wrong.push(format!("{}: {}", tool.names.canonical, error.message)),
            }
        }
        println!("{name}: {shown} shown, {without_call} without a call");
        assert!(wrong.is_empty() && shown > without_call * 20, "{name}: {shown}, {without_call}: {wrong:#?}");
    }
}
