//! Names that a provider takes, one for each tool of a request, and the way back.
//!
//! A tool has its safe name, which is also the name of its doc file, wherever a provider takes that.

use std::collections::HashMap;

use super::bound_function::SelectedTool;
use super::rules::NameRule;
use super::{PayloadError, Provider};
use crate::catalog::Tool;

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
