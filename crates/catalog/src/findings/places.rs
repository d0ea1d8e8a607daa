//! Places in the file of one definition, for findings about it.

use std::sync::Arc;

use crate::sources::PartPlaces;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Code, Finding, Place};

/// The places of a definition and of its schema.
#[derive(Debug)]
pub(crate) struct DefinitionPlaces {
    pub(crate) definition: Place,
    /// The schema of its arguments.
    pub(crate) schema: Place,
    /// The pointer to the object with its fields.
    pub(crate) body: String,
    /// The places in other files, where its schema is bundled from several.
    pub(crate) parts: Option<Arc<PartPlaces>>,
    /// Whether the mistakes in its schema were reported before.
    pub(crate) is_assembled: bool,
}

impl DefinitionPlaces {
    /// The finding about the tool of this name, at its own place or at that of the field that it is about.
    pub(crate) fn put(&self, finding: Finding, tool: &str) -> Finding {
        let at = finding.place.clone().unwrap_or_else(|| self.of(finding.code));
        let mut finding = finding.at(at).tool(tool);
        self.parts.iter().for_each(|places| places.explain(&mut finding));
        finding
    }

    fn of(&self, code: Code) -> Place {
        match field_of(code) {
            Some("parameters") => self.schema.clone(),
            Some(field) => Place::new(&self.definition.file, pointer_join(&self.body, field)),
            None => self.definition.clone(),
        }
    }
}

/// The field of a definition that a finding of this kind is about.
fn field_of(code: Code) -> Option<&'static str> {
    match code {
        Code::DescriptionTautological
        | Code::PolicyExtracted
        | Code::SecretInText
        | Code::TextHidden
        | Code::TextInstructs => Some("description"),
        Code::ShortTooLong => Some("short_description"),
        Code::OpInvalid => Some("op"),
        Code::CallUnderivable => Some("parameters"),
        Code::BackendUntrusted => Some("backend"),
        _ => None,
    }
}
