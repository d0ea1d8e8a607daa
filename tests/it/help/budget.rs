//! Tokens of answers, and validity of the calls in them.

use serde_json::Value;
use toolcrib::Effect;
use toolcrib::catalog::Catalog;
use toolcrib::help::{Format, HelpOptions, of_tool};
use toolcrib::tokens::token_count;

use super::{EXAMPLES, example, help, view};
use crate::fixture;

#[test]
fn a_short_answer_on_an_op_takes_less_than_its_budget() {
    let (mut sizes, mut over) = (Vec::new(), Vec::new());
    for name in EXAMPLES {
        let checked = example(name);
        let view = view(&checked.catalog);
        for tool in &checked.catalog.tools {
            let told = help(&view, tool.names.op.as_str());
            for field in ["summary", "usage", "args", "effect", "doc_version", "receipt"] {
                assert!(told.get(field).is_some(), "{field} is missing: {told}");
            }
            let size = token_count(&told.to_string());
            sizes.push(size);
            over.extend((size >= 600).then(|| format!("{size} {told}")));
        }
    }
    sizes.sort_unstable();
    println!("{} ops, median {}, most {}", sizes.len(), sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[test]
fn a_directory_takes_less_than_400_tokens() {
    let mut over = Vec::new();
    for name in EXAMPLES {
        over.extend(large_directories(&example(name).catalog));
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[test]
#[ignore = "slow"]
fn a_directory_of_thousands_of_ops_is_as_small() {
    for name in ["docker-registry-tools.json", "box-openapi.json", "toucan-nasty-servers.json"] {
        let over = large_directories(&fixture::catalog(name).1.catalog);
        assert!(over.is_empty(), "{name}: {}", over.join("\n"));
    }
}

/// Walks through all directories from the root, and returns those that are too large.
fn large_directories(catalog: &Catalog) -> Vec<String> {
    let view = view(catalog);
    let (mut open, mut seen, mut over) =
        (vec!["root".to_string()], std::collections::HashSet::new(), Vec::new());
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let told = help(&view, path.as_str());
        assert_eq!(told["ok"], true, "{told}");
        let size = token_count(&told.to_string());
        over.extend((size >= 400).then(|| format!("{size} {told}")));
        if told.get("usage").is_none() {
            open.extend(told["groups"].as_object().into_iter().flatten().map(|(path, _)| path.clone()));
            open.extend([".read", ".write"].map(|only| format!("{path}{only}")).into_iter().filter(|path| {
                !path.ends_with(".read.read")
                    && !path.contains(".read.")
                    && !path.contains(".write.")
                    && !path.contains('*')
            }));
        }
    }
    over
}

#[test]
#[ignore = "slow"]
fn every_ready_made_call_fits_the_canonical_schema() {
    let mut calls = 0;
    for name in EXAMPLES {
        calls += valid_calls(&example(name).catalog);
    }
    for name in fixture::CATALOGS {
        calls += valid_calls(&fixture::catalog(name).1.catalog);
    }
    println!("{calls} calls");
    assert!(calls > 100);
}

fn valid_calls(catalog: &Catalog) -> usize {
    let mut calls = 0;
    for tool in &catalog.tools {
        for format in [Format::Short, Format::Full] {
            let told =
                of_tool(tool, HelpOptions { format, examples: false, schemas: false, short_tokens: 600 });
            assert_eq!(told.contains_key("call"), tool.input.call.is_some(), "{}", tool.names.op);
            let Some(call) = told.get("call") else { continue };
            assert_eq!(call["op"], Value::from(tool.names.op.as_str()));
            let fields = call.as_object().unwrap().keys();
            match tool.rules.effect == Effect::Destructive {
                true => assert!(fields.eq(["op", "args", "dry_run"]) && call["dry_run"] == true, "{call}"),
                false => assert!(fields.eq(["op", "args"]), "{call}"),
            }
            for pointer in told.get("fill_in").and_then(Value::as_array).into_iter().flatten() {
                assert!(call["args"].pointer(pointer.as_str().unwrap()).is_some(), "{pointer} of {call}");
            }
            assert!(tool.input.parameters.accepts(&call["args"]), "{}: {call}", tool.names.op);
            calls += 1;
        }
        let wanted = HelpOptions { format: Format::Short, examples: true, schemas: false, short_tokens: 600 };
        let short = of_tool(tool, wanted);
        let names: Vec<&str> =
            short["args"].as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).collect();
        let required = tool.input.parameters.schema().get("required").and_then(Value::as_array);
        let properties = tool.input.parameters.schema().get("properties");
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if properties.is_some_and(|properties| properties.get(name).is_some()) {
                assert!(names.contains(&name), "{}: {name} is required", tool.names.op);
            }
        }
    }
    calls
}
