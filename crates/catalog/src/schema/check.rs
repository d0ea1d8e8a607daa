//! The schema of a definition is repaired and compiled; each repair is a finding.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use serde_json::json;

use super::compiled::{CompileError, compile};
use super::descriptions::{describe, has_markup, write_markdown};
use super::parameters::{Callable, Parameters};
use super::patterns::take_out_patterns;
use super::portable::repair_patterns;
use super::repair::{Repairs, repair};
use super::validation_cost::ValidationCost;
use crate::docstring::Described;
use toolcrib_definition::finding::{Code, Finding, Place};
use toolcrib_definition::{Backend, Definition, compact};

/// Message about patterns beyond the budget of a source, or of a build.
const TOO_MUCH_WORK: &str =
    "its patterns are left out: with those of the tools before it, compiling them takes too long";

/// Repairs and compiles the parameters of a definition, with or without its patterns. `described` are descriptions that a docstring
/// has for them.
pub(crate) fn check(
    tool: &Definition,
    with_patterns: bool,
    described: &IndexMap<String, Described>,
    place: &Place,
    report: &mut impl FnMut(Finding),
) -> Parameters {
    let Some(written) = &tool.parameters else { return without_schema(tool, place, report) };
    let mut schema = written.shared();
    let mut remote = None;
    if let Some((value, repairs)) = repair(written.value()) {
        report_repairs(&repairs, place, report);
        remote = repairs.remote.first().map(|(_, reference)| reference.clone());
        schema = Arc::new(value);
    }
    describe(&mut schema, described);
    if has_markup(&schema) {
        write_markdown(Arc::make_mut(&mut schema));
    }
    if !Arc::ptr_eq(&schema, &written.shared()) {
        schema = Arc::new(compact(Arc::unwrap_or_clone(schema)));
    }
    let cost = ValidationCost::of(&schema);
    // A server checks its own patterns; those of a command line may be all that stands before a program.
    let is_checked_later = !matches!(tool.backend, Some(Backend::Command(_)));
    let mut compiled = if with_patterns {
        compile(&schema, cost)
    } else if is_checked_later {
        report(Finding::new(Code::SchemaDoubtful, TOO_MUCH_WORK).at(place.clone()));
        take_out_patterns(Arc::make_mut(&mut schema));
        compile(&schema, cost)
    } else {
        Err(CompileError::PatternWork)
    };
    if matches!(compiled, Err(CompileError::Pattern(_))) && is_checked_later {
        let mut changed = Vec::new();
        let mut pointer = String::new();
        repair_patterns(Arc::make_mut(&mut schema), &mut pointer, &mut changed);
        for (pointer, message) in changed {
            report(Finding::new(Code::SchemaDoubtful, message).at(place.below(&pointer)));
        }
        compiled = compile(&schema, cost);
    }
    let refused = match remote {
        Some(reference) => Err(format!("its schema refers to {reference}, which was not read")),
        None => compiled.map_err(|problem| {
            let message = format!("the schema cannot be compiled: {problem}");
            report(Finding::new(Code::SchemaInvalid, message).at(place.clone()));
            format!("its schema cannot be compiled: {problem}")
        }),
    };
    match refused {
        Ok(compiled) => Parameters {
            schema,
            callable: Callable::Checked,
            cost: cost.into(),
            compiled: OnceLock::from(Some(compiled)),
        },
        Err(reason) => Parameters::of(schema, Callable::No(reason)),
    }
}

fn without_schema(tool: &Definition, place: &Place, report: &mut impl FnMut(Finding)) -> Parameters {
    let callable = match tool.no_schema_mode {
        Some(mode) if tool.allow_no_schema => Callable::Unchecked(mode),
        _ => {
            let message = "no parameters are given; the tool is documented but cannot be called";
            report(Finding::new(Code::SchemaMissing, message).at(place.clone()));
            Callable::No("its source gives no schema".into())
        }
    };
    Parameters::of(Arc::new(json!({})), callable)
}

/// Reports what was read differently, and what is lost.
pub(crate) fn report_repairs(repairs: &Repairs, place: &Place, report: &mut impl FnMut(Finding)) {
    if let Some((pointer, _)) = repairs.words.first() {
        let mut listed: IndexMap<&str, usize> = IndexMap::new();
        for (_, what) in &repairs.words {
            *listed.entry(what).or_default() += 1;
        }
        let counted = |(what, count): (&&str, &usize)| match count {
            1 => what.to_string(),
            _ => format!("{what} ({count} times)"),
        };
        let listed: Vec<String> = listed.iter().map(counted).collect();
        report(Finding::new(Code::SchemaRepaired, listed.join(", ")).at(place.below(pointer)));
    }
    for (pointer, message) in &repairs.lost {
        let code = if pointer == "/properties" { Code::DefinitionInvalid } else { Code::SchemaDoubtful };
        let help = "write what JSON Schema has in this place, such as {\"type\": \"string\"} for a schema";
        report(Finding::new(code, message).at(place.below(pointer)).help(help));
    }
    for (pointer, reference) in &repairs.broken {
        let message = format!("`{reference}` points nowhere; anything is accepted there");
        let finding = Finding::new(Code::SchemaReferenceBroken, message).at(place.below(pointer));
        report(finding.help("define it under `$defs`, or correct the pointer"));
    }
    for (pointer, reference) in &repairs.remote {
        let message = format!("`{reference}` lies outside the schema and is never fetched");
        let finding = Finding::new(Code::SchemaReferenceRemote, message).at(place.below(pointer));
        report(finding.help("copy what it refers to into `$defs` and refer to it as `#/$defs/NAME`"));
    }
}
