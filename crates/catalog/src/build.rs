//! Builds the catalog, tool by tool, and the catalog of toolcrib's own functions.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::audience::{self, Audience};
use super::findings::DefinitionPlaces;
use super::lint::CatalogLint;
use super::sample::{About, Sample, sample_call};
use super::short::SharedOpenings;
use super::trust::OverlaidFields;
use super::{
    Catalog, Tool, docstring, lint, names, policy, profile, registry, schema, short, steps, structure, tree,
    trust,
};
use crate::config::{Category, Facts, Overlay, SetArgument, ShortDescription, Trust, Workspace};
use crate::sources::{Origin, RawTool, read_native};
use toolcrib_definition::finding::{Code, Document, Finding, Format, Place, Severity, pointer_join};
use toolcrib_definition::markup::{markdown, without_prompt_tags};
use toolcrib_definition::schema::walk::{below_mut, in_place, is_in_place};
use toolcrib_definition::{
    Backend, Definition, Effect, Example, Location, RESERVED_HEADERS, Schema, clean_line, clean_text,
    embedded_files,
};

/// Builds the catalog, and adds findings in the order of the tools; the returned lint has the rest. `described` are the
/// categories that sources describe; those that the configuration describes come first.
pub(super) fn build(
    mut workspace: Workspace,
    mut raw: Vec<RawTool>,
    described: Vec<Category>,
    findings: &mut Vec<Finding>,
) -> (Catalog, CatalogLint) {
    names::clean(&mut raw, findings);
    raw.par_iter_mut().for_each(|tool| write_markdown(&mut tool.definition));
    trust::unused_hints(&workspace, &raw, findings);
    let used: Vec<Use> = workspace.overlays.iter().map(Use::of).collect();
    let mut context = Context { workspace: &workspace, used: &used, openings: SharedOpenings::default() };
    let audiences = context.audiences(&raw);
    let public = raw.iter().zip(&audiences).filter(|(_, audience)| **audience == Audience::Everybody);
    context.openings = SharedOpenings::of(public.map(|(tool, _)| tool.definition.description.as_str()));
    let canonical = names::canonical(&raw, &audiences, &context.workspace.config, findings);
    let built: Vec<Built> =
        raw.into_par_iter().zip(canonical).map(|(raw, name)| context.tool(raw, name)).collect();
    let mut tools = Vec::with_capacity(built.len());
    let mut places = Vec::with_capacity(built.len());
    for (built, audience) in built.into_iter().zip(audiences) {
        findings.extend(built.findings);
        if Audience::of(&built.tool.definition) == audience {
            tools.push(built.tool);
            places.push((built.places, findings.len()));
        } else {
            findings.push(audience::late(&built.tool))
        }
    }
    unused_overlays(&workspace, &used, findings);
    let categories = workspace.config.categories.iter().chain(&described);
    structure::derive(&mut tools, categories, findings);
    names::assign_unique(&mut tools, findings);
    steps::settle(&mut tools, findings);
    let finished = |mut tool: Tool| {
        tool.digest = registry::digest(&tool);
        Arc::new(tool)
    };
    let tools: Vec<Arc<Tool>> = tools.into_par_iter().map(finished).collect();
    let lint = CatalogLint { tools: tools.clone(), places, before_pairs: findings.len() };
    let (tools, contested) = audience::separate(tools, findings);
    let configured = workspace.config.categories.len();
    workspace.config.categories.extend(short::purposes_of_sources(described));
    let catalog = Catalog::of(tools, contested, Arc::new(workspace.config));
    profile::check(&catalog, findings);
    tree::check(&catalog, configured, findings);
    lint::replacements(&catalog, findings);
    (catalog, lint)
}

/// Writes the texts of a definition as Markdown.
fn write_markdown(definition: &mut Definition) {
    let Definition { description, short_description, returns, notes, errors, .. } = definition;
    let texts =
        std::iter::once(description).chain(short_description).chain(returns).chain(notes).chain(errors);
    for text in texts {
        if let Cow::Owned(markdown) = markdown(text) {
            *text = markdown;
        }
    }
}

/// The parts of an overlay that some tool has used.
struct Use {
    overlay: AtomicBool,
    /// Each of its arguments.
    arguments: Vec<AtomicBool>,
}

impl Use {
    fn of(overlay: &Overlay) -> Self {
        let arguments = overlay.arguments.iter().map(|_| AtomicBool::new(false)).collect();
        Self { overlay: AtomicBool::new(false), arguments }
    }
}

