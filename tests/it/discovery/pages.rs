//! Pages of lists: whole, without repetition, and right while the catalog changes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{TOOLS, ask, catalog, texts};
use crate::fixture::{text, write};
use crate::serve::Server;

fn post(server: &Server, function: &str, arguments: Value) -> Value {
    server.post(function, arguments.to_string()).json().unwrap()
}

#[test]
fn pages_add_up_to_the_whole() {
    let folder = catalog();
    for request in [
        json!({"path": ["Coding"]}),
        json!({}),
        json!({"tags": ["storage"]}),
        json!({"query": "upload an object to a bucket in storage"}),
        json!({"query": "storage", "path": ["Storage"]}),
    ] {
        let mut arguments = request.clone();
        arguments["limit"] = 50.into();
        let whole = ask(&folder, "list", arguments.clone());
        assert_eq!((whole["ok"].as_bool(), &whole["next_cursor"]), (Some(true), &Value::Null), "{whole}");
        let mut seen = Vec::new();
        loop {
            arguments["limit"] = 1.into();
            let page = ask(&folder, "list", arguments.clone());
            let lines =
                [&page["nodes"], &page["tools"]].map(|list| list.as_array().unwrap().clone()).concat();
            assert_eq!(lines.len(), 1, "{page}");
            seen.extend(lines);
            match &page["next_cursor"] {
                Value::Null => break,
                next => arguments["cursor"] = next.clone(),
            }
        }
        let whole = [&whole["nodes"], &whole["tools"]].map(|list| list.as_array().unwrap().clone()).concat();
        assert_eq!(seen, whole, "{request}");
    }
}

#[test]
fn cursors_outlive_a_reload_or_say_that_they_do_not() {
    let folder = catalog();
    let server = Server::start(text(folder.path()), &[], &[]);
    let browse = |cursor: &Value| {
        post(&server, "list", json!({"path": ["Storage", "Buckets"], "limit": 1, "cursor": cursor}))
    };
    let search = |cursor: &Value| {
        post(
            &server,
            "search_tool_by_category",
            json!({"query": "storage bucket", "limit": 1, "cursor": cursor}),
        )
    };
    let first = browse(&Value::Null);
    assert_eq!(texts(&first["tools"], "tool_id"), ["storage.list_buckets"]);
    let ranked = search(&Value::Null);
    assert!(ranked["next_cursor"].is_string(), "{ranked}");
    assert_eq!(search(&ranked["next_cursor"])["ok"], true);
    // A cursor is for its own request.
    let other = post(&server, "list", json!({"path": ["Storage"], "cursor": first["next_cursor"]}));
    assert_eq!(other["error"]["code"], "VALIDATION_ERROR", "{other}");
    assert_eq!(browse(&ranked["next_cursor"])["error"]["code"], "VALIDATION_ERROR");

    // One before the last line that was shown, one behind it; and that line itself goes.
    let more = r#"[
      {"name": "copy", "op": "storage.copy", "category": "Storage/Buckets", "description": "Copies.", "parameters": {"type": "object"}},
      {"name": "move", "op": "storage.move", "category": "Storage/Buckets", "description": "Moves.", "parameters": {"type": "object"}},"#;
    let edited = TOOLS.replacen('[', more, 1).replace("storage.list_buckets", "storage.aaa");
    write(folder.path(), "tools.json", &edited);
    let version = ranked["meta"]["registry_version"].clone();
    let end = Instant::now() + Duration::from_secs(10);
    while browse(&Value::Null)["meta"]["registry_version"] == version {
        assert!(Instant::now() < end, "the edit is never served");
        std::thread::sleep(Duration::from_millis(30));
    }
    let mut rest = Vec::new();
    let mut cursor = first["next_cursor"].clone();
    while cursor.is_string() {
        let page = browse(&cursor);
        rest.extend(texts(&page["tools"], "tool_id"));
        cursor = page["next_cursor"].clone();
    }
    assert_eq!(rest, ["storage.move", "storage.put_object"]);
    let expired = server.post(
        "search_tool_by_category",
        json!({"query": "storage bucket", "limit": 1, "cursor": ranked["next_cursor"]}).to_string(),
    );
    assert_eq!(expired.status(), 410);
    let expired: Value = expired.json().unwrap();
    assert_eq!(expired["error"]["code"], "CURSOR_EXPIRED");
    assert!(expired["error"]["next_action"].as_str().unwrap().contains("without a cursor"), "{expired}");
}
