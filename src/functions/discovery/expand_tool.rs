//! `expand_tool`: the schemas of one tool, with further facts for its callers. No other operation returns schemas. An
//! answer is made once for each tool of a catalog view, and sent unchanged from then on.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{read, resolve_tool};
use crate::catalog::{Callable, Tool};
use crate::functions::kept_docs::{KeptForm, KeptText};
use crate::functions::{Answer, CatalogView, ErrorCode, Function, FunctionContext, MaybeAsync, Refusal};
use crate::tool::{Effect, NoSchemaMode, Schema};

#[derive(Deserialize)]
struct Arguments {
    tool_id: String,
    known_version: Option<String>,
    version: Option<String>,
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
    doc_version: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_version: Option<String>,
    meta: Value,
}

/// Answers a call; an old version has to be read from state.
pub(in crate::functions) fn run(
    function: &Function,
    context: &FunctionContext,
    arguments: Value,
) -> MaybeAsync {
    let read = read(function.name(), arguments).and_then(|asked: Arguments| {
        let (index, tool) = resolve_tool::named(&context.view, &asked.tool_id)?;
        let kept = cached(&context.view, index, tool)?;
        Ok((asked, tool.op.clone(), kept))
    });
    match read {
        Err(refusal) => MaybeAsync::Ready(Err(refusal)),
        Ok((Arguments { version: Some(version), .. }, op, kept)) if !is_current(&version, &kept) => {
            let context = context.clone();
            MaybeAsync::Future(Box::pin(async move { old_schema(&context, &op, &version).await }))
        }
        Ok((Arguments { known_version: Some(known), .. }, op, kept)) if is_current(&known, &kept) => {
            MaybeAsync::Ready(Ok(unchanged(&op, &known)))
        }
        Ok((_, _, kept)) => MaybeAsync::Ready(Ok(Answer::from_json(kept))),
    }
}

/// The schemas of an old version, as they were told.
async fn old_schema(context: &FunctionContext, op: &str, version: &str) -> Result<Answer, Refusal> {
    let kept = KeptText { form: KeptForm::Schema, caller: &context.caller.name, op, version };
    let text = kept.read(&*context.services.state).await?;
    let told: Value = serde_json::from_str(&text).map_err(|error| broken(&error.to_string()))?;
    let mut fields = Map::from_iter([("tool_id".to_string(), Value::from(op))]);
    fields.insert("old_version".into(), version.into());
    for name in ["args_schema", "result_schema", "effect"] {
        fields.extend(told.get(name).map(|value| (name.to_string(), value.clone())));
    }
    Ok(Answer::new(fields, None))
}

/// The answer as JSON, made at its first use.
fn cached(view: &CatalogView, index: usize, tool: &Tool) -> Result<Bytes, Refusal> {
    let place = view.expanded(index).ok_or_else(|| broken("this tool has no place"))?;
    if let Some(kept) = place.get() {
        return Ok(kept.clone());
    }
    let made = Bytes::from(made(view, index, tool)?);
    Ok(place.get_or_init(|| made).clone())
}

fn made(view: &CatalogView, index: usize, tool: &Tool) -> Result<String, Refusal> {
    let page = view.page(index).ok_or_else(|| broken("this tool has no place"))?;
    let page = page.as_ref().map_err(|error| broken(&error.to_string()))?;
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
        example: tool.call.as_ref().map(|call| json!({ "tool_id": tool.op, "arguments": call })),
        doc_version: &page.version,
        schema_version: None,
        meta: Value::Null,
    };
    // The version is that of the whole answer, and not of the catalog.
    let json = written(&expanded)?;
    expanded.schema_version = Some(blake3::hash(json.as_bytes()).to_hex()[..VERSION].to_string());
    expanded.meta = json!({ "registry_version": view.catalog().version });
    written(&expanded)
}

fn written(expanded: &Expanded<'_>) -> Result<String, Refusal> {
    serde_json::to_string(expanded).map_err(|error| broken(&error.to_string()))
}

fn broken(problem: &str) -> Refusal {
    Refusal::new(ErrorCode::Internal, problem, "tell the operator of this server")
}

/// Characters of a version.
const VERSION: usize = 10;

/// Whether a version is that of an answer. It stands at the end of it, before `meta`.
fn is_current(known: &str, kept: &[u8]) -> bool {
    let tail = [b"\"schema_version\":\"", known.as_bytes(), b"\",\"meta\":"].concat();
    known.len() == VERSION && kept.windows(tail.len()).rev().take(200).any(|window| window == tail)
}

fn unchanged(op: &str, version: &str) -> Answer {
    let fields =
        [("tool_id", Value::from(op)), ("schema_version", version.into()), ("unchanged", true.into())];
    Answer::new(fields.map(|(name, value)| (name.to_string(), value)).into_iter().collect(), None)
}

/// The author's schema without white space between tokens.
fn verbatim(schema: &Schema) -> Option<Box<RawValue>> {
    let mut text = String::with_capacity(schema.text().len());
    let (mut quoted, mut escaped) = (false, false);
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
