//! Assembles one tool without regard to other tools.

use serde_json::Value;

use super::overlays::Overlays;
use crate::config::Workspace;
use crate::findings::places::DefinitionPlaces;
use crate::sample::{About, Sample, sample_call};
use crate::schema::Parameters;
use crate::schema::set_arguments;
use crate::short::SharedOpenings;
use crate::sources::RawTool;
use crate::tool::{Texts, Tool, ToolOrigin};
use crate::{docstring, lint, names, policy, schema, short, structure, trust};
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Code, Finding, Place, Severity};
use toolcrib_definition::markdown::without_prompt_tags;
use toolcrib_definition::{
    Backend, Definition, Effect, Example, HttpBackend, Location, RESERVED_HEADERS, clean_line, clean_text,
};

/// A tool, built without regard to other tools.
pub(super) struct Built {
    pub(super) tool: Tool,
    pub(super) definition: Definition,
    pub(super) findings: Vec<Finding>,
    pub(super) places: DefinitionPlaces,
}

/// What all tools of a catalog have in common.
pub(super) struct Assembly<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) overlays: &'a Overlays<'a>,
    pub(super) openings: SharedOpenings,
}

impl Assembly<'_> {
    pub(super) fn tool(&self, mut raw: RawTool, name: String, with_patterns: bool) -> Built {
        let mut findings = Vec::new();
        let mut definition = std::mem::take(&mut raw.definition);
        let doubt = trust::settle_effect(&mut definition, &raw, &self.workspace.config.exec);
        let overlaid = self.overlays.apply(&mut definition, &name, &raw);
        let (withheld, untrusted) = trust::withhold(&mut definition, &overlaid, &raw, self.workspace);
        let doubt = if overlaid.effect { None } else { doubt };
        if overlaid.result.select.is_some() && !overlaid.result_schema {
            // It describes results that no caller gets.
            definition.result_schema = None;
        }
        let set_arguments = set_arguments(&mut definition, overlaid.arguments);
        let RawTool { server, place, body, parameters, part_places, is_assembled, .. } = raw;
        let schema = Place::new(&place.file, parameters.unwrap_or_else(|| place.pointer.clone()));
        let places =
            DefinitionPlaces { definition: place.clone(), schema, body, parts: part_places, is_assembled };
        let description = clean_text(&definition.description).into_owned();
        let mut parts = docstring::split(&description);
        let effect = definition.effect.unwrap_or_else(|| Effect::of_name(&definition.name));
        let mut report = |finding: Finding| findings.push(places.put(finding, &name));
        if definition.effect.is_none() && !matches!(definition.backend, Some(Backend::Steps(_))) {
            let message = format!("the effect `{}` was guessed from the name", effect.as_str());
            report(Finding::new(Code::EffectGuessed, message));
        }
        reserved_headers(&definition, &place).for_each(&mut report);
        doubt.into_iter().chain(untrusted).for_each(&mut report);
        let parameters =
            schema::check(&definition, with_patterns, &parts.arguments, &places.schema, &mut report);
        let parameters = match raw.unread {
            Some(what) => parameters.refused(&format!("{what} could not be read")),
            None => parameters,
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
            description: &description,
            http: http(&definition),
        };
        let call = ready_made_call(raw.call, &examples, &parameters, &about);
        if call.is_none() && parameters.is_checked() {
            report(Finding::new(Code::CallUnderivable, "no valid call could be made from the schema"));
        }
        let short = self.short_description(&definition, &parts.body, &mut report);
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
        let mut tool = Tool::of(definition.clone(), parameters.drop_compiled());
        tool.names.canonical = name;
        tool.names.op = op;
        tool.texts = Texts {
            short,
            long,
            description,
            without_arguments,
            returns: returns.or(result),
            raises: lines(&definition.errors).into_iter().chain(parts.raises).collect(),
            notes: lines(&definition.notes).into_iter().chain(parts.notes).collect(),
            policy,
            examples,
            example_texts: parts.examples,
            ..tool.texts
        };
        tool.input.set_arguments = set_arguments;
        if let Some(Sample { arguments, fill_in }) = call {
            tool.input.call = Some(arguments);
            tool.input.fill_in = fill_in;
        }
        tool.rules.withheld = withheld;
        tool.rules.result = overlaid.result;
        tool.origin = ToolOrigin { server, place, ..tool.origin };
        Built { tool, definition, findings, places }
    }

    /// The author's short description within the cap, or a derived one.
    fn short_description(
        &self,
        definition: &Definition,
        body: &str,
        report: &mut impl FnMut(Finding),
    ) -> String {
        let cap = self.workspace.config.short_description;
        let written = definition.short_description.as_deref().unwrap_or_default();
        let authored = clean_line(&without_prompt_tags(written));
        if authored.is_empty() {
            let short = short::derive(&definition.name, self.openings.strip(body), cap);
            report(Finding::new(Code::ShortDerived, format!("a short description was derived: \"{short}\"")));
            return short;
        }
        let Some(cut) = short::capped(&authored, cap) else { return authored };
        let message = format!(
            "the short description is over {} characters or {} tokens",
            cap.max_chars, cap.max_tokens
        );
        report(Finding::new(Code::ShortTooLong, message));
        cut
    }
}

fn http(definition: &Definition) -> Option<&HttpBackend> {
    if let Some(Backend::Http(http)) = &definition.backend { Some(http) } else { None }
}

/// Warns of arguments that set headers reserved for the connection or the operator.
fn reserved_headers(definition: &Definition, place: &Place) -> impl Iterator<Item = Finding> {
    let arguments = http(definition).into_iter().flat_map(|http| &http.arguments);
    arguments.filter(|(_, place)| place.location == Location::Header).filter_map(|(argument, header)| {
        let name = header.name.as_ref().unwrap_or(argument).to_ascii_lowercase();
        let message = format!("calls are refused: no argument may set the header `{name}`");
        let at = place.below(&pointer_join("/backend/arguments", argument));
        let finding = Finding::new(Code::FieldInvalid, message).at(at);
        let finding = finding.help("remove it, and write the header into the `headers` of the server");
        let is_reserved = RESERVED_HEADERS.contains(&name.as_str());
        is_reserved.then_some(Finding { severity: Severity::Warning, ..finding })
    })
}

/// The author's first example, the call that the source has, or one made from the schema.
fn ready_made_call(
    given: Option<Sample>,
    examples: &[Example],
    parameters: &Parameters,
    about: &About<'_>,
) -> Option<Sample> {
    let is_fit = |call: &Sample| parameters.accepts(&Value::Object(call.arguments.clone()));
    match examples.first() {
        Some(example) => Some(Sample { arguments: example.arguments.clone(), fill_in: Vec::new() }),
        None if !parameters.is_checked() => None,
        None if given.as_ref().is_some_and(is_fit) => given,
        None => sample_call(parameters.schema(), about, &|arguments| parameters.accepts(arguments)),
    }
}

fn valid_examples(
    examples: &[Example],
    parameters: &Parameters,
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
