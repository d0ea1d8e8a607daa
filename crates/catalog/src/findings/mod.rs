//! The findings of a catalog. Lint takes as long as building the catalog, and nothing that is served depends on it: it is done
//! when all findings are first asked for.

mod of_others;
pub(crate) mod places;
pub(crate) mod severity;

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use serde::{Serialize, Serializer};

use crate::config::{Config, LintLevel, live_server};
use crate::lint::CatalogLint;
use crate::tool::Tool;
use of_others::{gather, keep_first_of_a_place};
use severity::{configure_severities, severity};
use toolcrib_definition::document::{Document, locate};
use toolcrib_definition::finding::{Code, Finding, Severity};

/// Findings in the order of their places; derefs to a slice of them.
#[derive(Clone, Debug)]
pub struct Findings {
    errors: Arc<[Finding]>,
    definitions: Arc<[Finding]>,
    all: Arc<All>,
}

type All = LazyLock<Vec<Finding>, Box<dyn FnOnce() -> Vec<Finding> + Send>>;

impl Findings {
    /// The findings that lint completes.
    pub(crate) fn unlinted(unlinted: Unlinted) -> Self {
        let may_find_errors = unlinted.config.lint.severity.values().any(|level| *level == LintLevel::Error);
        if may_find_errors {
            unlinted.linted().into()
        } else {
            let errors = unlinted.only(|finding| severity(finding, &unlinted.config.lint) == Severity::Error);
            let definitions = unlinted.only(|finding| is_about_definition(finding));
            Self { errors, definitions, all: Arc::new(LazyLock::new(Box::new(|| unlinted.linted()))) }
        }
    }

    /// Number of findings of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        match severity {
            Severity::Error => self.errors.len(),
            _ => self.iter().filter(|finding| finding.severity == severity).count(),
        }
    }

    /// The errors, which are known without lint.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.errors.iter()
    }

    /// What was done about the definitions of live servers, which is known without lint.
    pub fn definitions(&self) -> impl Iterator<Item = &Finding> {
        self.definitions.iter()
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
        let definitions = all.iter().filter(|finding| is_about_definition(finding)).cloned().collect();
        Self { errors, definitions, all: Arc::new(LazyLock::new(Box::new(|| all))) }
    }
}

impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

/// Findings without those of lint; neither configured nor located.
#[derive(Debug)]
pub(crate) struct Unlinted {
    pub(crate) findings: Vec<Finding>,
    pub(crate) lint: CatalogLint,
    pub(crate) config: Arc<Config>,
    /// The files, to locate findings.
    pub(crate) documents: Vec<Document>,
    /// The files that definitions refer to.
    pub(crate) parts: BTreeSet<String>,
}

impl Unlinted {
    /// Some findings, configured and located.
    fn only(&self, is_one: impl Fn(&&Finding) -> bool) -> Arc<[Finding]> {
        self.settled(self.findings.iter().filter(is_one).cloned().collect()).into()
    }

    /// All findings, configured and located.
    fn linted(mut self) -> Vec<Finding> {
        let findings = self.lint.add_to(std::mem::take(&mut self.findings));
        self.settled(findings)
    }

    fn settled(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let tools = if self.config.lint.ignore.is_empty() { &[][..] } else { &self.lint.tools };
        let by_name: HashMap<&str, &Tool> =
            tools.iter().map(|tool| (tool.names.canonical.as_str(), &**tool)).collect();
        configure_severities(&self.config.lint, |name| by_name.get(name).copied(), &mut findings);
        keep_first_of_a_place(&self.parts.iter().map(String::as_str).collect(), &mut findings);
        gather(&self.lint.documents_of_others(), &self.config.lint, &mut findings);
        locate(&self.documents, &mut findings);
        findings
    }
}

/// Whether a finding says what was done about a definition of a live server.
fn is_about_definition(finding: &Finding) -> bool {
    matches!(finding.code, Code::DefinitionLeftOut | Code::DefinitionRepaired | Code::NameQualified)
        && finding.place.as_ref().is_some_and(|place| live_server(&place.file).is_some())
}
