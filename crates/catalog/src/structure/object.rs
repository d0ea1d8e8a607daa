//! The object of a tool: the things that it acts on, read from its name, its op, or the path of its request.

use rayon::prelude::*;

use crate::tool::Tool;
use toolcrib_definition::grammar::{WordClass, singular};
use toolcrib_definition::{Backend, Definition, words};

/// The object of each tool. Segments that all public requests begin with, such as a version, are skipped.
pub(super) fn objects(tools: &[Tool], is_public: &dyn Fn(usize) -> bool) -> Vec<Object> {
    let paths: Vec<Option<Vec<String>>> = tools.iter().map(path_segments).collect();
    let public = paths.iter().enumerate().filter(|(index, _)| is_public(*index));
    let mut public = public.filter_map(|(_, path)| path.as_ref());
    let first = public.next().cloned().unwrap_or_default();
    let common = public.fold(first.len().saturating_sub(1), |common, path| {
        let equal = path.iter().zip(&first).take_while(|(one, other)| one == other).count();
        common.min(equal).min(path.len().saturating_sub(1))
    });
    let object = |(tool, path): (&Tool, &Option<Vec<String>>)| match path {
        Some(path) => Object::of_path(&path[common.min(path.len() - 1)..], &tool.names.canonical),
        None => Object::of_name(&tool.names.canonical),
    };
    tools.par_iter().zip(&paths).map(object).collect()
}

/// The thing that a plain `id` of a tool identifies: the segment before `id` in the path of the request, or the last
/// noun of the name.
pub(crate) fn resource(definition: &Definition) -> Option<String> {
    if let Some(Backend::Http(backend)) = &definition.backend {
        let (before, _) = backend.path.split_once("/{id}")?;
        let segment = before.rsplit('/').next().filter(|segment| !segment.contains('{'))?;
        return words(segment).last().map(|word| singular(word));
    }
    Object::of_name(&definition.name).nouns.pop().filter(|noun| noun != "id" && !noun.is_empty())
}

/// The fixed segments of the path of a tool's request.
fn path_segments(tool: &Tool) -> Option<Vec<String>> {
    let Some(Backend::Http(backend)) = &tool.backend else { return None };
    let path = backend.path.split(['?', '#']).next().unwrap_or_default();
    let fixed = path.split('/').filter(|segment| !segment.is_empty() && !segment.contains(['{', '@', ':']));
    let in_singular = |segment: &str| {
        let mut words = words(segment);
        if let Some(last) = words.last_mut() {
            *last = singular(last);
        }
        words.join("_")
    };
    let segments: Vec<String> = fixed.map(in_singular).filter(|segment| !segment.is_empty()).collect();
    (!segments.is_empty()).then_some(segments)
}

/// The nouns that name what a tool acts on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Object {
    /// Namespaces and nouns in the order of the name, each in the singular; never empty.
    pub(super) nouns: Vec<String>,
    /// Nouns after a preposition: `issue` in `assign_copilot_to_issue`.
    pub(super) others: Vec<String>,
}

impl Object {
    /// The object in the name of a tool. A namespace ends at the last dot, or at a double underscore.
    fn of_name(name: &str) -> Self {
        let (spaces, rest) = match name.rsplit_once('.').or_else(|| name.split_once("__")) {
            Some((spaces, rest)) if !spaces.trim().is_empty() => (spaces, rest),
            _ => return Self::of_words(&words(name)),
        };
        let namespaces =
            spaces.split('.').map(|space| words(space).join("_")).filter(|space| !space.is_empty());
        let rest = Self::of_words(&words(rest));
        Self { nouns: namespaces.chain(rest.nouns).collect(), others: rest.others }
    }

    /// The object in the path of a request: its fixed segments.
    fn of_path(segments: &[String], name: &str) -> Self {
        let in_name = Self::of_name(name);
        let is_object = |word: &&String| WordClass::of(word) != WordClass::Verb;
        let nouns: Vec<String> = segments.iter().filter(is_object).cloned().collect();
        let nouns = if nouns.is_empty() { segments.to_vec() } else { nouns };
        if nouns.is_empty() { in_name } else { Self { nouns, others: in_name.nouns } }
    }

