//! Arguments that a model wrote as several JSON objects in one text, or with words around them. Each object is a call, if no
//! other part of the text can be JSON.

use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::read::ArgumentReader;
use crate::tool::Tool;
use toolcrib_definition::Effect;

/// The error for a model whose text has no certain meaning.
pub const UNCLEAR: &str = "the arguments are several JSON objects, or an object among other text; call the tool once for each \
                           object, with this object and nothing else";

/// The objects of a text.
#[derive(Debug, PartialEq)]
pub enum Joined {
    /// Different objects, in order: the arguments of one call each.
    Calls(Vec<Value>),
    /// Objects of which it is not certain which ones the model meant.
    Unclear,
}

/// The objects of a text that is not one JSON object; `None` if it has none, or has other JSON, cut short or misplaced.
///
/// An empty object before or after another is no call, since some providers begin every text with it. For a destructive
/// tool there may be no words, and one call only.
pub fn joined_objects(tool: &Tool, text: &str, reader: &mut ArgumentReader) -> Option<Joined> {
    let inner = reader.body(text).ok();
    let text = inner.as_ref().and_then(Value::as_str).unwrap_or(text);
    let Parts { objects, has_words, is_divided } = Parts::of(text)?;
    let is_empty = |text: &&str| text[1..].trim_start().starts_with('}');
    let dropped = objects.iter().filter(|text| is_empty(text)).count() % objects.len();
    let mut calls = Vec::new();
    let mut seen = HashSet::new();
    for object in objects.into_iter().filter(|text| dropped == 0 || !is_empty(text)) {
        let value = reader.encoded(object).ok()?;
        let mut sorted = value.clone();
        sorted.sort_all_objects();
        if seen.insert(reader.written(&sorted)) {
            calls.push(value);
        }
    }
    let is_clear = if tool.rules.effect == Effect::Destructive {
        let takes_none = || !tool.input.parameters.is_checked() || tool.input.parameters.accepts(&json!({}));
        calls.len() == 1 && !has_words && (dropped == 0 || !takes_none())
    } else {
        calls.len() == 1 || !is_divided
    };
    Some(if is_clear { Joined::Calls(calls) } else { Joined::Unclear })
}

/// A text in parts.
struct Parts<'t> {
    /// Its objects; at least one.
    objects: Vec<&'t str>,
    /// Whether there is anything else.
    has_words: bool,
    /// Whether there is anything else between two objects.
    is_divided: bool,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let mut parts = Self { objects: Vec::new(), has_words: false, is_divided: false };
        let mut rest = text;
        loop {
            let (between, object) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
            let has_words = !matches!(between.trim(), "" | "," | ";");
            if has_words && (may_be_json(between) || (!object.is_empty() && between.contains('['))) {
                return None;
            }
            parts.has_words |= has_words;
            if object.is_empty() {
                return (!parts.objects.is_empty()).then_some(parts);
            }
            parts.is_divided |= has_words && !parts.objects.is_empty();
            let mut values = serde_json::Deserializer::from_str(object).into_iter::<&RawValue>();
            parts.objects.push(values.next()?.ok()?.get());
            rest = &object[values.byte_offset()..];
        }
    }
}

