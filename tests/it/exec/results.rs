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

/// A result whose long part is a text, put together from its parts; a text in JSON is read.
fn whole(bench: &Bench, first: &Value) -> Value {
    let (mut all, more) = (first["result"].clone(), &first["meta"]["more"]);
    let place = all.pointer_mut(more["at"].as_str().unwrap_or_default()).unwrap();
    // A preview in its own form is read again from its beginning.
    let is_preview = more["format"] == "json";
    assert!(!is_preview || !place.is_string(), "{first}");
    let mut text = if is_preview { String::new() } else { place.as_str().unwrap().to_string() };
    read_on(bench, first).iter().for_each(|part| text.push_str(part["part"].as_str().unwrap()));
    *place = match more["format"].as_str() {
        Some("json") => serde_json::from_str(&text).unwrap(),
        _ => text.into(),
    };
    all
}

#[test]
fn a_text_is_cut_between_characters() {
    for content in [json!("aé漢🎉".repeat(400)), json!({"a": "é".repeat(3000), "b": 1})] {
        let bench = bench(content.clone(), 601);
        let first = bench.run("get_it", json!({}));
        assert!(first["result"].to_string().len() <= 640, "{first}");
        assert_eq!(whole(&bench, &first), content);
        if content.is_object() {
            assert_eq!(first["result"]["b"], 1, "what is beside the text is there");
        }
    }
}

#[test]
fn other_values_are_read_on_as_json() {
    let words = |count: usize| "wörd ".repeat(count);
    let fields: serde_json::Map<String, Value> =
        (0..40).map(|index| (format!("field_{index}"), json!({"n": index, "text": words(20)}))).collect();
    for content in [
        json!(["a", words(400), words(2), {"deep": words(180)}, "c"]),
        json!(fields),
        json!({"a/b": [[words(300)], {"x": [1, words(300), {"y": words(200), "z": null}]}], "last": true}),
        json!([[[[words(500)]]], []]),
        json!({"a": words(60), "b": words(60), "c": words(60)}),
    ] {
        let bench = bench(content.clone(), 601);
        assert_eq!(whole(&bench, &bench.run("get_it", json!({}))), content);
    }
}

#[test]
fn the_operator_says_what_callers_get_of_results() {
    let content = json!({"items": [{"id": 1, "title": "A", "body": "x".repeat(900)}], "total": 1});
    let tools = json!([{"name": "get_it", "effect": "read", "description": "Get it.", "parameters": {"type": "object", "properties": {}},
        "result_schema": {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}, "backend": {"type": "static", "content": content}}]);
    let with =
        |rule: &str| Bench::of(&tools.to_string(), &format!("[[overlay]]\nmatch = \"get_*\"\n{rule}"), None);
    let bench = with("result = \"items[].{id: id, title: title}\"\n");
    let answer = bench.run("get_it", json!({}));
    assert_eq!(answer["result"], json!([{"id": 1, "title": "A"}]));
    warned(&answer, "`select`: \"@\"");
    let all = bench.exec(json!({"op": "get_it", "args": {}, "select": "@"}));
    assert_eq!((&all["result"], &all["meta"]["warnings"]), (&content, &json!([])));
    assert!(
        bench
            .call("tool_help", json!({"path": "get_it", "format": "full"}))
            .to_string()
            .contains("items")
            .eq(&false)
    );
    // A result of another form is whole.
    assert_eq!(with("result = \"rows[].id\"\n").run("get_it", json!({}))["result"], content);
    let cut = with("result_limit = 300\n").run("get_it", json!({}));
    assert!(cut["meta"]["more"]["cursor"].is_string(), "{cut}");
    assert_eq!(cut["result"]["items"][0]["title"], "A", "{cut}");
    assert!(cut["result"].to_string().len() < 400, "{cut}");
}

#[test]
fn the_first_part_tells_shape_and_size() {
    let rows: Vec<Value> = (0..90).map(|id| json!({"id": id, "title": "a row of some length"})).collect();
    let first = bench(json!({"total": 90, "rows": rows}), 600).run("get_it", json!({}));
    let more = &first["meta"]["more"];
    assert_eq!(more["shape"], "{total: number, rows: [90 of {id: number, title: text}]}");
    assert_eq!((&more["at"], &more["of"]), (&json!("/rows"), &json!(90)));
    assert!(more["bytes"].as_u64().unwrap() > 3000, "{more}");
}

