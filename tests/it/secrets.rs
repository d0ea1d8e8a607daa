//! One answer to "is this secret?", whichever way a secret could get out.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{folder, run, run_with, text};
use crate::repair::{http, server};
use crate::transports::{Transports, on_command_line};

/// Tools whose calls carry secrets: by their names, by the schema, in headers, in texts.
fn tools() -> String {
    let parameters = json!({"type": "object", "properties": {
        "task_id": {"type": "string"}, "api_key": {"type": "string", "minLength": 4},
        "code": {"type": "string", "format": "password"}, "who": {"type": "string"}, "note": {"type": "string"},
        "count": {"type": "integer"}, "max_tokens": {"type": "integer"}, "extra": {"type": "object"},
    }, "required": ["task_id"], "additionalProperties": false});
    let tool = |name: &str, op: &str, backend: Value| {
        json!({"name": name, "op": op, "effect": "read", "description": "Read one task.",
            "parameters": parameters, "backend": backend})
    };
    let place = json!({"who": {"in": "header", "name": "X-Jwt"}});
    let get = json!({"type": "http", "server": "api", "method": "GET", "path": "/tasks/{task_id}", "arguments": place});
    let make = json!({"type": "http", "server": "api", "method": "POST", "path": "/tasks"});
    json!([tool("get_task", "task.get", get), tool("make_task", "task.make", make)]).to_string()
}

const CONFIG: &str = r#"
[server.api]
url = "http://127.0.0.1:1"
headers = { X-Own = "hush-header", X-Fixed = "hush-fixed" }
[state]
url = "state.db"
redact = ["iban*"]
[exec]
allow = "write"
"#;

/// Arguments with a secret of every kind; each begins with `hush`.
fn args() -> Value {
    json!({
        "task_id": "7", "api_key": "hush-key", "code": "hush-code", "who": "eyJhbGciOiJI.eyJzdWIiOiIx.hush-who", "max_tokens": 500,
        "note": "see https://amy:hush-user@x.io/?access_token=hush-query and more",
        "extra": {
            "iban_no": "hush-rule", "list": [{"name": "Authorization", "value": "hush-named"}],
            "text": "{\"deep\": {\"password\": \"hush-nested\"}}",
        },
    })
}

#[test]
fn no_transport_repeats_a_secret_in_a_dry_run_or_a_refusal() {
    let folder = folder(&[("tools.json", &tools()), ("toolcrib.toml", CONFIG)]);
    let transports = Transports::open(text(folder.path()).to_string());
    let wrong = |name: &str, value: Value| {
        let mut args = args();
        args[name] = value;
        args
    };
    let exec =
        |op: &str, args: Value| ("tool_exec", json!({"op": op, "args": args}), Some("VALIDATION_ERROR"));
    let dry = |op: &str| ("tool_exec", json!({"op": op, "args": args(), "dry_run": true}), None);
    let rows = [
        dry("task.get"),
        dry("task.make"),
        exec("task.get", wrong("count", json!("many"))),
        exec("task.get", wrong("code", json!({"is": "hush-code"}))),
        exec("task.make", wrong("coulour", json!("Bearer hush-bearer-1234567"))),
        exec("task.make", wrong("api_key", json!(["hush-key"]))),
        ("tool_exec", json!({"op": "task.gett", "args": args()}), Some("NOT_FOUND")),
        (
            "call_tool",
            json!({"tool_id": "get_task", "arguments": wrong("count", json!("many"))}),
            Some("VALIDATION_ERROR"),
        ),
    ];
    for (function, arguments, error) in rows {
        let (answer, _) = on_command_line(text(folder.path()), function, &arguments);
        assert_eq!(answer["error"]["code"].as_str(), error, "{answer}");
        // Values that are no secrets stay, such as a number of tokens.
        assert!(answer.to_string().contains("500"), "{answer}");
        for told in transports.tell(function, &arguments).into_iter().chain([answer.to_string()]) {
            assert!(!told.contains("hush"), "{told}");
        }
    }
    transports.close();
    let traced = run(&["trace", "--all", "--json", text(folder.path())]).stdout;
    assert!(traced.lines().count() > 8 && traced.contains("500") && !traced.contains("hush"), "{traced}");
}