/// A tool, built without regard to other tools.
struct Built {
    tool: Tool,
    findings: Vec<Finding>,
    places: DefinitionPlaces,
}

struct Context<'a> {
    workspace: &'a Workspace,
    used: &'a [Use],
    openings: SharedOpenings,
}

impl Context<'_> {
    /// The audience of each tool. The audience decides the name, so overlays that set it are matched by the written
    /// name alone.
    fn audiences(&self, raw: &[RawTool]) -> Vec<Audience> {
        let overlays = &self.workspace.overlays;
        if !overlays.iter().any(|overlay| Audience::is_changed_by(&overlay.set)) {
            return raw.iter().map(|tool| Audience::of(&tool.definition)).collect();
        }
        let audience = |tool: &RawTool| {
            let mut definition = tool.definition.clone();
            let name = definition.name.clone();
            trust::settle_effect(&mut definition, tool, self.workspace);
            self.overlay(&mut definition, &name, &tool.place, tool.server.as_deref());
            Audience::of(&definition)
        };
        raw.par_iter().map(audience).collect()
    }

    fn tool(&self, mut raw: RawTool, name: String) -> Built {
        let mut findings = Vec::new();
        let config = &self.workspace.config;
        let mut definition = std::mem::take(&mut raw.definition);
        let doubt = trust::settle_effect(&mut definition, &raw, self.workspace);
        let overlaid = self.overlay(&mut definition, &name, &raw.place, raw.server.as_deref());
        let (withheld, untrusted) = trust::withhold(&mut definition, &overlaid, &raw, self.workspace);
        let is_effect_overlaid = overlaid.effect;
        let set_arguments = set_arguments(&mut definition, overlaid.arguments);
        let RawTool { server, place, body, parameters, part_places, .. } = raw;
        let schema = Place::new(&place.file, parameters.unwrap_or_else(|| place.pointer.clone()));
        let places = DefinitionPlaces { definition: place.clone(), schema, body, parts: part_places };
        let description = clean_text(&definition.description).into_owned();
        let mut parts = docstring::split(&description);
        let effect = definition.effect.unwrap_or_else(|| Effect::of_name(&definition.name));
        let mut report = |finding: Finding| findings.push(places.put(finding, &name));
        if definition.effect.is_none() && steps::of(&definition).is_none() {
            let message = format!("the effect `{}` was guessed from the name", effect.as_str());
            report(Finding::new(Code::EffectGuessed, message));
        }
        reserved_headers(&definition, &place).for_each(&mut report);
        doubt.into_iter().filter(|_| !is_effect_overlaid).chain(untrusted).for_each(&mut report);
        let parameters = schema::check(&definition, &parts.arguments, &places.schema, &mut report);
        let parameters = if raw.lost_arguments {
            parameters.refused("some of its arguments could not be read")
        } else {
            parameters
        };
        let without_arguments = schema::tells(parameters.schema(), &parts.arguments)
            .then(|| std::mem::take(&mut parts.without_arguments));
        let examples = valid_examples(&definition.examples, &parameters, &place, &mut report);
        let resource = structure::resource(&definition);
        let about = About {
            examples: &parts.examples,
            effect,
            resource: resource.as_deref(),
            name: &definition.name,
            http: match &definition.backend {
                Some(Backend::Http(http)) => Some(http),
                _ => None,
            },
        };
        let made = raw
            .call
            .clone()
            .filter(|call| examples.is_empty() && parameters.accepts(&Value::Object(call.arguments.clone())));
        let call = made.or_else(|| ready_made_call(&examples, &parameters, &about));
        if call.is_none() && parameters.is_checked() {
            report(Finding::new(Code::CallUnderivable, "no valid call could be made from the schema"));
        }
        let short = short_description(
            &definition,
            self.openings.strip(&parts.body),
            config.short_description,
            &mut report,
        );
        let policy = definition.policy.clone().or_else(|| {
            let policy = policy::extract(&description, &parts)?;
            report(Finding::new(Code::PolicyExtracted, "a policy was extracted from the description"));
            Some(policy)
        });
        lint::arguments(&parameters, &places.schema, &mut report);
        let lines = |texts: &[String]| {
            texts.iter().map(|text| clean_line(text)).filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        let op = names::written_op(&definition, &mut report).unwrap_or_default();
        let returns = definition.returns.as_deref().map(|text| clean_text(text).into_owned());
        let result = parts.result(definition.result_schema.is_some());
        let long = if parts.body.is_empty() && result.is_none() { description.clone() } else { parts.body };
        let returns = returns.or(result);
        let tool = Tool {
            name,
            safe_name: String::new(),
            op,
            aliases: definition.aliases.iter().map(|alias| clean_line(alias)).collect(),
            categories: definition.category.clone(),
            short,
            effect,
            server,
            place,
            withheld,
            long,
            description,
            without_arguments,
            returns,
            raises: lines(&definition.errors).into_iter().chain(parts.raises).collect(),
            notes: lines(&definition.notes).into_iter().chain(parts.notes).collect(),
            examples,
            example_texts: parts.examples,
            policy,
            parameters: parameters.drop_compiled(),
            fill_in: call.as_ref().map(|call| call.fill_in.clone()).unwrap_or_default(),
            call: call.map(|call| call.arguments),
            definition,
            set_arguments,
            digest: registry::Digest::default(),
        };
        Built { tool, findings, places }
    }

    fn overlay(
        &self,
        definition: &mut Definition,
        name: &str,
        place: &Place,
        server: Option<&str>,
    ) -> OverlaidFields {
        let mut overlaid = OverlaidFields::default();
        for (overlay, used) in self.workspace.overlays.iter().zip(self.used) {
            let facts = Facts {
                name: &definition.name,
                canonical: name,
                categories: &definition.category,
                tags: &definition.tags,
                source: &place.file,
                server,
                effect: definition.effect.unwrap_or_else(|| Effect::of_name(&definition.name)),
            };
            if let Some(captures) = overlay.tools.matches(&facts) {
                used.overlay.store(true, Ordering::Relaxed);
                overlay.apply(&captures, definition);
                overlaid.backend |= overlay.set.backend.is_some();
                overlaid.effect |= overlay.set.effect.is_some();
                for ((name, argument), used) in overlay.arguments.iter().zip(&used.arguments) {
                    if has_argument(definition, name) {
                        used.store(true, Ordering::Relaxed);
                        overlaid.arguments.insert(name.clone(), argument.clone());
                    }
                }
            }
        }
        overlaid
    }
}

