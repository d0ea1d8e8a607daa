//! The section of a system prompt, or of an `AGENTS.md`, that tells an agent of its documentation (DOC-7, RULE-1).

use tera::Context;

use super::markdown::code;
use super::templates::{TemplateError, Templates};
use crate::catalog::Profile;
use crate::tool::{DescriptionMode, Effect};

/// Core tools named in the section; beyond, the bound list speaks for itself.
const MAX_CORE: usize = 20;

/// The section for the tools of a profile whose docs are in `folder`.
pub fn files_section(
    profile: &Profile<'_>,
    folder: &str,
    templates: &Templates,
) -> Result<String, TemplateError> {
    let core: Vec<String> = profile
        .tools
        .iter()
        .filter(|entry| entry.mode == DescriptionMode::Full)
        .take(MAX_CORE + 1)
        .map(|entry| code(&entry.tool.safe_name))
        .collect();
    let named = !core.is_empty() && core.len() <= MAX_CORE;
    let mut context = Context::new();
    context.insert("count", &profile.tools.len());
    context.insert("folder", folder);
    context.insert("core", &named.then(|| core.join(", ")));
    context.insert("writes", &profile.tools.iter().any(|entry| entry.tool.effect != Effect::Read));
    templates.render("prompt/files.md", &context).map(|text| text.trim_end().to_string())
}
