//! The reason why an entry is a hit, for people; and the words of a query that no hit has.

use super::index::Index;
use super::query::{Kind, MetSenses, Query};
use super::{Field, Hit};

/// Most words of each kind that are listed.
const MAX_SHOWN: usize = 5;
/// Weight of a word below which it does not tell what is wanted.
const TELLING: f32 = 0.2;

impl Index {
    /// Words of a query that none of these hits has, in any sense. They tell what is missing where nothing fits.
    pub fn unmet(&self, query: &str, hits: &[Hit]) -> Vec<String> {
        let query = Query::read(query, self);
        let hits: Vec<MetSenses> =
            hits.iter().map(|hit| MetSenses::of(&query, hit.entry as u32, self)).collect();
        let met =
            |unit: &&super::query::Unit| hits.iter().any(|senses| senses.of_unit(unit).next().is_some());
        let met: Vec<_> = query.units.iter().filter(met).map(|unit| unit.words.clone()).collect();
        let is_unmet = |word| !met.iter().any(|words| words.contains(&word));
        let unmet = query.units.iter().filter(|unit| unit.weight > TELLING && is_unmet(unit.words.start));
        unmet.filter(|unit| unit.words.len() == 1).map(|unit| unit.said.clone()).take(MAX_SHOWN).collect()
    }
}

/// Lists the fields that contain words of the query: `name: move, document; text: folder; meant: directory (folder)`.
pub(super) fn of(query: &Query, senses: &MetSenses) -> String {
    let mut groups: [(&str, Vec<String>); 5] = [
        ("name", vec![]),
        ("text", vec![]),
        ("parameters", vec![]),
        ("similar words for", vec![]),
        ("spelled", vec![]),
    ];
    for unit in &query.units {
        let best = senses.of_unit(unit).max_by(|(one, _), (other, _)| one.weight.total_cmp(&other.weight));
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
    let parts = groups.iter().filter(|(_, words)| !words.is_empty());
    let parts =
        parts.map(|(group, words)| format!("{group}: {}", words[..words.len().min(MAX_SHOWN)].join(", ")));
    parts.collect::<Vec<_>>().join("; ")
}
