//! The findings of a catalog that was just read, before lint.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::Tool;
use super::lint::CatalogLint;
use super::severity::{configure, severity};
use crate::config::{Config, LintLevel};
use crate::finding::{Document, Finding, Severity, locate};

/// Findings without those of lint; neither configured nor located.
#[derive(Debug)]
pub(super) struct Unlinted {
    pub(super) findings: Vec<Finding>,
    pub(super) lint: CatalogLint,
    pub(super) config: Arc<Config>,
    /// The files, to locate findings.
    pub(super) documents: Vec<Document>,
    /// The files that definitions refer to.
    pub(super) parts: BTreeSet<String>,
}

impl Unlinted {
    /// Whether some lint may be configured to be an error.
    pub(super) fn may_find_errors(&self) -> bool {
        self.config.lint.severity.values().any(|level| *level == LintLevel::Error)
    }

    /// The errors, configured and located.
    pub(super) fn errors(&self) -> Vec<Finding> {
        let is_error = |finding: &&Finding| severity(finding, &self.config.lint) == Severity::Error;
        self.settled(self.findings.iter().filter(is_error).cloned().collect())
    }

    /// All findings, configured and located.
    pub(super) fn linted(mut self) -> Vec<Finding> {
        let findings = self.lint.add_to(std::mem::take(&mut self.findings));
        self.settled(findings)
    }

    fn settled(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let has_tools = !self.config.lint.ignore.is_empty();
        let tools = self.lint.tools().iter().filter(|_| has_tools);
        let by_name: HashMap<&str, &Tool> = tools.map(|tool| (tool.name.as_str(), &**tool)).collect();
        configure(&self.config.lint, |name| by_name.get(name).copied(), &mut findings);
        keep_first_in_parts(&self.parts, &mut findings);
        locate(&self.documents, &mut findings);
        findings
    }
}

/// Keeps the first of equal findings in files that several tools share.
fn keep_first_in_parts(parts: &BTreeSet<String>, findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    findings.retain(|finding| match &finding.place {
        Some(place) if parts.contains(&place.file) => {
            seen.insert((finding.code, finding.message.clone(), place.clone()))
        }
        _ => true,
    });
}
