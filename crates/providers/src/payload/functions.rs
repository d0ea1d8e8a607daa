//! Functions of a request: each tool that is bound, with a name, a text and a schema that the provider takes.

use serde_json::{Value, json};

use super::error::PayloadError;
use super::names::FormatNames;
use super::request::PayloadRequest;
use super::selection::SelectedTool;
use crate::format::{BoundFunction, Extent, Format, Stub};
use crate::provider::format_of;
use crate::view::{self, ProviderSchema, Renaming, StrictBudget, Unfit};
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::{WRAPPERS, has_property};
use toolcrib_definition::finding::{Code, Finding, Severity};

/// End of a stub's text; the description of `read_tool_doc` explains it.
const DOC_FIRST: &str = "Doc first.";

/// The functions of the chosen tools. A tool that cannot be bound is left out, with a finding.
pub(super) fn view<'a>(
    chosen: &[SelectedTool<'a>],
    request: &PayloadRequest<'a>,
    findings: &mut Vec<Finding>,
) -> Result<Vec<BoundFunction<'a>>, PayloadError> {
    let format = format_of(request.provider);
    let names = FormatNames::of(request.catalog, format.names).of_request(chosen, request.provider)?;
    let wants_examples = format.takes_examples && !chosen.iter().any(|chosen| chosen.deferred);
    let mut room = StrictBudget::default();
    let mut functions = Vec::with_capacity(chosen.len());
    for (chosen, name) in chosen.iter().zip(names) {
        let mut report = |finding: Finding| {
            findings.push(finding.tool(&chosen.tool.names.canonical).at(chosen.tool.origin.place.clone()));
        };
        let bound = match bound_schema(chosen, format, &mut room, &mut report) {
            Ok(bound) => bound,
            Err(reason) => {
                let message = format!("left out of the payload for {}: {reason}", request.provider.as_str());
                report(Finding::new(Code::PayloadToolLeftOut, message));
                continue;
            }
        };
        functions.push(BoundFunction {
            tool: chosen.tool,
            ours: chosen.ours,
            name,
            description: text(chosen),
            schema: bound.schema,
            examples: if wants_examples && !bound.strict {
                examples(chosen, format, request)
            } else {
                Vec::new()
            },
            extent: chosen.extent,
            strict: bound.strict,
            deferred: chosen.deferred,
        });
    }
    Ok(functions)
}

/// The schema that a function is bound with. Parts of the tool's own one that it lacks are reported.
fn bound_schema(
    chosen: &SelectedTool<'_>,
    format: &Format,
    room: &mut StrictBudget,
    report: &mut impl FnMut(Finding),
) -> Result<ProviderSchema, Unfit> {
    let tool = chosen.tool;
    if let Some(reason) = tool.not_callable() {
        return Err(Unfit::NotCallable(reason.to_string()));
    }
    if chosen.extent == Extent::Stub || !tool.input.parameters.is_checked() {
        let takes_none =
            tool.input.parameters.is_checked() && view::takes_no_arguments(tool.input.parameters.schema());
        return Ok(ProviderSchema {
            schema: stub(format.stub, takes_none, tool),
            ..ProviderSchema::default()
        });
    }
    let schema = written_schema(tool);
    let wants_strict = tool.input.strict == Some(true) && chosen.extent == Extent::Full;
    let view =
        view::view(schema, &format.schema, chosen.extent == Extent::Compact, wants_strict.then_some(room))?;
    if !view.loosened.is_empty() {
        let message = format!("bound with a looser schema: {}", view.loosened.join(", "));
        report(Finding::new(Code::PayloadSchemaLoosened, message));
    }
    let not_strict = match (wants_strict, format.schema.strict) {
        (true, None) => Some(Unfit::NeverStrict),
        _ => view.not_strict.clone(),
    };
    if let Some(reason) = not_strict {
        let mut finding = Finding::new(Code::PayloadStrictOff, format!("bound without `strict`: {reason}"));
        if format.schema.strict.is_none() {
            finding.severity = Severity::Info;
        }
        report(finding);
    }
    Ok(view)
}

/// Arguments of the author's examples, which fit the bound schema and have no secrets.
fn examples(chosen: &SelectedTool<'_>, format: &Format, request: &PayloadRequest<'_>) -> Vec<Value> {
    let tool = chosen.tool;
    let is_bound_as_written = chosen.extent == Extent::Full && tool.input.provider_schema.is_none();
    if tool.texts.examples.is_empty() || !is_bound_as_written || !tool.input.parameters.is_checked() {
        return Vec::new();
    }
    let schema = tool.input.parameters.schema();
    if Renaming::of(schema, format.schema.keys).is_some() {
        return Vec::new();
    }
    let arguments = tool.texts.examples.iter().map(|example| Value::Object(example.arguments.clone()));
    arguments
        .filter(|arguments| request.catalog.secrets().redacted(schema, arguments) == *arguments)
        .collect()
}

/// The schema that views are derived from: the author's own for providers, where there is one.
pub(crate) fn written_schema(tool: &Tool) -> &Value {
    match &tool.input.provider_schema {
        Some(schema) => schema.value(),
        None => tool.input.parameters.schema(),
    }
}

fn stub(stub: Stub, takes_none: bool, tool: &Tool) -> Option<Value> {
    match stub {
        Stub::Bare => Some(json!({"type": "object"})),
        Stub::Empty => Some(json!({"type": "object", "properties": {}})),
        Stub::Args if takes_none => None,
        Stub::Args => Some(view::below(stub_key(tool))),
    }
}

fn text(chosen: &SelectedTool<'_>) -> String {
    let tool = chosen.tool;
    match chosen.extent {
        Extent::Full if !tool.texts.description.trim().is_empty() => whole_text(tool).to_string(),
        Extent::Full | Extent::Compact => tool.texts.short.clone(),
        Extent::Stub if tool.texts.short.ends_with(['.', '!', '?', '…', '。']) => {
            format!("{} {DOC_FIRST}", tool.texts.short)
        }
        Extent::Stub => format!("{}. {DOC_FIRST}", tool.texts.short),
    }
}

/// The description, without text about arguments that the bound schema has.
fn whole_text(tool: &Tool) -> &str {
    let shorter = tool.texts.without_arguments.as_deref().filter(|text| !text.trim().is_empty());
    match shorter {
        Some(text) if tool.input.provider_schema.is_none() => text,
        _ => &tool.texts.description,
    }
}

/// The key below which a stub takes arguments where it cannot take them at the root: no property of the tool.
pub(crate) fn stub_key(tool: &Tool) -> &'static str {
    WRAPPERS.into_iter().find(|key| !has_property(tool, key)).unwrap_or("args")
}
