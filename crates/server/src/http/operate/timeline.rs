//! A session as a line of time: repeated questions are one row, and each row has a bar from its beginning to its end.

use serde_json::{Value, json};
use toolcrib_gateway::state::{Event, WAITING};

/// Units of the line's width.
const WIDTH: i64 = 1_000;
/// What is shorter is still seen.
const SHORTEST: i64 = 4;

/// Events that ask the same one after another, and are answered the same.
pub(super) struct Row<'e> {
    events: &'e [Event],
    /// The number of the first in its session.
    pub(super) number: usize,
}

/// The rows of events whose first has the number `first`.
pub(super) fn rows(events: &[Event], first: usize) -> Vec<Row<'_>> {
    let mut number = first;
    let row = |events| {
        let row = Row { events, number };
        number += row.events.len();
        row
    };
    events.chunk_by(is_repeated).map(row).collect()
}

fn is_repeated(one: &Event, next: &Event) -> bool {
    let asked = |event: &Event| (event.kind, event.op.clone(), event.outcome.clone(), event.error.clone());
    asked(one) == asked(next) && one.input == next.input && one.detail == next.detail
}

impl<'e> Row<'e> {
    pub(super) fn event(&self) -> &'e Event {
        &self.events[0]
    }

    pub(super) fn count(&self) -> usize {
        self.events.len()
    }

    /// The first and the last millisecond.
    fn span(&self) -> (i64, i64) {
        let since = self.events.iter().map(|event| event.at - event.latency_us / 1_000).min();
        let until = self.events.iter().map(|event| event.at).max();
        (since.unwrap_or(0), until.unwrap_or(0))
    }
}

/// The bars of rows: place, width, and whether a person was waited for.
pub(super) fn bars(rows: &[Row<'_>]) -> Vec<Value> {
    let spans: Vec<(i64, i64)> = rows.iter().map(Row::span).collect();
    let since = spans.iter().map(|(since, _)| *since).min().unwrap_or(0);
    let whole = spans.iter().map(|(_, until)| until - since).max().unwrap_or(0).max(1);
    let bar = |(row, (from, to)): (&Row<'_>, &(i64, i64))| {
        let width = ((to - from) * WIDTH / whole).clamp(SHORTEST, WIDTH);
        let at = ((from - since) * WIDTH / whole).min(WIDTH - width);
        json!({ "at": at, "width": width, "is_waiting": row.event().outcome == WAITING })
    };
    rows.iter().zip(&spans).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: i64, ms: i64, op: &str, outcome: &str) -> Event {
        Event { at, latency_us: ms * 1_000, op: Some(op.into()), outcome: outcome.into(), ..Event::default() }
    }

    #[test]
    fn repeated_questions_are_one_row_from_the_first_to_the_last() {
        let events = [
            event(1_100, 100, "a", "ok"),
            event(1_500, 0, "pay", WAITING),
            event(2_000, 0, "pay", WAITING),
            event(3_000, 500, "pay", "ok"),
        ];
        let rows = rows(&events, 7);
        let counts: Vec<_> = rows.iter().map(|row| (row.number, row.count())).collect();
        assert_eq!(counts, [(7, 1), (8, 2), (10, 1)]);
        let expected = json!([
            {"at": 0, "width": 50, "is_waiting": false},
            {"at": 250, "width": 250, "is_waiting": true},
            {"at": 750, "width": 250, "is_waiting": false},
        ]);
        assert_eq!(Value::from(bars(&rows)), expected);
    }

    #[test]
    fn events_of_one_moment_or_with_wrong_clocks_stay_on_the_line() {
        for events in
            [vec![], vec![event(5, 0, "a", "ok")], vec![event(9, 90_000, "a", "ok"), event(2, 0, "b", "ok")]]
        {
            for bar in bars(&rows(&events, 1)) {
                assert!(bar["at"].as_i64().unwrap() >= 0, "{bar}");
                assert!(bar["at"].as_i64().unwrap() + bar["width"].as_i64().unwrap() <= WIDTH, "{bar}");
            }
        }
    }
}