/// Reports each overlay of the user that matches no tool. Overlays of presets need not match.
fn unused_overlays(workspace: &Workspace, used: &[Use], findings: &mut Vec<Finding>) {
    let overlays = workspace.overlays.iter().zip(used).skip(workspace.preset_overlays);
    for (index, (overlay, used)) in overlays.enumerate() {
        let place = format!("/overlay/{index}");
        if !used.overlay.load(Ordering::Relaxed) {
            let at = Place::new("toolcrib.toml", format!("{place}/match"));
            let finding = Finding::new(Code::OverlayUnused, "this overlay matches no tool").at(at);
            findings.push(finding.help("check the spelling of its `match`, or remove it"));
            continue;
        }
        for (name, used) in overlay.arguments.keys().zip(&used.arguments) {
            if !used.load(Ordering::Relaxed) {
                let at = Place::new("toolcrib.toml", pointer_join(&format!("{place}/arguments"), name));
                let message = format!("no tool of this overlay has the argument `{}`", clean_line(name));
                let finding = Finding::new(Code::OverlayUnused, message).at(at);
                findings.push(finding.help("check its spelling; it must be in the tool's schema"));
            }
        }
    }
}

/// Warns of arguments that set headers reserved for the connection or the operator.
fn reserved_headers(definition: &Definition, place: &Place) -> impl Iterator<Item = Finding> {
    let arguments = match &definition.backend {
        Some(Backend::Http(http)) => Some(&http.arguments),
        _ => None,
    };
    arguments.into_iter().flatten().filter(|(_, place)| place.location == Location::Header).filter_map(
        |(argument, header)| {
            let name = header.name.as_ref().unwrap_or(argument).to_ascii_lowercase();
            let message = format!("calls are refused: no argument may set the header `{name}`");
            let at = place.below(&pointer_join("/backend/arguments", argument));
            let finding = Finding::new(Code::FieldInvalid, message).at(at);
            let finding = finding.help("remove it, and write the header into the `headers` of the server");
            RESERVED_HEADERS
                .contains(&name.as_str())
                .then_some(Finding { severity: Severity::Warning, ..finding })
        },
    )
}

/// The author's short description within the cap, or a derived one.
fn short_description(
    definition: &Definition,
    body: &str,
    cap: ShortDescription,
    report: &mut impl FnMut(Finding),
) -> String {
    let authored =
        definition.short_description.as_deref().map(|short| clean_line(&without_prompt_tags(short)));
    let authored = authored.filter(|short| !short.is_empty());
    let Some(authored) = authored else {
        let short = short::derive(&definition.name, body, cap);
        report(Finding::new(Code::ShortDerived, format!("a short description was derived: \"{short}\"")));
        return short;
    };
    let Some(cut) = short::capped(&authored, cap) else { return authored };
    let ShortDescription { max_chars, max_tokens } = cap;
    let message = format!("the short description is over {max_chars} characters or {max_tokens} tokens");
    report(Finding::new(Code::ShortTooLong, message));
    cut
}

