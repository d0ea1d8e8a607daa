//! The reason why an entry is a hit, for people.

use super::Field;
use super::index::Index;
use super::query::{Kind, Query};

/// Most words of each kind that are listed.
const MAX_SHOWN: usize = 5;

/// Lists the fields that contain words of the query: `name: move, document; text: folder; meant: directory (folder)`.
pub(super) fn of(index: &Index, query: &Query, entry: u32) -> String {
    let mut groups: [(&str, Vec<String>); 5] = [
        ("name", vec![]),
        ("text", vec![]),
        ("parameters", vec![]),
        ("similar words for", vec![]),
        ("spelled", vec![]),
    ];
    for unit in &query.units {
        let best = unit
            .senses
            .iter()
            .filter_map(|sense| Some((sense, index.fields(sense.term, entry)?)))
            .max_by(|(one, _), (other, _)| one.weight.total_cmp(&other.weight));
        let Some((sense, found)) = best else { continue };
        let has = |fields: &[Field]| fields.iter().any(|field| found & field.bit() != 0);
        let group = match sense.kind {
            Kind::Meant => 3,
            Kind::Spelled => 4,
            Kind::Said if has(&[Field::Name, Field::Alias]) => 0,
            Kind::Said if has(&[Field::Short, Field::Long, Field::Label, Field::Example]) => 1,
            Kind::Said => 2,
        };
        if unit.weight > 0.2 && !groups[group].1.contains(&unit.said) {
            groups[group].1.push(unit.said.clone());
        }
    }
    let parts = groups.iter().filter(|(_, words)| !words.is_empty());
    let parts =
        parts.map(|(group, words)| format!("{group}: {}", words[..words.len().min(MAX_SHOWN)].join(", ")));
    parts.collect::<Vec<_>>().join("; ")
}
