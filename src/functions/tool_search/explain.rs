//! Text beside the pointers of a search: the usage of sure hits, help on a first hit that is clearly ahead, and words that
//! tell hits with one summary apart.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Outcome;
use crate::catalog::Tool;
use crate::functions::CatalogView;
use crate::help::argument_names;
use crate::search::Hit;
use crate::tool::clean_line;

/// Confidence from which a hit of a `match` has its usage. On labelled queries 2 % of the hits below it are right, and about as
/// many have to be, for a line in all later requests to cost less than the turns that it saves.
const SURE: f32 = 0.05;
/// Confidence of a first hit with help, and the most that another hit may have. Of such hits more than eight in ten are right.
const AHEAD: f32 = 0.7;
const BEHIND: f32 = 0.35;
/// Most words, and most characters, of a description that tell a hit apart.
const WORDS: usize = 12;
const CHARACTERS: usize = 90;
/// Words of a description that are compared.
const COMPARED: usize = 400;

/// A hit with the text beside its pointer.
pub(super) struct Explained {
    pub(super) hit: Hit,
    pub(super) usage: Option<String>,
    pub(super) detail: Option<String>,
    pub(super) help: Option<Map<String, Value>>,
}

impl Explained {
    pub(super) fn bare(hit: Hit) -> Self {
        Self { hit, usage: None, detail: None, help: None }
    }
}

/// Adds the text to the hits of all queries: the first hits of all, then the second ones, while there are tokens left.
/// A tool has its usage once.
pub(super) fn explain(view: &CatalogView, outcomes: &mut [Outcome<'_>]) {
    outcomes.iter_mut().for_each(|outcome| tell_apart(view, &mut outcome.hits));
    let mut left = view.catalog().config.search.usage_tokens;
    let mut take = |tokens: usize| {
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    };
    let mut told = HashSet::new();
    let deepest = outcomes.iter().map(|outcome| outcome.hits.len()).max().unwrap_or_default();
    for rank in 0..deepest {
        let outcomes = outcomes.iter_mut().filter(|outcome| outcome.fits);
        let hits = outcomes.filter_map(|outcome| outcome.hits.get_mut(rank));
        for hit in hits.filter(|hit| hit.hit.confidence >= SURE && !view.is_forbidden(hit.hit.entry)) {
            let usage = view.usage(hit.hit.entry).filter(|_| !told.contains(&hit.hit.entry));
            if let Some((usage, _)) = usage.filter(|(_, tokens)| take(*tokens)) {
                told.insert(hit.hit.entry);
                hit.usage = Some(usage.clone());
            }
        }
    }
    for hit in outcomes.iter_mut().filter_map(Outcome::clear_first) {
        let help = view.small_help(hit.hit.entry).filter(|(_, tokens)| take(*tokens));
        hit.help = help.map(|(help, _)| help.clone());
    }
}

impl Outcome<'_> {
    /// The first hit, if it has its usage and is clearly ahead of the others.
    fn clear_first(&mut self) -> Option<&mut Explained> {
        let (first, others) = self.hits.split_first_mut()?;
        let is_ahead =
            first.hit.confidence >= AHEAD && others.iter().all(|other| other.hit.confidence <= BEHIND);
        (is_ahead && first.usage.is_some()).then_some(first)
    }
}

/// Adds to hits with the same summary the words that only they have.
fn tell_apart(view: &CatalogView, hits: &mut [Explained]) {
    let tools: Vec<Option<&Tool>> =
        hits.iter().map(|hit| view.catalog().tools.get(hit.hit.entry).map(|tool| &**tool)).collect();
    let summaries: Vec<String> =
        tools.iter().map(|tool| tool.map_or_else(String::new, |tool| plain(&tool.short))).collect();
    for at in 0..hits.len() {
        let Some(tool) = tools[at] else { continue };
        let same = (0..hits.len()).filter(|&other| other != at && summaries[other] == summaries[at]);
        let twins: Vec<&Tool> = same.filter_map(|other| tools[other]).collect();
        if !twins.is_empty() {
            let shows_arguments = !view.is_forbidden(hits[at].hit.entry);
            hits[at].detail = difference(tool, &twins, shows_arguments);
        }
    }
}

/// Letters and digits of a text, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Text that this tool has and none of the others: words of its description, its category, or names of its arguments.
fn difference(tool: &Tool, others: &[&Tool], shows_arguments: bool) -> Option<String> {
    described(tool, others)
        .or_else(|| {
            let category = tool.category();
            let is_alone = others.iter().all(|other| other.category() != category);
            (is_alone && !category.is_empty()).then(|| format!("in {}", clean_line(category)))
        })
        .or_else(|| {
            let known: HashSet<&str> = others.iter().flat_map(|other| argument_names(other)).collect();
            let mut own =
                argument_names(tool).into_iter().filter(|name| !known.contains(name)).map(clean_line);
            let first = own.next().filter(|_| shows_arguments)?;
            Some(format!("takes {}", own.take(2).fold(first, |all, name| format!("{all}, {name}"))))
        })
        .map(|text| cut(&text))
}

/// The description from the first word in which it differs from all others.
fn described(tool: &Tool, others: &[&Tool]) -> Option<String> {
    let words = |tool: &'_ Tool| -> Vec<String> {
        tool.long.split_whitespace().take(COMPARED).map(str::to_string).collect()
    };
    let own = words(tool);
    let differs_at = |other: &&Tool| {
        let other = words(other);
        let same = |at: &usize| other.get(*at).is_some_and(|word| plain(word) == plain(&own[*at]));
        (0..own.len()).find(|at| !same(at))
    };
    let starts: Option<Vec<usize>> = others.iter().map(differs_at).collect();
    let start = starts?.into_iter().max()?;
    let text = clean_line(&own[start..own.len().min(start + WORDS)].join(" "));
    (!plain(&text).is_empty()).then_some(text)
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_string(),
    }
}
