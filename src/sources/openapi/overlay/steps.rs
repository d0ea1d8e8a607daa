//! Steps that the paths of overlays may take in one document, estimated from above before a path is followed: a short path,
//! such as `$..*..*`, can visit more values than there is time and memory for.

use serde_json::Value;

/// Most values that all actions on a document may visit: some seconds.
pub(super) const MAX_STEPS: u64 = 4_000_000;

/// The steps that are left, and the size of the document that they are estimated by.
pub(super) struct Steps {
    left: u64,
    /// Number of values at each depth, the root first.
    levels: Vec<u64>,
    /// Number of values, with those that were added.
    values: u64,
    /// Values that were added, at whatever depth.
    added: u64,
    depth: u64,
}

/// A part of a path that selects among the children of a value, or of all values below it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Segment {
    descends: bool,
    /// Whether a selector may select several children.
    is_wide: bool,
    selectors: u64,
    /// In its filters, outside of texts: `..`, `$`, wide selectors, and commas.
    filter: Option<Filter>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Filter {
    descents: u32,
    roots: u32,
    wide: u32,
    commas: u64,
}

impl Steps {
    pub(super) fn of(document: &Value) -> Self {
        let mut levels = Vec::new();
        count(document, 0, &mut levels);
        let (values, depth) = (levels.iter().sum(), levels.len() as u64);
        Self { left: MAX_STEPS, levels, values, added: 0, depth }
    }

    /// Counts values that an action adds, and the depth of each.
    pub(super) fn grow(&mut self, values: usize, depth: usize) {
        self.values += values as u64;
        self.added += values as u64;
        self.depth += depth as u64;
    }

    /// Takes the steps of a path; `false` where too few are left.
    pub(super) fn take(&mut self, path: &str) -> bool {
        match self.left.checked_sub(self.needed(&segments(path))) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    fn needed(&self, segments: &[Segment]) -> u64 {
        let (mut needed, mut repeats, mut level, mut selected) = (1_u64, 1_u64, Some(0), 1_u64);
        for segment in segments {
            repeats = repeats.saturating_mul(segment.selectors);
            (level, selected) = match (segment.descends, level) {
                (true, Some(_)) => (None, self.values),
                (true, None) => (None, selected.saturating_mul(self.depth)),
                (false, Some(depth)) if segment.is_wide => (Some(depth + 1), self.at(depth + 1)),
                (false, Some(depth)) => (Some(depth + 1), selected),
                (false, None) => (None, selected),
            };
            let visited = selected.saturating_mul(repeats);
            needed = needed.saturating_add(visited);
            if let Some(filter) = &segment.filter {
                needed = needed.saturating_add(self.filtered(filter, visited).saturating_mul(repeats));
            }
        }
        needed
    }

    /// Number of values at a depth.
    fn at(&self, depth: usize) -> u64 {
        self.levels.get(depth).copied().unwrap_or_default() + self.added
    }

    /// Steps of the queries in a filter, for as many candidates.
    fn filtered(&self, filter: &Filter, candidates: u64) -> u64 {
        let Filter { descents, roots, wide, commas } = *filter;
        if descents == 0 && wide == 0 {
            return candidates;
        }
        let below = self.depth.saturating_pow(descents).saturating_mul(commas + 1);
        match roots {
            0 => self.values.saturating_mul(below),
            roots => candidates.saturating_mul(self.values.saturating_pow(roots)).saturating_mul(below),
        }
    }
}

fn count(value: &Value, depth: usize, levels: &mut Vec<u64>) {
    if levels.len() <= depth {
        levels.push(0);
    }
    levels[depth] += 1;
    match value {
        Value::Object(object) => object.values().for_each(|child| count(child, depth + 1, levels)),
        Value::Array(items) => items.iter().for_each(|item| count(item, depth + 1, levels)),
        _ => {}
    }
}

/// The segments of a path that is known to be valid.
fn segments(path: &str) -> Vec<Segment> {
    let mut rest = path.trim_start().strip_prefix('$').unwrap_or(path).trim_start();
    let mut segments = Vec::new();
    while !rest.is_empty() {
        let descends = rest.starts_with("..");
        let text = rest.trim_start_matches('.').trim_start();
        let (mut segment, length) = match text.strip_prefix('[') {
            Some(inner) => {
                let (segment, length) = bracketed(inner);
                (segment, length + 1)
            }
            None => {
                let end = |c: char| c == '.' || c == '[' || c.is_whitespace();
                let is_wide = text.starts_with('*');
                (
                    Segment { is_wide, selectors: 1, ..Segment::default() },
                    text.find(end).unwrap_or(text.len()),
                )
            }
        };
        segment.descends = descends;
        segments.push(segment);
        rest = text.get(length.max(1)..).unwrap_or_default().trim_start();
    }
    segments
}

/// The segment whose bracket is open, and the length of its text with the closing bracket.
fn bracketed(text: &str) -> (Segment, usize) {
    let mut segment = Segment { selectors: 1, ..Segment::default() };
    let (mut open, mut quote, mut is_escaped) = (0, None, false);
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(mark), byte) if byte == mark => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[' | b'(') => open += 1,
            (None, b']') if open == 0 => return (segment, at + 1),
            (None, b']' | b')') => open -= 1,
            (None, b',') if open == 0 => segment.selectors += 1,
            (None, b'?') if open == 0 => {
                segment.is_wide = true;
                segment.filter.get_or_insert_default();
            }
            (None, b'*' | b':') if open == 0 && segment.filter.is_none() => segment.is_wide = true,
            (None, byte) => {
                let Some(filter) = &mut segment.filter else { continue };
                match byte {
                    b'.' if bytes.get(at + 1) == Some(&b'.') => filter.descents += 1,
                    b'$' => filter.roots += 1,
                    b'*' | b':' | b'?' => filter.wide += 1,
                    b',' => filter.commas += 1,
                    _ => {}
                }
            }
        }
    }
    (segment, text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A document of 1 + 10 + 100 + 1000 values.
    fn steps() -> Steps {
        let row = || Value::from_iter(vec![json!(1); 10]);
        let square = || Value::from_iter(std::iter::repeat_with(row).take(10));
        Steps::of(&Value::from_iter(std::iter::repeat_with(square).take(10)))
    }

    #[track_caller]
    fn needs(path: &str, expect: std::ops::RangeInclusive<u64>) {
        serde_json_path::JsonPath::parse(path).unwrap();
        let needed = steps().needed(&segments(path));
        assert!(expect.contains(&needed), "{path}: {needed}");
    }

    #[test]
    fn a_path_needs_as_many_steps_as_it_can_visit_values() {
        needs("$", 1..=1);
        needs("$.paths['/a..b[*]?$'].get", 1..=4);
        needs("$ [0] ['it\\'s', \"*\"]", 1..=6);
        needs("$.paths.*", 100..=110);
        needs("$[*][*]", 100..=120);
        needs("$.*[?@['x-internal'] == true]", 100..=220);
        needs("$.*[?@.a == 'x..y' && @.b != $.c]", 100..=220);
        needs("$..x", 1111..=1200);
        needs("$..*", 1111..=1200);
        needs("$..*..*", 4000..=6000);
        needs("$..*..*..*", 16000..=30000);
        needs("$[*,*][*,*][*,*]", 8000..=9000);
        needs("$..[?@..x]", 4000..=6000);
        needs("$..[?@..x && $..y]", 1_000_000..=100_000_000);
        needs("$..[?count($..*) > 1]", 1_000_000..=100_000_000);
        needs("$..[?@.*[?@.x]]", 1111..=20000);
    }
}
