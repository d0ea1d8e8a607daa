//! Trust in definitions: the programs that they name run, and their claim to only read counts, where the operator
//! trusts the source. An overlay of the operator always counts.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::config::{Exec, ResultRule, SetArgument, Trust, TrustHints, Workspace};
use crate::sources::RawTool;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Code, Finding, Place, nearest};
use toolcrib_definition::{Backend, Definition, Effect};

/// Fields of a tool that the operator's overlays have set.
#[derive(Clone, Default)]
pub(super) struct OverlaidFields {
    pub(super) backend: bool,
    pub(super) effect: bool,
    pub(super) arguments: IndexMap<String, SetArgument>,
    pub(super) result: ResultRule,
    pub(super) result_schema: bool,
}

/// Help for a backend that is not used because its `toolcrib.toml` was found and not named.
const FOUND: &str =
    "tell the operator to name the folder of toolcrib.toml as the catalog; it was found and not named";

/// Removes a program that the definition names without permission. Returns the text that the operator has to write
/// for it to count, and a finding unless the operator has written it already.
pub(super) fn withhold(
    definition: &mut Definition,
    overlaid: &OverlaidFields,
    raw: &RawTool,
    workspace: &Workspace,
) -> (Option<String>, Option<Finding>) {
    let is_found = workspace.found.is_some();
    match definition.backend {
        Some(Backend::Command(_) | Backend::Steps(_)) => {}
        // The server that it needs does not count either.
        Some(Backend::Http(_) | Backend::Mcp { .. }) if is_found => return (Some(FOUND.into()), None),
        _ => return (None, None),
    }
    let names = match definition.backend {
        Some(Backend::Steps(_)) => "other tools",
        _ => "a program",
    };
    let is_trusted = overlaid.backend || raw.origin.trust == Trust::Run;
    if is_trusted && !is_found {
        return (None, None);
    }
    definition.backend = None;
    if is_trusted {
        return (Some(FOUND.into()), None);
    }
    let lines = match &raw.origin.path {
        Some(path)
            if workspace.document.is_some()
                && workspace.config.sources.iter().any(|source| source.path == *path) =>
        {
            format!("add `trust = \"run\"` to the `[[source]]` of toolcrib.toml that has `path = {path:?}`")
        }
        Some(path) => format!(
            "write a toolcrib.toml beside it, and name that as the catalog: `[[source]]`, `path = {path:?}`, `trust = \"run\"`"
        ),
        None => "write its `backend` in an `[[overlay]]` of toolcrib.toml".into(),
    };
    let finding =
        Finding::new(Code::BackendUntrusted, format!("the backend names {names}, which this source may not"))
            .help(format!("if you have read it and want to run it, {lines}"));
    (Some(format!("tell the operator, who can allow it: {lines}")), Some(finding))
}

/// Settles whether a tool only reads. A claim that its name or its request contradicts does not count, and is
/// reported.
pub(super) fn settle_effect(definition: &mut Definition, raw: &RawTool, exec: &Exec) -> Option<Finding> {
    let claimed = definition.effect;
    let by_name = Effect::of_name(&definition.name);
    if raw.origin.trust == Trust::Run || claimed.unwrap_or(by_name) != Effect::Read {
        return None;
    }
    let hints = exec.trust_hints(raw.origin.server.as_deref(), raw.server.as_deref());
    let verb = claimed.and_then(|_| Effect::changing_verb(&definition.name));
    let of_verb =
        verb.map(|(effect, verb)| (effect, format!("its name says {} (`{verb}`)", effect.as_str())));
    let stricter = of_verb.into_iter().chain(of_request(definition)).max_by_key(|(effect, _)| *effect);
    let is_hint = definition.mcp.get("annotations").is_some_and(|given| given["readOnlyHint"] == true);
    let server = raw.origin.server.as_deref();
    // A server must not gain by leaving the hint out.
    let is_strangers = is_hint || server.is_some() && claimed.is_none();
    let is_likely = Effect::is_read_by_first_verb(&definition.name, server)
        || is_hint && !Effect::has_acting_word(&definition.name);
    let is_unlikely = is_strangers && !is_likely;
    let unknown = || (Effect::Write, "its name does not begin with a verb that reads".to_string());
    let stricter = stricter.or_else(|| (hints == TrustHints::Checked && is_unlikely).then(unknown));
    match (hints, stricter) {
        (TrustHints::Always, _) => None,
        (TrustHints::Never, stricter) => {
            let least = stricter.map_or(Effect::Read, |(effect, _)| effect).max(by_name);
            definition.effect = Some(least).filter(|effect| *effect != Effect::Read);
            None
        }
        (TrustHints::Checked, None) => None,
        (TrustHints::Checked, Some((effect, why))) => {
            definition.effect = Some(effect);
            let what = if claimed.is_some() { "its source says read" } else { "its name says read" };
            let message = format!("{what}, and {why}; {} counts", effect.as_str());
            let help = match raw.origin.server {
                Some(_) => {
                    "if it only reads, say so in toolcrib.toml: `effect = \"read\"` in an [[overlay]], or its \
                            server in [exec.trust_hints]"
                }
                None => "if it only reads, say so in toolcrib.toml: `effect = \"read\"` in an [[overlay]]",
            };
            Some(Finding::new(Code::EffectDoubted, message).help(help))
        }
    }
}

/// Entries of `[exec.trust_hints]` for servers that no source names and no tool belongs to.
pub(super) fn unused_hints(workspace: &Workspace, raw: &[RawTool], findings: &mut Vec<Finding>) {
    let sources = workspace.config.sources.iter().filter_map(|source| source.server.as_deref());
    let claimed = raw.iter().filter_map(|tool| tool.server.as_deref());
    let known: BTreeSet<&str> = sources.chain(claimed).chain(["*"]).collect();
    for name in workspace.config.exec.trust_hints.keys().filter(|name| !known.contains(name.as_str())) {
        let near = nearest(name, known.iter().copied());
        let message = format!("no source has the server `{name}`");
        let at = Place::new("toolcrib.toml", pointer_join("/exec/trust_hints", name));
        let finding = Finding::new(Code::TrustHintUnused, message).at(at);
        findings.push(finding.did_you_mean(&near, "give the `[[source]]` that you mean this `server`"));
    }
}

/// The effect that the request of a backend implies. A POST implies none: many only query.
fn of_request(definition: &Definition) -> Option<(Effect, String)> {
    match definition.backend.as_ref()? {
        Backend::Http(http) => {
            let method = http.method.to_ascii_uppercase();
            let effect = match method.as_str() {
                "DELETE" => Effect::Destructive,
                "PUT" | "PATCH" => Effect::Write,
                _ => return None,
            };
            Some((effect, format!("its request is {} ({method})", effect.as_str())))
        }
        Backend::Mcp { tool, .. } => {
            let (effect, verb) = Effect::changing_verb(tool)?;
            Some((effect, format!("the tool that it calls says {} (`{verb}`)", effect.as_str())))
        }
        _ => None,
    }
}
