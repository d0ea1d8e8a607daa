//! Texts of arguments: joined, damaged and cut off.

use std::sync::{Arc, LazyLock};

use super::*;
use proptest::prelude::*;
use toolcrib_definition::{Definition, Schema};

fn tool(effect: Effect, schema: Value) -> Arc<Tool> {
    let parameters = Some(Schema::from_value(schema));
    let definition =
        Definition { name: "x".into(), parameters, effect: Some(effect), ..Definition::default() };
    let raw = crate::sources::RawTool { definition, ..Default::default() };
    let catalog = crate::assemble::assemble(Default::default(), vec![raw], Vec::new(), &mut Vec::new()).0;
    catalog.tools[0].clone()
}

fn read_for(tool: &Tool, text: &str) -> Result<Vec<Value>, Unreadable> {
    let readings = arguments_in_text(tool, text, &mut ArgumentReader::exact(text))?;
    Ok(readings.into_iter().map(|reading| reading.value).collect())
}

fn read(effect: Effect, text: &str) -> Result<Vec<Value>, Unreadable> {
    static TOOLS: LazyLock<[Arc<Tool>; 2]> = LazyLock::new(|| {
        let needs_a = json!({"type": "object", "required": ["a"], "properties": {"a": {}}});
        [Effect::Write, Effect::Destructive].map(|effect| tool(effect, needs_a.clone()))
    });
    let tool = &TOOLS[usize::from(effect == Effect::Destructive)];
    read_for(tool, text)
}

#[track_caller]
fn check(text: &str, calls: &[Value]) {
    assert_eq!(read(Effect::Write, text), Ok(calls.to_vec()), "{text}");
}

