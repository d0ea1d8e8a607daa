//! The findings of a catalog. Lint takes as long as building the catalog, and nothing that is served depends on it: it is done
//! when all findings are first asked for.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use indexmap::IndexSet;
use serde::{Serialize, Serializer};

use super::lint::CatalogLint;
use super::{Catalog, Resolved, Tool};
use crate::config::{Config, Lint, LintLevel};
use crate::sources::{LIVE, PartPlaces};
use toolcrib_definition::finding::{Code, Document, Finding, Place, Severity, locate, pointer_join};
use toolcrib_definition::quoted;

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
    pub(super) fn unlinted(unlinted: Unlinted) -> Self {
        let may_find_errors = unlinted.config.lint.severity.values().any(|level| *level == LintLevel::Error);
        if may_find_errors {
            unlinted.linted().into()
        } else {
            let errors = unlinted.errors().into();
            let definitions = unlinted.definitions().into();
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

    fn definitions(&self) -> Vec<Finding> {
        self.settled(self.findings.iter().filter(|finding| is_about_definition(finding)).cloned().collect())
    }

    /// All findings, configured and located.
    fn linted(mut self) -> Vec<Finding> {
        let findings = self.lint.add_to(std::mem::take(&mut self.findings));
        self.settled(findings)
    }

    fn settled(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let has_tools = !self.config.lint.ignore.is_empty();
        let tools = self.lint.tools.iter().filter(|_| has_tools);
        let by_name: HashMap<&str, &Tool> = tools.map(|tool| (tool.name.as_str(), &**tool)).collect();
        configure_severities(&self.config.lint, |name| by_name.get(name).copied(), &mut findings);
        keep_first_in_parts(&self.parts, &mut findings);
        locate(&self.documents, &mut findings);
        findings
    }
}

/// Whether a finding says what was done about a definition of a live server.
fn is_about_definition(finding: &Finding) -> bool {
    matches!(finding.code, Code::DefinitionLeftOut | Code::DefinitionRepaired | Code::NameQualified)
        && finding.place.as_ref().is_some_and(|place| place.file.starts_with(LIVE))
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

// The severities of findings as the configuration sets them, and the findings that it ignores.

/// Applies configured severities and ignores; `named` is the tool of a name.
pub(super) fn configure_severities<'t>(
    lint: &Lint,
    named: impl Fn(&str) -> Option<&'t Tool>,
    findings: &mut Vec<Finding>,
) {
    if lint.severity.is_empty() && lint.ignore.is_empty() {
        return;
    }
    findings.iter_mut().for_each(|finding| finding.severity = severity(finding, lint));
    let is_off = |finding: &Finding| lint.severity.get(finding.code.as_str()) == Some(&LintLevel::Off);
    let is_ignored = |finding: &Finding| {
        let tool = finding.tool.as_deref().and_then(&named);
        lint.ignore
            .iter()
            .filter(|rule| rule.code == finding.code.as_str())
            .any(|rule| rule.tools.is_empty() || tool.is_some_and(|tool| rule.tools.contains(&tool.facts())))
    };
    findings.retain(|finding| !is_off(finding) && !is_ignored(finding));
}

/// The configured severity of a finding, or its own.
pub(super) fn severity(finding: &Finding, lint: &Lint) -> Severity {
    match lint.severity.get(finding.code.as_str()) {
        Some(LintLevel::Error) => Severity::Error,
        Some(LintLevel::Warning) => Severity::Warning,
        Some(LintLevel::Info) => Severity::Info,
        _ => finding.severity,
    }
}

// Explanations of names that mean no tool, or several.

/// A name that means no tool, or several.
#[derive(Clone, Debug)]
pub struct UnresolvedName<'c> {
    /// The reason, in one sentence.
    pub message: String,
    /// Whether several tools go by the name.
    pub is_ambiguous: bool,
    /// The tools that go by it, or those with a name like it, each once.
    pub near: Vec<&'c Tool>,
}

impl Catalog {
    /// Explains what was found for a name that means no single tool.
    pub fn explain<'c>(&'c self, name: &str, found: Resolved<'c>) -> UnresolvedName<'c> {
        let unknown = |near| {
            let message = format!("there is no tool `{}`", quoted(name));
            UnresolvedName { message, is_ambiguous: false, near }
        };
        match found {
            Resolved::Tool(_) => unknown(Vec::new()),
            Resolved::Unknown(near) => unknown(self.tools_named(near)),
            Resolved::Ambiguous(near) => {
                let message = format!("{} tools go by the name `{}`", near.len(), quoted(name));
                UnresolvedName { message, is_ambiguous: true, near }
            }
        }
    }

    /// The tools of these names, each once: the name of a tool and its op are often near together.
    pub fn tools_named<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<&Tool> {
        let tools = names.into_iter().filter_map(|name| self.find(name));
        let places: IndexSet<usize> = tools.filter_map(|tool| self.position(&tool.name)).collect();
        places.into_iter().map(|place| &*self.tools[place]).collect()
    }
}

// Places in the file of one definition, for findings about it.

/// The places of a definition and of its schema.
#[derive(Debug)]
pub(super) struct DefinitionPlaces {
    /// The definition.
    pub(super) definition: Place,
    /// The schema of its arguments.
    pub(super) schema: Place,
    /// The pointer to the object with its fields.
    pub(super) body: String,
    /// The places in other files, where its schema is bundled from several.
    pub(super) parts: Option<Arc<PartPlaces>>,
}

impl DefinitionPlaces {
    /// The finding about the tool of this name, at its own place or at that of the field that it is about.
    pub(super) fn put(&self, finding: Finding, tool: &str) -> Finding {
        let at = finding.place.clone().unwrap_or_else(|| self.of(finding.code));
        let mut finding = finding.at(at).tool(tool);
        self.parts.iter().for_each(|places| places.explain(&mut finding));
        finding
    }

    fn of(&self, code: Code) -> Place {
        match field_of(code) {
            Some("parameters") => self.schema.clone(),
            Some(field) => Place::new(&self.definition.file, pointer_join(&self.body, field)),
            None => self.definition.clone(),
        }
    }
}

/// The field of a definition that a finding of this kind is about.
fn field_of(code: Code) -> Option<&'static str> {
    match code {
        Code::DescriptionTautological
        | Code::PolicyExtracted
        | Code::SecretInText
        | Code::TextHidden
        | Code::TextInstructs => Some("description"),
        Code::ShortTooLong => Some("short_description"),
        Code::OpInvalid => Some("op"),
        Code::CallUnderivable => Some("parameters"),
        Code::BackendUntrusted => Some("backend"),
        _ => None,
    }
}
