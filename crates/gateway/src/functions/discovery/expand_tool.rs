//! `expand_tool`: the schemas of one tool, with further facts for its callers. No other operation returns schemas.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::entries::segments;
use super::named_tool::named_tool;
use crate::context::{CatalogView, FunctionContext};
use crate::functions::arguments::Arguments;
use crate::functions::read_tool_doc::ReadPage;
use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_definition::{Effect, Schema};

/// Arguments of `expand_tool`.
#[derive(Deserialize)]
pub(crate) struct ExpandTool {
    tool_id: String,
}

/// The fields of a tool.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize)]
pub struct Expanded {
    tool_id: String,
    path: Vec<String>,
    /// Its other categories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_in: Vec<Vec<String>>,
    name: String,
    summary: String,
    #[serialize_always]
    args_schema: Option<Box<RawValue>>,
    #[serialize_always]
    result_schema: Option<Box<RawValue>>,
    effect: Effect,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    approval: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    replaced_by: Option<String>,
    cost: Option<f64>,
    not_callable: Option<String>,
    example: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fill_in: Vec<String>,
    doc_version: String,
    schema_version: Option<String>,
}

impl Expanded {
    pub(crate) fn page(&self) -> ReadPage<'_> {
        ReadPage { op: &self.tool_id, version: &self.doc_version, proves: false }
    }
}

impl Arguments for ExpandTool {
    type Reply = Box<Expanded>;

    async fn answer(self, context: &FunctionContext) -> Result<Box<Expanded>> {
        let view = &context.view;
        let (index, tool) = named_tool(view, &self.tool_id)?;
        expanded(view, index, tool).map(Box::new)
    }
}

/// The ready-made call; for a destructive tool, a dry run.
fn called(tool: &Tool) -> Option<Value> {
    let mut call = json!({ "tool_id": tool.names.op, "arguments": tool.input.call.as_ref()? });
    if tool.rules.effect == Effect::Destructive {
        call["dry_run"] = true.into();
    }
    Some(call)
}

fn expanded(view: &CatalogView, index: usize, tool: &Tool) -> Result<Expanded> {
    let page = view.page(index).ok_or_else(|| ToolError::internal("this tool has no place"))?;
    let page = page.as_ref().map_err(ToolError::internal)?;
    let tree = view.tree();
    let mut places = tree.places(index).iter().map(|&place| segments(tree.node(place)));
    let mut expanded = Expanded {
        tool_id: tool.names.op.clone(),
        path: places.next().unwrap_or_default(),
        also_in: places.collect(),
        name: tool.names.canonical.clone(),
        summary: tool.texts.short.clone(),
        args_schema: tool.input.schema.as_ref().and_then(verbatim),
        result_schema: tool.output.as_ref().and_then(verbatim),
        effect: tool.rules.effect,
        approval: tool.wants_approval(),
        deprecated: tool.labels.deprecated == Some(true),
        replaced_by: tool.labels.replaced_by.clone(),
        cost: tool.labels.cost,
        not_callable: tool.not_callable().map(str::to_string),
        example: called(tool),
        fill_in: tool.input.fill_in.iter().map(|pointer| format!("/arguments{pointer}")).collect(),
        doc_version: page.version.clone(),
        schema_version: None,
    };
    expanded.schema_version = Some(expanded.version().map_err(ToolError::internal)?);
    Ok(expanded)
}

impl Expanded {
    /// The version of the whole answer, whatever the version of its catalog is.
    fn version(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Versioned<'a> {
            ok: bool,
            #[serde(flatten)]
            fields: &'a Expanded,
            meta: (),
        }
        let json = serde_json::to_string(&Versioned { ok: true, fields: self, meta: () })?;
        Ok(blake3::hash(json.as_bytes()).to_hex()[..VERSION].to_string())
    }
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
