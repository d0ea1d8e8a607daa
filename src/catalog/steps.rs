//! Tools whose backend is several steps. Such a tool has the strongest effect of its steps; one whose steps are wrong is
//! documented and cannot be called.
//!
//! 1. [`mistakes`] checks the steps of one tool.
//! 2. [`settle`] gives each tool its effect, innermost first; what is left leads back to itself, or is nested too deeply.

mod mistakes;

use std::collections::BTreeMap;

use super::{Tool, names};
use crate::finding::{Code, Finding, Place};
use crate::tool::{Backend, Definition, Effect, MAX_STEP_DEPTH, StepsBackend};

/// Next step for the caller of a tool whose steps are wrong.
const WRONG: &str =
    "tell the operator to correct its steps (`toolcrib check`); sending it again changes nothing";

/// Most tools of a circle that a finding shows.
const MOST_SHOWN: usize = 8;
/// Most findings about steps with near names, which take time in a large catalog.
const MOST_SUGGESTED: usize = 100;

/// Tools with steps, by position, each with the positions of the tools that its steps call.
type Called = BTreeMap<usize, Vec<usize>>;

/// Checks the steps of all tools, and settles their effects.
pub(super) fn settle(tools: &mut [Tool], findings: &mut Vec<Finding>) {
    if !tools.iter().any(|tool| of(&tool.definition).is_some()) {
        return;
    }
    let by_name = names::lookup(tools);
    let mut open = Called::new();
    let (mut wrong, mut suggested) = (Vec::new(), 0);
    for (index, tool) in tools.iter().enumerate() {
        let Some(backend) = of(&tool.definition) else { continue };
        let known = if suggested < MOST_SUGGESTED { &*tools } else { &[] };
        let (called, mistakes) = mistakes::of((tool, backend), tools, &by_name, known);
        suggested += mistakes.len();
        match mistakes.is_empty() {
            true => drop(open.insert(index, called)),
            false => wrong.push((index, called)),
        }
        findings.extend(mistakes);
    }
    for (index, called) in wrong {
        withhold(&mut tools[index], called.len());
        strengthen(tools, index, &called, findings);
    }
    for _ in 0..MAX_STEP_DEPTH {
        let is_ready = |called: &[usize]| !called.iter().any(|step| open.contains_key(step));
        let ready: Vec<usize> =
            open.iter().filter(|(_, called)| is_ready(called)).map(|(index, _)| *index).collect();
        for index in ready {
            let called = open.remove(&index).unwrap_or_default();
            strengthen(tools, index, &called, findings);
        }
    }
    for (index, called) in &open {
        findings.push(endless(tools, *index, &open));
        withhold(&mut tools[*index], called.len());
        strengthen(tools, *index, called, findings);
    }
}

/// The steps of a definition.
pub(super) fn of(definition: &Definition) -> Option<&StepsBackend> {
    match &definition.backend {
        Some(Backend::Steps(backend)) => Some(backend),
        _ => None,
    }
}

/// A tool that cannot be called. Its effect is guessed where steps that count may be missing.
fn withhold(tool: &mut Tool, known: usize) {
    tool.withheld = Some(WRONG.into());
    if of(&tool.definition).is_none_or(|backend| backend.steps.len() != known) {
        let effect = Effect::of_name(&tool.name);
        tool.content_mut().map(|content| content.definition.effect.get_or_insert(effect));
    }
}

/// Gives a tool the strongest effect of its steps, unless its own is stronger. It is a dry run if one of them is.
fn strengthen(tools: &mut [Tool], index: usize, called: &[usize], findings: &mut Vec<Finding>) {
    let steps = || called.iter().filter_map(|step| tools.get(*step));
    let strongest = steps().max_by_key(|step| step.effect);
    let effect = strongest.map_or(Effect::Read, |step| step.effect);
    let is_dry_run = steps().any(|step| step.definition.dry_run == Some(true));
    let op = strongest.map(|step| step.op.clone()).unwrap_or_default();
    let Some(tool) = tools.get_mut(index) else { return };
    if let Some(declared) = tool.definition.effect.filter(|declared| *declared < effect) {
        let (declared, effect) = (declared.as_str(), effect.as_str());
        let message =
            format!("the effect `{declared}` is weaker than that of its step `{op}`; {effect} counts");
        let help = format!("write `effect: {effect}`, or leave it out");
        findings.push(at(tool, Finding::new(Code::StepsEffect, message).help(help), "/effect"));
    }
    tool.effect = tool.definition.effect.map_or(effect, |declared| declared.max(effect));
    let effect = tool.effect;
    let Some(content) = tool.content_mut() else { return };
    content.definition.effect = Some(effect);
    if is_dry_run {
        content.definition.dry_run.get_or_insert(true);
    }
}

/// The finding for a tool whose steps lead back to it, or are nested too deeply.
fn endless(tools: &[Tool], index: usize, open: &Called) -> Finding {
    let mut path = vec![index];
    let inner = |index: &usize| open.get(index)?.iter().copied().find(|step| open.contains_key(step));
    while let Some(next) = path.last().and_then(inner).filter(|_| path.len() < MOST_SHOWN) {
        let is_known = path.contains(&next);
        path.push(next);
        if is_known {
            break;
        }
    }
    let ops: Vec<String> =
        path.iter().filter_map(|index| Some(format!("`{}`", tools.get(*index)?.op))).collect();
    let message = format!(
        "its steps never end, or are more than {MAX_STEP_DEPTH} levels deep: {}",
        ops.join(", which calls ")
    );
    let help = "write the inner steps here in place of a call";
    at(&tools[index], Finding::new(Code::StepsInvalid, message).help(help), "")
}

/// A finding at a place of a tool.
fn at(tool: &Tool, finding: Finding, pointer: &str) -> Finding {
    let place = Place::new(&tool.place.file, format!("{}{pointer}", tool.place.pointer));
    finding.tool(&tool.name).at(place)
}
