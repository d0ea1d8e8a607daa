//! Ranks entries by their fit to a query.

use super::candidate::{Candidate, FEATURES, Within, order};
use super::confidence::{self, Features};
use super::index::Index;
use super::nearness::Nearness;
use super::query::Query;
use super::reason::reason;
use super::result::{Hit, SearchRequest, SearchResult, Verdict};
use toolcrib_definition::Effect;

/// Most entries that are scored in full.
const CANDIDATES: usize = 100;
/// Most confidence of the other hits if the query names an entry.
const MOST_BESIDE_NAMED: f32 = 0.5;
/// Number of first hits that the verdict is based on, and of those that compete with a hit.
const TELLING: usize = 5;
const RIVALS: usize = 10;

/// Weight of each ranking feature, as `lab/search/fit.py` prints them.
const WEIGHTS: [f32; FEATURES] = [0.2, 7.4, 5.0, 1.1, 3.0, 1.1, 1.1, 5.1, 1.3, -1.5, 0.7];
/// Cosine from which an entry without a word of the query is still shown if nothing fits.
const TELLS_NEAR: f32 = 0.35;
/// Nearness from which the head nouns of a request and of a name mean the same thing.
const SAME_THING: f32 = 0.5;
/// A query of up to `SHORT` words is short, and one of `LONG` words or more is long.
const SHORT: f32 = 6.0;
const LONG: f32 = 20.0;

/// Features of a query's candidates, for the programs in `lab/search`.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Terms of the likelihood that anything fits.
    pub query: Vec<confidence::Term>,
    /// For each candidate, best first, its entry and its ranking features.
    pub order: Vec<(usize, Vec<f32>)>,
    /// For each of the first hits, its entry and the terms of the probability that it is right.
    pub hits: Vec<(usize, Vec<confidence::Term>)>,
}

impl Index {
    /// Ranks the entries for a request. Entries that the query names come first, then the best fits.
    pub fn find(&self, request: SearchRequest<'_>) -> SearchResult {
        let query = Query::read(request.query, self);
        let mut named = self.named_in(request.query);
        named.retain(|&entry| request.within.is_none_or(|within| within(entry)));
        let mut ranked = self.ranked(&query, request.within, request.limit.max(CANDIDATES));
        ranked.retain(|candidate| !named.contains(&(candidate.entry as usize)));
        let best = ranked.first().map_or(0.0, |first| first.score);
        let left = request.limit.saturating_sub(named.len());
        let first = self.first_features(&query, &ranked, left.max(TELLING));
        let telling = &first[..first.len().min(TELLING)];
        let fit = if named.is_empty() { self.match_likelihood(&query, telling) } else { 1.0 };
        let most = if named.is_empty() { 1.0 } else { MOST_BESIDE_NAMED };
        let named = named.iter().map(|&entry| Hit {
            entry,
            score: best.max(1.0) * 2.0,
            confidence: confidence::NAMED,
            reason: "the query names it".into(),
        });
        let is_near = |one: &Candidate| one.words > 0.0 || one.meaning >= TELLS_NEAR;
        let shown = |one: &&Candidate| fit >= self.min_match_likelihood || is_near(one);
        let fitting = ranked.iter().zip(&first).take(left).filter(|(one, _)| shown(one));
        let fitting = fitting.map(|(candidate, features)| Hit {
            entry: candidate.entry as usize,
            score: candidate.score,
            confidence: confidence::of(features, fit).min(most).min(self.most_for(&query, candidate)),
            reason: reason(self, &query, candidate),
        });
        let hits: Vec<Hit> = named.chain(fitting).collect();
        let sure = hits.first().map_or(0.0, |first| first.confidence);
        let verdict = if fit < self.min_match_likelihood {
            if query.is_unreadable() { Verdict::UnknownLanguage } else { Verdict::NoMatch }
        } else if self.min_match_likelihood > 0.0 && sure < confidence::UNSURE {
            Verdict::Unsure
        } else {
            Verdict::Match
        };
        SearchResult { verdict, hits }
    }

    /// The most confidence of a candidate. It is low for a destructive tool that acts on another thing or does what is
    /// not asked for, since nobody should call such a tool without a look; for a tool that does the contrary; where a short
    /// query asks to write, for a tool that only reads; and for a tool without a word of a query in another script.
    fn most_for(&self, query: &Query, candidate: &Candidate) -> f32 {
        let entry = candidate.entry as usize;
        let is_short = query.length as f32 <= SHORT;
        let is_unasked = candidate.agrees < 0.0 || self.does[entry].deletes() && !query.request.is_removal;
        let is_doubted = match self.effects[entry] {
            Some(Effect::Destructive) if candidate.head < SAME_THING || is_unasked => true,
            Some(Effect::Read) if candidate.agrees < 0.0 && is_short && query.request.writes() => true,
            _ if query.is_foreign_script && candidate.words <= 0.0 => true,
            _ => self.is_contrary(&query.contraries, candidate.entry),
        };
        if is_doubted { confidence::UNSURE / 2.0 } else { 1.0 }
    }

