//! The reason why an entry is a hit, for people; and the words of a query that no hit has.

use super::candidate::Candidate;
use super::index::{Field, Index};
use super::query::{Kind, Query, Unit};
use super::result::Hit;

/// Most words of each kind that are listed.
const MAX_SHOWN: usize = 5;
/// Weight of a word below which the word says little about the request.
const TELLING: f32 = 0.2;

impl Index {
    /// Words of a query that no hit has, in any sense. They show what is missing where nothing fits.
    pub fn unmet(&self, query: &str, hits: &[Hit]) -> Vec<String> {
        self.unmet_of(&Query::read(query, self), hits)
    }

    /// The entries among these hits that have every word of a query, in any sense.
    pub fn complete(&self, query: &str, hits: &[Hit]) -> Vec<usize> {
        let query = Query::read(query, self);
        let has_all = |hit: &&Hit| self.unmet_of(&query, std::slice::from_ref(*hit)).is_empty();
        hits.iter().filter(has_all).map(|hit| hit.entry).collect()
    }

    fn unmet_of(&self, query: &Query, hits: &[Hit]) -> Vec<String> {
        let met = |unit: &&Unit| hits.iter().any(|hit| self.met(unit, hit.entry as u32).next().is_some());
        let met: Vec<_> = query.units.iter().filter(met).map(|unit| unit.words.clone()).collect();
        let is_unmet = |word| !met.iter().any(|words| words.contains(&word));
        let unmet = query.units.iter().filter(|unit| unit.weight > TELLING && is_unmet(unit.words.start));
        unmet.filter(|unit| unit.words.len() == 1).map(|unit| unit.said.clone()).take(MAX_SHOWN).collect()
    }
}

/// Lists the fields that contain words of the query: `name: move, document; text: folder; similar words for: directory`.
/// Begins with a warning if the entry does the contrary of what is asked for.
pub(super) fn reason(index: &Index, query: &Query, candidate: &Candidate) -> String {
    let entry = candidate.entry;
    let mut groups =
        ["name", "text", "parameters", "similar words for", "spelled"].map(|name| (name, Vec::new()));
    for unit in &query.units {
        let best = index.met(unit, entry).max_by(|(one, _), (other, _)| one.weight.total_cmp(&other.weight));
        let Some((sense, found)) = best else { continue };
        let has = |fields: &[Field]| fields.iter().any(|field| found & field.bit() != 0);
        let group = match sense.kind {
            Kind::Meant => 3,
            Kind::Spelled => 4,
            Kind::Said if has(&[Field::Name, Field::Alias]) => 0,
            Kind::Said if has(&[Field::Short, Field::Long, Field::Label, Field::Example]) => 1,
            Kind::Said => 2,
        };
        if unit.weight > TELLING && !groups[group].1.contains(&unit.said) {
            groups[group].1.push(unit.said.clone());
        }
    }
    let shown = |(group, words): &(&str, Vec<String>)| {
        (!words.is_empty()).then(|| format!("{group}: {}", words[..words.len().min(MAX_SHOWN)].join(", ")))
    };
    let parts: Vec<String> = groups.iter().filter_map(shown).collect();
    let reason = if parts.is_empty() {
        format!("near in meaning ({:.2})", candidate.meaning)
    } else {
        parts.join("; ")
    };
    if index.is_contrary(&query.contraries, entry) { format!("does the contrary; {reason}") } else { reason }
}
