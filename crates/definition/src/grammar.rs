//! English grammar of identifiers: verbs, small words, singular and plural.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

use super::Effect;

/// Verbs of actions, in lines; a line that begins with `#` is a comment.
pub const ACTION_WORDS: &str = include_str!("action_words.txt");
/// Lists of verbs, of words that name no object, of prepositions, and of words that are verbs or nouns.
const WORD_CLASSES: &str = include_str!("word_classes.txt");
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
    let verbs = listed.map(|word| (word, WordClass::Verb));
    let classes = [WordClass::Verb, WordClass::Empty, WordClass::Preposition, WordClass::VerbOrNoun];
    let lists = WORD_CLASSES.lines().filter(|line| !line.starts_with('#')).zip(classes);
    let others = lists.flat_map(|(words, class)| words.split(' ').map(move |word| (word, class)));
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
