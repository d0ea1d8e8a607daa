//! Clauses of a long query. The text of a whole task names several jobs, and one ranking cannot put all of them first:
//! each clause is searched too, and its sure hits move up.

use hashbrown::HashMap;

use super::actions::is_verb;
use super::confidence::NAMED;
use super::index::Index;
use super::rank::CANDIDATES;
use super::thesaurus::is_stop;
use super::words::{Word, words};
use super::{Hit, SearchRequest, SearchResult, Verdict};

/// Fewest words of a query that has clauses, and of a clause, apart from words that say nothing.
const LONG: usize = 10;
const SHORT: usize = 2;
/// Most words, and most clauses, that are read: the first ones.
const MAX_WORDS: usize = 400;
const MAX_CLAUSES: usize = 8;
/// Hits of each clause that count, of the entries that are scored in full.
const HITS: usize = 5;
const SCORED: usize = 25;
/// Confidence from which the first hit of the whole query stays first.
const SURE: f32 = 0.3;
/// Weight of the whole query beside its clauses.
const WHOLE: f32 = 1.5;
/// Words after which an action begins a clause.
const JOINS: [&str; 4] = ["and", "then", "or", "also"];

impl Index {
    /// Ranks the entries for a request. Entries that the query names come first, then the best fits, of the whole query or of
    /// one of its clauses.
    pub fn find(&self, request: SearchRequest<'_>) -> SearchResult {
        let clauses = clauses(request.query);
        if clauses.len() < 2 {
            return self.find_whole(request, CANDIDATES);
        }
        let whole =
            self.find_whole(SearchRequest { limit: request.limit.max(2 * HITS), ..request }, CANDIDATES);
        let parts = clauses.into_iter().map(|query| SearchRequest { query, limit: HITS, ..request });
        let parts =
            parts.map(|part| self.find_whole(part, SCORED)).filter(|found| found.verdict != Verdict::NoMatch);
        let mut found = match whole.hits.first() {
            Some(first) if first.confidence < NAMED => fused(whole, parts.collect()),
            _ => whole,
        };
        found.hits.truncate(request.limit);
        found
    }
}

/// Hits by the share of the best score in the whole query, and by their confidence in a clause.
fn fused(whole: SearchResult, parts: Vec<SearchResult>) -> SearchResult {
    let sure = |part: &SearchResult| part.verdict == Verdict::Match;
    let verdict = if parts.iter().any(sure) {
        Verdict::Match
    } else if parts.is_empty() {
        whole.verdict
    } else {
        Verdict::Unsure
    };
    let best = whole.hits.first().map_or(1.0, |first| first.score);
    let sure = whole.hits.first().filter(|first| first.confidence >= SURE).map(|first| first.entry);
    let mut hits: Vec<Hit> = whole.hits;
    hits.iter_mut().for_each(|hit| hit.score *= WHOLE / best.max(f32::MIN_POSITIVE));
    let mut clause: HashMap<usize, Hit> = HashMap::new();
    for hit in parts.into_iter().flat_map(|part| part.hits) {
        match clause.get_mut(&hit.entry) {
            Some(known) if known.confidence >= hit.confidence => {}
            _ => _ = clause.insert(hit.entry, hit),
        }
    }
    for hit in &mut hits {
        let Some(part) = clause.remove(&hit.entry) else { continue };
        hit.score += part.confidence;
        if part.confidence > hit.confidence {
            (hit.confidence, hit.reason) = (part.confidence, part.reason);
        }
    }
    hits.extend(clause.into_values().map(|part| Hit { score: part.confidence, ..part }));
    let most = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
    hits.iter_mut().filter(|hit| Some(hit.entry) == sure).for_each(|hit| hit.score = most);
    let is_later = |hit: &Hit| Some(hit.entry) != sure;
    hits.sort_unstable_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        is_later(one).cmp(&is_later(other)).then(by_score).then(one.entry.cmp(&other.entry))
    });
    SearchResult { verdict, hits }
}

/// The clauses of a query: its sentences, and what follows each `and` with an action. A short query has none.
fn clauses(query: &str) -> Vec<&str> {
    if query.split_whitespace().nth(LONG).is_none() {
        return Vec::new();
    }
    let mut starts = vec![0];
    let (mut end, mut before) = (0, "");
    for word in query.split_whitespace().take(MAX_WORDS) {
        let at = word.as_ptr() as usize - query.as_ptr() as usize;
        if query[end..at].contains('\n') || begins(word, before) {
            starts.push(at);
        }
        (end, before) = (at + word.len(), word);
    }
    starts.push(end);
    let spans = starts.windows(2).map(|span| &query[span[0]..span[1]]);
    let counted: Vec<(&str, usize)> = spans.map(|clause| (clause, telling(clause))).collect();
    if counted.iter().map(|(_, words)| words).sum::<usize>() < LONG {
        return Vec::new();
    }
    counted
        .into_iter()
        .filter(|(_, words)| *words >= SHORT)
        .take(MAX_CLAUSES)
        .map(|(clause, _)| clause)
        .collect()
}

/// Number of words that say something.
fn telling(clause: &str) -> usize {
    let mut count = 0;
    let mut see = |word: Word<'_>| count += usize::from(!word.joined && !is_stop(word.text));
    clause.split_whitespace().for_each(|written| words(written, &mut see));
    count
}

/// Whether a word begins a clause after this one.
fn begins(word: &str, before: &str) -> bool {
    let is_end = |c| matches!(c, '.' | '!' | '?' | ';' | ':');
    if before.ends_with(is_end) {
        return true;
    }
    let is_joined = before.ends_with(',') || JOINS.iter().any(|join| before.eq_ignore_ascii_case(join));
    let bare = || word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    word.eq_ignore_ascii_case("then") || is_joined && is_verb(&bare())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &[&str]) {
        let found: Vec<&str> = clauses(query).into_iter().map(str::trim).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_task_has_a_clause_for_each_job_and_a_request_has_none() {
        check(
            "Find the invoice task of the Berlin project, mark the task complete and send an email to the client. Thanks!",
            &[
                "Find the invoice task of the Berlin project,",
                "mark the task complete and",
                "send an email to the client.",
            ],
        );
        check("close issue 12 and open a new one", &[]);
    }
}
