//! A PostgreSQL that neither answers nor goes away holds a call up once, and a batch as well, however much is kept of them.
#![cfg(all(unix, feature = "postgres"))]

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::code;
use super::idempotency::{Slow, TOOLS};
use crate::fixture;
use crate::serve::{Server, client};
use crate::state::postgres::Server as Database;

/// Five seconds are promised, and a machine may be slow; two waits would be ten.
const MOST: Duration = Duration::from_millis(9_500);

fn call(key: &str) -> Value {
    json!({"op": "create_task", "args": {"title": "Buy nails"}, "idempotency_key": key, "session": "s"})
}

#[test]
#[ignore = "slow"]
fn a_frozen_database_holds_a_call_up_once() {
    let Some(database) = Database::start() else { return };
    client();
    let slow = Slow::start(Duration::from_secs(2));
    let config = format!("{}\n[state]\nurl = \"{}\"\n", slow.config(), database.url("postgres"));
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    let asked = |function: &str, body: &Value| -> (Value, Duration) {
        let begun = Instant::now();
        let answer = server.post(function, body.to_string()).json().unwrap();
        (answer, begun.elapsed())
    };
    let is_well = || {
        let start = Instant::now();
        while server.json("/readyz?verbose")["state"] != "on" {
            assert!(start.elapsed() < Duration::from_secs(60), "it does not go on");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    assert_eq!(asked("tool_exec", &call("first")).0["ok"], true);

    // Before the call is run.
    let frozen = database.freeze();
    let (answer, took) = asked("tool_exec", &call("second"));
    drop(frozen);
    assert_eq!((code(&answer), slow.count()), ("STATE_UNAVAILABLE", 1), "{answer}");
    assert!(took < MOST, "{took:?}");
    is_well();

    // All calls of a batch.
    let calls: Vec<Value> =
        (0..4).map(|number| json!({"function": "tool_exec", "input": call(&format!("b{number}"))})).collect();
    let frozen = database.freeze();
    let (answer, took) = asked("tool_batch", &json!({ "calls": calls }));
    drop(frozen);
    assert_eq!((answer["failed"].clone(), slow.count()), (json!(4), 1), "{answer}");
    assert!(took < MOST, "{took:?}");
    is_well();

    // While it runs.
    let (answer, took) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| asked("tool_exec", &call("third")));
        slow.wait_for(2);
        let frozen = database.freeze();
        let answer = asking.join().unwrap();
        drop(frozen);
        answer
    });
    assert_eq!(answer["ok"], true, "{answer}");
    assert!(answer["meta"]["warnings"].to_string().contains("unknown outcome"), "{answer}");
    assert!(took < MOST + Duration::from_secs(2), "{took:?}");
    is_well();
}
