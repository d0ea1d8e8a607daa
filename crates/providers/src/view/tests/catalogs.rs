//! The laws of views, tested with the tools of real catalogs.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

use super::super::defs::measure;
use super::super::*;
use super::laws::{Law, all_rules, compile};
use super::rules;
use crate::Provider;
use toolcrib_catalog as catalog;
use toolcrib_catalog::config;

/// Of the catalogs in `tests/data`, one tool, server or path in this many.
const ONE_OF: usize = 6;

#[test]
fn views_of_all_catalogs_obey() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> =
        ["github", "universal-agent"].map(|name| root.join(format!("examples/{name}/tools.json"))).into();
    let folder = tempfile::tempdir().unwrap();
    let entries = std::fs::read_dir(root.join("tests/data/catalogs")).unwrap();
    let mut more: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    more.sort();
    files.extend(more.iter().map(|file| thinned(file, folder.path())));
    let all = all_rules();
    let strict: usize = files.par_iter().map(|file| obey(file, &all)).sum();
    assert!(strict > 150, "only {strict} tools can be strict");
}

/// Returns the number of tools that can be strict.
fn obey(file: &Path, all: &[(Provider, SchemaRules)]) -> usize {
    let checked = catalog::open(config::read(file));
    let tools = &checked.catalog.tools;
    let law = |(index, tool): (usize, &catalog::Tool)| {
        tool.input.parameters.validator()?;
        // Large schemas consist mostly of shared definitions; a few of them test as much.
        if index % 8 != 0 && measure(tool.input.parameters.schema()).0 > 1_000 {
            return None;
        }
        let mut calls: Vec<Value> = tool.input.call.iter().map(|call| Value::Object(call.clone())).collect();
        calls.extend(tool.texts.examples.iter().map(|example| Value::Object(example.arguments.clone())));
        let accepted: Vec<&Value> = calls.iter().filter(|call| tool.input.parameters.accepts(call)).collect();
        let held = Law::new(tool.input.parameters.schema(), accepted).holds(all);
        held.err().map(|error| format!("{}: {error}", tool.names.canonical))
    };
    let wrong: Vec<String> = tools.par_iter().map(|tool| &**tool).enumerate().filter_map(law).collect();
    assert!(wrong.is_empty(), "{} wrong in {}; first: {}", wrong.len(), file.display(), wrong[0]);
    tools.par_iter().filter(|tool| is_strict(tool)).count()
}

/// A copy of a part of a catalog.
fn thinned(file: &Path, folder: &Path) -> PathBuf {
    let mut whole: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut index = 0;
    let mut stays = || {
        index += 1;
        index % ONE_OF == 1
    };
    let part = if whole.get("paths").is_some() { &mut whole["paths"] } else { &mut whole };
    match part {
        Value::Array(list) => list.retain(|_| stays()),
        Value::Object(named) => named.retain(|_, _| stays()),
        _ => {}
    }
    let copy = folder.join(file.file_name().unwrap());
    std::fs::write(&copy, whole.to_string()).unwrap();
    copy
}

fn is_strict(tool: &catalog::Tool) -> bool {
    let Some(_) = tool.input.parameters.validator() else { return false };
    [Provider::OpenAi, Provider::Anthropic].into_iter().all(|provider| {
        let view =
            view(tool.input.parameters.schema(), rules(provider), false, Some(&mut StrictBudget::default()))
                .unwrap();
        let schema = view.schema.unwrap();
        assert!(!view.strict || compile(&schema).is_ok(), "{}: {schema}", tool.names.canonical);
        view.strict
    })
}
