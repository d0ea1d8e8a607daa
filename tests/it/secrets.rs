//! One answer to "is this secret?", whichever way a secret could get out.

use serde_json::{Value, json};

use crate::doors::{Doors, on_command_line};
use crate::fixture::{folder, run, run_with, text};

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
fn no_door_repeats_a_secret_in_a_dry_run_or_a_refusal() {
    let folder = folder(&[("tools.json", &tools()), ("toolcrib.toml", CONFIG)]);
    let doors = Doors::open(text(folder.path()).to_string());
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
        for told in doors.tell(function, &arguments).into_iter().chain([answer.to_string()]) {
            assert!(!told.contains("hush"), "{told}");
        }
    }
    doors.close();
    let traced = run(&["trace", "--all", "--json", "--catalog", text(folder.path())]).stdout;
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
    let parse = ["parse", "--provider", "anthropic", "--catalog", text(folder.path())];
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
    let traced = run(&["trace", "--all", "--json", "--catalog", text(folder.path())]).stdout;
    assert!(!traced.is_empty() && !traced.contains("hush"), "{traced}");
}
