//! Short help says enough to call right (HELP-2): every argument with its type, values and default, and the whole policy; a
//! smaller budget leaves out less important parts first, and names them.

use serde_json::{Value, json};
use toolcrib::catalog::Tool;
use toolcrib::help::{Format, HelpOptions, of_tool};

use super::{EXAMPLES, example};

fn short(tool: &Tool, short_tokens: usize) -> Value {
    of_tool(tool, HelpOptions { format: Format::Short, examples: true, schemas: false, short_tokens }).into()
}

/// The parts of a tool that its short help neither tells nor names as left out.
fn missing(tool: &Tool, told: &Value) -> Vec<String> {
    let schema = tool.input.parameters.schema();
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|one| one == name))
    };
    let left_out =
        |part: &str| told["left_out"].as_array().is_some_and(|parts| parts.iter().any(|one| one == part));
    let mut missing = Vec::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let row = told["args"].as_array().unwrap().iter().find(|row| row["name"] == name.as_str());
        let Some(row) = row else {
            missing.extend((required(name) || !left_out("optional arguments")).then(|| name.clone()));
            continue;
        };
        if !row["type"].is_string() || row.get("required").is_some() != required(name) {
            missing.push(format!("type of {name}"));
        }
        for keyword in ["enum", "format"] {
            if property.get(keyword).is_some() && row.get(keyword).is_none() && !left_out("values") {
                missing.push(format!("{keyword} of {name}"));
            }
        }
        let default = property.get("default").filter(|default| !default.is_null() && !required(name));
        if row.get("default") != default {
            missing.push(format!("default of {name}"));
        }
    }
    let policy = tool
        .texts
        .policy
        .iter()
        .flat_map(|policy| policy.dos.iter().chain(&policy.donts).chain(&policy.edge_cases));
    let lists = ["do", "dont", "edge_cases"].map(|list| told["policy"][list].clone());
    let rules: Vec<&Value> = lists.iter().filter_map(Value::as_array).flatten().collect();
    let cut = policy.filter(|rule| !rules.contains(&&json!(rule)) && !left_out("policy"));
    missing.extend(cut.map(|rule| format!("policy: {rule}")));
    missing
}

#[test]
fn short_help_has_every_argument_and_the_whole_policy() {
    for name in EXAMPLES {
        let checked = example(name);
        for tool in &checked.catalog.tools {
            let told = short(tool, 600);
            assert_eq!(missing(tool, &told), Vec::<String>::new(), "{told}");
            let is_whole = |part: &str| !told["left_out"].to_string().contains(part);
            if name == "buildos" {
                assert!(["policy", "\"optional arguments\"", "values"].into_iter().all(is_whole), "{told}");
            }
        }
    }
}

#[test]
fn parts_that_do_not_fit_the_budget_are_named_with_the_way_to_them() {
    for name in EXAMPLES {
        for tool in &example(name).catalog.tools {
            for budget in [0, 150, 250, 400] {
                let told = short(tool, budget);
                assert_eq!(missing(tool, &told), Vec::<String>::new(), "{budget}: {told}");
                assert_eq!(told.get("left_out").is_some(), told.get("more").is_some(), "{told}");
            }
            let all = short(tool, 100_000);
            assert_eq!(missing(tool, &all), Vec::<String>::new(), "{all}");
            assert!(!all["left_out"].to_string().contains("limits"), "{all}");
        }
    }
}
