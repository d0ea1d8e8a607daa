//! A checked catalog as a bundle that stands alone, and the catalog of such a bundle.
//!
//! A bundle holds neither secret values nor paths of the machine that builds it: what would bring them in is refused,
//! with its place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::{Catalog, Checked, restored, stored};
use crate::bundle::{Bundle, BundleWriter};
use crate::config::{BundledConfig, CONFIGURATION, Config, Overlay, Workspace, unreadable_bundle};
use crate::finding::{Code, Finding, Place, pointer_join};
use crate::secret::SecretPolicy;

/// The name of the part of a tool that runs it.
const BACKEND: &str = "backend";

/// The catalog of a bundle.
pub(super) fn open(bundle: &Arc<Bundle>, workspace: Workspace) -> Checked {
    let Workspace { root, config, overlays, findings, .. } = workspace;
    let mut checked = restored(bundle, config).unwrap_or_else(|error| Checked {
        findings: vec![unreadable_bundle(&root, &error)].into(),
        ..Checked::default()
    });
    overlays.iter().for_each(|overlay| checked.catalog.overlay(overlay));
    checked.findings.extend(findings);
    checked.catalog.complete = !checked.lost_input();
    checked.bundle = Some(Arc::clone(bundle));
    checked
}

impl Catalog {
    /// Lays fields over the definitions of its tools, after everything else.
    fn overlay(&mut self, overlay: &Overlay) {
        for tool in self.tools.iter_mut().filter_map(Arc::get_mut) {
            if overlay.tools.contains(&tool.facts()) {
                tool.written.wants_approval = overlay.set.approval.unwrap_or(tool.written.wants_approval);
                tool.content_mut()
                    .into_iter()
                    .for_each(|content| overlay.apply(&[], &mut content.definition));
            }
        }
    }
}

/// The bundle of a catalog, with the templates of its configuration; `None` where some of it would not
/// come back as it is.
pub fn bundled(checked: &Checked, templates: BTreeMap<String, String>) -> Option<BundleWriter> {
    let configuration = BundledConfig::new(&checked.catalog.config, templates).written()?;
    let mut writer = stored(checked)?;
    writer.replace(CONFIGURATION, configuration);
    Some(writer)
}

/// Everything that a bundle of this catalog must not hold; `workspace` is the one that it was opened from.
pub fn unportable(workspace: &Workspace, checked: &Checked) -> Vec<Finding> {
    let secrets = SecretPolicy::new(&workspace.config.state.redact);
    let of_config = secrets_of_config(workspace, secrets);
    let tools = checked.catalog.tools.iter();
    let of_tools = tools.clone().flat_map(|tool| {
        let backend = serde_json::to_value(&tool.definition.backend).unwrap_or_default();
        let place = |pointer: String| {
            let below = format!("{}{pointer}", pointer_join(&tool.place.pointer, BACKEND));
            Place::new(&tool.place.file, below)
        };
        let literals = secrets.literals(&backend).into_iter();
        literals.map(|pointer| secret(place(pointer)).tool(&tool.name)).collect::<Vec<_>>()
    });
    let absolute = tools.filter(|tool| Path::new(&tool.place.file).is_absolute());
    let paths = absolute.take(1).map(|tool| {
        let message = "a source has a path of this machine, which would be in the bundle";
        let help = "write the `path` of its [[source]] relative to toolcrib.toml";
        Finding::new(Code::MachinePath, message).at(Place::new(&tool.place.file, "")).help(help)
    });
    let mut found: Vec<Finding> = of_config.into_iter().chain(of_tools).chain(paths).collect();
    let documents: Vec<_> = workspace.document.iter().chain(&checked.documents).cloned().collect();
    crate::finding::locate(&documents, &mut found);
    found
}

fn secrets_of_config(workspace: &Workspace, secrets: SecretPolicy<'_>) -> Vec<Finding> {
    let file = workspace.document.as_ref().map_or("toolcrib.toml", |document| &document.file);
    let config: Value = serde_json::to_value(&workspace.config).unwrap_or_default();
    let literals = secrets.literals(&config).into_iter();
    literals.map(|pointer| secret(Place::new(file, written_at(&workspace.config, pointer)))).collect()
}

/// The pointer to a setting in the file that has it: the configuration of a client has its servers elsewhere.
fn written_at(config: &Config, pointer: String) -> String {
    let below = pointer.strip_prefix("/source/").and_then(|rest| rest.split_once("/mcp"));
    let of_client = below.and_then(|(number, field)| {
        let source = config.sources.get(number.parse::<usize>().ok()?)?;
        Some(format!("{}{field}", source.pointer.as_ref()?))
    });
    of_client.unwrap_or(pointer)
}

fn secret(place: Place) -> Finding {
    let message = "a secret value is written down here, and a bundle has none";
    let help = "write `${NAME}` in its place: the variable is read where the bundle is used";
    Finding::new(Code::SecretLiteral, message).at(place).help(help)
}