/// The author's first example, or a call made from the schema.
fn ready_made_call(
    examples: &[Example],
    parameters: &schema::Parameters,
    about: &About<'_>,
) -> Option<Sample> {
    if let Some(example) = examples.first() {
        return Some(Sample { arguments: example.arguments.clone(), fill_in: Vec::new() });
    }
    if !parameters.is_checked() {
        return None;
    }
    sample_call(parameters.schema(), about, &|arguments| parameters.accepts(arguments))
}

fn valid_examples(
    examples: &[Example],
    parameters: &schema::Parameters,
    place: &Place,
    report: &mut impl FnMut(Finding),
) -> Vec<Example> {
    let mut valid = Vec::with_capacity(examples.len());
    for (index, example) in examples.iter().enumerate() {
        let arguments = Value::Object(example.arguments.clone());
        let wrong = parameters.violations(&arguments);
        for violation in &wrong {
            let at = place.below(&format!("/examples/{index}/arguments{}", violation.pointer));
            let message = format!("example {}: {} at {}", index + 1, violation.message, violation.pointer);
            let finding = Finding::new(Code::ExampleInvalid, message).at(at);
            let otherwise = "correct the example or the schema; the docs leave the example out";
            report(finding.did_you_mean(violation.nearest.as_slice(), otherwise));
        }
        if wrong.is_empty() {
            valid.push(example.clone());
        }
    }
    valid
}

// The functions of toolcrib, defined in the native format and built like any tool, at their first use.

/// The definition of each function, in the order in which lists show them.
const DEFINITIONS: [(&str, &str); 14] = embedded_files! { "src/functions":
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

/// Their names.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    DEFINITIONS.iter().filter_map(|(file, _)| file.strip_suffix(".json"))
}

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
    let (catalog, lint) = build(Workspace::default(), raw, Vec::new(), findings);
    *findings = lint.add_to(std::mem::take(findings));
    catalog
}

// Arguments whose values the operator sets. Hidden ones are removed from the schema and the examples of their tool;
// the others become optional.

/// Most levels of a schema that are searched, because untrusted schemas may nest without end.
const MAX_DEPTH: usize = 16;

/// An argument of a tool whose value the operator sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolArgument {
    /// Its name.
    pub name: String,
    /// The value, or its variable.
    pub set: SetArgument,
    /// Whether the variable's text is the value itself; otherwise the text is JSON, such as a number.
    pub is_text: bool,
}

/// Applies the operator's arguments that the schema of a definition has, and returns them.
pub(super) fn set_arguments(
    definition: &mut Definition,
    set: IndexMap<String, SetArgument>,
) -> Vec<ToolArgument> {
    let Some(parameters) = definition.parameters.as_ref().filter(|_| !set.is_empty()) else {
        return Vec::new();
    };
    let mut schema = parameters.value().clone();
    let mut provided = definition.provider_schema.as_ref().map(|schema| schema.value().clone());
    let mut arguments = Vec::with_capacity(set.len());
    for (name, set) in set {
        let Some(property) = argument_schema(&schema, &name, 0) else { continue };
        let is_text = property.get("type").is_none_or(|of| of == "string" || of.is_array());
        for schema in [Some(&mut schema), provided.as_mut()].into_iter().flatten() {
            change(schema, &name, &set, 0);
        }
        if set.hidden {
            definition.examples.iter_mut().for_each(|example| drop(example.arguments.shift_remove(&name)));
        }
        arguments.push(ToolArgument { name, set, is_text });
    }
    if !arguments.is_empty() {
        definition.parameters = Some(Schema::from_value(schema));
        definition.provider_schema = provided.map(Schema::from_value);
    }
    arguments
}

/// Whether the schema of a definition has this argument.
pub(super) fn has_argument(definition: &Definition, name: &str) -> bool {
    definition.parameters.as_ref().is_some_and(|schema| argument_schema(schema.value(), name, 0).is_some())
}

