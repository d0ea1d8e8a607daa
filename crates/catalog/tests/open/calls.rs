//! The ready-made call of a page has what the page's own text asks for. The texts are read here by a few patterns, apart
//! from the code that makes the calls.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use toolcrib_catalog::{Callable, Tool};
use toolcrib_definition::{Backend, Effect, Location, path_variables};

use crate::fixture;

/// What was looked at, and what was found wrong.
#[derive(Default)]
struct Judged {
    seen: usize,
    wrong: Vec<String>,
}

impl Judged {
    fn judge(&mut self, is_right: bool, wrong: impl FnOnce() -> String) {
        self.seen += 1;
        if !is_right {
            self.wrong.push(wrong());
        }
    }

    /// Fails if more than one in `rarely` is wrong, and reports the counts.
    fn close(self, what: &str, rarely: usize) {
        let Self { seen, wrong } = self;
        eprintln!("{what}: {} wrong of {seen}", wrong.len());
        assert!(
            seen > 0 && wrong.len() * rarely <= seen,
            "{what}: {} of {seen}:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}

/// Every tool that has a call which its source did not write, with the call.
fn each_call(mut judge: impl FnMut(&str, &Tool, &Map<String, Value>)) {
    for file in fixture::CATALOGS {
        for tool in &fixture::catalog(file).1.catalog.tools {
            if let (Some(call), Callable::Checked) = (&tool.input.call, tool.input.parameters.callable())
                && tool.texts.examples.is_empty()
            {
                judge(file, tool, call);
            }
        }
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// The arguments at the top of a schema, with their texts.
fn arguments(tool: &Tool) -> impl Iterator<Item = (&String, &Value, &str)> {
    let all = tool.input.parameters.schema().get("properties").and_then(Value::as_object);
    all.into_iter().flatten().map(|(name, schema)| {
        (name, schema, schema.get("description").and_then(Value::as_str).unwrap_or_default())
    })
}

/// The words of a text, with the quoted ones as they are.
fn all_words(text: &str) -> Vec<&str> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{L}\p{N}_]+"));
    WORD.find_iter(text).map(|word| word.as_str()).collect()
}

#[test]
fn a_call_has_what_the_texts_require_for_its_method() {
    let required = pattern(r"(?i)\brequired (?:for|when|if|only for|only when)\s+([^.;)\n]*)");
    let mut judged = Judged::default();
    each_call(|file, tool, call| {
        let chosen: Vec<(&String, Vec<&str>)> = arguments(tool)
            .filter_map(|(name, schema, _)| {
                let values = schema.get("enum")?.as_array()?;
                Some((name, values.iter().filter_map(Value::as_str).collect()))
            })
            .filter(|(_, values): &(_, Vec<&str>)| values.len() > 1)
            .collect();
        for (name, _, text) in arguments(tool) {
            for found in required.captures_iter(text) {
                let start = found.get(0).unwrap().start();
                let clause = found[1].split("optional").next().unwrap_or_default();
                if text[..start].to_lowercase().trim_end().ends_with("not") {
                    continue;
                }
                let said = all_words(clause);
                // Where a condition has several parts, this reader is not sure.
                let named: Vec<_> =
                    chosen.iter().filter(|(argument, _)| said.contains(&argument.as_str())).collect();
                let ours = if named.is_empty() { chosen.iter().collect() } else { named };
                let [(selector, values)] = ours[..] else { continue };
                let Some(value) = call.get(*selector).and_then(Value::as_str) else { continue };
                let is_but = said.iter().any(|word| matches!(*word, "except" | "unless"));
                let is_meant = values.iter().any(|value| said.contains(value));
                let needs = is_meant && said.contains(&value) != is_but;
                if needs && *selector != name {
                    judged.judge(call.contains_key(name), || {
                        format!("{file}: {}: {value} lacks {name}: {text}", tool.names.canonical)
                    });
                }
            }
        }
    });
    judged.close("arguments that a text requires for the method", usize::MAX);
}

#[test]
fn a_call_has_one_of_the_arguments_that_replace_one_another() {
    let required = pattern(
        r"(?i)\brequired,? (?:unless (?:the )?[`']?(\w+)|(?:if|when) [`']?(\w+)[`']? (?:is|are) not)",
    );
    let mut judged = Judged::default();
    each_call(|file, tool, call| {
        let names: Vec<&String> = arguments(tool).map(|(name, ..)| name).collect();
        for (name, _, text) in arguments(tool) {
            for found in required.captures_iter(text) {
                let other = found.get(1).or(found.get(2)).unwrap().as_str();
                if names.iter().any(|name| *name == other) {
                    judged.judge(call.contains_key(name) || call.contains_key(other), || {
                        format!("{file}: {}: neither {name} nor {other}", tool.names.canonical)
                    });
                }
            }
        }
    });
    judged.close("arguments that replace one another", usize::MAX);
}

#[test]
fn a_value_is_one_of_those_that_its_text_lists_or_gives_as_an_example() {
    let quote = r#"["'`“”]"#;
    let listed = pattern(&format!(
        r"(?i)(?:one of|valid values|possible values|options are|options|allowed values)(?: are)?:?\s*{quote}+\w+{quote}+\s*(?:,|or|\|)\s*{quote}"
    ));
    let example =
        pattern(r#"(?i)(?:\be\.g\.|\bfor example|\bsuch as|\bexamples?:),?\s*["'`]+([^"'`\n]{1,60})["'`]"#);
    let refused = pattern(r"(?i)\b(?:not|never|except|excluding|avoid|characters?)\b");
    let mut lists = Judged::default();
    let mut examples = Judged::default();
    each_call(|file, tool, call| {
        for (name, schema, text) in arguments(tool) {
            let Some(value) = call.get(name).and_then(Value::as_str) else { continue };
            let is_free = ["pattern", "enum", "const", "examples", "example", "default"]
                .iter()
                .all(|key| schema.get(*key).is_none());
            if !is_free || !tool.input.fill_in.contains(&format!("/{name}")) && !listed.is_match(text) {
                continue;
            }
            let wrong = || format!("{file}: {}: {name}: {value:?}: {text}", tool.names.canonical);
            let is_made_up = |value: &str| !text.contains(value);
            if listed.is_match(text) {
                lists.judge(!is_made_up(value), wrong);
            }
            if let Some(found) = example.captures(text) {
                let sentence = text[..found.get(0).unwrap().start()].rsplit('.').next().unwrap_or_default();
                let is_value = found[1].chars().filter(|c| c.is_alphanumeric()).count() > 1
                    && !found[1].starts_with(['<', '.'])
                    && !found[1].contains("...");
                if is_value && !refused.is_match(sentence) {
                    examples.judge(!is_made_up(value), wrong);
                }
            }
        }
    });
    lists.close("values that a text lists", usize::MAX);
    examples.close("values that a text gives as an example", 50);
}

#[test]
fn a_write_shows_what_it_writes_and_switches_nothing_off() {
    let mut bodies = Judged::default();
    let mut switches = Judged::default();
    each_call(|file, tool, call| {
        let required = tool.input.parameters.root();
        let optional = |name: &String| !required.required().iter().any(|required| required == name);
        let off: Vec<&String> = call
            .iter()
            .filter(|(name, value)| **value == Value::Bool(false) && optional(name))
            .map(|(name, _)| name)
            .collect();
        switches.judge(off.is_empty(), || format!("{file}: {}: {off:?}", tool.names.canonical));
        let Some(Backend::Http(http)) = &tool.backend else { return };
        let variables = path_variables(&http.path);
        let is_body = |name: &String| match http.arguments.get(name) {
            Some(place) => matches!(place.location, Location::Body | Location::WholeBody),
            None => !variables.contains(&name.as_str()),
        };
        if tool.rules.effect == Effect::Write && arguments(tool).any(|(name, ..)| is_body(name)) {
            bodies.judge(call.keys().any(is_body), || format!("{file}: {}", tool.names.canonical));
        }
    });
    bodies.close("writes that show a field of their body", usize::MAX);
    switches.close("calls without a switch that is off", usize::MAX);
}
