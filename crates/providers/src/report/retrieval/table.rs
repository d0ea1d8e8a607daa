//! The measures of each file of queries: as a table for people, and against thresholds.

use serde::Serialize;

use super::measures::{DEPTH, Measures, SLACK, WrongQuery};
use crate::report::text::{aligned, grouped, wrapped};
use toolcrib_definition::clean_line;

/// Measures of search on a catalog.
#[derive(Debug, Serialize)]
pub struct RetrievalReport {
    /// The registry version that was searched.
    pub registry_version: String,
    /// Number of its tools.
    pub tools: usize,
    /// One for each file of labelled queries.
    pub files: Vec<Row>,
    /// The failed queries, worst first.
    pub worst: Vec<WrongQuery>,
}

/// Measures of search on one file of labelled queries.
#[derive(Debug, Serialize)]
pub struct Row {
    pub file: String,
    /// Number of its queries.
    pub queries: usize,
    /// Number of queries that no tool serves.
    pub unanswerable: usize,
    /// Measures over them.
    #[serde(flatten)]
    pub measures: Measures,
}

impl RetrievalReport {
    /// The thresholds, in percent, that are not reached: every file that defines a measure has to reach it, and one file
    /// must define it.
    pub fn missed<'t>(&self, thresholds: impl IntoIterator<Item = (&'t str, f64)>) -> Vec<String> {
        let mut missed = Vec::new();
        for (measure, least) in thresholds {
            let of = |row: &Row| Some((clean_line(&row.file), 100.0 * row.measures.get(measure).copied()??));
            let measured: Vec<(String, f64)> = self.files.iter().filter_map(of).collect();
            if measured.is_empty() {
                missed.push(format!("{measure} cannot be measured with these queries"));
            }
            let below = measured.iter().filter(|(_, value)| *value < least - SLACK);
            missed.extend(
                below.map(|(file, value)| format!("{file}: {measure} is {value:.1} %, below {least}")),
            );
        }
        missed
    }
}

/// The columns: a heading, and the measure below it.
const COLUMNS: [(&str, &str); 5] = [
    ("R@1", "recall_1"),
    ("R@5", "recall_5"),
    ("NDCG", "ndcg"),
    ("wrong no match", "wrong_no_match"),
    ("refused", "refused"),
];
/// Most hits, and most expected tools, that are printed of a failed query.
const SHOWN_HITS: usize = 3;
const GOLD: usize = 6;
/// Longest query that is printed, in characters.
const QUERY: usize = 160;

const NOTES: [&str; 2] = [
    "R@k: the share of a query's tools among the first k hits. NDCG: how high up they come, among the first ten. Both over \
     the queries that some tool serves, in percent.",
    "wrong no match: the share of these queries that is answered \"no match\". refused: the share of the other queries that \
     is, rightly.",
];

impl RetrievalReport {
    /// Tables, with explanations under them.
    pub fn table(&self) -> String {
        let heads = ["file", "queries", "unanswerable"].into_iter().chain(COLUMNS.map(|(head, _)| head));
        let mut rows = vec![heads.map(str::to_string).collect()];
        rows.extend(self.files.iter().map(Row::cells));
        let mut out = format!("Search over {} tools, in percent\n\n{}", grouped(self.tools), aligned(&rows));
        if !self.worst.is_empty() {
            out += "\nWorst first:\n";
            self.worst.iter().for_each(|query| out += &query.text());
        }
        out.push('\n');
        NOTES.iter().for_each(|note| out += &wrapped(note));
        out
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let measure = |(_, name)| match self.measures.get(name).copied().flatten() {
            Some(share) => format!("{:.1}", share * 100.0),
            None => "-".into(),
        };
        let counts = [clean_line(&self.file), grouped(self.queries), grouped(self.unanswerable)];
        counts.into_iter().chain(COLUMNS.map(measure)).collect()
    }
}

impl WrongQuery {
    fn text(&self) -> String {
        let query: String = clean_line(&self.query).chars().take(QUERY).collect();
        let wanted = |(name, rank): &(String, Option<usize>)| match rank {
            Some(rank) => format!("{} (rank {rank})", clean_line(name)),
            None => format!("{} (not in the first {DEPTH})", clean_line(name)),
        };
        let mut gold: Vec<String> = self.gold.iter().take(GOLD).map(wanted).collect();
        if self.gold.len() > GOLD {
            gold.push(format!("{} more", self.gold.len() - GOLD));
        }
        let gold = if gold.is_empty() { "no_match".to_string() } else { gold.join(", ") };
        let verdict = (self.verdict == "no_match").then(|| "no_match".to_string());
        let hit = |(name, confidence): &(String, f64)| format!("{} {confidence:.2}", clean_line(name));
        let hits = verdict.into_iter().chain(self.hits.iter().take(SHOWN_HITS).map(hit));
        let hits = hits.collect::<Vec<_>>().join(", ");
        let place = format!("{}:{}", clean_line(&self.file), self.line);
        format!("  {place}  {query}\n    wanted  {gold}\n    came    {hits}\n")
    }
}