#[test]
fn base64_is_left_out_and_never_cut() {
    let data = "iVBORw0KGgoAAAANSUhEUgAAABQAAAAU".repeat(100);
    let bench = bench(json!({"name": "a.pdf", "bytes": data, "pages": 3}), 600);
    let first = bench.run("get_it", json!({}));
    let wanted = json!({"name": "a.pdf", "bytes": "[base64, 3200 characters, left out]", "pages": 3});
    assert_eq!((&first["result"], &first["meta"]["more"]["bytes"]), (&wanted, &json!(3200)));
    warned(&first, "left out");
}

#[test]
fn select_takes_a_part_of_a_result() {
    let rows: Vec<Value> = (0..60).map(|id| json!({"id": id, "title": "a row of some length"})).collect();
    let bench = bench(json!({"total": 60, "rows": rows, "a/b": "x"}), 600);
    let select = |select: Value| bench.exec(json!({"op": "get_it", "args": {}, "select": select}));
    let ids: Vec<usize> = (0..60).collect();
    let answer = select(json!("{total: total, ids: rows[].id, third: rows[2].title, other: \"a/b\"}"));
    let wanted = json!({"total": 60, "ids": ids, "third": "a row of some length", "other": "x"});
    assert_eq!(answer["result"], wanted);
    assert_eq!(select(json!("total"))["result"], 60);
    // The call was run: nothing of its result is withheld, and the next expression is right.
    let answer = select(json!("row"));
    assert_eq!(answer["result"], Value::Null);
    let shape = "the result is {total: number, rows: [60 of {id: number, title: text}], a/b: text}";
    warned(&answer, &format!("`select` finds nothing; {shape}"));
    let answer = select(json!("sum(rows)"));
    assert_eq!(answer["result"]["total"], 60);
    warned(&answer, "Argument 0 expects type array[number], given array");
    for wrong in [json!(7), json!("/total"), json!(["total"]), json!("rows["), json!("a".repeat(1001))] {
        let refused = select(wrong);
        assert_eq!(
            (code(&refused), refused["error"]["details"]["field_errors"][0]["pointer"].as_str()),
            ("VALIDATION_ERROR", Some("/select"))
        );
    }
    let cursor = bench.run("get_it", json!({}))["meta"]["more"]["cursor"].clone();
    let read = |select: &str| bench.call("read_result", json!({"cursor": cursor, "select": select}));
    assert_eq!(read("[total, rows[59].id]")["fields"], json!([60, 59]));
    let refused = read("rows[].name");
    assert!(refused["error"]["message"].as_str().unwrap().contains("{id: number, title: text}"), "{refused}");
    let long = read("rows");
    assert_eq!(bench.call("read_result", json!({"cursor": long["next"]}))["of"], 60);
    let batch = json!([{"op": "get_it", "args": {}, "select": "total"}]);
    assert_eq!(bench.call("tool_batch", json!({"calls": batch}))["results"][0]["result"], 60);
}

#[test]
fn a_wrong_select_is_refused_before_the_call_with_the_shape_of_the_schema() {
    let schema = json!({"type": "object", "properties": {
        "task": {"$ref": "#/$defs/task"}, "open": {"type": "object"},
        "tasks": {"type": "array", "items": {"$ref": "#/$defs/task"}}},
        "$defs": {"task": {"type": "object", "properties": {"title": {"type": "string"}, "next": {"$ref": "#/$defs/task"}}}}});
    let tools = json!([{"name": "get_it", "effect": "read", "description": "Get it.", "parameters": {"type": "object", "properties": {}},
        "result_schema": schema, "backend": {"type": "static", "content": {"task": {"title": "t"}, "open": {"any": 1}}}}]);
    let bench = Bench::of(&tools.to_string(), "", None);
    let select = |select: &str| bench.exec(json!({"op": "get_it", "args": {}, "select": select}));
    assert_eq!(select("task.title")["result"], "t");
    let refused = select("tasks[.title");
    let message = "`select` is not JMESPath at character 7, before `.title`; the result is {task: {title: text, next: {title: text, next: object}}, \
                   open: object, tasks: [{title: text, next: object}]}";
    assert_eq!(refused["error"]["message"], message);
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
