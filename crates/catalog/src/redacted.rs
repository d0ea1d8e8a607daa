//! The redacted form of a tool, for callers who may see that it exists but not call it: the fields that lists show.

use crate::registry::version::digest;
use crate::schema::Parameters;
use crate::tool::Tool;
use toolcrib_definition::Definition;
use toolcrib_definition::finding::Place;

/// Reason why such a tool cannot be called.
const NOT_PERMITTED: &str = "the caller does not have a role that it needs";

impl Tool {
    /// The tool without the fields that only its callers may read. Made once for each kind of caller, so that no
    /// later stage has to leave anything out.
    pub fn redacted(&self) -> Tool {
        let whole = &self.definition;
        let definition = Definition {
            name: whole.name.clone(),
            title: whole.title.clone(),
            description: self.short.clone(),
            category: whole.category.clone(),
            short_description: Some(self.short.clone()),
            op: whole.op.clone(),
            aliases: whole.aliases.clone(),
            tags: whole.tags.clone(),
            effect: whole.effect,
            deprecated: whole.deprecated,
            when_forbidden: whole.when_forbidden,
            ..Definition::default()
        };
        let mut redacted = Tool {
            name: self.name.clone(),
            safe_name: self.safe_name.clone(),
            op: self.op.clone(),
            aliases: self.aliases.clone(),
            categories: self.categories.clone(),
            short: self.short.clone(),
            effect: self.effect,
            server: self.server.clone(),
            place: Place::default(),
            withheld: None,
            description: self.short.clone(),
            without_arguments: None,
            long: self.short.clone(),
            returns: None,
            raises: Vec::new(),
            notes: Vec::new(),
            examples: Vec::new(),
            example_texts: Vec::new(),
            policy: None,
            parameters: Parameters::withheld(NOT_PERMITTED),
            call: None,
            fill_in: Vec::new(),
            set_arguments: Vec::new(),
            definition,
            digest: [0; 32],
        };
        redacted.digest = digest(&redacted);
        redacted
    }
}
