//! Lint: finds tools that are hard to choose, hard to call, or dangerous to show to a model.

mod catalog_lint;
mod equal_shorts;
mod near_duplicates;
mod prompt_injection;
mod schema_mistakes;

use serde_json::Value;

use super::schema::{Parameters, properties};
use super::{Catalog, Resolved, Tool};
use crate::finding::{Code, Finding, Place, pointer_join};
use crate::tool::{Definition, clean_line, each_word, hidden_characters, words};

pub(super) use catalog_lint::CatalogLint;

/// Looks at one tool. Its findings change nothing that is served.
fn tool(tool: &Tool, schema_place: &Place, report: &mut impl FnMut(Finding)) {
    let (definition, description) = (&tool.definition, &tool.description);
    if description.trim().is_empty() {
        let help = "say what it does and when to use it; models choose by it";
        report(Finding::new(Code::DescriptionMissing, "the tool has no description").help(help));
    } else if is_tautology(&definition.name, description) {
        let message = format!("\"{}\" only repeats the name", clean_line(description));
        report(
            Finding::new(Code::DescriptionTautological, message)
                .help("say more than the name: when to use it, its input and its result"),
        );
    }
    if let Some(written) = &definition.parameters {
        schema_mistakes::report(written.value(), schema_place, report);
    }
    hidden(definition, report);
    if let Some(quote) = prompt_injection::find(description, tool.parameters.schema()) {
        let message = format!("text that instructs the model: \"{quote}\"");
        let help = "descriptions say what a tool does; keep orders, secrets and other tools out of them, or trust the source less";
        report(Finding::new(Code::TextInstructs, message).help(help));
    }
}

/// Reports deprecated tools that name no replacement.
pub(super) fn replacements(catalog: &Catalog, findings: &mut Vec<Finding>) {
    for tool in &catalog.tools {
        let Some(name) = &tool.definition.replaced_by else { continue };
        if let Resolved::Unknown(near) = catalog.resolve(name) {
            let finding = Finding::new(
                Code::ReplacementUnknown,
                format!("replaced_by names `{name}`, which is no tool"),
            );
            let at = Place::new(&tool.place.file, pointer_join(&tool.place.pointer, "replaced_by"));
            findings.push(finding.tool(&tool.name).at(at).did_you_mean(&near, "name a tool of this catalog"));
        }
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
pub(super) fn arguments(parameters: &Parameters, place: &Place, report: &mut impl FnMut(Finding)) {
    let described = |property: &Value| {
        let text =
            property.get("description").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
        text || property.get("$ref").is_some() || property.get("const").is_some()
    };
    let Some(properties) = properties(parameters.schema()) else { return };
    let bare: Vec<&String> =
        properties.iter().filter(|(_, property)| !described(property)).map(|(name, _)| name).collect();
    if let Some(first) = bare.first() {
        let listed =
            bare.iter().take(6).map(|name| format!("`{}`", clean_line(name))).collect::<Vec<_>>().join(", ");
        let more = if bare.len() > 6 { format!(" and {} more", bare.len() - 6) } else { String::new() };
        let pointer = pointer_join(&format!("{}/properties", place.pointer), first);
        let message =
            format!("{} of {} arguments have no description: {listed}{more}", bare.len(), properties.len());
        report(
            Finding::new(Code::ParameterUndocumented, message)
                .at(Place::new(&place.file, pointer))
                .help("describe each in a few words"),
        );
    }
}

fn hidden(tool: &Definition, report: &mut impl FnMut(Finding)) {
    let schema = tool.parameters.as_ref().map_or("", |schema| schema.text());
    let texts = [tool.description.as_str(), tool.short_description.as_deref().unwrap_or_default(), schema];
    let mut found: Vec<char> = texts.iter().flat_map(|text| hidden_characters(text)).collect();
    found.dedup();
    if !found.is_empty() {
        let listed =
            found.iter().take(5).map(|c| format!("U+{:04X}", *c as u32)).collect::<Vec<_>>().join(", ");
        let message = format!("hidden characters in its text: {listed}");
        report(
            Finding::new(Code::TextHidden, message)
                .help("they are left out of docs and payloads; remove them from the source"),
        );
    }
}

/// A word that two tools of a catalog may share without being alike.
pub(super) fn distinctive_words(tool: &Tool) -> Vec<String> {
    let mut all = words(&tool.description);
    all.sort_unstable();
    all.dedup();
    all
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