    /// Features of a query's candidates, for the programs that fit the weights; `None` if the query names an entry or
    /// finds nothing.
    pub fn observe(&self, query: &str) -> Option<Observation> {
        let is_named = !self.named_in(query).is_empty();
        let query = Query::read(query, self);
        let ranked = self.ranked(&query, None, CANDIDATES);
        let telling = self.first_features(&query, &ranked, TELLING);
        if is_named || telling.is_empty() {
            return None;
        }
        let fit = self.match_likelihood(&query, &telling);
        Some(Observation {
            query: self.match_terms(&query, &telling).to_vec(),
            order: ranked.iter().map(|one| (one.entry as usize, one.features.to_vec())).collect(),
            hits: telling.iter().map(|hit| (hit.hit.entry as usize, hit.terms(fit).to_vec())).collect(),
        })
    }

    /// The features of the first of these candidates.
    fn first_features(&self, query: &Query, ranked: &[Candidate], count: usize) -> Vec<Features> {
        let scores: Vec<f32> = ranked.iter().take(RIVALS).map(|candidate| candidate.score).collect();
        let features = |(place, candidate)| self.features(query, place, candidate, &scores);
        ranked.iter().take(count).enumerate().map(features).collect()
    }

    fn ranked(&self, query: &Query, within: Within<'_>, limit: usize) -> Vec<Candidate> {
        let mut candidates = self.candidates(query, within, limit);
        let mut near = Nearness::default();
        for candidate in &mut candidates {
            let entry = candidate.entry as usize;
            candidate.agrees = self.does[entry].agrees(&query.request);
            candidate.near = self.nearness(query, candidate.entry, &mut near);
            (candidate.extra, candidate.head) = self.nouns_beside(query, candidate.entry, &mut near);
            let phrases = self.phrases[entry].iter().map(|phrase| phrase.near(&query.meaning));
            candidate.phrase = phrases.fold(0.0, f32::max);
        }
        let most =
            |value: fn(&Candidate) -> f32| candidates.iter().map(value).fold(f32::MIN_POSITIVE, f32::max);
        let top_words = most(|one| one.words);
        let top_meaning = most(|one| one.meaning).max(0.2);
        let top_phrase = most(|one| one.phrase).max(0.2);
        let long = ((query.length as f32 - SHORT) / (LONG - SHORT)).clamp(0.0, 1.0);
        for candidate in &mut candidates {
            let entry = candidate.entry as usize;
            let words = candidate.words / top_words;
            let meaning = candidate.meaning / top_meaning;
            let lists = self.does[entry].lists && query.request.wants_list;
            let group = self.groups[entry].iter().any(|group| query.groups.contains(group));
            candidate.features = [
                words,
                words * long,
                meaning,
                meaning * long,
                candidate.phrase / top_phrase,
                candidate.agrees,
                f32::from(u8::from(lists)),
                candidate.near,
                f32::from(u8::from(group)),
                candidate.extra * (1.0 - long),
                candidate.head,
            ];
            candidate.score =
                candidate.features.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum();
        }
        candidates.sort_unstable_by(order);
        self.keep_writes_from_first(query, &mut candidates);
        candidates
    }

    /// Moves the first suitable tool to the top. A tool that deletes is suitable if the request asks to remove
    /// something; any other destructive tool, if the request is destructive or asks for just what the tool does; and a
    /// tool that writes, if the request is not a question as well.
    fn keep_writes_from_first(&self, query: &Query, candidates: &mut [Candidate]) {
        let is_asked = |one: &Candidate| {
            let does = &self.does[one.entry as usize];
            let effect = self.effects[one.entry as usize];
            let is_harmless = effect != Some(Effect::Destructive) || one.agrees > 0.0;
            let is_read = effect == Some(Effect::Read) || !does.writes();
            let is_wanted = if does.deletes() {
                query.request.is_removal
            } else {
                query.request.is_destructive || (is_harmless && !does.removes())
            };
            is_wanted && (!query.request.is_question || is_read)
        };
        if let Some(place) = candidates.iter().position(is_asked) {
            let best = candidates[0].score;
            candidates[..=place].rotate_right(1);
            candidates[0].score = candidates[0].score.max(best);
        }
    }
}
