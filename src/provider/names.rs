//! Names that a provider takes, one for each tool of a request, and the way back.
//!
//! A tool has its safe name, which is also the name of its doc file, wherever a provider takes that.

use std::collections::HashMap;

use super::surface::SelectedTool;
use super::{PayloadError, Provider};
use crate::catalog::Tool;

/// Rule of the names that a provider takes (docs/reference/wires.md, Limits by provider).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameRule {
    /// `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`: safe names as they are.
    Safe,
    /// `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`: safe names without dashes.
    Underscores,
    /// `^[A-Za-z0-9_.-]{1,128}$`: canonical names where they fit.
    Mcp,
}

impl NameRule {
    /// The name of a tool on this wire.
    pub(super) fn name(self, tool: &Tool) -> String {
        match self {
            NameRule::Safe => tool.safe_name.clone(),
            NameRule::Underscores => tool.safe_name.replace('-', "_"),
            NameRule::Mcp => {
                let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
                let is_legal = !tool.name.is_empty() && tool.name.len() <= 128 && tool.name.chars().all(fits);
                if is_legal { tool.name.clone() } else { tool.safe_name.clone() }
            }
        }
    }
}

/// The names of one request. Two tools with the same name are an error; neither replaces the other.
pub(super) fn emitted(
    chosen: &[SelectedTool<'_>],
    rule: NameRule,
    provider: Provider,
) -> Result<Vec<String>, PayloadError> {
    let mut owners: HashMap<String, &Tool> = HashMap::with_capacity(chosen.len());
    let mut names = Vec::with_capacity(chosen.len());
    for chosen in chosen {
        let name = rule.name(chosen.tool);
        if let Some(first) = owners.insert(name.clone(), chosen.tool) {
            let (first, second) = (first.name.clone(), chosen.tool.name.clone());
            return Err(PayloadError::Clash { provider, name, first, second });
        }
        names.push(name);
    }
    Ok(names)
}
