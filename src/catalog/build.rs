//! Building the catalog, tool by tool.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::audience::{self, Audience};
use super::findings::DefinitionPlaces;
use super::lint::CatalogLint;
use super::sample::{About, Sample, sample_call};
use super::short::{Cap, SharedOpenings};
use super::trust::OverlaidFields;
use super::{
    Catalog, Tool, docstring, lint, names, policy, profile, schema, set_arguments, short, steps, structure,
    tree, trust,
};
use crate::config::{Category, Facts, Overlay, Workspace};
use crate::finding::{Code, Finding, Place, pointer_join};
use crate::sources::RawTool;
use crate::tool::{Effect, Example, clean_line, clean_text};

/// Builds the catalog; findings are added in the order of the tools, but for those of the lint that is returned. `described`
/// are categories that sources describe; the descriptions of the configuration come before them.
pub(super) fn build(
    mut workspace: Workspace,
    mut raw: Vec<RawTool>,
    described: Vec<Category>,
    findings: &mut Vec<Finding>,
) -> (Catalog, CatalogLint) {
    names::clean(&mut raw, findings);
    trust::unused_hints(&workspace, &raw, findings);
    let used: Vec<Use> = workspace.overlays.iter().map(Use::of).collect();
    let mut context = Context { workspace: &workspace, used: &used, openings: SharedOpenings::default() };
    let audiences = context.audiences(&raw);
    let public = raw.iter().zip(&audiences).filter(|(_, audience)| **audience == Audience::Everybody);
    context.openings = SharedOpenings::of(public.map(|(tool, _)| tool.definition.description.as_str()));
    let canonical = names::canonical(&raw, &audiences, findings);
    let built: Vec<Built> =
        raw.into_par_iter().zip(canonical).map(|(raw, name)| context.tool(raw, name)).collect();
    let (mut tools, mut places) = (Vec::with_capacity(built.len()), Vec::with_capacity(built.len()));
    for (built, audience) in built.into_iter().zip(audiences) {
        findings.extend(built.findings);
        match Audience::of(&built.tool.definition) == audience {
            true => {
                tools.push(built.tool);
                places.push((built.places, findings.len()));
            }
            false => findings.push(audience::late(&built.tool)),
        }
    }
    unused_overlays(&workspace, &used, findings);
    let categories = workspace.config.categories.iter().chain(&described);
    structure::derive(&mut tools, categories, findings);
    names::assign_unique(&mut tools, findings);
    steps::settle(&mut tools, findings);
    let tools: Vec<Arc<Tool>> = tools.into_iter().map(Arc::new).collect();
    let lint = CatalogLint::new(tools.clone(), places, findings.len());
    let (tools, contested) = audience::separate(tools, findings);
    let configured = workspace.config.categories.len();
    workspace.config.categories.extend(short::purposes_of_sources(described));
    let catalog = Catalog::of(tools, contested, Arc::new(workspace.config));
    profile::check(&catalog, findings);
    tree::check(&catalog, configured, findings);
    lint::replacements(&catalog, findings);
    (catalog, lint)
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

/// A tool as it is built by itself.
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
        let set_arguments = set_arguments::apply(&mut definition, overlaid.arguments);
        let RawTool { server, place, body, parameters, part_places, .. } = raw;
        let schema = Place::new(&place.file, parameters.unwrap_or_else(|| place.pointer.clone()));
        let places = DefinitionPlaces { definition: place.clone(), schema, body, parts: part_places };
        let description = clean_text(&definition.description).into_owned();
        let mut parts = docstring::split(&description);
        let cap = Cap {
            max_chars: config.short_description.max_chars,
            max_tokens: config.short_description.max_tokens,
        };
        let effect = definition.effect.unwrap_or_else(|| Effect::of_name(&definition.name));
        let mut report = |finding: Finding| findings.push(places.put(finding, &name));
        if definition.effect.is_none() && steps::of(&definition).is_none() {
            let message = format!("the effect `{}` was guessed from the name", effect.as_str());
            let help = "write `effect`, in the definition or in an [[overlay]]";
            report(Finding::new(Code::EffectGuessed, message).help(help));
        }
        doubt.into_iter().filter(|_| !is_effect_overlaid).chain(untrusted).for_each(&mut report);
        let parameters = schema::check(&definition, &parts.arguments, &places.schema, &mut report);
        let without_arguments = schema::tells(parameters.schema(), &parts.arguments)
            .then(|| std::mem::take(&mut parts.without_arguments));
        let examples = valid_examples(&definition.examples, &parameters, &place, &mut report);
        let call = ready_made_call(&examples, &parameters, &About { examples: &parts.examples, effect });
        if call.is_none() && parameters.is_checked() {
            report(
                Finding::new(Code::CallUnderivable, "no valid call could be made from the schema")
                    .help("add one to `examples`"),
            );
        }
        let short = short_description(&definition, self.openings.strip(&parts.body), cap, &mut report);
        let policy = definition.policy.clone().or_else(|| {
            let policy = policy::extract(&description, &parts)?;
            let help = "check it, and write it as `policy` to make it yours";
            report(
                Finding::new(Code::PolicyExtracted, "a policy was extracted from the description").help(help),
            );
            Some(policy)
        });
        lint::arguments(&parameters, &places.schema, &mut report);
        let lines = |texts: &[String]| {
            texts.iter().map(|text| clean_line(text)).filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        let (op, categories) =
            (names::written_op(&definition, &mut report).unwrap_or_default(), definition.category.clone());
        let aliases = definition.aliases.iter().map(|alias| clean_line(alias)).collect();
        let tool = Tool {
            name,
            safe_name: String::new(),
            op,
            aliases,
            categories,
            short,
            effect,
            server,
            place,
            withheld,
            long: if parts.body.is_empty() && parts.returns.is_none() {
                description.clone()
            } else {
                parts.body
            },
            description,
            without_arguments,
            returns: definition
                .returns
                .as_deref()
                .map(|text| clean_text(text).into_owned())
                .or(parts.returns),
            raises: parts.raises,
            notes: lines(&definition.notes).into_iter().chain(parts.notes).collect(),
            examples,
            example_texts: parts.examples,
            policy,
            parameters: parameters.drop_compiled(),
            fill_in: call.as_ref().map(|call| call.fill_in.clone()).unwrap_or_default(),
            call: call.map(|call| call.arguments),
            definition,
            set_arguments,
            digest: OnceLock::new(),
        };
        Built { tool, findings, places }
    }

    fn overlay(
        &self,
        definition: &mut crate::tool::Definition,
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
                    if set_arguments::has(definition, name) {
                        used.store(true, Ordering::Relaxed);
                        overlaid.arguments.insert(name.clone(), argument.clone());
                    }
                }
            }
        }
        overlaid
    }
}

