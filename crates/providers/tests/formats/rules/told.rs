//! Lines that a description bound in full may lose: text about an argument that its property has.

use serde_json::{Map, Value};

/// Whether each line of the description is sent, or stands in the property that it is about.
pub fn loses_nothing(description: &str, bound: &str, schema: Option<&Value>) -> bool {
    let none = Map::new();
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let mut kept = lines(bound).peekable();
    let lost: Vec<String> =
        lines(description).filter(|line| kept.next_if(|bound| bound == line).is_none()).collect();
    kept.next().is_none()
        && lost.iter().all(|line| is_heading(line) || is_told(line, properties.unwrap_or(&none)))
}

fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(squeezed).filter(|line| !line.is_empty())
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `Args:`, however it is written, and the line of dashes below it.
fn is_heading(line: &str) -> bool {
    let word = line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    ["", "args", "arguments", "parameters", "params", "input parameters"].contains(&word.as_str())
}

/// `name (type): text` with the text in the property of that name, or more of a text that a property has.
fn is_told(line: &str, properties: &Map<String, Value>) -> bool {
    properties.iter().any(|(name, property)| {
        let told = property.get("description").and_then(Value::as_str).map(squeezed).unwrap_or_default();
        let is_text = |text: &str| told.contains(text.trim()) || is_told_by_keywords(text, &told, property);
        is_text(line) || after_name(line, name).and_then(after_type).is_some_and(is_text)
    })
}

/// Whether the description has these words one after the other, but for words that say again what its keywords say.
fn is_told_by_keywords(text: &str, told: &str, property: &Value) -> bool {
    let (text, told) = (plain_words(text), plain_words(told));
    // A provider without the keyword has the default in words.
    let default = told.iter().rposition(|word| word == "default").map_or(&[][..], |at| &told[at + 1..]);
    let repeats = |word: &String| says_again(word, property) || default.contains(word);
    (0..=told.len()).any(|start| {
        let mut rest = told[start..].iter().peekable();
        text.iter().all(|word| rest.next_if_eq(&word).is_some() || repeats(word))
    })
}

fn plain_words(text: &str) -> Vec<String> {
    let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split(|c: char| c.is_whitespace() || matches!(c, ':' | '('))
        .map(plain)
        .filter(|word| !word.is_empty())
        .collect()
}

/// A word of an enum or a default that the property has, a type, or a word around them.
fn says_again(word: &str, property: &Value) -> bool {
    let keywords = ["enum", "const", "default"].map(|key| property.get(key).map(Value::to_string));
    let has = |text: String| plain_words(&text.replace(',', " ")).iter().any(|other| other == word);
    let around = [
        "optional", "required", "default", "defaults", "is", "to", "of", "one", "or", "and", "options",
        "possible", "values", "value", "str", "int", "bool", "float", "list", "dict",
    ];
    around.contains(&word) || keywords.into_iter().flatten().any(has)
}

/// The text after a name that begins the line, apart from bullets and quotes, or after the name of a Sphinx field.
fn after_name<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (before, rest) = line.split_once(name)?;
    (line.starts_with(':') || !before.contains(char::is_alphanumeric)).then_some(rest)
}

/// The text after ` (type):`, or after the colon or dash alone.
fn after_type(rest: &str) -> Option<&str> {
    let typed = rest.trim_start().starts_with('(').then(|| rest.split_once("):")).flatten();
    typed.or_else(|| rest.split_once([':', '-', '–'])).map(|(_, text)| text)
}

#[test]
fn what_is_lost_is_told() {
    let description = "Reads a file.\n\nArgs:\n    path (str): Where it\n        is.\n    line (default: 1): Which.\n\nReturns: text";
    let bound = "Reads a file.\n\nReturns: text";
    let schema = |path: &str, line: &str| serde_json::json!({"properties": {"path": {"description": path}, "line": {"description": line}}});
    let check = |bound: &str, schema: &Value| loses_nothing(description, bound, Some(schema));
    assert!(check(bound, &schema("Where it is.", "Which. From 1.")));
    assert!(check(description, &schema("", "")) && loses_nothing(description, description, None));
    assert!(!check(bound, &schema("Where.", "Which.")), "a part of a text");
    assert!(!check(bound, &schema("Which.", "Where it is.")), "another property's text");
    assert!(!check("Reads a file.", &schema("Where it is.", "Which.")), "what is returned is no argument");
    assert!(!check("Reads a file. More.", &schema("Where it is.", "Which.")));
    assert!(!loses_nothing(description, bound, None));
    let told = schema("Where it is.", "Which.");
    assert!(loses_nothing("Reads.\n:param str path: Where it is.", "Reads.", Some(&told)));
    assert!(!loses_nothing("Reads.\nNever use a path:", "Reads.", Some(&told)), "a name within a sentence");
}
