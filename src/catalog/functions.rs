//! Our own functions, defined in the native format like any tool, and built like any tool.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use rust_embed::RustEmbed;

use super::{Catalog, build};
use crate::config::{Trust, Workspace};
use crate::finding::{Document, Finding, Format, Limits, Place, Reader};
use crate::sources::{Origin, RawTool};
use crate::tool::Definition;

/// The definitions, one file a function.
#[derive(RustEmbed)]
#[folder = "src/catalog/functions/"]
struct Embedded;

/// The functions that toolcrib itself offers, as tools of a catalog of their own.
pub fn functions() -> &'static Catalog {
    static FUNCTIONS: LazyLock<Catalog> = LazyLock::new(|| define(&mut Vec::new()));
    &FUNCTIONS
}

fn define(findings: &mut Vec<Finding>) -> Catalog {
    let reader = Reader::<Definition>::compile();
    let origin = Arc::new(Origin { trust: Trust::Run, ..Origin::default() });
    let mut tool = |file: Cow<'static, str>| {
        let text = Embedded::get(&file)?.data.into_owned();
        let document = Document::parse(&file, text, Format::Json, &Limits::default()).ok()?;
        let place = Place::new(&*file, "");
        let definition = reader.read(&document.value, &place, findings)?;
        let origin = Arc::clone(&origin);
        Some(RawTool { definition, server: None, body: String::new(), place, parameters: None, origin })
    };
    let raw: Vec<RawTool> = Embedded::iter().filter_map(&mut tool).collect();
    build::build(Workspace::default(), raw, findings)
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
        assert_eq!(catalog.tools.len(), Embedded::iter().count());
        for tool in &catalog.tools {
            assert_eq!(tool.safe_name, tool.name);
            let call = serde_json::Value::Object(tool.call.clone().expect("a call"));
            let view =
                tool.definition.provider_schema.as_ref().map(Schema::value).expect("a provider schema");
            assert!(jsonschema::is_valid(view, &call), "{}", tool.name);
        }
    }
}