/// An overlay of the user's that matches nothing is a mistake; a preset's need not match.
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
                findings.push(finding.help("check its spelling; the schema of the tool has to name it"));
            }
        }
    }
}

fn short_description(
    definition: &crate::tool::Definition,
    body: &str,
    cap: Cap,
    report: &mut impl FnMut(Finding),
) -> String {
    let authored = definition.short_description.as_deref().map(clean_line).filter(|short| !short.is_empty());
    match authored {
        Some(short) => match short::capped(&short, cap) {
            Some(cut) => {
                let message = format!(
                    "the short description is over {} characters or {} tokens",
                    cap.max_chars, cap.max_tokens
                );
                report(
                    Finding::new(Code::ShortTooLong, message).help("say when to use the tool, in one line"),
                );
                cut
            }
            None => short,
        },
        None => {
            let short = short::derive(&definition.name, body, cap);
            let message = format!("a short description was derived: \"{short}\"");
            report(
                Finding::new(Code::ShortDerived, message)
                    .help("write `short_description` if that is not when one would use it"),
            );
            short
        }
    }
}

/// The author's first example, else a call made from the schema.
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
        let arguments = serde_json::Value::Object(example.arguments.clone());
        let wrong = parameters.violations(&arguments);
        for violation in &wrong {
            let pointer =
                format!("{}{}", pointer_join(&format!("{}/examples", place.pointer), index), "/arguments");
            let at = Place::new(&place.file, format!("{pointer}{}", violation.pointer));
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
