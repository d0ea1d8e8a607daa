//! The name of a service before the verb in the names of its tools: `garden_get_bed` and `garden_plant_tree` share `garden`.

use std::collections::HashMap;

use crate::sources::RawTool;
use toolcrib_definition::grammar::WordClass;
use toolcrib_definition::{Effect, words};

/// Most words of a prefix.
const MAX_WORDS: usize = 4;

/// Words that act, although they are no verbs of the grammar: `exec_query` does not only read.
const ACTS: &str = "admin bash cmd command eval exec force grant mutation overwrite powershell reboot rm root shell shutdown spawn sudo";

/// The source and the server of a tool, as far as they are known.
type Group = (Option<String>, Option<String>, Option<String>);

/// The words with which tools of the same server begin.
#[derive(Debug, Default)]
pub(super) struct ServicePrefixes {
    tools: HashMap<Group, usize>,
    sharing: HashMap<(Group, Vec<String>), usize>,
}

impl ServicePrefixes {
    /// The prefixes of all tools.
    pub(super) fn of(raw: &[RawTool]) -> Self {
        let mut all = Self::default();
        for tool in raw {
            let group = group(tool);
            let words = last_part(&tool.definition.name);
            for end in 1..=possible(&words) {
                *all.sharing.entry((group.clone(), words[..end].to_vec())).or_default() += 1;
            }
            *all.tools.entry(group).or_default() += 1;
        }
        all
    }

    /// Returns true if the name of this tool has a verb that only reads directly behind the words that its server's tools
    /// share: most of the tools, or at least three for a server of several services.
    pub(super) fn reads_behind(&self, raw: &RawTool, name: &str) -> bool {
        let group = group(raw);
        let words = last_part(name);
        let enough = if self.tools.get(&group).is_some_and(|tools| *tools > 3) { 3 } else { 2 };
        let is_shared = |end: &usize| {
            let key = (group.clone(), words[..*end].to_vec());
            self.sharing.get(&key).is_some_and(|sharing| *sharing >= enough)
        };
        let longest = (1..=possible(&words)).take_while(is_shared).last().unwrap_or_default();
        (1..=longest).any(|end| Effect::is_read_by_first_verb(&words[end..].join("_"), None))
    }
}

fn group(raw: &RawTool) -> Group {
    (raw.origin.path.clone(), raw.origin.server.clone(), raw.server.clone())
}

/// Number of the words at the start that can be the name of a service, whose words do not act.
fn possible(words: &[String]) -> usize {
    let is_inert = |word: &&String| {
        matches!(WordClass::of(word), WordClass::Noun | WordClass::Empty)
            && !ACTS.split(' ').any(|act| act == *word)
    };
    words.iter().take(MAX_WORDS).take_while(is_inert).count()
}

/// The words of a name without its dotted groups.
fn last_part(name: &str) -> Vec<String> {
    words(name.rsplit(['.', '/', ':']).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the name of the first tool reads behind a prefix.
    fn reads(names: &[&str]) -> bool {
        let named = |name: &&str| {
            let mut tool = RawTool::default();
            tool.definition.name = name.to_string();
            tool
        };
        let raw: Vec<RawTool> = names.iter().map(named).collect();
        ServicePrefixes::of(&raw).reads_behind(&raw[0], names[0])
    }

    #[test]
    fn a_reading_verb_is_found_behind_words_that_tools_share() {
        for names in [
            &["ha_get_state", "ha_call_service"][..],
            &["API-get-user", "API-post-page", "API-delete-block"],
            &["garden.garden_search", "garden_plant", "other"],
            &["haListLights", "haSetLight"],
            &["bare_mercato_get_company", "bare_mercato_put_company"],
            &["jira_get_issue", "jira_add", "jira_edit", "wiki_get", "wiki_add", "wiki_edit", "wiki_drop"],
        ] {
            assert!(reads(names), "{names:?}");
        }
        for names in [
            &["garden_get_bed"][..],
            &["garden_get_bed", "orchard_get_tree"],
            &["weather_lookup", "weather_set", "a", "b"],
            &["browser_snapshot", "browser_click"],
            &["garden_plant_list", "garden_get_bed"],
        ] {
            assert!(!reads(names), "{names:?}");
        }
    }

    #[test]
    fn a_word_that_acts_is_no_prefix() {
        let acts =
            "delete remove purge run send set post push transfer call update sync start toggle kill approve";
        for act in acts.split(' ').chain(ACTS.split(' ')) {
            for prefix in [act.to_string(), format!("garden_{act}"), format!("{act}_garden")] {
                let names = ["query", "list", "get_bed"].map(|rest| format!("{prefix}_{rest}"));
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                assert!(!reads(&names), "{names:?}");
            }
        }
    }
}
