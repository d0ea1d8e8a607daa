//! A tool written back as a definition that stands without its source.

use crate::tool::Tool;
use toolcrib_definition::{Definition, Effect};

impl From<&Tool> for Definition {
    fn from(tool: &Tool) -> Self {
        let Tool { names, labels, texts, input, output, rules, backend, .. } = tool;
        // The source gave a tool its place among those that nobody sorted.
        let is_sorted = !labels.is_category_derived || tool.has_derived_category();
        // An effect is a claim of its author; it is written only where the name alone would give another one.
        let is_effect_told = !rules.is_effect_guessed || Effect::of_name(&names.canonical) != rules.effect;
        let written = texts.written.clone();
        Self {
            kind: None,
            name: names.canonical.clone(),
            description: texts.description.clone(),
            parameters: input.schema.clone(),
            category: if is_sorted { labels.categories.clone() } else { Vec::new() },
            title: names.title.clone(),
            short_description: Some(texts.short.clone()),
            description_mode: labels.mode,
            op: Some(names.op.clone()),
            aliases: names.aliases.clone(),
            tags: labels.tags.clone(),
            returns: written.returns,
            result_schema: output.clone(),
            errors: written.errors,
            examples: texts.examples.clone(),
            notes: written.notes,
            policy: written.policy,
            effect: is_effect_told.then_some(rules.effect),
            safe: rules.safe,
            approval: rules.approval,
            dry_run: rules.dry_run,
            context_shift: rules.context_shift.clone(),
            allowed_callers: rules.callers.clone(),
            allowed_roles: rules.roles.clone(),
            when_forbidden: rules.when_forbidden,
            cost: labels.cost,
            capabilities: labels.capabilities.clone(),
            strict: input.strict,
            provider_schema: input.provider_schema.clone(),
            deprecated: labels.deprecated,
            replaced_by: labels.replaced_by.clone(),
            backend: backend.clone(),
            allow_no_schema: input.allow_no_schema,
            no_schema_mode: input.no_schema_mode,
            mcp: tool.origin.mcp.clone(),
        }
    }
}
