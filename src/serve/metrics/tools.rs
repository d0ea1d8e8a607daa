//! Metrics of tools: reads and calls, tokens, and whether traces can be written.

use std::sync::atomic::Ordering::Relaxed;

use super::text::MetricsText;
use crate::catalog::Catalog;
use crate::functions::function_counters::{BOUNDS, FunctionCounters};
use crate::state::Health;

impl MetricsText {
    /// Reads and calls of tools. Tools that the reader of the metrics may not see are not named.
    pub(super) fn tools(&mut self, counts: &FunctionCounters, catalog: &Catalog) {
        let calls = "toolcrib_executions_total";
        self.family(calls, "counter", "Calls of tools, by `ok` or the code of the error.");
        for (outcome, count) in counts.executions() {
            self.sample(calls, &format!("outcome=\"{}\"", escaped(&outcome)), count);
        }
        self.latency(counts);
        let reads = "toolcrib_tool_reads_total";
        self.family(reads, "counter", "Docs and help given of each tool that has been read.");
        for (op, count) in counts.reads(catalog) {
            self.sample(reads, &format!("op=\"{}\"", escaped(op)), count);
        }
        let totals = [
            (
                "toolcrib_search_abstentions_total",
                "Searches that found that nothing fits.",
                &counts.abstentions,
            ),
            (
                "toolcrib_tokens_served_total",
                "Tokens of answers of search, docs and help, four bytes to a token.",
                &counts.served,
            ),
            (
                "toolcrib_tokens_saved_total",
                "Tokens of all definitions less those served, once for each doc or help that was given.",
                &counts.saved,
            ),
        ];
        for (name, help, count) in totals {
            self.single("counter", name, help, count.load(Relaxed));
        }
    }

    fn latency(&mut self, counts: &FunctionCounters) {
        let took = "toolcrib_execution_duration_seconds";
        self.family(
            took,
            "histogram",
            "Time from a call of a tool to its result, with the time of its backend.",
        );
        let (by_bound, micros) = counts.latency();
        self.histogram(took, "", by_bound.into_iter(), &BOUNDS, micros);
    }

    /// Whether traces can be written.
    pub(super) fn state(&mut self, health: &Health) {
        let lost = "toolcrib_state_lost_events_total";
        self.single("counter", lost, "Events that could not be written.", health.lost);
        let gauges = [
            (
                "toolcrib_state_writable",
                "1 when the last write was done.",
                u64::from(health.problem.is_none()),
            ),
            (
                "toolcrib_state_volatile",
                "1 when it is in memory, and gone when the process ends.",
                u64::from(health.is_volatile),
            ),
        ];
        for (name, help, value) in gauges {
            self.gauge(name, help, value);
        }
        if let Some(problem) = &health.problem {
            let name = "toolcrib_state_problem";
            self.family(name, "gauge", "Why the last write was not done, while it is so.");
            self.sample(name, &format!("problem=\"{}\"", escaped(problem)), 1);
        }
    }
}

/// The value of a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