#[test]
fn a_dry_run_shows_where_a_secret_goes_and_not_what_it_is() {
    let folder = folder(&[("tools.json", &tools()), ("toolcrib.toml", CONFIG)]);
    let would = |op: &str| {
        let mut args = args();
        args["who"] = json!("hush-who");
        let call = json!({"op": op, "args": args, "dry_run": true});
        on_command_line(text(folder.path()), "tool_exec", &call).0["result"]["would"].clone()
    };
    let shown = would("task.get");
    let headers = json!({"x-jwt": "[redacted]", "x-own": "[redacted]", "x-fixed": "[redacted]"});
    assert_eq!(shown["headers"], headers, "{shown}");
    let query = shown["query"].as_str().unwrap();
    for part in ["api_key=[redacted]", "code=[redacted]", "max_tokens=500"] {
        assert!(query.contains(part), "{query}");
    }
    assert_eq!(would("task.make")["body"]["api_key"], "[redacted]");
}

#[test]
fn parse_repeats_no_secret_of_a_call_that_does_not_fit() {
    let folder = folder(&[("tools.json", &tools()), ("toolcrib.toml", CONFIG)]);
    let mut wrong = args();
    wrong["code"] = json!(7_654_321);
    (wrong["api_key"], wrong["count"]) = (json!("hsh"), json!("Bearer hush-1234567890"));
    let call = json!({"type": "tool_use", "id": "t1", "name": "get_task", "input": wrong});
    let body = json!({"type": "message", "role": "assistant", "content": [call]});
    let parse = ["parse", "--provider", "anthropic", text(folder.path())];
    let told = run_with(&parse, &body.to_string(), &[]);
    assert!(told.stdout.contains("field_errors"), "{} {}", told.stdout, told.stderr);
    for secret in ["hush", "hsh", "7654321"] {
        assert!(!told.stdout.contains(secret), "{}", told.stdout);
    }
}

#[cfg(unix)]
#[test]
fn what_a_backend_repeats_of_a_secret_is_not_told() {
    let echo = "echo no user has $0 >&2; exit 1";
    let tools = json!([{
        "name": "log_in", "effect": "read", "description": "Log in.",
        "parameters": {"type": "object", "properties": {"code": {"type": "string", "format": "password"}}},
        "backend": {"type": "command", "argv": ["/bin/sh", "-c", echo, "{code}"]},
    }]);
    let folder = folder(&[
        ("tools.json", &tools.to_string()),
        (
            "toolcrib.toml",
            "[[source]]\npath = \"tools.json\"\ntrust = \"run\"\n[state]\nurl = \"state.db\"\n",
        ),
    ]);
    let call = json!({"op": "log_in", "args": {"code": "hush-code"}});
    let (answer, _) = on_command_line(text(folder.path()), "tool_exec", &call);
    assert!(answer["error"]["code"] == "BACKEND_ERROR" && !answer.to_string().contains("hush"), "{answer}");
    let traced = run(&["trace", "--all", "--json", text(folder.path())]).stdout;
    assert!(!traced.is_empty() && !traced.contains("hush"), "{traced}");
}

/// A catalog of one tool with these parameters, below a server of these settings.
fn with_parameters(parameters: &Value, server: &str) -> TempDir {
    let tool = json!([{
        "name": "set_pin", "effect": "read", "description": "Set a pin.", "parameters": parameters,
        "backend": {"type": "http", "server": "api", "method": "POST", "path": "/pins"},
    }]);
    let config = format!("[server.api]\n{server}\n[exec]\nallow = \"write\"\n[state]\nurl = \"state.db\"\n");
    folder(&[("tools.json", &tool.to_string()), ("toolcrib.toml", &config)])
}

/// The answer to each of these arguments, and all traces.
fn told(folder: &TempDir, calls: &[Value], is_dry: bool) -> (Vec<Value>, String) {
    let call = |args: &Value| {
        let call = json!({"op": "set_pin", "args": args, "dry_run": is_dry});
        on_command_line(text(folder.path()), "tool_exec", &call).0
    };
    let answers = calls.iter().map(call).collect();
    let traced = run(&["trace", "--all", "--json", text(folder.path())]).stdout;
    assert_eq!(traced.lines().count(), calls.len(), "{traced}");
    (answers, traced)
}

