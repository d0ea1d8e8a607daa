//! Requests of HTTP backends.

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::exec::backend::BackendErrorKind;

use super::Running;
use super::recorder::Recorder;
use crate::fixture::folder;

/// Tools with these backends, named after the keys, on a server with this configuration besides its URL.
pub fn catalog(recorder: &Recorder, server: &str, tools: &[(&str, Value)]) -> (TempDir, Running) {
    let toml =
        format!("[server.api]\nurl = '{}/base/'\n{server}\n[[source]]\npath = 'tools.json'\n", recorder.url);
    let tools: Vec<Value> = tools.iter().map(|(name, backend)| tool(name, backend)).collect();
    let root = folder(&[("toolcrib.toml", &toml), ("tools.json", &Value::from(tools).to_string())]);
    let running = Running::open(root.path());
    (root, running)
}

fn tool(name: &str, backend: &Value) -> Value {
    let mut tool = json!({
        "name": name, "description": "Does it.", "allow_no_schema": true, "no_schema_mode": "full", "backend": backend,
    });
    for field in ["effect", "parameters"] {
        if let Some(value) = backend.get(field) {
            tool[field] = value.clone();
        }
    }
    tool["backend"]["type"] = "http".into();
    tool["backend"].as_object_mut().unwrap().retain(|key, _| key != "effect" && key != "parameters");
    tool
}