/// Whether a text between objects may be JSON, or a piece of an object. With a bracket too many, the end of the object is
/// not certain.
fn may_be_json(text: &str) -> bool {
    let text = text.trim();
    let is_name = |after: &str| after.trim_start().starts_with(':');
    text.starts_with(['}', '[', ']', '"', ',', ':'])
        || text.ends_with(['}', ']'])
        || text.split('"').skip(1).any(is_name)
        || serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
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

    fn read(effect: Effect, text: &str) -> Option<Joined> {
        static TOOLS: LazyLock<[Arc<Tool>; 2]> = LazyLock::new(|| {
            let needs_a = json!({"type": "object", "required": ["a"], "properties": {"a": {}}});
            [Effect::Write, Effect::Destructive].map(|effect| tool(effect, needs_a.clone()))
        });
        let tool = &TOOLS[usize::from(effect == Effect::Destructive)];
        joined_objects(tool, text, &mut ArgumentReader::exact(text))
    }

    #[track_caller]
    fn check(text: &str, calls: &[Value]) {
        assert_eq!(read(Effect::Write, text), Some(Joined::Calls(calls.to_vec())), "{text}");
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
    }

    #[test]
    fn other_json_is_never_dropped() {
        for text in [
            "",
            "{",
            "words",
            r#"{"a":1} 5"#,
            r#"{"a":1} true"#,
            r#"{"a":1} "b""#,
            r#"{"a":1}[{"a":2}]"#,
            r#"{"a":1} then {"a":"#,
            r#"{"a":1}{b: 2}"#,
            r#"{"a":{"b":1},"c":2}}"#,
            r#"{"a":{"b":1}},"c":2}"#,
            r#"{"a":[1]},2]}"#,
            r#""a":{"b":1}}"#,
            r#"{a: {"b":1}}"#,
            r#"calls = [{"a":1}"#,
            r#"{"a":1,"a":2}{"a":1}"#,
        ] {
            assert_eq!(read(Effect::Write, text), None, "{text}");
        }
        assert_eq!(read(Effect::Write, r#"{"a":1}, but not {"a":2}"#), None);
        assert_eq!(read(Effect::Write, r#"{"a":1} and not {"a":2}"#), Some(Joined::Unclear));
    }

    #[test]
    fn nothing_is_guessed_for_a_destructive_tool() {
        let one = Some(Joined::Calls(vec![json!({"a": 1})]));
        assert_eq!(read(Effect::Destructive, r#"{"a":1}{"a":1}"#), one);
        assert_eq!(read(Effect::Destructive, r#"{}{"a":1}"#), one);
        for text in [r#"{"a":1}{"a":2}"#, "{\"a\":1}\n\nOr rather not."] {
            assert_eq!(read(Effect::Destructive, text), Some(Joined::Unclear), "{text}");
        }
        let all = tool(Effect::Destructive, json!({"type": "object", "properties": {"a": {}}}));
        let read = joined_objects(&all, r#"{}{"a":1}"#, &mut ArgumentReader::default());
        assert_eq!(read, Some(Joined::Unclear), "the empty object may delete everything");
    }

    #[test]
    fn objects_that_differ_in_a_digit_are_two() {
        let long = |digit: u8| format!("{{\"a\":1234567890123456789012345{digit}}}");
        let calls = |text: &str| match read(Effect::Write, text) {
            Some(Joined::Calls(calls)) => calls.len(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!((calls(&(long(1) + &long(1))), calls(&(long(1) + &long(2)))), (1, 2));
    }

    fn object() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[a-z{}\\[\\]\",:\\\\ ]{0,6}".prop_map(Value::from)
        ];
        let value = leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|fields| json!(fields)),
            ]
        });
        prop::collection::btree_map("[a-e]{1,2}", value, 1..4).prop_map(|fields| json!(fields))
    }

    proptest! {
        #[test]
        fn joined_objects_are_read_back(objects in prop::collection::vec(object(), 2..5), glue in "[ \n]{0,2}[,;]?\n?") {
            let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
            let mut different: Vec<Value> = Vec::new();
            for object in objects {
                if !different.contains(&object) {
                    different.push(object);
                }
            }
            prop_assert_eq!(read(Effect::Write, &texts.join(&glue)), Some(Joined::Calls(different)));
        }

        #[test]
        fn an_object_with_a_mark_too_much_or_too_few_is_itself_or_nothing(
            object in object(), place: prop::sample::Index, mark in prop::option::of("[{}\\[\\]\",:]"),
        ) {
            let mut text = object.to_string();
            let marks: Vec<usize> = text.match_indices(['{', '}', '[', ']', '"', ',', ':']).map(|(at, _)| at).collect();
            let at = marks[place.index(marks.len())];
            text.replace_range(at..at + usize::from(mark.is_none()), &mark.unwrap_or_default());
            if serde_json::from_str::<Value>(&text).is_err() {
                let read = read(Effect::Write, &text);
                prop_assert!(read.is_none() || read == Some(Joined::Calls(vec![object])), "{} {:?}", text, read);
            }
        }
    }
}
