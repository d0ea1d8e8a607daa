//! The report for people.

use super::super::layout::{aligned, grouped, wrapped};
use super::{DEPTH, Measures, RetrievalReport, Row, WrongQuery};
use crate::tool::clean_line;

/// The columns: a heading, and the measure below it.
pub(super) const COLUMNS: [(&str, &str); 10] = [
    ("R@1", "recall_1"),
    ("R@3", "recall_3"),
    ("R@5", "recall_5"),
    ("R@10", "recall_10"),
    ("NDCG@10", "ndcg_10"),
    ("MRR", "mrr"),
    ("no_match", "abstention"),
    ("wrongly", "wrong_abstention"),
    ("R@5 answered", "recall_5_answered"),
    ("ECE", "ece"),
];

/// Most hits, and most right tools, that are printed of a failed query.
const HITS: usize = 3;
const GOLD: usize = 6;
/// Longest query that is printed, in characters.
const QUERY: usize = 160;

pub(super) const NOTES: [&str; 3] = [
    "R@k: the share of a query's tools among the first k hits. NDCG@10 and MRR: how high up they come. All over the \
     queries that some tool serves, in percent.",
    "no_match: the share of unanswerable queries that are answered so; wrongly: the share of the others. R@5 answered: \
     R@5 when that counts as nothing found.",
    "ECE: how far the confidence of first hits is from how often they are right, in points. docs/search.md says more.",
];

impl RetrievalReport {
    /// Tables, with explanations under them.
    pub fn table(&self) -> String {
        let mut header = ["file", "queries", "unanswerable"].map(str::to_string).to_vec();
        header.extend(COLUMNS.map(|(heading, _)| heading.to_string()));
        let mut rows = vec![header];
        rows.extend(self.files.iter().map(Row::cells));
        if self.files.len() > 1 {
            let mut mean = vec!["mean".to_string(), String::new(), String::new()];
            mean.extend(numbers(&self.mean));
            rows.push(mean);
        }
        let mut out = format!("Search over {} tools, in percent\n\n{}", grouped(self.tools), aligned(&rows));
        out += &self.ceiling();
        out += &self.reliability();
        out += &self.worst_queries();
        out.push('\n');
        NOTES.iter().for_each(|note| out += &wrapped(note));
        out
    }

    /// Largest possible measures, where below 1: of several tools only one can come first.
    fn ceiling(&self) -> String {
        let best = |row: &Row| {
            let best = row.measures.get("best_recall_1").filter(|best| *best < 1.0 - 1e-9)?;
            let file = short(&row.file);
            Some(format!(
                "{file}: R@1 can be {} at most, as some queries have several tools\n",
                percent(best)
            ))
        };
        let lines: String = self.files.iter().filter_map(best).collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }

    fn reliability(&self) -> String {
        if self.calibration.bins.is_empty() {
            return String::new();
        }
        let mut rows =
            vec![["first hit's confidence", "queries", "mean", "right"].map(str::to_string).to_vec()];
        rows.extend(self.calibration.bins.iter().map(|bin| {
            vec![
                format!("{:.1} to {:.1}", bin.from, bin.to),
                grouped(bin.queries),
                percent(bin.confidence),
                percent(bin.right),
            ]
        }));
        format!("\n{}", aligned(&rows))
    }

    pub(super) fn worst_queries(&self) -> String {
        if self.worst.is_empty() {
            return String::new();
        }
        let text: String = self.worst.iter().map(WrongQuery::text).collect();
        format!("\nWorst first:\n{text}")
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![short(&self.file), grouped(self.queries), grouped(self.unanswerable)];
        cells.extend(numbers(&self.measures));
        cells
    }
}

impl WrongQuery {
    fn text(&self) -> String {
        let query = shortened(&clean_line(&self.query));
        let mut wanted: Vec<String> = self.gold.iter().take(GOLD).map(|gold| gold.text()).collect();
        if self.gold.len() > GOLD {
            wanted.push(format!("{} more", self.gold.len() - GOLD));
        }
        let wanted = if wanted.is_empty() { "no_match".to_string() } else { wanted.join(", ") };
        let came = self.hits.iter().take(HITS);
        let came = came.map(|hit| format!("{} {:.2}", clean_line(&hit.name), hit.confidence));
        let mut came: Vec<String> = came.collect();
        if self.verdict == "no_match" {
            came.insert(0, "no_match".into());
        }
        let place = format!("{}:{}", clean_line(&self.file), self.line);
        let note = self.note.as_deref().map(clean_line).filter(|note| !note.is_empty());
        let note = note.map_or(String::new(), |note| format!("    note    {}\n", shortened(&note)));
        format!("  {place}  {query}\n    wanted  {wanted}\n    came    {}\n{note}", came.join(", "))
    }
}

impl super::Gold {
    fn text(&self) -> String {
        let rank =
            self.rank.map_or_else(|| format!("not in the first {DEPTH}"), |rank| format!("rank {rank}"));
        format!("{} ({rank})", clean_line(&self.name))
    }
}

/// A file by its last two names; there may be several called `queries.jsonl`.
pub(super) fn short(file: &str) -> String {
    let line = clean_line(file);
    let start = line.rmatch_indices(['/', '\\']).nth(1).map_or(0, |(place, _)| place + 1);
    line.get(start..).unwrap_or_default().to_string()
}

pub(super) fn numbers(measures: &Measures) -> impl Iterator<Item = String> + '_ {
    COLUMNS.iter().map(|(_, name)| measures.get(name).map_or("-".into(), percent))
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(QUERY) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}
