//! The effect of a tool, judged by the verb in its name when no better source is known.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::{Effect, words};

const READS: &str = "\
    analyze ask assess browse calculate check classify compare compute convert count crawl describe detect \
    diff download echo estimate evaluate exists explain extract fetch filter find format get grep has info \
    inspect is list load log lookup map match navigate overview parse ping poll predict preview query read \
    resolve retrieve review scan scrape search select show solve stat status summarize tail test think \
    translate validate verify view visit wait watch";
const WRITES: &str = "\
    accept activate add append apply archive approve assign attach book build close commit complete \
    configure connect copy create deploy disable edit enable execute generate import insert install invite \
    link make merge modify move open order patch pay post publish push put rename reorganize replace reply \
    restore run save schedule send set share start stop submit subscribe sync tag trigger unlink unsubscribe \
    update upload upsert write";
const DESTRUCTIVE: &str = "\
    cancel clear delete destroy drop erase flush kill prune purge remove reset revoke terminate truncate \
    uninstall wipe";

/// Verbs that are nouns as often: `order_status` orders nothing.
const NOUNS: &[&str] = &[
    "archive", "book", "build", "clear", "commit", "complete", "copy", "drop", "flush", "import", "invite",
    "link", "merge", "open", "order", "patch", "post", "push", "reply", "reset", "run", "schedule", "set",
    "share", "start", "stop", "sync", "tag", "trigger", "upload",
];
/// Verbs of both reads and changes: `open_file` reads, `open_issue` does not. They contradict no claim.
const NOT_ALWAYS_VERBS: &[&str] = &["connect", "open"];
/// Words that act, although they are no verbs of the lists: `exec_query` does not only read.
const ACTS: &[&str] = &[
    "admin", "bash", "cmd", "command", "eval", "exec", "force", "grant", "mutation", "overwrite",
    "powershell", "reboot", "rm", "root", "shell", "shutdown", "spawn", "sudo", "transfer",
];
/// First words of names that ask, and say nothing elsewhere in a name.
const QUESTIONS: &[&str] = &["look", "peek", "who", "whoami"];
/// Nouns after which a verb is a noun too: `commit_history` commits nothing.
const ASKED: &[&str] =
    &["details", "history", "logs", "metadata", "results", "statistics", "stats", "summary"];

/// Nouns for tools that only read: `currency_converter` converts. A `counter` may count up.
const READERS: &[&str] = &[
    "analyser", "analyzer", "calculator", "checker", "classifier", "converter", "describer", "detector",
    "estimator", "evaluator", "explainer", "extractor", "fetcher", "finder", "formatter", "getter",
    "inspector", "matcher", "parser", "predictor", "reader", "resolver", "retriever", "scanner", "scraper",
    "searcher", "solver", "summarizer", "translator", "validator", "verifier", "viewer",
];

impl Effect {
    /// The effect that a name suggests: the stricter of its first verb and of the verb for a change. Without a known
    /// verb `Read` when it ends with one of [`READERS`], else `Write`.
    pub fn of_name(name: &str) -> Effect {
        let words = words(name);
        let ends_in_reader = words.last().is_some_and(|last| READERS.contains(&last.as_str()));
        let without_verb = if ends_in_reader { Effect::Read } else { Effect::Write };
        let first = words.iter().find_map(|word| Effect::of_word(word)).unwrap_or(without_verb);
        Effect::changing_verb(name).map_or(first, |(effect, _)| effect.max(first))
    }

    /// The verb for a change in a name, with its effect. The leading verb decides, and one after `and` or `or`; in a
    /// dotted name the last part does. A word that is a noun as often is no verb beside a sure one, or before one of
    /// [`ASKED`].
    pub fn changing_verb(name: &str) -> Option<(Effect, String)> {
        let known = |words: &Vec<String>| words.iter().any(|word| Effect::of_word(word).is_some());
        let last = name.rsplit(['.', '/', ':']).next().map(words).filter(known);
        let words = last.unwrap_or_else(|| words(name));
        let changes = |word: &String| {
            let effect = Effect::of_word(word).filter(|effect| *effect != Effect::Read)?;
            (!NOT_ALWAYS_VERBS.contains(&word.as_str())).then(|| (effect, word.clone()))
        };
        let is_sure = |word: &&String| !NOUNS.contains(&word.as_str());
        let joined = words.windows(2).filter(|pair| matches!(pair[0].as_str(), "and" | "or" | "then"));
        let joined = joined.map(|pair| &pair[1]).filter(is_sure).find_map(changes);
        let asked = |after: usize| words.get(after).is_some_and(|word| ASKED.contains(&word.as_str()));
        match words.iter().filter(is_sure).find(|word| Effect::of_word(word).is_some()) {
            Some(leading) => changes(leading).or(joined),
            None => {
                (0..words.len()).filter(|index| !asked(index + 1)).find_map(|index| changes(&words[index]))
            }
        }
    }

