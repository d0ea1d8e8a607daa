//! Hostile files of any content: no panic, no hang, and a finding where they cannot be read.

use std::fs::File;

use proptest::prelude::*;
use toolcrib_catalog::Checked;
use toolcrib_definition::finding::json_report;

use crate::fixture;

/// The whole pipeline over one file: load, build, report, document.
fn pipeline(file: &str, bytes: &[u8]) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, bytes).unwrap();
    let checked = fixture::open(&path);
    json_report(&checked.findings);
    toolcrib_definition::finding::text_report(&checked.findings, &checked.documents, true, None);
    let out = folder.path().join("out");
    fixture::render(&checked, &out);
    for tool in &checked.catalog.tools {
        assert!(out.join(format!("{}.md", tool.names.safe)).is_file(), "{}", tool.names.canonical);
    }
    checked
}

const NAMES: [&str; 3] = ["a.json", "a.yaml", "a.toml"];

/// Valid documents that mutations start from.
const SEEDS: [&str; 6] = [
    include_str!("../../../../tests/golden/nested/tools.json"),
    include_str!("../../../../tests/golden/hostile/tools.json"),
    include_str!("../../../../starter/tools/notes.yaml"),
    r##"{"openapi":"3.1.0","info":{"title":"t"},"paths":{"/a/{b}":{"post":{"operationId":"x","parameters":[{"name":"b","in":"path","required":true,"schema":{"$ref":"#/components/schemas/S"}}],"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S"}}}}}}},"components":{"schemas":{"S":{"type":"object","properties":{"s":{"$ref":"#/components/schemas/S"},"n":{"type":["null","string"]}}}}}}"##,
    "[[tools]]\nname = \"x\"\ndescription = \"Y z.\"\n[tools.parameters]\ntype = \"object\"\n[tools.parameters.properties.a]\ntype = \"string\"\npattern = \"^(a+)+$\"\n",
    r#"{"s":[{"name":"x","description":"d","arguments":[{"name":"a","type":"string","desc":"b"}]}]}"#,
];

/// Pieces that mean something somewhere.
const PIECES: [&str; 16] = [
    "null", "\"\"", "{}", "[]", "-1", "1e308", "\"\\u0000\"", "\"$ref\":\"#\"", "\"type\":\"dict\",", "true",
    "```", "\u{202e}", "&a [*a]", "---\n", "99999999999999999999", "\"#/$defs/Node\"",
];

fn mutated() -> impl Strategy<Value = (usize, Vec<u8>)> {
    let edit = (any::<prop::sample::Index>(), 0..40usize, 0..PIECES.len(), 0..4u8);
    (0..SEEDS.len(), prop::collection::vec(edit, 1..6)).prop_map(|(seed, edits)| {
        let mut bytes = SEEDS[seed].as_bytes().to_vec();
        for (at, length, piece, kind) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + length).min(bytes.len());
            let new: Vec<u8> = match kind {
                0 => PIECES[piece].bytes().collect(),
                1 => Vec::new(),
                2 => bytes[at..end].repeat(2),
                _ => bytes[at..end].iter().map(|byte| byte ^ 1).collect(),
            };
            bytes.splice(at..end, new);
        }
        (seed, bytes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), name in 0..NAMES.len()) {
        pipeline(NAMES[name], &bytes);
    }

    #[test]
    fn any_text_as_name_description_and_schema_word(name in "\\PC{1,60}", words in any::<String>(), word in any::<String>()) {
        let tool = serde_json::json!({ "name": name, "description": words, "inputSchema": { "type": word, "properties": { words.clone(): { "description": word, "enum": [words, word], "default": words, "pattern": word } } } });
        let checked = pipeline("a.json", tool.to_string().as_bytes());
        prop_assert_eq!(checked.catalog.tools.len(), 1);
    }

    #[test]
    fn valid_documents_with_mistakes((seed, bytes) in mutated()) {
        let name = [NAMES[0], NAMES[0], NAMES[1], NAMES[0], NAMES[2], NAMES[0]][seed];
        pipeline(name, &bytes);
    }

    #[test]
    fn any_configuration(bytes in "[\\[\\]a-z_.=\"*:$0-9\n ]{0,120}") {
        let folder = fixture::folder(&[("toolcrib.toml", bytes.as_str()), ("tools/a.json", SEEDS[0])]);
        json_report(&fixture::open(folder.path()).findings);
    }
}

#[test]
fn deep_nesting_is_a_finding() {
    let deep = 200_000;
    let cases = [
        ("a.json", format!("{}{}", "[".repeat(deep), "]".repeat(deep))),
        ("a.json", format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep))),
        ("a.yaml", format!("{}{}", "[".repeat(deep), "]".repeat(deep))),
        ("a.yaml", (0..600).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),
        ("a.yaml", "- ".repeat(deep)),
        ("a.toml", format!("a = {}{}", "[".repeat(deep), "]".repeat(deep))),
        ("a.toml", format!("[{}a]\nb = 1\n", "a.".repeat(deep))),
    ];
    for (name, text) in cases {
        let checked = pipeline(name, text.as_bytes());
        let codes = fixture::codes(&checked);
        let refused = |code: &str| code == "file-invalid" || (name == "a.toml" && code == "file-too-large");
        assert!(codes.first().is_some_and(|code| refused(code)), "{name}: {codes:?}");
    }
}

#[test]
fn a_deep_schema_of_a_tool_is_documented() {
    let schema = format!(
        "{}{{\"type\":\"string\"}}{}",
        r#"{"type":"object","properties":{"a":"#.repeat(50),
        "}}".repeat(50)
    );
    let checked = pipeline(
        "a.json",
        format!(r#"{{"name":"deep","description":"Goes deep.","inputSchema":{schema}}}"#).as_bytes(),
    );
    assert!(fixture::only(&checked).input.call.is_some());
}

#[test]
fn aliases_that_multiply_are_a_finding() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = level - 1;
        text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![format!("*a{below}"); 10].join(", ")));
    }
    let checked = pipeline("a.yaml", text.as_bytes());
    assert_eq!(fixture::codes(&checked)[0], "file-invalid");
}

#[test]
fn a_huge_file_is_a_finding() {
    let folder = fixture::folder(&[(
        "b.json",
        r#"{"name":"b","description":"Is small.","inputSchema":{"type":"object"}}"#,
    )]);
    File::create(folder.path().join("a.json")).unwrap().set_len(100 << 20).unwrap();
    let checked = fixture::open(folder.path());
    assert_eq!(fixture::only(&checked).names.canonical, "b");
    assert!(fixture::codes(&checked).contains(&"file-too-large"), "{:?}", fixture::codes(&checked));
}

#[test]
#[ignore = "slow"]
fn twenty_thousand_tools_in_one_file() {
    let tools: Vec<String> = (0..20_000)
        .map(|index| {
            format!(
                r#"{{"name":"t{index}","description":"Does {index}.","inputSchema":{{"type":"object"}}}}"#
            )
        })
        .collect();
    let checked = fixture::open_text("a.json", &format!("[{}]", tools.join(",\n")));
    assert_eq!(checked.catalog.tools.len(), 20_000);
}
