//! Messages of servers, made readable. A mistake costs one message: text that is no Unicode gets U+FFFD, an answer that cannot
//! be read becomes the error of its request at once, and noise is passed over. In a list of tools, a mistake costs one
//! definition.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::as_written::unread;
use super::id_scanner::IdScanner;
use crate::long_work::apart;
use toolcrib_definition::document::{MAX_OTHERS_VALUES, from_json, has_too_many_values, well_formed};
use toolcrib_definition::guard::locked;
use toolcrib_definition::quoted;

/// Mistakes in the last list of tools, each with what was done about it.
pub(super) type ListNotes = Arc<Mutex<Vec<String>>>;

/// Most notes on one list.
const MAX_NOTES: usize = 100;

/// The key of data that marks an error of ours in place of an answer that cannot be read.
const UNREADABLE: &str = "toolcrib/unreadable";

/// The message in a text, as the SDK can read it; `None` for noise, and nothing for a message that is dropped. `asked` is the
/// id of the request that the text answers, where its transport knows that.
pub(super) fn readable<'t>(text: &'t [u8], asked: Option<&Value>, notes: &ListNotes) -> Option<Cow<'t, str>> {
    apart(text.len(), || {
        let message = read(text, asked, notes)?;
        Some(unread(&message).map_or(message, Cow::Owned))
    })
}

fn read<'t>(text: &'t [u8], asked: Option<&Value>, notes: &ListNotes) -> Option<Cow<'t, str>> {
    let written = match String::from_utf8_lossy(text) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches('\u{feff}')),
        owned => owned,
    };
    // Noise may have no end, and is not parsed.
    if !written.trim_start().starts_with('{') && asked.is_none() {
        return None;
    }
    if has_too_many_values(text) {
        let scanner = IdScanner::of(text);
        let why = format!("it has more than {MAX_OTHERS_VALUES} values");
        return if scanner.has_method {
            Some("".into())
        } else {
            Some(unreadable(asked.cloned().or(scanner.answered())?, &why).into())
        };
    }
    match message(&written) {
        Ok(None) => {
            let greeting = greeting(&written);
            return Some(greeting.map_or(written, Cow::Owned));
        }
        Ok(Some(value)) => return corrected(value, asked).map(Cow::Owned),
        Err(_) => {}
    }
    let text = well_formed(&written);
    let read = match message(&text) {
        Ok(None) => Some(text),
        Ok(Some(value)) => corrected(value, asked),
        Err(error) => list(&text, notes).or_else(|| with_last_keys(&text)).or_else(|| {
            let answered = asked.cloned().or(IdScanner::of(text.as_bytes()).answered())?;
            Some(unreadable(answered, &format!("it is no JSON: {error}")))
        }),
    };
    read.map(Cow::Owned)
}

/// The answer with which a session begins, with what the SDK wants and some servers leave out: a name, and maps where PHP
/// writes an empty list.
fn greeting(text: &str) -> Option<String> {
    if !text.contains("\"protocolVersion\"") {
        return None;
    }
    let mut message: Value = serde_json::from_str(text).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    let before = result.clone();
    let is_map = |value: Option<&Value>| value.is_some_and(Value::is_object);
    if !is_map(result.get("capabilities")) {
        result.insert("capabilities".into(), json!({}));
    }
    for value in result["capabilities"].as_object_mut()?.values_mut() {
        if value.is_array() || value == &Value::Bool(true) {
            *value = json!({});
        }
    }
    if !is_map(result.get("serverInfo")) {
        result.insert("serverInfo".into(), json!({}));
    }
    for field in ["name", "version"] {
        let value = &mut result["serverInfo"][field];
        if !value.is_string() {
            *value = if value.is_null() { "".into() } else { value.to_string().into() };
        }
    }
    (*result != before).then(|| message.to_string())
}