    /// Returns true if a name begins with a verb that only reads, such as `get`. The name of the server may stand before it, and
    /// groups of a dotted name.
    pub fn is_read_by_first_verb(name: &str, server: Option<&str>) -> bool {
        let words = words(name.rsplit(['.', '/', ':']).next().unwrap_or_default());
        let prefix = server.map(self::words).unwrap_or_default();
        let rest = words.strip_prefix(&prefix[..]).unwrap_or(&words);
        let reads = |verb: &String| Effect::of_word(verb) == Some(Effect::Read);
        rest.first().is_some_and(|verb| reads(verb) || QUESTIONS.contains(&verb.as_str()))
    }

    /// Returns true if a word of a name acts, whatever its verb is.
    pub fn has_acting_word(name: &str) -> bool {
        words(name).iter().any(|word| ACTS.contains(&word.as_str()))
    }

    pub(super) fn of_word(word: &str) -> Option<Effect> {
        static VERBS: LazyLock<HashMap<&str, Effect>> = LazyLock::new(|| {
            let lists = [(Effect::Read, READS), (Effect::Write, WRITES), (Effect::Destructive, DESTRUCTIVE)];
            lists.iter().flat_map(|(effect, verbs)| verbs.split(' ').map(|verb| (verb, *effect))).collect()
        });
        VERBS.get(word).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verb_decides() {
        let check = |name: &str, expect: Effect| assert_eq!(Effect::of_name(name), expect, "{name}");
        check("list_onto_tasks", Effect::Read);
        check("web_search", Effect::Read);
        check("deleteUser", Effect::Destructive);
        check("git_status", Effect::Read);
        check("move_document_in_tree", Effect::Write);
        check("issue_write", Effect::Write);
        check("frobnicate", Effect::Write);
        check("search_and_replace", Effect::Write);
        check("query_cache.putAsync", Effect::Write);
        check("TruncateLog.execute", Effect::Destructive);
        check("convert_currency", Effect::Read);
        check("currency_converter", Effect::Read);
        check("delete_finder", Effect::Destructive);
        check("increment_counter", Effect::Write);
    }

    #[test]
    fn a_name_reads_only_if_it_begins_with_a_known_verb() {
        for name in ["get_me", "listIssues", "github_get_post", "github.search_code", "users.list", "check"] {
            assert!(Effect::is_read_by_first_verb(name, Some("github")), "{name}");
        }
        for name in [
            "exec", "shell", "transfer", "overwrite", "grant", "shutdown", "exec_query", "list.shell",
            "github", "",
        ] {
            assert!(!Effect::is_read_by_first_verb(name, Some("github")), "{name}");
        }
        assert!(!Effect::is_read_by_first_verb("github_get_post", None));
    }

    #[test]
    fn a_verb_that_changes_something_has_to_be_the_verb() {
        let check = |name: &str, expect: Option<(Effect, &str)>| {
            let found = Effect::changing_verb(name);
            assert_eq!(found.as_ref().map(|(effect, verb)| (*effect, verb.as_str())), expect, "{name}");
        };
        check("list_updates", None);
        check("get_post", None);
        check("search_closed_issues", None);
        check("order_status", None);
        check("github_get_post", None);
        check("frobnicate", None);
        check("invite_resolve", None);
        check("git.commit_history", None);
        check("games.update.find", None);
        check("slack_post_message", Some((Effect::Write, "post")));
        check("users.list.delete", Some((Effect::Destructive, "delete")));
        check("delete_user", Some((Effect::Destructive, "delete")));
        check("slackDeleteMessage", Some((Effect::Destructive, "delete")));
        check("user_delete", Some((Effect::Destructive, "delete")));
        check("update_status", Some((Effect::Write, "update")));
        check("post_message", Some((Effect::Write, "post")));
        check("get_or_create_user", Some((Effect::Write, "create")));
        check("find_and_delete", Some((Effect::Destructive, "delete")));
    }
}