#[test]
fn arguments_go_where_path_method_and_backend_say() {
    let recorder = Recorder::start();
    let places = json!({
        "trace": { "in": "header", "name": "X-Trace" }, "who": { "in": "cookie" }, "dry": { "in": "query" },
        "filter": { "in": "query", "style": "deepObject" }, "ids": { "in": "query", "style": "form", "explode": false },
        "task": { "in": "path", "name": "task-id" },
    });
    let (_root, running) = catalog(
        &recorder,
        "headers = { Authorization = 'Bearer ${TOKEN}', X-User = '${caller:X-User-Id}', X-Fixed = 'chat' }",
        &[
            ("read", json!({ "method": "GET", "path": "/tasks/{task-id}", "arguments": places })),
            ("write", json!({ "method": "POST", "path": "/tasks/{task-id}/notes", "arguments": places })),
            (
                "form",
                json!({ "method": "PUT", "path": "/form", "content_type": "application/x-www-form-urlencoded" }),
            ),
            ("parts", json!({ "method": "POST", "path": "/parts", "content_type": "multipart/form-data" })),
            (
                "patch",
                json!({ "method": "PATCH", "path": "/patch", "content_type": "application/json-patch+json",
                "arguments": { "body": { "in": "whole-body" } } }),
            ),
            (
                "raw",
                json!({ "method": "POST", "path": "/raw", "content_type": "text/csv",
                "arguments": { "body": { "in": "whole-body" } } }),
            ),
        ],
    );
    let running = running.with_headers(&[("x-user-id", "u7"), ("x-other", "not for you")]);
    let everything = json!({
        "task": "a/../b", "trace": "t 1", "who": "me; you", "dry": true, "filter": {"a": {"b": 1}}, "ids": [1, 2],
        "title": "Grüße & more", "none": null, "tags": ["x", "y"],
    });

    let response = running.call("read", everything.clone()).unwrap();
    assert_eq!(response.content["path"], "/base/tasks/a%2F..%2Fb");
    let arrived = recorder.only();
    assert_eq!((arrived.method.as_str(), arrived.path.as_str()), ("GET", "/base/tasks/a%2F..%2Fb"));
    let query = "dry=true&filter%5Ba%5D%5Bb%5D=1&ids=1,2&title=Gr%C3%BC%C3%9Fe%20%26%20more&tags=x&tags=y";
    assert_eq!((arrived.query.as_str(), arrived.body.as_str()), (query, ""));
    let header = |name: &str| arrived.header(name).unwrap_or("none");
    assert_eq!(header("authorization"), "Bearer s3cr3t-token");
    assert_eq!((header("x-user"), header("x-fixed"), header("x-trace")), ("u7", "chat", "t 1"));
    assert_eq!((header("cookie"), header("x-other")), ("who=me%3B%20you", "none"));

    running.call("write", everything.clone()).unwrap();
    let arrived = recorder.only();
    assert_eq!(arrived.query, "dry=true&filter%5Ba%5D%5Bb%5D=1&ids=1,2");
    assert_eq!(arrived.header("content-type"), Some("application/json"));
    assert_eq!(arrived.json(), json!({ "title": "Grüße & more", "none": null, "tags": ["x", "y"] }));

    running.call("form", json!({ "a": "b&c", "d": ["e", "f"], "g": null })).unwrap();
    assert_eq!(recorder.only().body, "a=b%26c&d=e&d=f");

    running.call("parts", json!({ "note": "x\r\n--y", "meta": { "a": 1 } })).unwrap();
    let arrived = recorder.only();
    let boundary =
        arrived.header("content-type").unwrap().strip_prefix("multipart/form-data; boundary=").unwrap();
    let expect = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nx\r\n--y\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{{\"a\":1}}\r\n--{boundary}--\r\n"
    );
    assert_eq!(arrived.body, expect);

    running.call("patch", json!({ "body": [{ "op": "remove" }] })).unwrap();
    let arrived = recorder.only();
    assert_eq!(
        (arrived.body.as_str(), arrived.header("content-type")),
        (r#"[{"op":"remove"}]"#, Some("application/json-patch+json"))
    );
    running.call("raw", json!({ "body": "a,b\n1,2\n" })).unwrap();
    assert_eq!(recorder.only().body, "a,b\n1,2\n");
}

#[test]
fn each_place_has_its_own_form() {
    let recorder = Recorder::start();
    let places = json!({
        "h": { "in": "header", "name": "X-H", "explode": true }, "piped": { "in": "header", "style": "pipeDelimited" },
        "c": { "in": "cookie" }, "raw": { "in": "cookie", "style": "cookie" },
        "path": { "in": "query", "allow_reserved": true }, "all": { "in": "querystring" },
        "json": { "in": "path", "style": "json" }, "tabs": { "in": "path", "style": "tabDelimited" },
    });
    let (_root, running) = catalog(
        &recorder,
        "",
        &[
            ("ask", json!({ "method": "GET", "path": "/ask", "arguments": places })),
            ("whole", json!({ "method": "GET", "path": "/whole", "arguments": places })),
            (
                "by_path",
                json!({ "method": "GET", "path": "/{json}/{tabs}/{;user-id*}", "arguments": places }),
            ),
            ("empty", json!({ "method": "PUT", "path": "/empty" })),
        ],
    );
    let given = json!({
        "h": {"R": 1, "G": "x"}, "piped": ["a", "b"], "c": ["a b", "c,d"], "raw": ["a/b", "c d"], "path": "a/b:c&d=e#f",
    });
    running.call("ask", given).unwrap();
    let arrived = recorder.only();
    assert_eq!((arrived.header("x-h"), arrived.header("piped")), (Some("R=1,G=x"), Some("a|b")));
    assert_eq!(arrived.header("cookie"), Some("c=a%20b,c%2Cd; raw=a/b; raw=c%20d"));
    assert_eq!((arrived.query.as_str(), arrived.header("content-length")), ("path=a/b:c%26d=e%23f", None));

    for (all, query) in
        [(json!({"a": "b&c", "d": [1, 2]}), "a=b%26c&d=1&d=2"), (json!("a=b&c=%20#d"), "a=b&c=%20%23d")]
    {
        running.call("whole", json!({ "all": all })).unwrap();
        assert_eq!(recorder.only().query, query);
    }
    running.call("by_path", json!({ "json": {"a": 1}, "tabs": ["x", "y/z"], "user-id": [1, 2] })).unwrap();
    assert_eq!(recorder.only().path, "/base/%7B%22a%22%3A1%7D/x%09y%2Fz/;user-id=1;user-id=2");
    running.call("empty", json!({})).unwrap();
    let arrived = recorder.only();
    assert_eq!((arrived.header("content-length"), arrived.body.as_str()), (Some("0"), ""));
}

#[test]
fn a_file_is_a_part_with_its_name_its_type_and_its_bytes() {
    let recorder = Recorder::start();
    let file = json!({ "type": "string", "contentMediaType": "application/octet-stream" });
    let properties = json!({
        "upload": { "anyOf": [file, { "type": "null" }] }, "pages": { "type": "array", "items": { "type": "string", "format": "binary" } },
        "code": { "type": "string", "format": "byte" }, "meta": { "type": "object" }, "form": { "type": "string", "contentMediaType": "text/html" },
    });
    let parameters = json!({ "type": "object", "properties": properties });
    let places = json!({
        "meta": { "in": "body", "content_type": "application/vnd.x+json" }, "pages": { "in": "body", "content_type": "image/png, image/*" },
    });
    let multipart = json!({ "method": "POST", "path": "/x", "content_type": "multipart/form-data", "parameters": parameters, "arguments": places });
    let octets = json!({ "method": "POST", "path": "/y", "content_type": "application/octet-stream", "arguments": { "body": { "in": "whole-body" } } });
    let (_root, running) = catalog(&recorder, "", &[("upload", multipart), ("octets", octets)]);
    let sent = |arguments: Value| {
        running.call("upload", arguments).unwrap();
        recorder.only().body
    };
    let part =
        |head: &str, content: &str| format!("Content-Disposition: form-data; {head}\r\n\r\n{content}\r\n");
    let body = sent(
        json!({ "upload": "data:text/csv;name=a.csv;base64,YSxi", "pages": ["aGVsbG8=", "data:image/gif,x"], "code": "aGVs\nbG8",
        "meta": { "a": 1 }, "form": "<b/>" }),
    );
    for expected in [
        part("name=\"upload\"; filename=\"a.csv\"\r\nContent-Type: text/csv", "a,b"),
        part("name=\"pages\"; filename=\"pages\"\r\nContent-Type: image/png", "hello"),
        part("name=\"pages\"; filename=\"pages\"\r\nContent-Type: image/gif", "x"),
        part("name=\"code\"; filename=\"code\"\r\nContent-Type: application/octet-stream", "hello"),
        part("name=\"meta\"\r\nContent-Type: application/vnd.x+json", "{\"a\":1}"),
        part("name=\"form\"", "<b/>"),
    ] {
        assert!(body.contains(&expected), "{expected}\n in {body}");
    }
    let plain =
        part("name=\"upload\"; filename=\"upload\"\r\nContent-Type: application/octet-stream", "plain text");
    assert!(sent(json!({ "upload": "plain text" })).contains(&plain));
    running.fails("upload", json!({ "code": "no base64!" }), BackendErrorKind::InvalidArgument, "`code`");
    running.call("octets", json!({ "body": "data:;base64,aGVsbG8=" })).unwrap();
    assert_eq!(recorder.only().body, "hello");
}

#[test]
fn a_whole_body_is_written_as_its_type_says_or_not_sent() {
    let recorder = Recorder::start();
    let backend = |media: &str, place: Value| {
        let parameters = json!({ "type": "object", "properties": { "body": { "anyOf": [
            { "type": "object", "properties": { "f": { "type": "string", "format": "binary" } } }, {}] } } });
        json!({ "method": "POST", "path": "/x", "content_type": media, "arguments": { "body": place }, "parameters": parameters })
    };
    let whole = json!({ "in": "whole-body" });
    let (_root, running) = catalog(
        &recorder,
        "",
        &[
            ("form", backend("application/x-www-form-urlencoded", whole.clone())),
            (
                "deep",
                backend(
                    "application/x-www-form-urlencoded",
                    json!({ "in": "whole-body", "style": "deepObject" }),
                ),
            ),
            ("parts", backend("multipart/form-data", whole.clone())),
            ("xml", backend("application/xml", whole)),
        ],
    );
    let sent = |tool: &str, body: Value| {
        running.call(tool, json!({ "body": body })).unwrap();
        recorder.only().body
    };
    assert_eq!(sent("form", json!({ "a": "1&", "b": ["x", "y"] })), "a=1%26&b=x&b=y");
    assert_eq!(sent("deep", json!({ "i": [{ "p": "1" }] })), "i%5B0%5D%5Bp%5D=1");
    let parts = sent("parts", json!({ "f": "text" }));
    assert!(parts.contains("name=\"f\"; filename=\"f\"") && parts.contains("\r\n\r\ntext\r\n"), "{parts}");
    assert_eq!(sent("xml", json!("<a/>")), "<a/>");
    running.fails("xml", json!({ "body": { "a": 1 } }), BackendErrorKind::InvalidArgument, "application/xml");
    running.fails("parts", json!({ "body": "a" }), BackendErrorKind::InvalidArgument, "multipart/form-data");
    assert!(recorder.arrived().is_empty());
}

#[test]
fn the_query_of_a_servers_url_goes_with_each_call_and_is_never_shown() {
    let recorder = Recorder::start();
    let toml = format!(
        "[server.api]\nurl = '{}/v1?appid=${{TOKEN}}&v=2&v=3&flag'\n[[source]]\npath = 'tools.json'\n",
        recorder.url
    );
    let tools = json!([tool("read", &json!({ "method": "GET", "path": "/x" }))]);
    let root = folder(&[("toolcrib.toml", &toml), ("tools.json", &tools.to_string())]);
    let running = Running::open(root.path());
    let response = running.call("read", json!({ "q": "a" })).unwrap();
    let arrived = recorder.only();
    assert_eq!(
        (arrived.path.as_str(), arrived.query.as_str()),
        ("/v1/x", "appid=s3cr3t-token&v=2&v=3&flag&q=a")
    );
    let shown = format!("{}{}", response.content, running.preview("read", json!({ "q": "a" })).unwrap());
    assert!(!shown.contains("s3cr3t") && !shown.contains("TOKEN"), "{shown}");
}

#[test]
fn what_would_be_sent_is_shown_without_secrets() {
    let recorder = Recorder::start();
    let (_root, running) = catalog(
        &recorder,
        "headers = { Authorization = 'Bearer ${TOKEN}', X-Api-Key = 's3cr3t', X-Fixed = 'chat' }",
        &[("write", json!({ "method": "POST", "path": "/tasks/{id}" }))],
    );
    let shown = running.preview("write", json!({ "id": "a b", "title": "T" })).unwrap();
    let expect = json!({
        "backend": "http", "server": "api", "method": "POST", "path": "/tasks/a%20b",
        "headers": { "authorization": "[redacted]", "x-api-key": "[redacted]", "x-fixed": "[redacted]", "content-type": "application/json" },
        "body": { "title": "T" },
    });
    assert_eq!(shown, expect);
    assert!(recorder.arrived().is_empty());
}

#[test]
fn no_argument_leaves_its_place() {
    let recorder = Recorder::start();
    let places =
        json!({ "h": { "in": "header", "name": "X-H" }, "host": { "in": "header", "name": "Host" } });
    let (_root, running) = catalog(
        &recorder,
        "headers = { X-H = 'ours' }",
        &[
            ("one", json!({ "method": "GET", "path": "/tasks/{id}", "arguments": places })),
            ("deep", json!({ "method": "GET", "path": "/files/{+path}" })),
        ],
    );
    for id in ["..", ".", "", " "] {
        running.fails("one", json!({ "id": id }), BackendErrorKind::InvalidArgument, "path");
    }
    running.fails("one", json!({}), BackendErrorKind::InvalidArgument, "`id` is part of the path");
    let error = running.fails("one", json!({ "id": null }), BackendErrorKind::InvalidArgument, "`id`");
    assert_eq!(error.argument.as_deref(), Some("id"));
    for path in ["../../admin", "a/../../b", "a?b=c", "a#b", "%2e%2e/x", "..\\..\\x/../../y", "a/./b"] {
        running.fails("deep", json!({ "path": path }), BackendErrorKind::InvalidArgument, "path");
    }
    running.fails(
        "one",
        json!({ "id": "a", "h": "x\r\nX-Evil: 1" }),
        BackendErrorKind::InvalidArgument,
        "line breaks",
    );
    running.fails("one", json!({ "id": "a", "host": "evil" }), BackendErrorKind::Unconfigured, "host");
    assert!(recorder.arrived().is_empty());

    let nasty = [
        "/../x", "a/../../b", "?x=1", "#x", "%2e%2e", "..;", "\\..\\", "@evil.example", ":8080",
        "//evil.example/x",
    ];
    for id in nasty {
        running.call("one", json!({ "id": id, "h": "theirs" })).unwrap();
        let arrived = recorder.only();
        let segment = arrived.path.strip_prefix("/base/tasks/").unwrap();
        assert!(!segment.contains('/') && arrived.query.is_empty(), "{arrived:?}");
        assert_eq!(arrived.header("x-h"), Some("ours"));
    }
    running.call("deep", json!({ "path": "a/b c.txt" })).unwrap();
    assert_eq!(recorder.only().path, "/base/files/a/b%20c.txt");
}

#[test]
fn a_server_is_found_or_it_is_said_what_to_write() {
    let recorder = Recorder::start();
    let (_root, running) = catalog(
        &recorder,
        "[server.other]\ncommand = ['x']\n",
        &[
            ("plain", json!({ "method": "GET", "path": "/x" })),
            ("named", json!({ "method": "GET", "path": "/x", "server": "no such" })),
            ("stdio", json!({ "method": "GET", "path": "/x", "server": "other" })),
        ],
    );
    running.call("plain", json!({})).unwrap();
    let error = running.fails("named", json!({}), BackendErrorKind::Unconfigured, "no such");
    assert!(error.next_action.contains("[server.\"no such\"]"), "{error:?}");
    running.fails("stdio", json!({}), BackendErrorKind::Unconfigured, "no `url`");

    let (_root, running) = catalog(
        &recorder,
        "headers = { A = '${caller:X-Session-Token}', B = '${NOT_SET}' }",
        &[("plain", json!({ "method": "GET", "path": "/x" }))],
    );
    running.fails("plain", json!({}), BackendErrorKind::MissingCredential, "X-Session-Token");
    let running = running.with_headers(&[("x-session-token", "t")]);
    running.fails("plain", json!({}), BackendErrorKind::Unconfigured, "NOT_SET");
}
