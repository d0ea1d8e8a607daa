//! The functions of toolcrib, defined in the native format and built like any tool, at their first use.

use std::sync::{Arc, LazyLock};

use super::{Catalog, build};
use crate::config::{Trust, Workspace};
use crate::embedded::embedded_files;
use crate::finding::{Document, Finding, Format, Limits, Place, Reader};
use crate::sources::{Origin, RawTool};
use crate::tool::Definition;

/// The definition of each function, in the order in which lists show them.
const DEFINITIONS: [(&str, &str); 14] = embedded_files! { "src/catalog/functions":
    "read_tool_doc.json",
    "tool_search.json",
    "tool_help.json",
    "tool_exec.json",
    "tool_exec_read.json",
    "tool_exec_write.json",
    "tool_batch.json",
    "read_result.json",
    "list.json",
    "search_nodes.json",
    "search_tool_by_category.json",
    "expand_tool.json",
    "call_tool.json",
    "pick.json",
};

/// The functions that toolcrib itself offers, as tools of a catalog of their own.
pub fn functions() -> &'static Catalog {
    static FUNCTIONS: LazyLock<Catalog> = LazyLock::new(|| define(&mut Vec::new()));
    &FUNCTIONS
}

fn define(findings: &mut Vec<Finding>) -> Catalog {
    let reader = Reader::<Definition>::compile();
    let origin = Arc::new(Origin { trust: Trust::Run, ..Origin::default() });
    let mut tool = |(file, text): (&str, &str)| {
        let document = Document::parse(file, text.into(), Format::Json, &Limits::default()).ok()?;
        let place = Place::new(file, "");
        let definition = reader.read(document.value, &place, findings)?;
        let origin = Arc::clone(&origin);
        Some(RawTool { definition, place, origin, ..RawTool::default() })
    };
    let raw: Vec<RawTool> = DEFINITIONS.into_iter().filter_map(&mut tool).collect();
    let (catalog, lint) = build::build(Workspace::default(), raw, Vec::new(), findings);
    *findings = lint.add_to(std::mem::take(findings));
    catalog
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Schema;

    #[test]
    fn every_function_is_a_tool_without_a_finding() {
        let mut findings = Vec::new();
        let catalog = define(&mut findings);
        assert!(findings.is_empty(), "{findings:#?}");
        assert_eq!(catalog.tools.len(), DEFINITIONS.len());
        for tool in &catalog.tools {
            assert_eq!(tool.safe_name, tool.name);
            let call = serde_json::Value::Object(tool.call.clone().expect("a call"));
            let view =
                tool.definition.provider_schema.as_ref().map(Schema::value).expect("a provider schema");
            assert!(jsonschema::is_valid(view, &call), "{}", tool.name);
        }
    }
}
