//! Actions: what a request asks to do, and what a tool does. A tool with another action for the right object is near, and
//! wrong.
//!
//! A verb frame is a verb, or a verb with a word that follows it later: "throw this file away" is `throw+away`. A verb can
//! have several actions; the longest frame decides.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::stop_words::is_stop;

/// Actions, one bit each.
pub(super) type Actions = u32;

/// A line for each action: the verb that tools have for it, then its frames. The number of a line is the bit of its action.
/// Actions of [`REMOVES`] and [`ENDS`] are destructive.
const FRAMES: &str = include_str!("words/verbs.txt");

/// Words before the request itself.
const POLITE: &str = "please pls can could would will you i we want wants need like to help me us let's lets hi hello hey \
    just now then so and the a an my am ll ve looking trying try should must gonna wanna how+to know go ahead";

/// Most words between the parts of a frame. An article follows at once: to open a thing is to make one.
const APART: usize = 6;
/// Words after "who" in a question about people, not about what somebody did.
const MAY: [&str; 4] = ["can", "may", "has", "have"];
/// Words of a request that something is not done; "don" is what "don't" leaves.
const REFUSALS: [&str; 5] = ["don", "dont", "never", "nobody", "prevent"];
/// Words that a verb follows which is a thing, or was done by somebody; and words that ask for what a participle says.
const TOLD_AFTER: &str =
    "the a an my our your his her their its this these those in from that which who i we he she they just";
const WANTS: [&str; 6] = ["be", "want", "need", "have", "get", "like"];
/// Words that begin a clause about a thing, those after which such a clause is a wish, and those that end it.
const SIDE: [&str; 7] = ["that", "which", "who", "whom", "whose", "where", "whether"];
const BEFORE_WISH: [&str; 4] = ["sure", "so", "want", "like"];
const AFTER_SIDE: [&str; 7] = ["and", "then", "so", "but", "or", "please", "also"];
/// First words of a question, which asks to read whatever verbs it has.
const QUESTION: &str = "who whose which what when where why is are was were does did has anything anyone do+i do+we do+you how+many how+much how+long \
     how+far";

/// A frame: the word that has to follow, if any, and its actions.
type Frame = (Option<&'static str>, Actions);

/// The frames of each verb in all its forms.
static TABLE: LazyLock<HashMap<String, Vec<Frame>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<Frame>> = HashMap::new();
    for (number, line) in FRAMES.lines().enumerate() {
        let frames = line.split_once(": ").map_or("", |(_, frames)| frames);
        for frame in frames.split_whitespace() {
            let (verb, later) =
                frame.split_once('+').map_or((frame, None), |(verb, later)| (verb, Some(later)));
            let known = table.entry_ref(verb).or_default();
            match known.iter_mut().find(|(other, _)| *other == later) {
                Some((_, actions)) => *actions |= 1 << number,
                None => known.push((later, 1 << number)),
            }
        }
    }
    let mut forms: Vec<(String, Vec<Frame>)> =
        table.iter().flat_map(|(verb, frames)| forms(verb).map(|form| (form, frames.clone()))).collect();
    forms.sort_unstable();
    for (form, frames) in forms {
        // "lists" is of "list", and "uses" of "use": a verb as it stands comes first.
        table.entry(form).or_insert(frames);
    }
    table
});

/// Every verb, in its first form.
pub(super) fn verbs<'v>() -> impl Iterator<Item = &'v str> {
    let frames =
        FRAMES.lines().filter_map(|line| line.split_once(": ")).flat_map(|(_, frames)| frames.split(' '));
    frames.filter(|frame| !frame.contains('+'))
}

/// Forms of a verb: "creates", "creating", "removed", "copies", "stopping".
fn forms(verb: &str) -> impl Iterator<Item = String> {
    let without = verb.strip_suffix('e').unwrap_or(verb);
    let many = verb.strip_suffix('y').map_or_else(|| format!("{verb}s"), |rest| format!("{rest}ies"));
    let last = verb.chars().next_back().filter(|last| "tp".contains(*last)).map(String::from);
    let doubled = last.map(|last| format!("{verb}{last}ing"));
    [many, format!("{verb}es"), format!("{without}ing"), format!("{without}ed")].into_iter().chain(doubled)
}

const LISTS: Actions = 1;
const READ: Actions = 1 << 1;
const READS: Actions = READ | LISTS | 1 << 2;
const REMOVES: Actions = 1 << 5;
const CANCELS: Actions = 1 << 6;
const ENDS: Actions = CANCELS | 1 << 10 | 1 << 22;

