//! OpenAPI 3.0, 3.1, 3.2 and Swagger 2.0 documents: one tool per operation.
//!
//! 1. [`mod@schemas`] repairs the schemas where they stand.
//! 2. [`paths`] lists the operations in the order of the document.
//! 3. [`operation`] reads one operation; a mistake in it goes into the [`report::Report`] and affects nothing else.
//! 4. [`parameter`] and [`body`] turn a request into arguments; [`mod@flatten`] splits a plain body into separate ones.
//!    [`mod@merge`] makes one object of them, and records where each belongs in the request.
//! 5. [`lower`] rewrites a schema as JSON Schema 2020-12.
//! 6. [`bundle`] lowers each place in the document only once, and collects the `$defs` of a tool.
//!
//! Nothing is fetched. Each tool has a memory budget, because in some documents every operation reaches every schema,
//! and the import must stay within [`TOTAL_BUDGET`]. Parts over the budget accept any value, and are reported.

mod address;
mod body;
mod bundle;
mod categories;
mod discriminator;
mod document;
mod flatten;
mod importer;
mod lower;
mod media;
mod merge;
mod operation;
mod parameter;
mod paths;
mod report;
mod schemas;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;
use serde_json::Value;

use super::budget::{TOOL_BUDGET, TOTAL_BUDGET, weight};
use super::unique_names::Names;
use crate::config::Category;
pub(super) use address::{is_address, origin};
use bundle::Bundle;
use categories::assign_categories;
use document::{Document, Target, version};
use importer::Importer;
pub use importer::Operation;
pub(super) use paths::is_path_map;
use report::Report;
use schemas::repair_schemas;
use toolcrib_definition::finding::Finding;
use toolcrib_definition::{Definition, clean_line};

/// How many times its fair share of the common half of the memory a tool may take. Most tools take nothing from it.
const SHARES: usize = 4;

/// A document, imported.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The title of the API.
    pub server: Option<String>,
    /// The first address of the API in the document.
    pub base: Option<String>,
    /// The addresses of operations that are served from elsewhere.
    pub addresses: IndexSet<String>,
    /// The names of API keys that belong into the query.
    pub query_keys: Vec<String>,
    /// The operations, in the order of the document.
    pub operations: Vec<Operation>,
    /// The document's descriptions of the operations' categories.
    pub categories: Vec<Category>,
    /// Mistakes in the document.
    pub findings: Vec<Finding>,
}

/// Whether a value is an OpenAPI or Swagger document.
pub fn recognise(document: &Value) -> bool {
    version(document).is_some() && document.get("paths").is_some()
}

/// Imports a document; `file` is its name in findings.
pub fn import(file: &str, document: &mut Value) -> Imported {
    import_within(file, document, TOTAL_BUDGET)
}

/// Half of the memory is divided evenly; tools that need more take from the other half.
fn import_within(file: &str, document: &mut Value, memory: usize) -> Imported {
    let (repairs, mistakes) = repair_schemas(file, document);
    let document = Document::new(file, document);
    let mut report = Report::new(file, repairs);
    let found = paths::operations(&document, &mut report);
    report.lost_arguments = false;
    let title = document.root.pointer("/info/title").and_then(Value::as_str).map(clean_line);
    let mut importer = Importer {
        document: &document,
        bundle: Bundle::new(&document, report),
        plain: HashMap::new(),
        title: title.clone().filter(|title| !title.is_empty()),
        names: Names::default(),
        ids: HashSet::new(),
        secrets: secrets(&document),
        budget: 0,
    };
    for id in found.iter().filter_map(|found| found.id()) {
        importer.names.take(id);
    }
    let own = memory / 2 / found.len().max(1);
    let mut common = memory / 2;
    let mut operations = Vec::with_capacity(found.len());
    for (index, one) in found.iter().enumerate() {
        importer.budget = TOOL_BUDGET.min(own + common / (found.len() - index) * SHARES);
        let operation = importer.operation(one);
        common = common.saturating_sub(weight_of(&operation.definition).saturating_sub(own));
        operations.push(operation);
    }
    let is_sent = |finding: &Finding| {
        finding.place.as_ref().is_some_and(|place| importer.bundle.is_input(&place.pointer))
    };
    let mistakes: Vec<Finding> = mistakes.into_iter().filter(is_sent).collect();
    importer.bundle.report.findings.extend(mistakes);
    let categories = assign_categories(&mut operations, document.root);
    let in_query = importer.secrets.iter().filter(|(place, _)| place == "query");
    let mut query_keys: Vec<String> = in_query.map(|(_, name)| name.clone()).collect();
    query_keys.sort_unstable();
    Imported {
        categories,
        query_keys,
        server: importer.title,
        addresses: found
            .iter()
            .filter_map(|found| found.address(document.root))
            .filter(|address| is_address(address))
            .collect(),
        base: address::base(document.root),
        operations,
        findings: importer.bundle.report.findings,
    }
}

fn weight_of(definition: &Definition) -> usize {
    let schemas = definition.parameters.iter().chain(&definition.result_schema);
    definition.description.len() + schemas.map(|schema| weight(schema.value())).sum::<usize>()
}

fn secrets(document: &Document<'_>) -> HashSet<(String, String)> {
    let places = ["/components/securitySchemes", "/securityDefinitions"];
    let resolved = |reference: &str| match document.resolve(reference) {
        Target::Local(value, _) => Some(value),
        _ => None,
    };
    let schemes = places.iter().find_map(|place| resolved(&format!("#{place}")));
    let schemes = schemes.and_then(Value::as_object).into_iter().flatten();
    let place = |(_, scheme): (&String, &Value)| {
        let target = scheme.get("$ref").and_then(Value::as_str).and_then(resolved);
        let scheme = target.unwrap_or(scheme);
        let text = |field: &str| scheme.get(field).and_then(Value::as_str).map(str::to_string);
        text("type").filter(|kind| kind == "apiKey").and_then(|_| Some((text("in")?, text("name")?)))
    };
    schemes.filter_map(place).collect()
}
