//! The lint of all tools of a catalog. It takes as long as building them, and nothing that is served depends on it: so it is
//! done when all findings are first asked for.

use std::sync::Arc;

use rayon::prelude::*;

use super::equal_shorts::equal_shorts;
use super::near_duplicates::pairs;
use super::tool;
use crate::catalog::Tool;
use crate::catalog::definition_places::DefinitionPlaces;
use crate::finding::Finding;

/// The lint that is still to be done.
#[derive(Debug, Default)]
pub(in crate::catalog) struct CatalogLint {
    tools: Vec<Arc<Tool>>,
    /// The places of each tool, and the number of findings up to its last.
    places: Vec<(DefinitionPlaces, usize)>,
    /// The number of findings before those about pairs of tools.
    before_pairs: usize,
}

impl CatalogLint {
    pub(in crate::catalog) fn new(
        tools: Vec<Arc<Tool>>,
        places: Vec<(DefinitionPlaces, usize)>,
        before_pairs: usize,
    ) -> Self {
        Self { tools, places, before_pairs }
    }

    /// The tools that it looks at.
    pub(in crate::catalog) fn tools(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// Adds what it finds to the findings of the catalog, each in its place.
    pub(in crate::catalog) fn add_to(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let tools: Vec<&Tool> = self.tools.iter().map(|tool| &**tool).collect();
        let of_tools: Vec<Vec<Finding>> = tools
            .par_iter()
            .zip(&self.places)
            .map(|(one, (places, _))| {
                let mut found = Vec::new();
                tool(one, &places.schema, &mut |finding| found.push(places.put(finding, &one.name)));
                found
            })
            .collect();
        let mut of_pairs = Vec::new();
        pairs(&tools, &mut of_pairs);
        equal_shorts(&tools, &mut of_pairs);
        let more = of_tools.iter().map(Vec::len).sum::<usize>() + of_pairs.len();
        let mut all = Vec::with_capacity(findings.len() + more);
        let (mut findings, mut taken) = (findings.into_iter(), 0);
        let ends = self.places.iter().map(|(_, end)| *end).chain([self.before_pairs]);
        for (end, found) in ends.zip(of_tools.into_iter().chain([of_pairs])) {
            all.extend(findings.by_ref().take(end - taken));
            all.extend(found);
            taken = end;
        }
        all.extend(findings);
        all
    }
}