/// The actions of the verb at a place, in any form of it, and whether a longer frame decides.
fn frame(words: &[String], place: usize) -> Option<(Actions, bool)> {
    let later = words.get(place + 1..)?;
    let frames = TABLE.get(&words[place])?;
    let follows = |wanted: &&str| {
        let apart = if matches!(*wanted, "a" | "an") { 1 } else { APART };
        later.iter().take(apart).any(|word| word == wanted)
    };
    let phrasal = frames.iter().filter(|(later, _)| later.as_ref().is_some_and(follows));
    let phrasal = phrasal.fold(0, |actions, (_, more)| actions | more);
    let alone = frames.iter().find(|(later, _)| later.is_none()).map(|(_, actions)| *actions);
    if phrasal > 0 { Some((phrasal, true)) } else { alone.map(|actions| (actions, false)) }
}

/// The verb that tools have for an action.
fn tool_verb(actions: Actions) -> Option<&'static str> {
    let line = FRAMES.lines().nth(actions.trailing_zeros() as usize)?;
    line.split_once(':').map(|(verb, _)| verb)
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request {
    /// Its actions; 0 where it has none.
    pub(super) actions: Actions,
    /// Whether it asks to delete, end or turn off; and to delete or cancel.
    pub(super) is_destructive: bool,
    pub(super) is_removal: bool,
    /// Whether it asks for several things, or for those of the caller.
    pub(super) wants_list: bool,
    /// The place of its verb.
    pub(super) verb: Option<usize>,
    /// Whether it asks who may do something.
    pub(super) asks_who_may: bool,
    /// Whether it is a question.
    pub(super) is_question: bool,
    /// The verb of tools for a longer frame: to get rid of something is to delete it.
    pub(super) plain: Option<&'static str>,
}

impl Request {
    /// Whether it asks for an action, and none that reads.
    pub(super) fn writes(&self) -> bool {
        self.actions != 0 && self.actions & READS == 0 && !self.is_question
    }

    /// The same request, which asks to delete.
    pub(super) fn removing(self) -> Self {
        Self { actions: self.actions | REMOVES, is_destructive: true, is_removal: true, ..self }
    }

    /// Reads the words of a request, in lower case.
    pub(super) fn read(words: &[String]) -> Self {
        let first = words.iter().position(|word| !is_among(POLITE, word)).unwrap_or(0);
        let verb = (first..words.len().min(first + 4)).find(|place| frame(words, *place).is_some());
        let (actions, is_phrasal) = verb.and_then(|place| frame(words, place)).unwrap_or_default();
        let is_question = is_question(&words[first..]);
        // Whoever must not delete a thing does not ask to delete it.
        let is_refused = words.iter().any(|word| REFUSALS.contains(&word.as_str()));
        let asked = if is_refused { 0 } else { words.len() };
        let wishes =
            (0..asked).filter(|place| is_wish(words, *place)).filter_map(|place| frame(words, place));
        let all = wishes.fold(0, |all, (actions, _)| all | actions);
        let is_read = actions == 0 || actions & READS != 0;
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        let asks_who_may = words.windows(2).any(|pair| pair[0] == "who" && MAY.contains(&pair[1].as_str()));
        let wants_list = is_read
            && (actions & LISTS != 0
                || asks_who_may
                || words.get(first).is_some_and(|word| word == "who") && !has("am")
                || ["which", "any", "all", "my", "our"].into_iter().any(has)
                || words.last().is_some_and(|last| is_plural(last)));
        Self {
            actions,
            is_destructive: all & (REMOVES | ENDS) != 0,
            is_removal: all & (REMOVES | CANCELS) != 0,
            wants_list,
            verb,
            is_question,
            asks_who_may,
            plain: is_phrasal.then(|| tool_verb(actions)).flatten(),
        }
    }
}

fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Whether a verb may be what is wanted. "The page that I deleted" and "from the trash" only tell of what was removed.
fn is_wish(words: &[String], place: usize) -> bool {
    let is_told = words[..place].last().is_some_and(|before| is_among(TOLD_AFTER, before));
    let is_wanted = words[..place].iter().any(|word| WANTS.contains(&word.as_str()));
    !is_told && (is_wanted || !words[place].ends_with("ed")) && !is_aside(words, place)
}

/// Whether a word is in a clause about a thing: "the page that we wanted to delete" deletes nothing.
fn is_aside(words: &[String], place: usize) -> bool {
    let is_in = |list: &[&str], word: &String| list.contains(&word.as_str());
    let Some(begin) = words[..place].iter().rposition(|word| is_in(&SIDE, word)) else { return false };
    let before = words[..begin].last();
    before.is_some_and(|before| !is_in(&BEFORE_WISH, before))
        && !words[begin..place].iter().any(|word| is_in(&AFTER_SIDE, word))
}