fn argument_schema<'s>(schema: &'s Value, name: &str, depth: usize) -> Option<&'s Value> {
    let direct = schema.get("properties").and_then(|properties| properties.get(name));
    let parts = || schema.as_object().into_iter().flat_map(in_place);
    let deeper = || parts().find_map(|part| argument_schema(part, name, depth + 1));
    direct.or_else(|| if depth < MAX_DEPTH { deeper() } else { None })
}

/// Removes a hidden argument from a schema. Any other becomes optional, with its value as the default.
fn change(schema: &mut Value, name: &str, set: &SetArgument, depth: usize) {
    let Some(fields) = schema.as_object_mut() else { return };
    let was_required = optional(fields, name);
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
        match (&set.value, properties.get_mut(name).and_then(Value::as_object_mut)) {
            _ if set.hidden => drop(properties.shift_remove(name)),
            (Some(value), Some(property)) => drop(property.insert("default".into(), value.clone())),
            _ => {}
        }
    }
    if set.hidden {
        forget(fields, name);
        let least = fields.get("minProperties").and_then(Value::as_u64).filter(|_| was_required);
        if let Some(least) = least {
            fields.insert("minProperties".into(), least.saturating_sub(1).into());
        }
    }
    if depth < MAX_DEPTH {
        for (keyword, value) in fields.iter_mut().filter(|(keyword, _)| is_in_place(keyword)) {
            below_mut(keyword, value, &mut |part| change(part, name, set, depth + 1));
        }
    }
}

/// Makes an argument optional; returns true if it was required.
fn optional(fields: &mut Map<String, Value>, name: &str) -> bool {
    let Some(required) = fields.get_mut("required").and_then(Value::as_array_mut) else { return false };
    let before = required.len();
    required.retain(|required| required != name);
    let was_required = required.len() < before;
    let is_empty = required.is_empty();
    if was_required && is_empty {
        fields.shift_remove("required");
    }
    was_required
}

/// Removes a name from the examples, defaults and dependencies of a schema.
fn forget(fields: &mut Map<String, Value>, name: &str) {
    for keyword in ["examples", "example", "default", "const", "enum"] {
        let values = match fields.get_mut(keyword) {
            Some(Value::Array(values)) => values.iter_mut().collect(),
            Some(value) => vec![value],
            None => Vec::new(),
        };
        values.into_iter().filter_map(Value::as_object_mut).for_each(|value| drop(value.shift_remove(name)));
    }
    for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
        let Some(dependent) = fields.get_mut(keyword).and_then(Value::as_object_mut) else { continue };
        dependent.shift_remove(name);
        for needed in dependent.values_mut().filter_map(Value::as_array_mut) {
            needed.retain(|needed| needed != name);
        }
    }
}

#[cfg(test)]
mod argument_tests {
    use serde_json::json;

    use super::*;

    fn changed(schema: Value, hidden: bool) -> Value {
        let mut schema = schema;
        change(
            &mut schema,
            "token",
            &SetArgument { value: Some("v".into()), hidden, ..SetArgument::default() },
            0,
        );
        schema
    }

    #[test]
    fn a_hidden_argument_leaves_no_trace_in_a_schema() {
        let schema = json!({
            "type": "object", "properties": {"token": {"type": "string"}, "a": {"type": "string"}}, "required": ["token", "a"],
            "examples": [{"token": "x", "a": "y"}], "default": {"token": "x"}, "dependentRequired": {"a": ["token"], "token": ["a"]},
            "anyOf": [{"required": ["token"]}, {"properties": {"token": {"minLength": 1}}}], "minProperties": 2,
        });
        let schema = changed(schema, true);
        assert!(!schema.to_string().contains("token"), "{schema}");
        assert_eq!(schema["required"], json!(["a"]));
        assert_eq!(schema["minProperties"], 1);
    }

    #[test]
    fn an_argument_that_is_set_and_shown_is_a_default() {
        let schema =
            json!({"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]});
        assert_eq!(
            changed(schema, false),
            json!({"type": "object", "properties": {"token": {"type": "string", "default": "v"}}})
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_definition::Schema;

    #[test]
    fn every_function_is_a_tool_without_a_finding() {
        let mut findings = Vec::new();
        let catalog = define(&mut findings);
        assert!(findings.is_empty(), "{findings:#?}");
        assert_eq!(catalog.tools.len(), DEFINITIONS.len());
        for tool in &catalog.tools {
            assert_eq!(tool.safe_name, tool.name);
            let call = Value::Object(tool.call.clone().expect("a call"));
            let view =
                tool.definition.provider_schema.as_ref().map(Schema::value).expect("a provider schema");
            assert!(jsonschema::is_valid(view, &call), "{}", tool.name);
        }
    }
}
