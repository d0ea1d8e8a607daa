//! English grammar of identifiers: verbs, small words, singular and plural.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

use super::Effect;

/// Verbs of actions, in lines; a line that begins with `#` is a comment.
const ACTION_WORDS: &str = include_str!("action_words.txt");
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
    Verb,
    /// A word that is a verb or a noun.
    VerbOrNoun,
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
