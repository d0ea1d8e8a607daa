//! Assembles the catalog from definitions, tool by tool, then between tools.

mod overlays;
mod tool;

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use crate::audience::{self, Audience};
use crate::catalog::Catalog;
use crate::config::{Category, Workspace};
use crate::lint::CatalogLint;
use crate::purpose::purposes_of_sources;
use crate::registry::version::digest;
use crate::service_prefix::ServicePrefixes;
use crate::short::SharedOpenings;
use crate::sources::RawTool;
use crate::tool::Tool;
use crate::{lint, names, profile, steps, structure, tree, trust};
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
    let prefixes = ServicePrefixes::of(&raw);
    let audiences = overlays.audiences(&raw, &prefixes);
    let public = raw.iter().zip(&audiences).filter(|(_, audience)| **audience == Audience::Everybody);
    let openings = SharedOpenings::of(public.map(|(tool, _)| tool.definition.description.as_str()));
    let canonical = names::canonical(&raw, &audiences, &workspace.config, findings);
    let assembly = Assembly { workspace: &workspace, overlays: &overlays, prefixes: &prefixes, openings };
    let built: Vec<Built> =
        raw.into_par_iter().zip(canonical).map(|(raw, name)| assembly.tool(raw, name)).collect();
    let mut tools = Vec::with_capacity(built.len());
    let mut places = Vec::with_capacity(built.len());
    for (built, audience) in built.into_iter().zip(audiences) {
        findings.extend(built.findings);
        if Audience::of(&built.tool.definition) == audience {
            tools.push(built.tool);
            places.push((built.places, findings.len()));
        } else {
            findings.push(audience::late(&built.tool))
        }
    }
    overlays.report_unused(findings);
    let categories = workspace.config.categories.iter().chain(&described);
    structure::derive(&mut tools, categories, findings);
    names::assign_unique(&mut tools, findings);
    steps::settle(&mut tools, findings);
    let finished = |mut tool: Tool| {
        tool.digest = digest(&tool);
        Arc::new(tool)
    };
    let tools: Vec<Arc<Tool>> = tools.into_par_iter().map(finished).collect();
    let lint = CatalogLint { tools: tools.clone(), places, before_pairs: findings.len() };
    let (tools, contested) = audience::separate(tools, findings);
    let configured = workspace.config.categories.len();
    workspace.config.categories.extend(purposes_of_sources(described));
    let catalog = Catalog::of(tools, contested, Arc::new(workspace.config));
    profile::check(&catalog, findings);
    tree::check(&catalog, configured, findings);
    lint::replacements(&catalog, findings);
    (catalog, lint)
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
