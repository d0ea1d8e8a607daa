//! Messages of servers that the SDK could not read.

use super::*;

/// What the SDK gets to read of a text, as a value.
#[track_caller]
fn read(text: &[u8]) -> Option<Value> {
    let text = readable(text, None, &ListNotes::default())?;
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

/// Checks the result that is read from a result as it is written.
#[track_caller]
fn check_result(written: &[u8], expect: Value) {
    let text = [br#"{"jsonrpc":"2.0","id":7,"result":"#, written, b"}"].concat();
    assert_eq!(read(&text), Some(json!({"jsonrpc": "2.0", "id": 7, "result": expect})));
}

/// Checks that a text becomes the error of a request.
#[track_caller]
fn check_error(text: &str, id: Value, message: &str) {
    let error = read(text.as_bytes()).unwrap();
    assert_eq!(error["id"], id, "{error}");
    assert!(error["error"]["message"].as_str().unwrap().contains(message), "{error}");
}

#[test]
fn text_that_is_no_unicode_gets_replacement_characters() {
    check_result(
        br#"["cut \ud83d","\ude00 x","\ud83d\ude00","\ud83d\u0041","\\ud83d"]"#,
        json!(["cut \u{fffd}", "\u{fffd} x", "\u{1f600}", "\u{fffd}A", "\\ud83d"]),
    );
    check_result(b"\"caf\xe9\"", json!("caf\u{fffd}"));
    check_result(b"\"a\tb\x07\"", json!("a\tb\u{7}"));
}

#[test]
fn numbers_that_json_does_not_have_become_texts() {
    check_result(
        br#"{"a":NaN,"b":[-Infinity,Infinity,-1],"c":"NaN"}"#,
        json!({"a": "NaN", "b": ["-Infinity", "Infinity", -1], "c": "NaN"}),
    );
}

#[test]
fn an_answer_that_cannot_be_read_is_the_error_of_its_request() {
    check_error(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"ty"#, json!(7), "no JSON");
    check_error(r#"{"result":{"a":,},"jsonrpc":"2.0","id":"x"}"#, json!("x"), "no JSON");
    check_error(r#"{"jsonrpc":"2.0","id":7}"#, json!(7), "neither a result nor an error");
    let deep = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{}1{}}}"#, "[".repeat(400), "]".repeat(400));
    check_error(&deep, json!(7), "no JSON");
    let error = read(br#"{"jsonrpc":"2.0","id":7}"#).unwrap();
    let error: ErrorData = serde_json::from_value(error["error"].clone()).unwrap();
    assert!(is_unreadable(&error) && !is_unreadable(&ErrorData::parse_error("x", None)));
}

#[test]
fn a_message_of_too_many_values_is_the_error_of_its_request_or_is_dropped() {
    let list = format!("[{}0]", "0,".repeat(MAX_OTHERS_VALUES));
    let answer =
        format!(r#"{{"jsonrpc":"2.0","result":{{"content":[],"structuredContent":{list}}},"id":7}}"#);
    check_error(&answer, json!(7), "more than 500000 values");
    for method in [r#""method":"notifications/message""#, r#""id":7,"method":"sampling/createMessage""#] {
        let unasked = format!(r#"{{"jsonrpc":"2.0",{method},"params":{{"data":{list}}}}}"#);
        assert_eq!(readable(unasked.as_bytes(), None, &ListNotes::default()).as_deref(), Some(""));
    }
    let nameless = format!(r#"{{"jsonrpc":"2.0","result":{list}}}"#);
    assert_eq!(readable(nameless.as_bytes(), None, &ListNotes::default()), None);
    let asked = readable(nameless.as_bytes(), Some(&json!(3)), &ListNotes::default()).unwrap();
    assert!(asked.contains("500000") && asked.len() < 200, "{asked}");
}

#[test]
fn a_request_of_a_server_is_no_answer() {
    assert_eq!(read(br#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":,}}"#), None);
    assert!(read(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#).is_some());
}

#[test]
fn noise_is_passed_over() {
    for noise in
        ["", "  \n", "ready", "\u{1b}[32mok", "{}", "null", "[1,2]", "{not json}", r#"{"jsonrpc":"2.0"}"#]
    {
        assert_eq!(read(noise.as_bytes()), None, "{noise}");
    }
    let asked = readable(b"<html>", Some(&json!(3)), &ListNotes::default()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&asked).unwrap()["id"], 3);
}

#[test]
fn errors_of_other_forms_keep_what_they_say() {
    check_error(r#"{"jsonrpc":"2.0","id":7,"error":"broken"}"#, json!(7), "broken");
    check_error(r#"{"id":7.0,"error":{"code":"E1","message":"broken"}}"#, json!(7), "broken");
    check_error(
        r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"both"}}"#,
        json!(7),
        "both",
    );
    assert_eq!(read(br#"{"id":7,"result":{}}"#), Some(json!({"jsonrpc": "2.0", "id": 7, "result": {}})));
}

#[test]
fn a_definition_that_cannot_be_read_costs_no_other() {
    let deep = format!("{}1{}", "[".repeat(400), "]".repeat(400));
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"nextCursor":"n","tools":[{{"name":"a"}},{{"name":"deep","x":{deep}}},{{"name":"b","name":"c"}}]}}}}"#
    );
    let notes = ListNotes::default();
    let read: Value = serde_json::from_str(&readable(text.as_bytes(), None, &notes).unwrap()).unwrap();
    assert_eq!(read["result"], json!({"nextCursor": "n", "tools": [{"name": "a"}, {"name": "c"}]}));
    let notes = locked(&notes).join("\n");
    assert!(notes.contains("definition 2 (`deep`)") && notes.contains("is left out"), "{notes}");
    assert!(notes.contains("definition 3 (`c`)") && notes.contains("last one is used"), "{notes}");
}
