//! The findings of a catalog. Lint takes as long as building the catalog, and nothing that is served depends on it: it is done
//! when all findings are first asked for.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use serde::{Serialize, Serializer};

use super::Tool;
use super::lint::CatalogLint;
use super::severity::{configure, severity};
use crate::config::{Config, LintLevel};
use crate::finding::{Document, Finding, Severity, locate};

/// Findings in the order of their places; derefs to a slice of them.
#[derive(Clone, Debug)]
pub struct Findings {
    errors: Arc<[Finding]>,
    all: Arc<All>,
}

type All = LazyLock<Vec<Finding>, Box<dyn FnOnce() -> Vec<Finding> + Send>>;

/// Number of findings by severity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Remarks.
    pub infos: usize,
}

impl Findings {
    /// The findings that lint completes.
    pub(super) fn unlinted(unlinted: Unlinted) -> Self {
        let may_find_errors = unlinted.config.lint.severity.values().any(|level| *level == LintLevel::Error);
        match may_find_errors {
            true => unlinted.linted().into(),
            false => {
                let errors = unlinted.errors().into();
                Self { errors, all: Arc::new(LazyLock::new(Box::new(|| unlinted.linted()))) }
            }
        }
    }

    /// Number of findings by severity.
    pub fn counts(&self) -> Counts {
        let count = |severity| self.iter().filter(|finding| finding.severity == severity).count();
        Counts { errors: self.errors.len(), warnings: count(Severity::Warning), infos: count(Severity::Info) }
    }

    /// The errors, which are known without lint.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.errors.iter()
    }

    /// Adds findings at the end.
    pub fn extend(&mut self, more: Vec<Finding>) {
        if !more.is_empty() {
            *self = self.iter().cloned().chain(more).collect::<Vec<_>>().into();
        }
    }
}

impl Deref for Findings {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        &self.all
    }
}

impl Default for Findings {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<Finding>> for Findings {
    fn from(all: Vec<Finding>) -> Self {
        let errors = all.iter().filter(|finding| finding.severity == Severity::Error).cloned().collect();
        Self { errors, all: Arc::new(LazyLock::new(Box::new(|| all))) }
    }
}

impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

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
    /// The errors, configured and located.
    fn errors(&self) -> Vec<Finding> {
        let is_error = |finding: &&Finding| severity(finding, &self.config.lint) == Severity::Error;
        self.settled(self.findings.iter().filter(is_error).cloned().collect())
    }

    /// All findings, configured and located.
    fn linted(mut self) -> Vec<Finding> {
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
