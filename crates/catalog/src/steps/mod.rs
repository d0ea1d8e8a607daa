//! Tools whose backend is several steps. Such a tool has the strongest effect of its steps; one whose steps are wrong is
//! documented and cannot be called.
//!
//! 1. [`mistakes()`] checks the steps of one tool. No step calls a tool with steps of its own.
//! 2. [`settle`] gives each tool its effect.

mod mistakes;

use crate::config::Config;
use crate::names::{self, ServerNames};
use crate::tool::Tool;
use mistakes::mistakes;
use toolcrib_definition::finding::{Code, Finding};
use toolcrib_definition::{Backend, Effect, StepsBackend};

/// Next step for the caller of a tool whose steps are wrong.
const WRONG: &str =
    "tell the operator to correct its steps (`toolcrib check`); sending it again changes nothing";

/// Most findings about steps with near names, which take time in a large catalog.
const MOST_SUGGESTED: usize = 100;

/// Checks the steps of all tools, and settles their effects.
pub(crate) fn settle(tools: &mut [Tool], config: &Config, findings: &mut Vec<Finding>) {
    if !tools.iter().any(|tool| tool.steps().is_some()) {
        return;
    }
    let servers = ServerNames::of(config, tools.iter().filter_map(|tool| tool.origin.server.as_deref()));
    let by_name = names::lookup(tools, &servers);
    let mut settled = Vec::new();
    let mut suggested = 0;
    for (index, tool) in tools.iter().enumerate() {
        let Some(backend) = tool.steps() else { continue };
        let known = if suggested < MOST_SUGGESTED { &*tools } else { &[] };
        let (called, mistakes) = mistakes((tool, backend), tools, &by_name, known);
        suggested += mistakes.len();
        settled.push((index, called, mistakes.is_empty()));
        findings.extend(mistakes);
    }
    for (index, called, is_right) in settled {
        if !is_right {
            withhold(&mut tools[index], called.len());
        }
        strengthen(tools, index, &called, findings);
    }
}

impl Tool {
    /// Its steps, if it has some.
    pub fn steps(&self) -> Option<&StepsBackend> {
        match &self.backend {
            Some(Backend::Steps(backend)) => Some(backend),
            _ => None,
        }
    }
}

/// A tool that cannot be called. Its effect is guessed where steps that count may be missing.
fn withhold(tool: &mut Tool, known: usize) {
    tool.rules.withheld = Some(WRONG.into());
    if tool.rules.is_effect_guessed && tool.steps().is_none_or(|backend| backend.steps.len() != known) {
        tool.rules.effect = Effect::of_name(&tool.names.canonical);
        tool.rules.is_effect_guessed = false;
    }
}

/// Gives a tool the strongest effect of its steps, unless its own is stronger. It is a dry run if one of them is.
fn strengthen(tools: &mut [Tool], index: usize, called: &[usize], findings: &mut Vec<Finding>) {
    let steps = || called.iter().filter_map(|step| tools.get(*step));
    let strongest = steps().max_by_key(|step| step.rules.effect);
    let effect = strongest.map_or(Effect::Read, |step| step.rules.effect);
    let is_dry_run = steps().any(|step| step.rules.dry_run == Some(true));
    let op = strongest.map(|step| step.names.op.clone()).unwrap_or_default();
    let Some(tool) = tools.get_mut(index) else { return };
    if let Some(declared) = tool.rules.known_effect().filter(|declared| *declared < effect) {
        let declared = declared.as_str();
        let effect = effect.as_str();
        let message =
            format!("the effect `{declared}` is weaker than that of its step `{op}`; {effect} counts");
        let help = format!("write `effect: {effect}`, or leave it out");
        let finding = tool.finding(Code::StepsEffect, message).at(tool.origin.place.below("/effect"));
        findings.push(finding.help(help));
    }
    tool.rules.effect = tool.rules.known_effect().map_or(effect, |declared| declared.max(effect));
    tool.rules.is_effect_guessed = false;
    if is_dry_run {
        tool.rules.dry_run.get_or_insert(true);
    }
}
