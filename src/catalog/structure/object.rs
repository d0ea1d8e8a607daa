//! The object of a tool: the things that it acts on, read from its name, its op, or the path of its request.

use crate::tool::grammar::{WordClass, singular};
use crate::tool::words;

/// Nouns of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Object {
    /// Namespaces and nouns in the order of the name, each in the singular; never empty.
    pub(super) nouns: Vec<String>,
    /// Nouns after a preposition: `issue` in `assign_copilot_to_issue`.
    pub(super) others: Vec<String>,
}

impl Object {
    /// The object in the name of a tool. A namespace ends at the last dot, or at a double underscore.
    pub(super) fn of_name(name: &str) -> Self {
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
    pub(super) fn of_path(segments: &[String], name: &str) -> Self {
        let in_name = Self::of_name(name);
        let is_object = |word: &&String| WordClass::of(word) != WordClass::Verb;
        let nouns: Vec<String> = segments.iter().filter(is_object).cloned().collect();
        let nouns = if nouns.is_empty() { segments.to_vec() } else { nouns };
        match nouns.is_empty() {
            true => in_name,
            false => Self { nouns, others: in_name.nouns },
        }
    }

    fn of_words(words: &[String]) -> Self {
        let mut object = Self::default();
        let ends_in_verb = words.len() > 1 && words.last().is_some_and(|word| is_verb(word, false));
        // One word in front of the object may be a verb or a noun; after a preposition, nouns are others.
        let (mut is_lead, mut is_first, mut is_after) = (true, true, false);
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
            let names = words
                .iter()
                .filter(|word| !matches!(WordClass::of(word), WordClass::Empty | WordClass::Verb));
            object.nouns = names.map(|word| singular(word)).collect();
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

/// Whether the last word of a name is a verb: `issue_read`, `todo_list`.
fn is_verb(word: &str, or_noun: bool) -> bool {
    const LAST: [&str; 9] = ["list", "query", "search", "set", "run", "show", "log", "check", "count"];
    match WordClass::of(word) {
        WordClass::Verb => true,
        WordClass::VerbOrNoun => or_noun && LAST.contains(&word),
        _ => false,
    }
}

/// Whether a word says what is told of the noun before it: `order_status`, `commit_history`.
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
        check("", "");
    }
}
