//! Assembles the catalog from definitions, tool by tool, then between tools.

mod overlays;
mod tool;

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;

use crate::audience::{self, Audience};
use crate::catalog::Catalog;
use crate::config::{Category, Workspace};
use crate::findings::places::DefinitionPlaces;
use crate::lint::{CatalogLint, LintedDefinition};
use crate::purpose::purposes_of_sources;
use crate::registry::version::digest;
use crate::schema::PatternWork;
use crate::short::SharedOpenings;
use crate::sources::RawTool;
use crate::tool::Tool;
use crate::{lint, names, profile, schema, steps, structure, tree, trust};
use overlays::Overlays;
use tool::{Assembly, Built};
use toolcrib_definition::Definition;
use toolcrib_definition::finding::Finding;
use toolcrib_definition::markdown::from_html;

/// Assembles the catalog, and adds findings in the order of the tools; the returned lint has the rest. `described` are the
/// categories that sources describe; those that the configuration describes come first.
pub(crate) fn assemble(
    mut workspace: Workspace,
    mut raw: Vec<RawTool>,
    described: Vec<Category>,
    findings: &mut Vec<Finding>,
) -> (Catalog, CatalogLint) {
    names::clean(&mut raw, findings);
    raw.par_iter_mut().for_each(|tool| write_markdown(&mut tool.definition));
    trust::unused_hints(&workspace, &raw, findings);
    let overlays = Overlays::of(&workspace);
    let audiences = overlays.audiences(&raw);
    let public = raw.iter().zip(&audiences).filter(|(_, audience)| **audience == Audience::Everybody);
    let openings = SharedOpenings::of(public.map(|(tool, _)| tool.definition.description.as_str()));
    let canonical = names::canonical(&raw, &audiences, &workspace.config, findings);
    let assembly = Assembly { workspace: &workspace, overlays: &overlays, openings };
    let with_patterns = with_patterns(&raw);
    let built = raw.into_par_iter().zip(canonical).zip(with_patterns);
    let built: Vec<Built> =
        built.map(|((raw, name), with_patterns)| assembly.tool(raw, name, with_patterns)).collect();
    let mut tools = Vec::with_capacity(built.len());
    let mut definitions = Vec::with_capacity(built.len());
    for (built, audience) in built.into_iter().zip(audiences) {
        findings.extend(built.findings);
        if Audience::of_tool(&built.tool) == audience {
            tools.push(built.tool);
            definitions.push((built.definition, built.places, findings.len()));
        } else {
            findings.push(audience::late(&built.tool))
        }
    }
    overlays.report_unused(findings);
    let categories = workspace.config.categories.iter().chain(&described);
    structure::derive(&mut tools, categories, findings);
    names::assign_unique(&mut tools, findings);
    steps::settle(&mut tools, &workspace.config, findings);
    let (tools, definitions): (Vec<_>, _) = tools.into_par_iter().zip(definitions).map(finished).unzip();
    let lint = CatalogLint { tools: tools.clone(), definitions, before_pairs: findings.len() };
    let (tools, contested) = audience::separate(tools, findings);
    let configured = workspace.config.categories.len();
    workspace.config.categories.extend(purposes_of_sources(described));
    let catalog = Catalog::of(tools, contested, Arc::new(workspace.config));
    profile::check(&catalog, findings);
    tree::check(&catalog, configured, findings);
    lint::replacements(&catalog, findings);
    (catalog, lint)
}

/// Whether the patterns of each tool are compiled, within the budgets of its source and of the build.
fn with_patterns(raw: &[RawTool]) -> Vec<bool> {
    let work = |tool: &RawTool| {
        let schema = tool.definition.parameters.as_ref().map(|schema| schema.value());
        PatternWork::of(schema.unwrap_or(&Value::Null))
    };
    let work: Vec<PatternWork> = raw.par_iter().map(work).collect();
    schema::compiled_patterns(raw.iter().map(|tool| &*tool.origin).zip(work))
}

/// A tool with its digest, and what lint reads of its definition, which ends here.
fn finished(
    (mut tool, (mut definition, places, findings)): (Tool, (Definition, DefinitionPlaces, usize)),
) -> (Arc<Tool>, LintedDefinition) {
    // Its steps settle the effect of a tool.
    definition.effect = tool.rules.known_effect();
    definition.dry_run = tool.rules.dry_run;
    tool.digest = digest(&tool, &definition);
    let Definition { description, short_description, .. } = definition;
    (Arc::new(tool), LintedDefinition { places, description, short_description, findings })
}

/// Writes the texts of a definition as Markdown.
fn write_markdown(definition: &mut Definition) {
    let Definition { description, short_description, returns, notes, errors, .. } = definition;
    let texts =
        std::iter::once(description).chain(short_description).chain(returns).chain(notes).chain(errors);
    for text in texts {
        if let Cow::Owned(markdown) = from_html(text) {
            *text = markdown;
        }
    }
}
