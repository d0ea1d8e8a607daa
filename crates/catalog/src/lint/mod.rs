//! Lint: finds tools that are hard to choose, hard to call, or dangerous to show to a model. It takes as long as building the
//! catalog, and nothing that is served depends on it: so it is done when all findings are first asked for.

mod instructions;
mod lookalikes;
mod tool;

pub(crate) use tool::{LintedDefinition, arguments};

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::HashSet;
use rayon::prelude::*;

use crate::catalog::Catalog;
use crate::resolve::Resolved;
use crate::tool::Tool;
use lookalikes::{equal_shorts, near_duplicates};
use tool::tool;
use toolcrib_definition::finding::{Code, Finding};

/// Reports deprecated tools that name no replacement.
pub(super) fn replacements(catalog: &Catalog, findings: &mut Vec<Finding>) {
    for tool in &catalog.tools {
        let Some(name) = &tool.labels.replaced_by else { continue };
        if let Resolved::Unknown(near) = catalog.resolve(name) {
            let message = format!("replaced_by names `{name}`, which is no tool");
            let at = tool.origin.place.below("/replaced_by");
            let finding = tool.finding(Code::ReplacementUnknown, message).at(at);
            findings.push(finding.did_you_mean(&near, "name a tool of this catalog"));
        }
    }
}

/// The lint that is still to be done.
#[derive(Debug, Default)]
pub(super) struct CatalogLint {
    /// The tools that it looks at.
    pub(super) tools: Vec<Arc<Tool>>,
    /// The definition of each.
    pub(super) definitions: Vec<LintedDefinition>,
    /// The number of findings before those about pairs of tools.
    pub(super) before_pairs: usize,
}

impl CatalogLint {
    /// The OpenAPI documents that tools were read from.
    pub(super) fn documents_of_others(&self) -> BTreeSet<&str> {
        let of_others = self.definitions.iter().filter(|definition| definition.places.is_assembled);
        of_others.map(|definition| definition.places.definition.file.as_str()).collect()
    }

    /// Adds what it finds to the findings of the catalog, each in its place.
    pub(super) fn add_to(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let tools: Vec<&Tool> = self.tools.iter().map(|tool| &**tool).collect();
        let of_tool = |(one, written): (&&Tool, &LintedDefinition)| {
            let mut found = Vec::new();
            let mut report = |finding| found.push(written.places.put(finding, &one.names.canonical));
            tool(one, written, &mut report);
            found
        };
        let of_tools: Vec<Vec<Finding>> = tools.par_iter().zip(&self.definitions).map(of_tool).collect();
        let mut of_pairs = Vec::new();
        near_duplicates(&tools, &mut of_pairs);
        equal_shorts(&tools, &mut of_pairs);
        // Equal tools of one name have one fault.
        let is_copy = |finding: &&Finding| finding.code == Code::NameDuplicate;
        let copies = findings.iter().filter(is_copy).filter_map(|finding| finding.tool.clone());
        let copies: HashSet<String> = copies.collect();
        of_pairs.retain(|finding| !finding.tool.as_ref().is_some_and(|tool| copies.contains(tool)));
        let mut all = Vec::with_capacity(findings.len());
        let mut findings = findings.into_iter();
        let mut taken = 0;
        let ends = self.definitions.iter().map(|written| written.findings).chain([self.before_pairs]);
        for (end, found) in ends.zip(of_tools.into_iter().chain([of_pairs])) {
            all.extend(findings.by_ref().take(end - taken));
            all.extend(found);
            taken = end;
        }
        all.extend(findings);
        all
    }
}
