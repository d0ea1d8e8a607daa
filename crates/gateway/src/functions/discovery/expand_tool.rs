//! `expand_tool`: the schemas of one tool, with further facts for its callers. No other operation returns schemas.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::named_tool::named_tool;
use crate::functions::function::{Answer, CatalogView, FunctionContext, Result, ToolError};
use crate::functions::function::{Arguments, Function};
use toolcrib_catalog::{Callable, Tool};
use toolcrib_definition::{Effect, NoSchemaMode, Schema};

/// Arguments of `expand_tool`.
#[derive(Deserialize)]
pub(crate) struct ExpandTool {
    tool_id: String,
}

/// The fields of a tool.
#[derive(Serialize)]
struct Expanded<'e> {
    ok: bool,
    tool_id: &'e str,
    path: Vec<&'e str>,
    /// Its other categories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_in: Vec<Vec<&'e str>>,
    name: &'e str,
    summary: &'e str,
    args_schema: Option<Box<RawValue>>,
    result_schema: Option<Box<RawValue>>,
    effect: Effect,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    approval: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_callable: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fill_in: Vec<String>,
    doc_version: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_version: Option<String>,
    meta: Value,
}

impl Arguments for ExpandTool {
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer> {
        let view = &context.view;
        let (index, tool) = named_tool(view, &self.tool_id)?;
        Ok(Answer::from_json(made(view, index, tool)?.into()))
    }
}

/// The ready-made call; for a destructive tool, a dry run.
fn called(tool: &Tool) -> Option<Value> {
    let mut call = json!({ "tool_id": tool.op, "arguments": tool.call.as_ref()? });
    if tool.effect == Effect::Destructive {
        call["dry_run"] = true.into();
    }
    Some(call)
}

fn made(view: &CatalogView, index: usize, tool: &Tool) -> Result<String> {
    let page = view.page(index).ok_or_else(|| ToolError::internal("this tool has no place"))?;
    let page = page.as_ref().map_err(ToolError::internal)?;
    let definition = &tool.definition;
    let tree = view.tree();
    let mut places = tree.places(index).iter().map(|&place| tree.node(place).segments());
    let (not_callable, unchecked) = match tool.parameters.callable() {
        Callable::No(reason) => (Some(reason.as_str()), false),
        Callable::Unchecked(mode) => (None, *mode == NoSchemaMode::HumanApproval),
        Callable::Checked => (None, false),
    };
    let mut expanded = Expanded {
        ok: true,
        tool_id: &tool.op,
        path: places.next().unwrap_or_default(),
        also_in: places.collect(),
        name: &tool.name,
        summary: &tool.short,
        args_schema: definition.parameters.as_ref().and_then(verbatim),
        result_schema: definition.result_schema.as_ref().and_then(verbatim),
        effect: tool.effect,
        approval: definition.approval == Some(true) || unchecked,
        deprecated: definition.deprecated == Some(true),
        replaced_by: definition.replaced_by.as_deref(),
        cost: definition.cost,
        not_callable,
        example: called(tool),
        fill_in: tool.fill_in.iter().map(|pointer| format!("/arguments{pointer}")).collect(),
        doc_version: &page.version,
        schema_version: None,
        meta: Value::Null,
    };
    // The version belongs to the whole answer, not to the catalog.
    let json = serde_json::to_string(&expanded).map_err(ToolError::internal)?;
    expanded.schema_version = Some(blake3::hash(json.as_bytes()).to_hex()[..VERSION].to_string());
    expanded.meta = json!({ "registry_version": view.catalog().version });
    serde_json::to_string(&expanded).map_err(ToolError::internal)
}

/// Characters of a version.
const VERSION: usize = 10;

/// The author's schema without white space between tokens.
fn verbatim(schema: &Schema) -> Option<Box<RawValue>> {
    let mut text = String::with_capacity(schema.text().len());
    let mut quoted = false;
    let mut escaped = false;
    for c in schema.text().chars() {
        match c {
            ' ' | '\n' | '\r' | '\t' if !quoted => continue,
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        text.push(c);
    }
    RawValue::from_string(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_loses_its_blanks_and_nothing_else() {
        let text = "{ \"a \\\" b\" :\n [1.00, 1e400,\t\"x\\\\\" ] }";
        let schema = Schema::verbatim(text, std::sync::Arc::new(json!({})));
        assert_eq!(verbatim(&schema).unwrap().get(), r#"{"a \" b":[1.00,1e400,"x\\"]}"#);
    }
}
