//! Lint of one tool: descriptions that say nothing, arguments without any, hidden characters and credentials in its text.

use super::instructions::orders_to_the_model;
use crate::findings::places::DefinitionPlaces;
use crate::schema::{Parameters, report_mistakes};
use crate::tool::Tool;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Code, Finding, Place};
use toolcrib_definition::schema::{Node, Property};
use toolcrib_definition::secret::holds_credential;
use toolcrib_definition::{clean_line, each_word, hidden_characters, words};

/// What lint reads of a definition.
#[derive(Debug)]
pub(crate) struct LintedDefinition {
    pub(crate) places: DefinitionPlaces,
    pub(crate) description: String,
    pub(crate) short_description: Option<String>,
    /// The number of findings up to its last.
    pub(crate) findings: usize,
}

/// Looks at one tool. Its findings change nothing that is served.
pub(super) fn tool(tool: &Tool, written: &LintedDefinition, report: &mut impl FnMut(Finding)) {
    let description = &tool.texts.description;
    if description.trim().is_empty() {
        report(Finding::new(Code::DescriptionMissing, "the tool has no description"));
    } else if is_tautology(&tool.names.written, description) {
        let message = format!("\"{}\" only repeats the name", clean_line(description));
        report(Finding::new(Code::DescriptionTautological, message));
    }
    if !written.places.is_assembled
        && let Some(schema) = &tool.input.schema
    {
        report_mistakes(schema.value(), &written.places.schema, report);
    }
    let schema = tool.input.schema.as_ref().map_or("", |schema| schema.text());
    let short = written.short_description.as_deref().unwrap_or_default();
    hidden([&written.description, short, schema], report);
    if [schema, description, short].into_iter().any(holds_credential) {
        report(Finding::new(Code::SecretInText, "its text holds what looks like a credential"));
    }
    if let Some(quote) = orders_to_the_model(description, tool.input.parameters.schema()) {
        report(Finding::new(Code::TextInstructs, format!("text that instructs the model: \"{quote}\"")));
    }
}

/// Whether every telling word of the description is in the name already.
fn is_tautology(name: &str, description: &str) -> bool {
    const EMPTY: [&str; 18] = [
        "a", "an", "the", "this", "tool", "function", "to", "for", "of", "in", "and", "that", "which",
        "will", "can", "is", "api", "use",
    ];
    let stem = |word: &str| word.strip_suffix('s').unwrap_or(word).to_string();
    let known: Vec<String> = words(name).iter().map(|word| stem(word)).collect();
    let mut telling = each_word(description).filter(|word| !EMPTY.contains(&word.as_str()));
    !known.is_empty()
        && telling.by_ref().take(known.len() + 1).all(|word| known.contains(&stem(&word)))
        && telling.next().is_none()
}

/// Reports arguments without a description.
pub(crate) fn arguments(parameters: &Parameters, place: &Place, report: &mut impl FnMut(Finding)) {
    // A property that is no object has no keywords, or was reported.
    let is_bare = |property: &&Property<'_>| {
        let node = property.node();
        node.description.is_none() && node.only.is_none() && !node.is_reference && !node.is_bare()
    };
    let properties = Node::without_references(parameters.schema()).properties();
    let bare: Vec<&str> = properties.iter().filter(is_bare).map(|property| property.name).collect();
    if let Some(first) = bare.first() {
        let listed =
            bare.iter().take(6).map(|name| format!("`{}`", clean_line(name))).collect::<Vec<_>>().join(", ");
        let more = if bare.len() > 6 { format!(" and {} more", bare.len() - 6) } else { String::new() };
        let pointer = pointer_join(&format!("{}/properties", place.pointer), first);
        let message =
            format!("{} of {} arguments have no description: {listed}{more}", bare.len(), properties.len());
        report(Finding::new(Code::ParameterUndocumented, message).at(Place::new(&place.file, pointer)));
    }
}

fn hidden(texts: [&str; 3], report: &mut impl FnMut(Finding)) {
    let mut found: Vec<char> = texts.iter().flat_map(|text| hidden_characters(text)).collect();
    found.dedup();
    if !found.is_empty() {
        let listed =
            found.iter().take(5).map(|c| format!("U+{:04X}", *c as u32)).collect::<Vec<_>>().join(", ");
        report(Finding::new(Code::TextHidden, format!("hidden characters in its text: {listed}")));
    }
}

#[cfg(test)]
mod tests {
    use super::is_tautology;

    #[test]
    fn a_description_that_repeats_the_name_is_no_description() {
        assert!(is_tautology("get_user", "Gets the user."));
        assert!(is_tautology("createIssue", "Create issues"));
        assert!(!is_tautology("get_user", "Profile, roles and last login of a user."));
    }
}
