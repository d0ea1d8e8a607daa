//! Overlays on the definitions of tools, and those that match none.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::audience::Audience;
use crate::config::{Facts, Overlay, Workspace};
use crate::schema::has_argument;
use crate::sources::RawTool;
use crate::trust::{OverlaidFields, settle_effect};
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Code, Finding, Place};
use toolcrib_definition::{Definition, Effect, clean_line};

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

/// The overlays of a workspace, and their use by the tools so far.
pub(super) struct Overlays<'a> {
    workspace: &'a Workspace,
    used: Vec<Use>,
}

impl<'a> Overlays<'a> {
    pub(super) fn of(workspace: &'a Workspace) -> Self {
        Self { workspace, used: workspace.overlays.iter().map(Use::of).collect() }
    }

    /// The audience of each tool. The audience decides the name, so overlays that set it are matched by the written
    /// name alone.
    pub(super) fn audiences(&self, raw: &[RawTool]) -> Vec<Audience> {
        let overlays = &self.workspace.overlays;
        if !overlays.iter().any(|overlay| Audience::is_changed_by(&overlay.set)) {
            return raw.iter().map(|tool| Audience::of(&tool.definition)).collect();
        }
        let audience = |tool: &RawTool| {
            let mut definition = tool.definition.clone();
            let name = definition.name.clone();
            settle_effect(&mut definition, tool, &self.workspace.config.exec);
            self.apply(&mut definition, &name, tool);
            Audience::of(&definition)
        };
        raw.par_iter().map(audience).collect()
    }

    /// Applies the overlays that match a tool, and returns the fields that they set.
    pub(super) fn apply(&self, definition: &mut Definition, name: &str, raw: &RawTool) -> OverlaidFields {
        let mut overlaid = OverlaidFields::default();
        for (overlay, used) in self.workspace.overlays.iter().zip(&self.used) {
            let facts = Facts {
                name: &definition.name,
                canonical: name,
                categories: &definition.category,
                tags: &definition.tags,
                source: &raw.place.file,
                server: raw.server.as_deref(),
                effect: definition.effect.unwrap_or_else(|| Effect::of_name(&definition.name)),
            };
            if let Some(captures) = overlay.tools.matches(&facts) {
                used.overlay.store(true, Ordering::Relaxed);
                overlay.apply(&captures, definition);
                overlaid.backend |= overlay.set.backend.is_some();
                overlaid.effect |= overlay.set.effect.is_some();
                overlaid.result_schema |= overlay.set.result_schema.is_some();
                let result = &mut overlaid.result;
                result.select = overlay.result.clone().or(result.select.take());
                result.limit = overlay.result_limit.or(result.limit);
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

    /// Reports each overlay of the user that matches no tool. Overlays of presets need not match.
    pub(super) fn report_unused(&self, findings: &mut Vec<Finding>) {
        let overlays = self.workspace.overlays.iter().zip(&self.used).skip(self.workspace.preset_overlays);
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
}
