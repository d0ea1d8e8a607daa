//! Costly patterns: what compiling them takes is bounded for a source and for a build, and beyond it they are left out.

use std::time::Instant;

use serde_json::{Value, json};

use crate::fixture::{folder, open};

/// Tools whose schemas all differ, each with a pattern whose work is about a ninth of what a source may take.
fn tools(of: &str, count: usize, more: Value) -> String {
    let tool = |number: usize| {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": format!("{of} {number}"), "pattern": r"^\p{L}{1,700}$"}}});
        let mut tool =
            json!({"name": format!("get_{of}_{number}"), "description": "Gets it.", "parameters": schema});
        more.as_object().unwrap().iter().for_each(|(key, value)| tool[key] = value.clone());
        tool
    };
    Value::from((0..count).map(tool).collect::<Vec<_>>()).to_string()
}

#[test]
#[ignore = "slow"]
fn costly_patterns_are_left_out_beyond_the_budget_of_a_source_and_of_a_build() {
    let command = json!({"backend": {"type": "command", "command": ["echo"]}});
    let files = [
        ("a.json", tools("a", 12, json!({}))),
        ("b.json", tools("b", 12, command)),
        ("c.json", tools("c", 12, json!({}))),
    ];
    let root = folder(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let mut took = Vec::new();
    for _ in 0..2 {
        let began = Instant::now();
        let checked = open(root.path());
        took.push(began.elapsed());
        let mut with = [0; 3];
        for tool in &checked.catalog.tools {
            let file = "abc".find(&tool.origin.place.file[..1]).unwrap();
            let has_pattern = tool.input.parameters.schema().pointer("/properties/a/pattern").is_some();
            let is_callable = tool.input.parameters.is_checked();
            // The patterns of a command may be all that stands before a program.
            assert!(is_callable || (file == 1 && has_pattern), "{}", tool.names.canonical);
            with[file] += usize::from(has_pattern && is_callable);
        }
        assert!(with.iter().all(|count| *count < 12) && with.iter().sum::<usize>() >= 6, "{with:?}");
        let said = checked.findings.iter().filter(|finding| finding.message.contains("compiling"));
        assert_eq!(said.count(), 36 - with.iter().sum::<usize>());
    }
    // What was compiled stays compiled; how much faster that is depends on what else the machine does.
    assert!(took[1] < took[0], "{took:?}");
}