/// The error that stands for an answer that cannot be read.
pub(super) fn unreadable(id: Value, why: &str) -> String {
    let error = json!({"code": ErrorCode::PARSE_ERROR.0, "message": why, "data": {UNREADABLE: true}});
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

/// Whether an error is ours, in place of an answer that cannot be read.
pub(super) fn is_unreadable(error: &ErrorData) -> bool {
    error.code == ErrorCode::PARSE_ERROR
        && error.data.as_ref().is_some_and(|data| data.get(UNREADABLE).is_some())
}

/// Reads a message strictly; returns its value where the SDK would not take it.
fn message(text: &str) -> serde_json::Result<Option<Value>> {
    let value = from_json(text)?;
    Ok((!is_message(&value)).then_some(value))
}

fn is_message(value: &Value) -> bool {
    let has_id = value.get("id").is_some_and(|id| id.is_string() || id.is_i64());
    let is_answer = match (value.get("result"), value.get("error")) {
        (Some(_), None) => has_id,
        (None, Some(error)) => {
            let code = error.get("code").and_then(Value::as_i64);
            code.is_some_and(|code| i32::try_from(code).is_ok())
                && error.get("message").is_some_and(Value::is_string)
        }
        _ => false,
    };
    // The SDK answers requests that are wrong.
    value.get("method").is_some()
        || (is_answer && value.get("jsonrpc").is_some_and(|version| version == "2.0"))
}

/// The answer in a value that is nearly one; `None` if it answers no request.
fn corrected(mut value: Value, asked: Option<&Value>) -> Option<String> {
    let own = value.get_mut("id").map(Value::take);
    let own = own.and_then(|id| match id.as_f64().filter(|number| number.fract() == 0.0) {
        Some(number) if !id.is_i64() => Some((number as i64).into()),
        _ => (id.is_string() || id.is_i64()).then_some(id),
    });
    let id = own.or_else(|| asked.cloned())?;
    let error = value.get_mut("error").map(Value::take).filter(|error| !error.is_null());
    if error.is_none()
        && let Some(result) = value.get_mut("result")
    {
        return Some(json!({"jsonrpc": "2.0", "id": id, "result": result.take()}).to_string());
    }
    let Some(error) = error else { return Some(unreadable(id, "it has neither a result nor an error")) };
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let said = error.get("message").unwrap_or(&error);
    let message = said.as_str().map_or_else(|| said.to_string(), str::to_string);
    let code = code.unwrap_or(ErrorCode::INTERNAL_ERROR.0);
    let error = json!({"code": code, "message": message, "data": error.get("data")});
    Some(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
}

/// A message with a key twice, of which the last counts, as for all clients.
fn with_last_keys(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    is_message(&value).then(|| text.to_string())
}

/// An answer with a list of tools, without the definitions that cannot be read.
fn list(text: &str, notes: &ListNotes) -> Option<String> {
    type Fields<'t> = BTreeMap<String, &'t RawValue>;
    let answer: Fields<'_> = serde_json::from_str(text).ok()?;
    let mut result: Fields<'_> = serde_json::from_str(answer.get("result")?.get()).ok()?;
    let tools: Vec<&RawValue> = serde_json::from_str(result.remove("tools")?.get()).ok()?;
    let mut kept = Vec::with_capacity(tools.len());
    for (index, tool) in tools.into_iter().enumerate() {
        let Err(error) = from_json(tool.get()) else {
            kept.push(tool.get());
            continue;
        };
        let is_usable = serde_json::from_str::<Value>(tool.get()).is_ok();
        if is_usable {
            kept.push(tool.get());
        }
        let fields: Option<Fields<'_>> = serde_json::from_str(tool.get()).ok();
        let name = fields.and_then(|fields| serde_json::from_str::<String>(fields.get("name")?.get()).ok());
        let done = if is_usable { "the last one is used" } else { "the definition is left out" };
        let name = name.map(|name| format!(" (`{}`)", quoted(&name))).unwrap_or_default();
        let note = format!("in definition {}{name} {error}; {done}", index + 1);
        let mut notes = locked(notes);
        if notes.len() < MAX_NOTES {
            notes.push(note);
        }
    }
    let others: String =
        result.iter().map(|(key, value)| format!("{}:{},", Value::from(key.as_str()), value.get())).collect();
    let id = answer.get("id")?.get();
    let text =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{others}\"tools\":[{}]}}}}", kept.join(","));
    serde_json::from_str::<Value>(&text).is_ok_and(|value| is_message(&value)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::super::as_written::written;
    use super::*;

    /// What the SDK gets to read of a text, as a value, with its result as it was written.
    #[track_caller]
    fn read(text: &[u8]) -> Option<Value> {
        let text = readable(text, None, &ListNotes::default())?;
        let mut read: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        read.get_mut("result").into_iter().for_each(|result| *result = written(result.take()));
        Some(read)
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
        assert_eq!(
            written(read["result"].clone()),
            json!({"nextCursor": "n", "tools": [{"name": "a"}, {"name": "c"}]})
        );
        let notes = locked(&notes).join("\n");
        assert!(notes.contains("definition 2 (`deep`)") && notes.contains("is left out"), "{notes}");
        assert!(notes.contains("definition 3 (`c`)") && notes.contains("last one is used"), "{notes}");
    }
}
