//! The redacted form of a tool, for callers who may see that it exists but not call it: the fields that lists show.

use crate::registry::version::digest;
use crate::schema::Parameters;
use crate::tool::{Texts, Tool};
use toolcrib_definition::Definition;

/// Reason why such a tool cannot be called.
const NOT_PERMITTED: &str = "the caller does not have a role that it needs";

impl Tool {
    /// The tool without the fields that only its callers may read. Made once for each kind of caller, so that no
    /// later stage has to leave anything out.
    pub fn redacted(&self) -> Tool {
        let Self { names, labels, texts, .. } = self;
        let definition = Definition {
            name: names.written.clone(),
            title: names.title.clone(),
            description: texts.short.clone(),
            category: labels.categories.clone(),
            short_description: Some(texts.short.clone()),
            op: Some(names.op.clone()),
            aliases: names.aliases.clone(),
            tags: labels.tags.clone(),
            effect: self.rules.known_effect(),
            deprecated: labels.deprecated,
            when_forbidden: self.rules.when_forbidden,
            ..Definition::default()
        };
        let short = || texts.short.clone();
        let mut redacted = Tool::of(definition.clone(), Parameters::withheld(NOT_PERMITTED));
        redacted.names = names.clone();
        redacted.texts = Texts { short: short(), description: short(), long: short(), ..Texts::default() };
        redacted.rules.effect = self.rules.effect;
        redacted.origin.server = self.origin.server.clone();
        redacted.digest = digest(&redacted, &definition);
        redacted
    }
}
