//! The severities of findings as the configuration sets them, and the findings that it ignores.

use crate::config::{Lint, LintLevel};
use crate::tool::Tool;
use toolcrib_definition::finding::{Finding, Severity};

/// Applies configured severities and ignores; `named` is the tool of a name.
pub(crate) fn configure_severities<'t>(
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
pub(crate) fn severity(finding: &Finding, lint: &Lint) -> Severity {
    match lint.severity.get(finding.code.as_str()) {
        Some(LintLevel::Error) => Severity::Error,
        Some(LintLevel::Warning) => Severity::Warning,
        Some(LintLevel::Info) => Severity::Info,
        _ => finding.severity,
    }
}