/// Whether words begin like a question about things; one about tools may ask for any.
fn is_question(words: &[String]) -> bool {
    let Some(first) = words.first() else { return false };
    let begins = QUESTION.split_whitespace().any(|begin| match begin.split_once('+') {
        Some((how, many)) => first == how && words.get(1).is_some_and(|second| second == many),
        None => first == begin,
    });
    begins && !words.iter().any(|word| matches!(word.as_str(), "tool" | "tools"))
}

fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
}

/// What a tool does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Does {
    /// The actions of its name, or of its description where the name has none.
    pub(super) first: Actions,
    /// All actions of its name, the first word of its description, and of its arguments' values.
    pub(super) all: Actions,
    /// Whether it gives several things.
    pub(super) lists: bool,
}

impl Does {
    /// The actions in the words of a name, of a description, and of values of a method argument.
    pub(super) fn read(name: &[String], description: &[String], values: &[Vec<String>]) -> Self {
        let verb = |words: &[String], place: usize| frame(words, place).map(|(actions, _)| actions);
        let place = verb_place(name);
        let named = place.and_then(|place| verb(name, place));
        let described = verb(description, 0).or_else(|| verb(description, 1));
        let valued = values.iter().filter_map(|value| verb(value, 0)).fold(0, |all, more| all | more);
        let first = valued | named.or(described).unwrap_or(0);
        let others = (0..name.len().min(6)).filter(|other| Some(*other) != place);
        let others: Vec<Actions> = others.filter_map(|other| verb(name, other)).collect();
        // `post` and `put` of an HTTP API say less than its description.
        let first = match (place, name.first().map(String::as_str), described) {
            (Some(0), Some("post" | "put" | "patch"), Some(described)) => {
                described | others.first().copied().unwrap_or(0)
            }
            _ => first,
        };
        // A comment that is added is a comment, and a message that is got is not sent; what is marked as read is not read.
        let counts = |other: &&Actions| first & READS == 0 && **other != READ;
        let all = others.iter().filter(counts).fold(first | described.unwrap_or(0), |all, more| all | more);
        let lists = all & LISTS != 0
            || (first == 0 || first & READS != 0) && name.last().is_some_and(|last| is_plural(last));
        Self { first, all, lists }
    }

    /// Agreement of a request with what this does, from -1 to 1; 0 where either is unknown.
    pub(super) fn agrees(&self, request: &Request) -> f32 {
        match (request.actions, self.all) {
            (0, _) | (_, 0) => 0.0,
            (wanted, _) if wanted & self.first != 0 => 1.0,
            // To show what there is, to list and to find it are near.
            (wanted, _) if wanted & READS != 0 && self.first & READS != 0 => 0.6,
            // An event that is called off is deleted.
            (wanted, _) if wanted & CANCELS != 0 && self.first & REMOVES != 0 => 0.5,
            (wanted, all) if wanted & all != 0 => 0.5,
            _ => -1.0,
        }
    }

    /// Whether its name or description has a verb, and none that reads.
    pub(super) fn writes(&self) -> bool {
        self.first != 0 && self.first & READS == 0
    }

    /// Whether its action deletes something.
    pub(super) fn deletes(&self) -> bool {
        self.first & REMOVES != 0 && self.first & ENDS == 0
    }

    /// Whether its action deletes or ends something.
    pub(super) fn removes(&self) -> bool {
        self.first & (REMOVES | ENDS) != 0
    }
}

/// Words of names that name no thing.
const NO_NOUNS: [&str; 19] = [
    "id", "ids", "by", "for", "from", "with", "in", "to", "of", "on", "at", "as", "and", "or", "the", "all",
    "my", "via", "api",
];
/// Words after which a name or a request has no head.
const AFTER_HEAD: &str = "by for from with in to of off out on at as and or via into about that which who is are am was were so \
     if i we you he she they";

/// The place of the thing that a request is about: the last word that says something before one that begins a clause.
pub(super) fn head(words: &[String], verb: Option<usize>) -> Option<usize> {
    // In "get rid of a thing", neither of the first two words is the thing.
    let is_frame = |verb: &usize| {
        let frames = TABLE.get(words[*verb].as_str()).into_iter().flatten();
        frames
            .filter_map(|(later, _)| *later)
            .any(|later| words.get(verb + 1).is_some_and(|word| word == later))
    };
    let from = verb.map_or(0, |verb| verb + 1 + usize::from(is_frame(&verb)));
    let telling = |place: &usize| !is_stop(&words[*place]);
    let Some(first) = (from..words.len()).find(telling) else { return words.len().checked_sub(1) };
    let end = (first..words.len()).find(|place| is_among(AFTER_HEAD, &words[*place])).unwrap_or(words.len());
    (first..end).rev().find(telling)
}

