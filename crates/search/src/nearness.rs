//! How near the words of entries are to those of a query, by their meaning.

use hashbrown::HashMap;

use super::index::{Index, SHOWN, Term};
use super::query::Query;

/// Weight of a sense from which a word is met, and no other word of the entry is nearer.
const MET: f32 = 0.8;

impl Index {
    /// Weight of the nouns of an entry's name that are not near to any word of a query, and nearness of the head nouns.
    pub(super) fn nouns_beside(&self, query: &Query, entry: u32, near: &mut Nearness) -> (f32, f32) {
        let (mut extra, mut head) = (0.0, 0.0_f32);
        for term in &self.nouns[entry as usize] {
            let (mut best, mut to_head) = (0.0_f32, 0.0_f32);
            for (unit, nearness) in query.units.iter().zip(near.of(self, query, *term)) {
                let said = unit.senses.iter().filter(|sense| sense.term == *term).map(|sense| sense.weight);
                let nearness = said.fold(*nearness, f32::max);
                if unit.topic > 0.0 && query.request.verb != Some(unit.words.start) {
                    best = best.max(nearness);
                }
                if query.head.is_some_and(|head| unit.words.contains(&head)) {
                    to_head = to_head.max(nearness);
                }
            }
            extra += self.idf[*term as usize] / self.max_idf * (1.0 - best);
            // The last noun is the head.
            head = to_head;
        }
        (extra, head)
    }

    /// How near the words of an entry's name and summary are to the objects and actions of a query.
    pub(super) fn nearness(&self, query: &Query, entry: u32, near: &mut Nearness) -> f32 {
        let units = self.units_near(query, entry, near);
        let (mut sum, mut all) = (0.0, 0.0);
        for (unit, nearness) in query.units.iter().zip(units).filter(|(unit, _)| unit.topic > 0.15) {
            let weight = unit.topic * unit.weight;
            all += weight;
            sum += weight * nearness;
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// How near the nearest word of an entry is to each unit, from 0 to 1.
    pub(super) fn units_near(&self, query: &Query, entry: u32, near: &mut Nearness) -> Vec<f32> {
        let mut nearest = vec![0.0_f32; query.units.len()];
        let terms = self.entry_terms[entry as usize].iter();
        for (term, _) in terms.filter(|(_, fields)| fields & SHOWN != 0) {
            let nearness = near.of(self, query, *term);
            nearest.iter_mut().zip(nearness).for_each(|(most, nearness)| *most = most.max(*nearness));
        }
        let met = |unit| self.met(unit, entry).map(|(sense, _)| sense.weight).fold(0.0, f32::max);
        let nearer = |met: f32, nearest: f32| if met >= MET { met } else { met.max(nearest) };
        query.units.iter().zip(nearest).map(|(unit, nearest)| nearer(met(unit), nearest)).collect()
    }
}

/// How near words of entries are to each unit of a query. Many entries have the same words: each is compared once.
#[derive(Default)]
pub(super) struct Nearness(HashMap<Term, Box<[f32]>>);

impl Nearness {
    fn of(&mut self, index: &Index, query: &Query, term: Term) -> &[f32] {
        self.0.entry(term).or_insert_with(|| {
            let meaning = &index.term_meanings[term as usize];
            query.units.iter().map(|unit| meaning.near(&unit.meaning)).collect()
        })
    }
}
