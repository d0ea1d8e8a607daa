//! English grammar of identifiers: verbs, small words, singular and plural.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

use super::{Effect, words};

/// Verbs of actions, in lines; a line that begins with `#` is a comment.
pub const ACTION_WORDS: &str = include_str!("action_words.txt");
/// Verbs of `action_words.txt` and of effects, and others that begin names of tools.
const MORE_VERBS: &str = "abort ask ban block bulk crawl crosspost decode decrypt detach dismiss do draft encode encrypt end \
    erase finalize finish flush fork give go grep kick kill like lint lock login logout lookup mute navigate parse \
    pin ping poll press prune query reject render reopen reprioritize rerun resolve retry rewind rotate say scrape \
    sign simulate star stat subtract summarize suspend tag tail think toggle trash truncate type unarchive unassign \
    unban unblock unlike unlink unmute unpin unstar untrash upsert use visit wait wipe";
/// Words that begin names as verbs and as nouns: `pull_request_read` pulls nothing. They are verbs in front of a noun
/// unless the name ends in a verb.
const EITHER: &str = "address author block book build call change check claim comment commit contact count design display \
    draft drop end export fork format function group guide handle hire import index invite join label leave lift like limit \
    link list load lock log look map mark mark_up match measure merge model monitor move name note notice offer order pack \
    page part pay pin plan play post process project pull purchase push query raise rank rate record register release \
    report request research review rotate run scan schedule search set share ship show sign sort split star start store \
    study style tag task test text tour track trade transfer trigger turn type use view visit watch work";
/// Words between the parts of a name: the object stands before them.
const PREPOSITIONS: &str = "at as by for from in into on onto per to using via with within";
/// Words of a name that tell no object from another.
const EMPTY: &str = "a all an and or any api data detail details each id ids info information its mcp my new of one our self the \
    tool tools v1 v2 v3 your";
/// Adjectives: the object stands after them.
const ADJECTIVES: &str = "active advanced available basic batch best blank bulk current custom daily default deprecated detailed \
    duplicate first full global historical last latest legacy linked local monthly more multi multiple next other \
    pending popular previous private public raw recent related remote similar simple single specific starred sub \
    top total upcoming weekly";
/// Words that end like a plural but are not plural.
const NO_PLURALS: &str = "access address alias analysis atlas basis bias bus business campus canvas chaos class corpus \
    cross dns gas gps https ios its kubernetes lens news os pandas process progress redis sales series species sms status \
    tennis this tls toys virus vps";

/// Grammar of the words of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordClass {
    /// A verb.
    Verb,
    /// A word that is a verb or a noun.
    VerbOrNoun,
    /// A preposition.
    Preposition,
    /// An adjective, an article or another word that names no object.
    Empty,
    /// Any other word.
    Noun,
}

/// The classes of listed words; of several lists that have a word, the last counts.
static CLASSES: LazyLock<HashMap<&str, WordClass>> = LazyLock::new(|| {
    let listed = ACTION_WORDS.lines().filter(|line| !line.starts_with('#'));
    let listed = listed.flat_map(str::split_whitespace).filter(|word| !names_an_agent(word));
    let verbs = listed.chain(MORE_VERBS.split_whitespace()).map(|word| (word, WordClass::Verb));
    let lists = [
        (WordClass::Empty, ADJECTIVES),
        (WordClass::Empty, EMPTY),
        (WordClass::Preposition, PREPOSITIONS),
        (WordClass::VerbOrNoun, EITHER),
    ];
    let others =
        lists.into_iter().flat_map(|(class, words)| words.split_whitespace().map(move |word| (word, class)));
    verbs.chain(others).collect()
});
static UNCHANGED: LazyLock<HashSet<&str>> = LazyLock::new(|| NO_PLURALS.split_whitespace().collect());

/// `manager`, `creator`, `management`: nouns in the list of actions.
fn names_an_agent(word: &str) -> bool {
    const VERBS: [&str; 9] =
        ["alter", "deliver", "discover", "enter", "filter", "offer", "order", "register", "remember"];
    let is_noun = word.ends_with("er") || word.ends_with("or") || word.ends_with("ment");
    is_noun && !VERBS.contains(&word) && !["monitor", "transfer", "trigger"].contains(&word)
}

impl WordClass {
    /// The class of a word in lower case.
    pub fn of(word: &str) -> Self {
        match CLASSES.get(word) {
            Some(class) => *class,
            None if Effect::of_word(word).is_some() => Self::Verb,
            None if word.bytes().all(|byte| byte.is_ascii_digit()) => Self::Empty,
            None => Self::Noun,
        }
    }
}

/// The singular of an English noun in lower case.
pub fn singular(word: &str) -> String {
    if UNCHANGED.contains(word) || word.len() < 4 || !word.ends_with('s') || !word.is_ascii() {
        return word.into();
    }
    if let Some(stem) =
        word.strip_suffix("ies").filter(|stem| stem.len() > 2 && *stem != "mov" && *stem != "cook")
    {
        return format!("{stem}y");
    }
    let sibilants = ["sses", "shes", "ches", "xes", "zes"];
    if sibilants.iter().any(|end| word.ends_with(end)) && word != "caches" {
        return word[..word.len() - 2].into();
    }
    if ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.into()
    } else {
        word[..word.len() - 1].into()
    }
}

/// A number of things: `1 tool`, `2 tools`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The plural of an English noun in lower case.
pub fn plural(word: &str) -> String {
    const MASS: [&str; 14] = [
        "access", "advice", "analytics", "data", "health", "help", "info", "music", "news", "security",
        "software", "status", "traffic", "weather",
    ];
    let ends = |ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    if MASS.contains(&word)
        || !word.is_ascii()
        || (word.ends_with('s') && UNCHANGED.contains(word) && !ends(&["ss"]))
    {
        return word.into();
    }
    if ends(&["s", "x", "z", "ch", "sh"]) {
        return format!("{word}es");
    }
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{word}s"),
    }
}

// The effect of a tool, judged by the verb in its name when no better source is known.

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

    fn of_word(word: &str) -> Option<Effect> {
        static VERBS: LazyLock<HashMap<&str, Effect>> = LazyLock::new(|| {
            let lists = [(Effect::Read, READS), (Effect::Write, WRITES), (Effect::Destructive, DESTRUCTIVE)];
            lists.iter().flat_map(|(effect, verbs)| verbs.split(' ').map(|verb| (verb, *effect))).collect()
        });
        VERBS.get(word).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{Effect, *};

    #[test]
    fn plurals_have_their_singular() {
        let pairs = [
            ("issue", "issues"),
            ("repository", "repositories"),
            ("branch", "branches"),
            ("key", "keys"),
            ("box", "boxes"),
            ("policy", "policies"),
            ("movie", "movies"),
            ("status", "status"),
            ("news", "news"),
        ];
        for (one, many) in pairs {
            assert_eq!((singular(many).as_str(), plural(one).as_str()), (one, many));
            assert_eq!(singular(one), one);
        }
    }

    #[test]
    fn words_have_classes() {
        for (word, class) in [
            ("create", WordClass::Verb),
            ("unsubscribe", WordClass::Verb),
            ("request", WordClass::VerbOrNoun),
            ("manager", WordClass::Noun),
            ("issue", WordClass::Noun),
            ("from", WordClass::Preposition),
            ("latest", WordClass::Empty),
        ] {
            assert_eq!(WordClass::of(word), class, "{word}");
        }
    }

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