/// The place of a name's verb: its first word, or its last, or between; a message that is got is no verb.
fn verb_place(name: &[String]) -> Option<usize> {
    // Messages at the end of a name are things.
    let end = name.len() - usize::from(name.len() > 1 && name.last().is_some_and(|last| is_plural(last)));
    let first = name[..end].iter().take(6).position(|word| is_verb(word))?;
    let is_last = first > 0 && name[..end].last().is_some_and(|last| is_verb(last)) && end == name.len();
    Some(if is_last { name.len() - 1 } else { first })
}

/// The words of a name that are no verb of it, with its head last: a review of a request is a review.
pub(super) fn nouns(name: &[String]) -> impl Iterator<Item = &String> {
    let verb = verb_place(name).unwrap_or(usize::MAX);
    let end = (1..name.len()).find(|place| is_among(AFTER_HEAD, &name[*place])).unwrap_or(name.len());
    let counts = move |(place, word): &(usize, &String)| *place != verb && !NO_NOUNS.contains(&word.as_str());
    let places = (end..name.len()).chain(0..end).map(|place| (place, &name[place]));
    places.filter(counts).map(|(_, word)| word)
}

/// Whether a word is a verb of any frame.
pub(super) fn is_verb(word: &str) -> bool {
    TABLE.get(word).is_some_and(|frames| frames.iter().any(|(later, _)| later.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    #[track_caller]
    fn check(request: &str, tool: &str, agrees: bool) {
        let does = Does::read(&words(tool), &[], &[]);
        assert_eq!(does.agrees(&Request::read(&words(request))) > 0.0, agrees, "{request}, {tool}");
    }

    #[test]
    fn everyday_and_phrasal_verbs_agree_with_verbs_of_tools() {
        for (request, tool) in [
            ("open an issue", "create issue"),
            ("file a bug", "create issue"),
            ("throw this page away", "delete page"),
            ("get rid of my repository", "delete repository"),
            ("turn the lights off", "disable light"),
            ("please stop following this artist", "unfollow artist"),
            ("look at the logs", "get logs"),
            ("who is in the workspace", "list users"),
            ("show me the open issues", "list issues"),
            ("take back a reaction", "delete reaction"),
            ("open a pull request", "create pull request"),
            ("make a copy of the repo", "fork repository"),
            ("reply to the issue", "add issue comment"),
            ("ask ann to review", "request reviewers"),
        ] {
            check(request, tool, true);
        }
        check("delete the file", "create file", false);
        check("open the page with a table", "create page", true);
        check("send a message", "get message", false);
        check("read the readme", "mark all notifications read", false);
        check("list the files", "delete file", false);
    }

    #[test]
    fn only_verbs_of_removal_make_a_request_destructive() {
        let is_destructive = |text: &str| Request::read(&words(text)).is_destructive;
        assert!(is_destructive("kick bob out of the folder") && is_destructive("please remove it"));
        assert!(!is_destructive("show me the file") && !is_destructive("move this file"));
        assert!(!is_destructive("don let anyone delete this") && !is_destructive("prevent removing it"));
        assert!(!is_destructive("tell me whether the page that we wanted to delete is there"));
        assert!(is_destructive("find the page that bob wrote and delete it"));
        assert!(is_destructive("make sure that you delete it"));
    }

    #[test]
    fn a_question_asks_to_read() {
        let is_question = |text: &str| Request::read(&words(text)).is_question;
        assert!(is_question("who can push") && is_question("how many people left"));
        assert!(!is_question("how do i push") && !is_question("which tool deletes a file"));
    }

    #[test]
    fn the_thing_of_a_request_and_of_a_name_is_its_head() {
        let head_of = |text: &str| head(&words(text), Request::read(&words(text)).verb);
        assert_eq!(head_of("open a pull request in my repo"), Some(3));
        assert_eq!(head_of("get rid of my repository"), Some(4));
        assert_eq!(head_of("show the history of the branch"), Some(2));
        let of_name = |name: &str| nouns(&words(name)).cloned().collect::<Vec<_>>();
        assert_eq!(of_name("add issue comment reaction"), ["issue", "comment", "reaction"]);
        assert_eq!(of_name("get release by tag"), ["tag", "release"]);
        assert_eq!(of_name("sub issue write"), ["sub", "issue"]);
    }

    #[test]
    fn plurals_and_possessions_want_lists() {
        let wants = |text: &str| Request::read(&words(text)).wants_list;
        assert!(wants("show my repos") && wants("which servers am i in") && wants("the open issues"));
        assert!(!wants("read this page") && !wants("delete my files"));
    }
}