#[test]
fn each_object_is_a_call_and_words_are_none() {
    let (one, two) = (&[json!({"a": 1})], [json!({"a": 1}), json!({"a": 2})]);
    check(r#"{}{"a":1}"#, one);
    check(r#"{"a":1} {}"#, one);
    check("{}{}", &[json!({})]);
    check("{}\nI list all.", &[json!({})]);
    check(r#"{"a":1}{"a":2}"#, &two);
    check("{\"a\":1},\n{\"a\":2}\n{\"a\":1}", &two);
    check("{\"a\":1}{\"a\":2}\n\nBoth.", &two);
    check(r#"{"a":1,"b":2}{"b":2,"a":1}"#, &[json!({"a": 1, "b": 2})]);
    check("{\"a\":1}\n\nI will now list [all] plants, 5 of them.", one);
    check("I list them: {\"a\":1}", one);
    check("```json\n{\"a\":1}\n```", one);
    check(r#"{"a":1}</tool_call>"#, one);
    check(&json!("{\"a\":1}{\"a\":1}").to_string(), one);
    check("{a: 1}", one);
    check("{a: 1, }{ 'a' : 2}", &two);
}

#[test]
fn other_json_is_never_dropped() {
    for text in [
        "{",
        "words",
        r#"{"a":1} 5"#,
        r#"{"a":1} true"#,
        r#"{"a":1} "b""#,
        r#"{"a":1}[{"a":2}]"#,
        r#"{"a":1} then {"a":"#,
        r#"{"a":{"b":1},"c":2}}"#,
        r#"{"a":{"b":1}},"c":2}"#,
        r#"{"a":[1]},2]}"#,
        r#""a":{"b":1}}"#,
        r#"{a: b}"#,
        r#"{a}"#,
        r#"{a: {"b":1}}}"#,
        r#"calls = [{"a":1}"#,
        r#"{"a":1,"a":2}{"a":1}"#,
    ] {
        let read = read(Effect::Write, text);
        assert!(matches!(read, Err(Unreadable::Cut(_) | Unreadable::NotJson(_))), "{text}: {read:?}");
    }
    assert!(matches!(read(Effect::Write, r#"{"a":1}, but not {"a":2}"#), Err(Unreadable::NotJson(_))));
    assert_eq!(read(Effect::Write, r#"{"a":1} and not {"a":2}"#), Err(Unreadable::Unclear));
}

#[test]
fn nothing_is_guessed_for_a_destructive_tool() {
    let one = Ok(vec![json!({"a": 1})]);
    assert_eq!(read(Effect::Destructive, r#"{"a":1}{"a":1}"#), one);
    assert_eq!(read(Effect::Destructive, r#"{}{"a":1}"#), one);
    for text in [r#"{"a":1}{"a":2}"#, "{\"a\":1}\n\nOr rather not."] {
        assert_eq!(read(Effect::Destructive, text), Err(Unreadable::Unclear), "{text}");
    }
    let all = tool(Effect::Destructive, json!({"type": "object", "properties": {"a": {}}}));
    let read = read_for(&all, r#"{}{"a":1}"#);
    assert_eq!(read, Err(Unreadable::Unclear), "the empty object may delete everything");
}

#[test]
fn objects_that_differ_in_a_digit_are_two() {
    let long = |digit: u8| format!("{{\"a\":1234567890123456789012345{digit}}}");
    let calls = |text: &str| read(Effect::Write, text).unwrap().len();
    assert_eq!((calls(&(long(1) + &long(1))), calls(&(long(1) + &long(2)))), (1, 2));
}

fn object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[a-z{}\\[\\]\"',:\\\\\n ]{0,6}".prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|fields| json!(fields)),
        ]
    });
    prop::collection::btree_map("[a-e]{1,2}", value, 1..4).prop_map(|fields| json!(fields))
}

/// An object as Python writes it.
fn in_python(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::String(text) if text.contains('\'') && !text.contains('"') => {
            format!("\"{}\"", text.replace('\\', "\\\\"))
        }
        Value::String(text) => {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(in_python).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("'{name}': {}", in_python(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        number => number.to_string(),
    }
}

/// An object as JavaScript writes it.
fn in_javascript(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(in_javascript).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name}: {}", in_javascript(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

/// Ways in which models damage an object without a change of its meaning.
const DAMAGES: [fn(&Value) -> String; 15] = [
    in_javascript,
    |object| format!("{{}}{object}"),
    |object| format!("{object}{object}"),
    |object| format!("{object}\n\nI will do this now."),
    |object| format!("Here are the arguments: {object}"),
    |object| format!("```json\n{object:#}\n```"),
    |object| object.to_string().strip_suffix('}').map(|text| format!("{text}, }}")).unwrap(),
    |object| format!("{object:#}").replace("\n}", ",\n}").replace("\n  ]", ",\n  ]"),
    in_python,
    |object| json!(in_python(object)).to_string(),
    |object| format!("```python\n{}\n```", in_python(object)),
    |object| object.to_string().replace(":null", ":None").replace(":true", ": True"),
    |object| json!(object.to_string()).to_string(),
    |object| json!(json!(object.to_string()).to_string()).to_string(),
    // Line breaks as they are.
    |object| object.to_string().replace("\\n", "\n"),
];

proptest! {
    #[test]
    fn a_damaged_object_is_read_as_meant_or_refused(object in object(), cut in any::<prop::sample::Index>()) {
        for (index, damage) in DAMAGES.iter().enumerate() {
            let damaged = damage(&object);
            for effect in [Effect::Write, Effect::Destructive] {
                match read(effect, &damaged) {
                    Ok(read) => prop_assert_eq!(&read, &vec![object.clone()], "{} of {}", index, damaged),
                    Err(Unreadable::Unclear) => prop_assert!(effect == Effect::Destructive, "{}", damaged),
                    // A line break behind a backslash has no meaning.
                    Err(_) => prop_assert!(index == 14, "{}", damaged),
                }
            }
            let ends: Vec<usize> = damaged.char_indices().map(|(at, _)| at).skip(1).collect();
            let half = &damaged[..ends[cut.index(ends.len())]];
            if let Ok(read) = read(Effect::Write, half) {
                prop_assert!(read == vec![object.clone()] || read == [json!({})], "{}", half);
            }
        }
    }

    #[test]
    fn joined_objects_are_read_back(objects in prop::collection::vec(object(), 2..5), glue in "[ \n]{0,2}[,;]?\n?") {
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        let mut different: Vec<Value> = Vec::new();
        for object in objects {
            if !different.contains(&object) {
                different.push(object);
            }
        }
        prop_assert_eq!(read(Effect::Write, &texts.join(&glue)), Ok(different));
    }

    #[test]
    fn an_object_with_a_mark_too_much_or_too_few_is_itself_or_nothing(
        object in object(), place: prop::sample::Index, mark in prop::option::of("[{}\\[\\]\"',:]"),
    ) {
        let mut text = object.to_string();
        let marks: Vec<usize> = text.match_indices(['{', '}', '[', ']', '"', ',', ':']).map(|(at, _)| at).collect();
        let at = marks[place.index(marks.len())];
        text.replace_range(at..at + usize::from(mark.is_none()), &mark.unwrap_or_default());
        if serde_json::from_str::<Value>(&text).is_err() {
            let read = read(Effect::Write, &text);
            prop_assert!(read.is_err() || read == Ok(vec![object]), "{} {:?}", text, read);
        }
    }
}
