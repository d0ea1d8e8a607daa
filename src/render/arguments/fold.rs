//! Folding: optional parts below a level are named in one line instead of listed, so that a doc stays short. Required
//! ones are listed at any level, since no call is valid without them.

use super::extent::{MAX_NAMES, listed};
use super::tree::Writer;
use crate::catalog::schema_view::SchemaView;

/// Most alternatives that are looked at.
const MAX_FORMS: usize = 100;

impl<'a> Writer<'a> {
    /// The fields and forms of a place, by their names; empty where it has none.
    pub(super) fn named_parts(&mut self, view: &SchemaView<'a>) -> String {
        const MAX_LEVELS: usize = 3;
        let mut inner = view.items().or_else(|| view.other_values()).map(|schema| self.view(schema));
        for _ in 0..MAX_LEVELS {
            let Some(view) = &inner else { break };
            if !view.properties().is_empty() || !view.variants.is_empty() {
                break;
            }
            inner = view.items().or_else(|| view.other_values()).map(|schema| self.view(schema));
        }
        let view = inner.as_ref().filter(|_| view.properties().is_empty()).unwrap_or(view);
        let properties = view.properties();
        let (required, optional): (Vec<_>, Vec<_>) =
            properties.iter().partition(|property| property.required);
        let forms = self.named_forms(view);
        let fields = match (required.is_empty(), optional.is_empty()) {
            (true, true) => String::new(),
            (true, false) => format!("Optional fields: {}.", listed(&optional)),
            (false, true) => format!("Fields: {}.", listed(&required)),
            (false, false) => format!("Fields: {}; optional: {}.", listed(&required), listed(&optional)),
        };
        let parts: Vec<String> = [fields, forms].into_iter().filter(|part| !part.is_empty()).collect();
        self.folded |= !parts.is_empty();
        parts.join(" ")
    }

    fn named_forms(&mut self, view: &SchemaView<'a>) -> String {
        let forms: Vec<SchemaView<'a>> =
            view.variants.iter().take(MAX_FORMS).map(|schema| self.view(schema)).collect();
        let forms: Vec<&SchemaView<'a>> = forms.iter().filter(|form| !form.properties().is_empty()).collect();
        let named: Vec<String> =
            forms.iter().take(MAX_NAMES).enumerate().map(|(index, form)| self.form(form, index).0).collect();
        match forms.len() {
            0 | 1 => String::new(),
            count if count > MAX_NAMES => format!("Forms: {}; {} more.", named.join("; "), count - MAX_NAMES),
            _ => format!("Forms: {}.", named.join("; ")),
        }
    }
}
