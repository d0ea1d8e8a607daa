//! The functions of toolcrib, defined in the native format and assembled like any tool, at their first use.

use std::sync::{Arc, LazyLock};

use crate::assemble::assemble;
use crate::catalog::Catalog;
use crate::config::{Trust, Workspace};
use crate::function_definitions::DEFINITIONS;
use crate::sources::{Origin, RawTool, read_native};
use toolcrib_definition::document::{Document, Format};
use toolcrib_definition::finding::{Finding, Place};

/// The functions that toolcrib itself offers, as tools of a catalog of their own.
pub fn functions() -> &'static Catalog {
    static FUNCTIONS: LazyLock<Catalog> = LazyLock::new(|| define(&mut Vec::new()));
    &FUNCTIONS
}

fn define(findings: &mut Vec<Finding>) -> Catalog {
    let origin = Arc::new(Origin { trust: Trust::Run, ..Origin::default() });
    let mut tool = |(file, text): (&str, &str)| {
        let document = Document::parse(file, text.into(), Format::Json).ok()?;
        let place = Place::new(file, "");
        let definition = read_native(document.value, &place, findings)?;
        let origin = Arc::clone(&origin);
        Some(RawTool { definition, place, origin, ..RawTool::default() })
    };
    let raw: Vec<RawTool> = DEFINITIONS.into_iter().filter_map(&mut tool).collect();
    let (catalog, lint) = assemble(Workspace::default(), raw, Vec::new(), findings);
    *findings = lint.add_to(std::mem::take(findings));
    catalog
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use toolcrib_definition::Schema;

    #[test]
    fn every_function_is_a_tool_without_a_finding() {
        let mut findings = Vec::new();
        let catalog = define(&mut findings);
        assert!(findings.is_empty(), "{findings:#?}");
        assert_eq!(catalog.tools.len(), DEFINITIONS.len());
        for tool in &catalog.tools {
            assert_eq!(tool.names.safe, tool.names.canonical);
            let call = Value::Object(tool.input.call.clone().expect("a call"));
            let view = tool.input.provider_schema.as_ref().map(Schema::value).expect("a provider schema");
            assert!(jsonschema::is_valid(view, &call), "{}", tool.names.canonical);
        }
    }
}
