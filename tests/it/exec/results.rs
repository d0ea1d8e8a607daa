//! Long results: cut, kept, and read on to the end.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::exec::Caller;
use toolcrib::functions::FunctionContext;

use super::{Bench, code, warned};

fn bench(content: Value, bytes: usize) -> Bench {
    let tools = json!([{"name": "get_it", "effect": "read", "description": "Get it.", "parameters": {"type": "object", "properties": {}},
        "backend": {"type": "static", "content": content}}]);
    Bench::of(&tools.to_string(), &format!("[exec]\nresult_bytes = {bytes}\n"), None)
}

/// All parts after the first.
fn read_on(bench: &Bench, first: &Value) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut cursor = first["meta"]["more"]["cursor"].clone();
    while cursor.is_string() {
        let part = bench.call("read_result", json!({"cursor": cursor}));
        assert!(part.to_string().len() < 1200, "{part}");
        cursor = part["next"].clone();
        parts.push(part);
        assert!(parts.len() < 500);
    }
    parts
}

#[test]
fn a_list_is_cut_between_items() {
    let items: Vec<Value> =
        (0..200).map(|index| json!({"id": format!("task_{index}"), "title": "é\"x"})).collect();
    for content in [json!(items), json!({"total": 200, "tasks": items})] {
        let bench = bench(content.clone(), 600);
        let first = bench.run("get_it", json!({}));
        assert!(first["result"].to_string().len() <= 600, "{first}");
        warned(&first, "read_result");
        let more = &first["meta"]["more"];
        let at = more["at"].as_str().unwrap();
        let mut all = first["result"].pointer(at).unwrap().as_array().unwrap().clone();
        assert_eq!((&more["shown"], &more["of"]), (&json!(all.len()), &json!(200)));
        if !at.is_empty() {
            assert_eq!(first["result"]["total"], 200, "what is beside the list is there");
        }
        for part in read_on(&bench, &first) {
            all.extend(part["items"].as_array().unwrap().iter().cloned());
        }
        assert_eq!(all, items);
    }
}

#[test]
fn a_text_is_cut_between_characters() {
    for content in [json!("aé漢🎉".repeat(400)), json!({"a": "é".repeat(3000), "b": 1})] {
        let bench = bench(content.clone(), 601);
        let first = bench.run("get_it", json!({}));
        let begun = &first["result"];
        let mut all = begun["part"].as_str().or(begun.as_str()).unwrap().to_string();
        assert!(all.len() <= 601, "{}", all.len());
        for part in read_on(&bench, &first) {
            all.push_str(part["part"].as_str().unwrap());
        }
        let whole = content.as_str().map_or_else(|| content.to_string(), str::to_string);
        assert_eq!(all, whole);
    }
}

#[test]
fn an_item_that_is_too_long_by_itself_comes_in_pieces() {
    let items = json!(["a", "é".repeat(2000), "b".repeat(10), {"deep": "x".repeat(900)}, "c"]);
    let bench = bench(items.clone(), 601);
    let first = bench.run("get_it", json!({}));
    let mut all = first["result"].as_array().unwrap().clone();
    let mut piece = String::new();
    for part in read_on(&bench, &first) {
        match part.get("part") {
            Some(text) => {
                piece.push_str(text.as_str().unwrap());
                if piece.len() == part["bytes"].as_u64().unwrap() as usize {
                    all.push(serde_json::from_str(&std::mem::take(&mut piece)).unwrap());
                }
            }
            None => all.extend(part["items"].as_array().unwrap().iter().cloned()),
        }
    }
    assert_eq!(json!(all), items);
}

#[test]
fn what_fits_is_left_alone() {
    let content = json!({"tasks": [1, 2, 3], "x": "y".repeat(500)});
    let answer = bench(content.clone(), 4096).run("get_it", json!({}));
    assert_eq!((&answer["result"], answer["meta"].get("more")), (&content, None));
}

#[test]
fn cursors_are_for_their_caller_and_not_made_up() {
    let bench = bench(json!("x".repeat(5000)), 600);
    let first = bench.run("get_it", json!({}));
    let cursor = first["meta"]["more"]["cursor"].as_str().unwrap().to_string();
    let read = |cursor: &str| bench.call("read_result", json!({"cursor": cursor}));
    assert_eq!(read(&cursor)["ok"], true);
    // A caller who sees only `tool_exec` reads on with that.
    let as_op = |cursor: &str| bench.run("read_result", json!({"cursor": cursor}));
    assert_eq!(as_op(&cursor)["result"]["part"], read(&cursor)["part"]);
    assert_eq!(code(&as_op("made up")), "VALIDATION_ERROR");
    let id = cursor.split('.').next().unwrap();
    for made_up in [
        "", "x", "re_1", "re_1.", "re_1.i", "re_1.b-1", "re_1.z3", "re_1.i0b", "re_1.b0b1", "../../x.b1",
        "re_é.é1",
    ] {
        let answer = read(made_up);
        assert_eq!(code(&answer), "VALIDATION_ERROR", "{made_up}: {answer}");
    }
    for beyond in [format!("{id}.b99999"), format!("{id}.i0"), format!("{id}.b99999999999999999999999")] {
        assert_eq!(code(&read(&beyond)), "VALIDATION_ERROR", "{beyond}");
    }
    assert_eq!(code(&read("re_000000000000.b5")), "CURSOR_EXPIRED");
    let other = Caller { name: Arc::from("somebody else"), ..Caller::default() };
    let context = FunctionContext { caller: Arc::new(other), ..bench.context.clone() };
    assert_eq!(code(&bench.call_in(&context, "read_result", json!({"cursor": cursor}))), "CURSOR_EXPIRED");
}
