//! The comparison of setups for people.

use super::super::layout::{aligned, grouped, wrapped};
use super::table::{COLUMNS, NOTES, numbers, short};
use super::{Comparison, Interval, Intervals, Measures, Row, SetupReport};

/// The columns of differences; JSON has every measure.
const DIFFERENCES: [(&str, &str); 5] = [
    ("R@1", "recall_1"),
    ("R@5", "recall_5"),
    ("NDCG@10", "ndcg_10"),
    ("MRR", "mrr"),
    ("no_match", "abstention"),
];

const NOTE: &str = "differences: in points, in brackets the 95 % confidence interval by a paired bootstrap over \
                    queries (2,000 resamples, fixed seed). An interval with 0 in it may be chance.";

impl Comparison {
    /// Tables, with explanations under them.
    pub fn table(&self) -> String {
        let Some(first) = self.setups.first() else { return String::new() };
        let mut header = ["file", "setup", "queries", "unanswerable"].map(str::to_string).to_vec();
        header.extend(COLUMNS.map(|(heading, _)| heading.to_string()));
        let mut rows = vec![header];
        for (index, file) in first.report.files.iter().enumerate() {
            let of_file = |setup: &SetupReport| {
                let measures = setup.report.files.get(index).map(|row| &row.measures)?;
                Some(cells(&short(&file.file), setup, Some(file), measures))
            };
            rows.extend(self.setups.iter().filter_map(of_file));
        }
        if first.report.files.len() > 1 {
            rows.extend(self.setups.iter().map(|setup| cells("mean", setup, None, &setup.report.mean)));
        }
        let tools = grouped(first.report.tools);
        let mut out = format!("Search over {tools} tools, in percent\n\n{}", aligned(&rows));
        out += &self.differences(&first.setup);
        let worst = first.report.worst_queries();
        out += &worst.replacen("Worst first:", &format!("Worst of {} first:", first.setup), 1);
        out.push('\n');
        NOTES.iter().for_each(|note| out += &wrapped(note));
        if self.setups.len() > 1 {
            out += &wrapped(NOTE);
        }
        out
    }

    fn differences(&self, first: &str) -> String {
        let mut header = vec![format!("difference to {first}")];
        header.extend(DIFFERENCES.map(|(heading, _)| heading.to_string()));
        let row = |setup: &SetupReport| {
            let intervals: &Intervals = &setup.difference.as_ref()?.mean;
            let mut cells = vec![setup.setup.clone()];
            cells.extend(DIFFERENCES.map(|(_, name)| intervals.get(name).map_or("-".into(), points)));
            Some(cells)
        };
        let mut rows = vec![header];
        rows.extend(self.setups.iter().filter_map(row));
        if rows.len() > 1 { format!("\n{}", aligned(&rows)) } else { String::new() }
    }
}

fn cells(file: &str, setup: &SetupReport, row: Option<&Row>, measures: &Measures) -> Vec<String> {
    let count = |count: fn(&Row) -> usize| row.map_or(String::new(), |row| grouped(count(row)));
    let mut cells = vec![file.to_string(), setup.setup.clone()];
    cells.extend([count(|row| row.queries), count(|row| row.unanswerable)]);
    cells.extend(numbers(measures));
    cells
}

fn points(interval: &Interval) -> String {
    let [difference, low, high] =
        [interval.difference, interval.low, interval.high].map(|share| signed(share * 100.0));
    format!("{difference} ({low} to {high})")
}

/// With a sign, unless it is zero as printed.
fn signed(points: f64) -> String {
    let text = format!("{points:+.1}");
    if matches!(text.as_str(), "+0.0" | "-0.0") { "0.0".into() } else { text }
}
