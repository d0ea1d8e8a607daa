//! The intent of a query or a tool: to look up, make, change or remove. A tool with another intent for the right
//! object is near, and wrong.

use super::thesaurus::is_stop;
use super::words::{plain, stemmed};

/// The intent of a query or a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Get, list, search, check.
    Read,
    /// Make, add, send, book.
    Create,
    /// Change, move, set.
    Update,
    /// Remove, cancel.
    Delete,
}

const READ: &str = "get list show read view fetch find search query look lookup check retrieve tell display browse see count \
    download watch inspect examine describe explain summarize open what which who whom whose where when why how is are was \
    were does did has have any anybody anyone track monitor compare analyze recommend suggest calculate compute";
const CREATE: &str = "create add make new insert write compose generate build post send book reserve schedule order buy open \
    register start upload submit publish invite report record log draw draft share commit push fork copy duplicate remind";
const UPDATE: &str = "update edit modify change set move rename assign reschedule postpone replace adjust mark close reopen \
    merge approve convert switch fix correct extend shift enable disable turn reset rerun retry";
const DELETE: &str =
    "delete remove cancel clear erase drop unsubscribe unlink unassign discard revoke uninstall wipe dismiss";

fn of_word(word: &str) -> Option<Intent> {
    // Few words; a set would not be faster than the calls around it.
    static WORDS: std::sync::LazyLock<hashbrown::HashMap<String, Intent>> = std::sync::LazyLock::new(|| {
        let lists = [
            (DELETE, Intent::Delete),
            (UPDATE, Intent::Update),
            (CREATE, Intent::Create),
            (READ, Intent::Read),
        ];
        let all = lists.into_iter().flat_map(|(list, intent)| {
            list.split_whitespace().map(move |word| (stemmed(word).into_owned(), intent))
        });
        let mut known = hashbrown::HashMap::new();
        all.for_each(|(word, intent)| _ = known.entry(word).or_insert(intent));
        known
    });
    WORDS.get(&*stemmed(word)).copied()
}

/// Words that come before the request itself.
const POLITE: &str = "please can could would you i we want need like to help me us let hi hello hey just now then so and the a my \
    am im d ll ve looking trying";

/// Intent of a request: its first distinctive word decides.
pub(super) fn of_query<'q>(words: impl Iterator<Item = &'q str>) -> Option<Intent> {
    let polite = |word: &&str| !POLITE.split_whitespace().any(|known| known == *word);
    words.filter(polite).take(2).find_map(of_word)
}

/// Intent of a tool, by its name.
pub(super) fn of_name(name: &str) -> Option<Intent> {
    let words = plain(name);
    let found: Vec<Intent> =
        words.iter().filter(|word| !is_stop(word)).filter_map(|word| of_word(word)).collect();
    found.first().copied()
}

/// Change of the score where the intents of the query and the tool agree, and where they differ.
const SAME: f32 = 0.08;
const OTHER: f32 = 0.12;

/// Factor for the score.
pub(super) fn intent_factor(wanted: Option<Intent>, does: Option<Intent>) -> f32 {
    match (wanted, does) {
        (Some(wanted), Some(does)) if wanted == does => 1.0 + SAME,
        (Some(_), Some(_)) => 1.0 - OTHER,
        _ => 1.0,
    }
}
