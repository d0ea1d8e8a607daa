//! Findings about the texts of OpenAPI documents, which seldom belong to the person who reads them here: one warning for each
//! kind and document. Each place stays as an info.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexMap;

use crate::config::Lint;
use toolcrib_definition::finding::{Code, Finding, Severity};

/// Kinds that only the author of a document can mend, and that keep no tool from being called.
const AUTHORS: [Code; 8] = [
    Code::DescriptionMissing,
    Code::DescriptionTautological,
    Code::ExampleInvalid,
    Code::NameUnsafe,
    Code::NearTwin,
    Code::ParameterUndocumented,
    Code::SchemaDoubtful,
    Code::ShortEqual,
];
/// Most tools that a message names.
const NAMED: usize = 3;

/// Gathers the warnings of each such kind in the documents of others. A kind whose severity is configured stays as it is.
pub(super) fn gather(documents: &BTreeSet<&str>, lint: &Lint, findings: &mut Vec<Finding>) {
    keep_first_of_a_place(documents, findings);
    let mut kinds: IndexMap<(Code, &str), Vec<usize>> = IndexMap::new();
    for (at, finding) in findings.iter().enumerate() {
        let is_authors = finding.severity == Severity::Warning
            && AUTHORS.contains(&finding.code)
            && !lint.severity.contains_key(finding.code.as_str());
        let file = finding.place.as_ref().and_then(|place| documents.get(place.file.as_str()));
        if is_authors && let Some(file) = file {
            kinds.entry((finding.code, file)).or_default().push(at);
        }
    }
    kinds.retain(|_, places| places.len() > 1);
    let gathered: Vec<(usize, Finding)> =
        kinds.iter().map(|((code, _), places)| (places[0], summary(*code, places, findings))).collect();
    for at in kinds.values().flatten() {
        findings[*at].severity = Severity::Info;
    }
    for (first, summary) in gathered.into_iter().rev() {
        findings.insert(first, summary);
    }
}

/// The warning that stands for all findings of a kind in a document, at the place of the first.
fn summary(code: Code, places: &[usize], findings: &[Finding]) -> Finding {
    let tools: BTreeSet<&str> = places.iter().filter_map(|at| findings[*at].tool.as_deref()).collect();
    let mut named: Vec<String> = tools.iter().take(NAMED).map(|tool| format!("`{tool}`")).collect();
    if tools.len() > NAMED {
        named.push(format!("{} more", tools.len() - NAMED));
    }
    let at = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    let first = &findings[places[0]];
    let message = format!("{} times in this document{at}, such as: {}", places.len(), first.message);
    let help = "its author can mend it, or an [[overlay]] here; `toolcrib check --verbose` lists each place";
    let place = first.place.clone();
    Finding { severity: Severity::Warning, place, ..Finding::new(code, message).help(help) }
}

/// Keeps the first of equal findings at a place that several tools share.
pub(super) fn keep_first_of_a_place(documents: &BTreeSet<&str>, findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    findings.retain(|finding| match &finding.place {
        Some(place) if documents.contains(place.file.as_str()) => {
            seen.insert((finding.code, finding.message.clone(), place.clone()))
        }
        _ => true,
    });
}
