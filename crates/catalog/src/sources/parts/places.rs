//! Places of values that come from other files.

use std::collections::HashMap;

use super::referenced_files::{PartTarget, Reason};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{Code, Finding, Place};

/// Places of values that come from other files, and the references that lead to nothing.
#[derive(Debug, Default)]
pub struct PartPlaces {
    /// The place of a value, by its pointer in the document that was put together.
    places: HashMap<String, Place>,
    /// Each `$ref` that leads to nothing, by its pointer.
    reasons: HashMap<String, (String, Reason)>,
}

impl PartPlaces {
    pub(super) fn add(&mut self, pointer: String, target: &PartTarget) {
        self.places.insert(pointer, Place::new(&target.file, target.pointer.clone()));
    }

    pub(super) fn refuse(&mut self, pointer: String, reference: &str, reason: Reason) {
        self.reasons.insert(pointer, (clean_line(reference), reason));
    }

    /// Puts the place of a finding into the file that has the mistake, and says why a `$ref` leads to nothing.
    pub fn explain(&self, finding: &mut Finding) {
        let Some(place) = &mut finding.place else { return };
        if matches!(finding.code, Code::SchemaReferenceRemote | Code::SchemaReferenceBroken)
            && let Some((reference, reason)) = self.reasons.get(&place.pointer)
        {
            finding.code = reason.code;
            finding.severity = finding.severity.min(reason.code.severity());
            finding.message = format!("`{reference}` {}", reason.what);
            finding.help = Some(reason.help.into());
        }
        if let Some(own) = self.place(&place.pointer) {
            *place = own;
        }
    }

    /// The place of a value in its own file; `None` where that is the document itself.
    pub(in super::super) fn place(&self, pointer: &str) -> Option<Place> {
        let mut end = pointer.len();
        loop {
            let (above, below) = pointer.split_at(end);
            if let Some(part) = self.places.get(above) {
                return Some(part.below(below));
            }
            end = above.rfind('/')?;
        }
    }

    /// The findings about the references of a tool in `file` that lead to nothing; `which` of them.
    pub(super) fn findings(&self, file: &str, tool: &str, which: impl Fn(&Reason) -> bool) -> Vec<Finding> {
        let refused = self.reasons.iter().filter(|(_, (_, reason))| which(reason));
        let mut pointers: Vec<&String> = refused.map(|(pointer, _)| pointer).collect();
        pointers.sort_unstable();
        let finding = |pointer: &String| {
            let place = Place::new(file, pointer.clone());
            let mut finding = Finding::new(Code::SchemaReferenceBroken, "").tool(tool).at(place);
            self.explain(&mut finding);
            finding
        };
        pointers.into_iter().map(finding).collect()
    }
}