#[test]
fn a_refusal_repeats_no_secret_of_a_text_that_is_json() {
    let parameters = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "any": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "pins": {"type": "array", "items": {"type": "string", "writeOnly": true}, "maxItems": 1},
        "headers": {"type": "array", "items": {"type": "object", "properties": {"value": {"type": "integer"}}}},
    }});
    let folder = with_parameters(&parameters, "url = \"http://127.0.0.1:1\"");
    let named = json!([{"name": "X-Api-Key", "value": "hush-named"}]).to_string();
    let texts = [
        r#"{"password":"hush-4"}"#.to_string(),
        named.clone(),
        json!({"a": {"b": named}}).to_string(),
        json!({"password": "hush-long", "more": "x".repeat(90)}).to_string(),
    ];
    let mut calls: Vec<Value> =
        texts.iter().flat_map(|text| [json!({"n": text}), json!({"any": text})]).collect();
    calls.extend([
        json!({"headers": named}),
        json!({"pins": "hush-plain"}),
        json!({"pins": "[\"hush-1\", \"hush-2\"]"}),
    ]);
    let (answers, traced) = told(&folder, &calls, false);
    for (call, answer) in calls.iter().zip(&answers) {
        assert_eq!(answer["error"]["code"], "VALIDATION_ERROR", "{call} {answer}");
        assert!(!answer.to_string().contains("hush"), "{call} {answer}");
    }
    assert!(answers[0]["error"]["message"].as_str().unwrap().contains("[redacted]"), "{}", answers[0]);
    assert!(!traced.contains("hush"), "{traced}");
}

#[test]
fn a_schema_hides_what_it_marks_behind_any_reference() {
    let parameters = json!({
        "type": "object",
        "$defs": {
            "S": {"$anchor": "S", "type": "string", "format": "password"},
            "s p": {"type": "string", "format": "password"},
            "I": {"$id": "urn:x:I", "type": "string", "writeOnly": true},
        },
        "properties": {
            "a": {"$ref": "#S"}, "b": {"$ref": "#/$defs/s%20p"}, "c": {"$ref": "urn:x:I"},
            "d": {"type": "array", "contains": {"$ref": "#/$defs/S"}}, "e": {"not": {"not": {"format": "password"}}},
        },
    });
    let folder = with_parameters(&parameters, "url = \"http://127.0.0.1:1\"");
    let args = json!({"a": "hush-a", "b": "hush-b", "c": "hush-c", "d": ["hush-d"], "e": "hush-e"});
    let (answers, traced) = told(&folder, &[args], true);
    assert_eq!(answers[0]["result"]["would"]["body"]["a"], "[redacted]", "{}", answers[0]);
    assert!(!answers[0].to_string().contains("hush") && !traced.contains("hush"), "{} {traced}", answers[0]);
}

/// The answer to a call with this pin, of a server that answers so, and its trace.
fn repeated(pin: &str, headers: &str, status: &str, body: &Value) -> String {
    let (url, _asked) = server(vec![http(status, &body.to_string())]);
    let server = format!("url = \"{url}\"\nheaders = {{ {headers} }}");
    let parameters =
        json!({"type": "object", "properties": {"pin": {"type": "string", "format": "password"}}});
    let folder = with_parameters(&parameters, &server);
    let (answers, traced) = told(&folder, &[json!({"pin": pin})], false);
    format!("{} {traced}", answers[0])
}

#[test]
fn a_secret_that_a_server_repeats_encoded_is_not_told() {
    for (pin, echo) in [
        ("hush 1 space", "hush%201%20space"),
        ("hush 2/space", "hush+2%2fspace"),
        ("hush3\"quote", "hush3\"quote"),
        ("hush3\"quote", "{\"in\": \"hush3\\\"quote\"}"),
        ("hush4\u{e4}\u{1f600}", "hush4%C3%A4%F0%9F%98%80"),
        ("hush4\u{e4}\u{1f600}", "hush4\\u00e4\\ud83d\\ude00"),
    ] {
        let body = json!({"said": format!("no user has {echo} here")});
        let told = repeated(pin, "", "400 Bad Request", &body);
        assert!(told.contains("no user has") && !told.contains("hush"), "{pin} {told}");
    }
}

#[test]
fn literal_headers_of_a_server_are_not_told() {
    let headers = r#"X-Jwt = "hush-literal-token-1", X-Plain = "hush-plain-value", Authorization = "Bearer hush+bearer/22""#;
    let body = json!({"said": "hush-literal-token-1, hush-plain-value and hush%2Bbearer%2F22"});
    let told = repeated("1234", headers, "400 Bad Request", &body);
    assert!(told.contains("said") && !told.contains("hush"), "{told}");
    // A result keeps words such as those of an `Accept`, but no credentials.
    let told = repeated("1234", headers, "200 OK", &body);
    assert!(told.contains("[redacted], hush-plain-value and [redacted]"), "{told}");
}
