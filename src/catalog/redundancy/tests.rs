//! Text that only repeats the schema leaves a description; everything else stays.

use std::sync::Arc;

use serde_json::{Value, json};

use super::remove;

/// The description of an optional argument with these keywords, after `remove`.
fn shortened(keywords: Value, description: &str) -> String {
    let mut argument = keywords;
    argument["description"] = description.into();
    let mut schema = Arc::new(json!({ "type": "object", "properties": { "a": argument } }));
    remove(&mut schema);
    schema["properties"]["a"]["description"].as_str().unwrap_or_default().to_string()
}

fn holds(keywords: Value, cases: &[(&str, &str)]) {
    for (description, expected) in cases {
        assert_eq!(shortened(keywords.clone(), description), *expected, "{description}");
    }
}

#[test]
fn a_list_of_the_enum_leaves() {
    holds(
        json!({ "type": "string", "enum": ["json", "xml"] }),
        &[
            ("The format. Options include 'json' and 'xml'.", "The format."),
            ("The format, either 'json' or 'xml'.", "The format."),
            ("The format such as \"json\" or \"xml\".", "The format."),
            ("Output format: json, xml", "Output format"),
            ("Output format (json/xml)", "Output format"),
            ("Output format (json or xml).", "Output format."),
            ("Possible values are: `json`, `xml`.", ""),
            ("Format, can be json or xml. Use with care.", "Format. Use with care."),
        ],
    );
    holds(json!({ "const": "file" }), &[("The value will always be `file`.", "")]);
    holds(
        json!({ "type": "array", "items": { "enum": ["Free WiFi", "Gym"] } }),
        &[("Amenities. Possible values: Free WiFi, Gym", "Amenities.")],
    );
}

#[test]
fn a_list_that_explains_or_differs_stays() {
    let stays = [
        "Use 'json' for machines and 'xml' for people.",
        "The format. Possible values: 'json' (new), 'xml'.",
        "One of 'json'.",
        "One of 'json', 'xml' or 'yaml'.",
        "Must not be json or xml.",
        "Options are:\n- 'json' - small\n- 'xml' - large",
        "'json' (default) or 'xml'",
        "The format, which is one of\n'json' or 'xml'.",
        "Possible values:\n\njson, xml",
    ];
    for text in stays {
        assert_eq!(shortened(json!({ "enum": ["json", "xml"] }), text), text);
    }
    let many: Vec<String> = (0..20).map(|n| format!("v{n}")).collect();
    let text = format!("One of {}.", many.join(", "));
    assert_eq!(shortened(json!({ "enum": many }), &text), text, "a doc shows only some of these values");
}

#[test]
fn a_default_of_the_type_leaves() {
    holds(
        json!({ "type": "integer", "default": 10 }),
        &[
            ("Most results. Defaults to 10.", "Most results."),
            ("Most results (1-50, default: 10)", "Most results (1-50)"),
            ("Most results (default 10)", "Most results"),
            ("Most results, default is 10.", "Most results."),
            ("(default: 10) Most results", "Most results"),
            ("Most results. Defaults to 10 if not specified. At most 50.", "Most results. At most 50."),
            ("Timeout. Defaults to 10 seconds.", "Timeout. Defaults to 10 seconds."),
            ("Most results. Defaults to 20.", "Most results. Defaults to 20."),
        ],
    );
    holds(
        json!({ "type": "string", "enum": ["major", "minor"], "default": "major" }),
        &[
            ("Type of the scale, either 'major' or 'minor'. Default is 'major'.", "Type of the scale."),
            ("Scale (major or minor, default: major)", "Scale"),
        ],
    );
    holds(
        json!({ "type": "boolean", "default": true }),
        &[
            ("Show it (default: True). Set to False for less.", "Show it. Set to False for less."),
            ("Whether to show it. Default: true", "Whether to show it."),
        ],
    );
    let other = "Whether to make it the default project (default: true)";
    assert_eq!(
        shortened(json!({ "type": "boolean", "default": true }), other),
        other,
        "a wire may lack the keyword"
    );
    let stays = "The file. Defaults to the name of the page.";
    assert_eq!(shortened(json!({ "type": "string", "default": "x" }), stays), stays);
    let in_prose_alone = "Most results (default: 10)";
    assert_eq!(shortened(json!({ "type": "integer" }), in_prose_alone), in_prose_alone);
}

#[test]
fn types_and_words_of_a_docstring_leave() {
    holds(
        json!({ "type": "string" }),
        &[
            ("(str) The name.", "The name."),
            ("(str, optional) The name.", "The name."),
            ("str, optional: The name.", "The name."),
            ("Optional: The name.", "The name."),
            ("The name (optional)", "The name"),
            ("Optional. The name.", "The name."),
            ("(int) The name.", "(int) The name."),
            ("(required) The name.", "(required) The name."),
            ("Optional name of the file.", "Optional name of the file."),
            ("A\nstring. The name.", "A\nstring. The name."),
            ("Optional/Required: The name.", "Optional/Required: The name."),
        ],
    );
}

#[test]
fn a_type_of_a_union_and_one_before_a_long_text_leave() {
    holds(
        json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
        &[("(str) The day.", "The day.")],
    );
    let long = "Words. ".repeat(1000);
    assert_eq!(shortened(json!({ "type": "string" }), &format!("(str) {long}")), long);
}

#[test]
fn the_schema_of_the_author_is_not_changed() {
    let author =
        Arc::new(json!({ "properties": { "a": { "type": "string", "description": "(str) The name." } } }));
    let mut canonical = Arc::clone(&author);
    remove(&mut canonical);
    assert_eq!(author["properties"]["a"]["description"], "(str) The name.");
    assert_eq!(canonical["properties"]["a"]["description"], "The name.");
    let mut plain = Arc::new(json!({ "properties": { "a": { "description": "The name." } } }));
    let before = Arc::clone(&plain);
    remove(&mut plain);
    assert!(Arc::ptr_eq(&plain, &before), "nothing to remove, nothing copied");
}

#[test]
fn hostile_texts_are_read_in_time() {
    for unit in ["(", ", ", ": ", "a. ", "'", "default ", "x, (", "é. "] {
        let text = unit.repeat(4000 / unit.len());
        shortened(json!({ "type": "string", "enum": ["x", "y"], "default": "x" }), &text);
    }
}