    fn of_words(words: &[String]) -> Self {
        let mut object = Self::default();
        let ends_in_verb = words.len() > 1 && words.last().is_some_and(|word| is_verb(word, false));
        // One word before the object may be a verb or a noun; nouns after a preposition go to `others`.
        let mut is_lead = true;
        let mut is_first = true;
        let mut is_after = false;
        for (index, word) in words.iter().enumerate() {
            let is_last = index + 1 == words.len();
            match WordClass::of(word) {
                WordClass::Empty if matches!(word.as_str(), "and" | "or") => {
                    (is_lead, is_first) = (true, true)
                }
                WordClass::Empty => {}
                // `get_issue_by_number`: a key, not an object.
                WordClass::Preposition if word == "by" && !object.nouns.is_empty() => break,
                WordClass::Preposition => is_after = !object.nouns.is_empty(),
                WordClass::Verb if is_lead || is_last => is_first = false,
                // `zia_list_devices`: the verb stands between the namespace and the object.
                _ if object.nouns.len() == 1 && !is_last && is_verb(word, true) => {}
                WordClass::VerbOrNoun
                    if is_first && !is_last && !ends_in_verb && !is_told(&words[index + 1]) =>
                {
                    is_first = false;
                }
                WordClass::VerbOrNoun if is_last && !object.nouns.is_empty() && is_verb(word, true) => {}
                _ => {
                    (is_lead, is_first) = (false, false);
                    let list = if is_after { &mut object.others } else { &mut object.nouns };
                    list.push(singular(word));
                }
            }
        }
        if object.nouns.is_empty() {
            object.nouns = std::mem::take(&mut object.others);
        }
        if object.nouns.is_empty() {
            let is_name = |word: &&String| !matches!(WordClass::of(word), WordClass::Empty | WordClass::Verb);
            object.nouns = words.iter().filter(is_name).map(|word| singular(word)).collect();
        }
        if object.nouns.is_empty() {
            object.nouns = vec![words.last().map(|word| singular(word)).unwrap_or_default()];
        }
        object
    }

    /// All nouns, the first ones first.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.nouns.iter().chain(&self.others)
    }
}

/// Whether a word is a verb, as in `issue_read`; with `or_noun`, also a verb that can be a noun, as in `todo_list`.
fn is_verb(word: &str, or_noun: bool) -> bool {
    const LAST: [&str; 9] = ["list", "query", "search", "set", "run", "show", "log", "check", "count"];
    match WordClass::of(word) {
        WordClass::Verb => true,
        WordClass::VerbOrNoun => or_noun && LAST.contains(&word),
        _ => false,
    }
}

/// Whether a word names a property of the noun before it: `order_status`, `commit_history`.
fn is_told(word: &str) -> bool {
    ["details", "history", "info", "logs", "metadata", "stats", "statistics", "status", "summary"]
        .contains(&word)
}

#[cfg(test)]
mod tests {
    use super::Object;

    #[test]
    fn a_name_has_an_object() {
        let check = |name: &str, expected: &str| {
            let object = Object::of_name(name);
            let text = format!("{} | {}", object.nouns.join(" "), object.others.join(" "));
            assert_eq!(text.trim_end_matches([' ', '|']), expected, "{name}");
        };
        check("create_issue", "issue");
        check("list_issues", "issue");
        check("issue_write", "issue");
        check("get_issue_comments", "issue comment");
        check("add_sub_issue", "issue");
        check("pull_request_read", "pull request");
        check("list_pull_requests", "pull request");
        check("create_or_update_file", "file");
        check("assign_copilot_to_issue", "copilot | issue");
        check("storage_account_get", "storage account");
        check("keyvault_secret_list", "keyvault secret");
        check("zia_list_devices", "zia device");
        check("math.factorial", "math factorial");
        check("server__do_it", "server it");
        check("getStoryWithComments", "story | comment");
        check("list_code_scanning_alerts", "code scanning alert");
        check("web_search", "web");
        check("todo_list", "todo");
        check("get", "get");
        check("get_me", "me");
        check("order_status", "order");
        check("find_alert_rules", "alert rule");
        check("get_alert_rule", "alert rule");
        check("", "");
    }
}
