//! Measures search: asks labelled queries, and compares the hits with the expected tools.
//!
//! Labelled queries are checked against the names of a catalog. [`evaluate`] asks each of them, in
//! parallel, and [`MEASURES`] are over the outcomes.

use std::io::Read;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{aligned, grouped, wrapped};
use toolcrib_catalog::Catalog;
use toolcrib_catalog::config::Eval;
use toolcrib_definition::finding::{Code, Document, Finding, Format, Place};
use toolcrib_definition::{clean_line, clipped};
use toolcrib_search::{SearchResult, Verdict};

/// Most hits of a query that are considered.
pub const DEPTH: usize = 100;

/// Tolerance for sums of shares, which are not exact in their last digits: 9 of 10 reaches 90.
const SLACK: f64 = 1e-9;

/// Measures by name, as shares from 0 to 1; `None` for one that the queries do not define.
pub type Measures = IndexMap<&'static str, Option<f64>>;

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
    /// The file.
    pub file: String,
    /// Number of its queries.
    pub queries: usize,
    /// Number of queries that no tool serves.
    pub unanswerable: usize,
    /// Measures over them.
    #[serde(flatten)]
    pub measures: Measures,
}

/// A failed query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrongQuery {
    /// Its file.
    pub file: String,
    /// Its line number.
    pub line: usize,
    /// The query.
    pub query: String,
    /// Quality of the result, from 0 to 1: its NDCG, and 0 where "no match" is wrong or missing.
    pub score: f64,
    /// `match` or `no_match`.
    pub verdict: &'static str,
    /// The expected tools with their ranks, from 1; `None` for one that is not among the hits. Empty when no tool serves
    /// the query.
    pub gold: Vec<(String, Option<usize>)>,
    /// The first hits with their confidence.
    pub hits: Vec<(String, f64)>,
}

/// Asks every query of these files and measures the hits of `find`, of which the first [`DEPTH`] count; entries are
/// the tools of the catalog in their order. At most `worst` failed queries are kept. `done` is called after each
/// query. The same labels and the same answers give the same report.
pub fn evaluate(
    catalog: &Catalog,
    labels: &[Labels],
    find: &(dyn Fn(&str) -> SearchResult + Sync),
    worst: usize,
    done: &(dyn Fn() + Sync),
) -> RetrievalReport {
    let ask = |labelled: &Labelled| {
        let outcome = QueryOutcome::new(&labelled.gold, find(&labelled.query));
        done();
        outcome
    };
    let mut files = Vec::new();
    let mut wrong = Vec::new();
    for labels in labels {
        let outcomes: Vec<QueryOutcome> = labels.queries.par_iter().map(ask).collect();
        files.push(Row {
            file: labels.file.clone(),
            queries: outcomes.len(),
            unanswerable: outcomes.iter().filter(|outcome| !outcome.is_answerable()).count(),
            measures: MEASURES.map(|(name, measure)| (name, measure(&outcomes))).into(),
        });
        let queries =
            labels.queries.iter().zip(outcomes).filter(|(_, outcome)| outcome.score() < 1.0 - SLACK);
        wrong.extend(queries.map(|(labelled, outcome)| (labels, labelled, outcome)));
    }
    // Of two equally bad ones the more confident one is worse; others stay in the order of the files.
    wrong.sort_by(|(.., one), (.., other)| {
        one.score().total_cmp(&other.score()).then(other.confidence().total_cmp(&one.confidence()))
    });
    let wrong =
        wrong.iter().take(worst).map(|(labels, labelled, outcome)| outcome.wrong(catalog, labels, labelled));
    RetrievalReport {
        registry_version: catalog.version.clone(),
        tools: catalog.tools.len(),
        files,
        worst: wrong.collect(),
    }
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

/// Most hits that NDCG considers.
const BORDER: usize = 10;
/// Most hits that are listed of a failed query.
const HITS: usize = 5;

/// The outcome of one labelled query.
#[derive(Clone, Debug, Default)]
pub struct QueryOutcome {
    /// The expected tools, by position; empty when no tool serves the query.
    gold: Vec<usize>,
    /// The hits, by position, with their confidence.
    hits: Vec<(usize, f64)>,
    /// Whether the result was "no match".
    is_no_match: bool,
}

/// One number from 0 to 1 from the outcomes of queries.
type Measure = fn(&[QueryOutcome]) -> Option<f64>;

/// The measures: those of ranking and wrong "no match" are over the queries that some tool serves, `refused` is over the
/// others.
pub const MEASURES: [(&str, Measure); 6] = [
    ("recall_1", |all| answerable(all, |one| one.recall(1))),
    ("recall_5", |all| answerable(all, |one| one.recall(5))),
    ("ndcg", |all| answerable(all, QueryOutcome::ndcg)),
    ("wrong_no_match", |all| answerable(all, QueryOutcome::no_match)),
    ("recall_5_answered", |all| answerable(all, |one| if one.is_no_match { 0.0 } else { one.recall(5) })),
    ("refused", |all| average(all.iter().filter(|one| !one.is_answerable()).map(QueryOutcome::no_match))),
];

fn answerable(all: &[QueryOutcome], measure: fn(&QueryOutcome) -> f64) -> Option<f64> {
    average(all.iter().filter(|one| one.is_answerable()).map(measure))
}

fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

impl QueryOutcome {
    /// The outcome of a query that these tools serve, by position.
    pub fn new(gold: &[usize], found: SearchResult) -> Self {
        // Rounds to six digits, as reports print it: 0.8 is 0.8, and not the nearest smaller number.
        let digits = |value: f32| (f64::from(value) * 1e6).round() / 1e6;
        let confidence = |value: f32| if value.is_nan() { 0.0 } else { digits(value).clamp(0.0, 1.0) };
        let hits = found.hits.iter().take(DEPTH).map(|hit| (hit.entry, confidence(hit.confidence)));
        Self { gold: gold.to_vec(), hits: hits.collect(), is_no_match: found.verdict == Verdict::NoMatch }
    }

    /// Whether some tool serves it.
    pub(super) fn is_answerable(&self) -> bool {
        !self.gold.is_empty()
    }

    /// The rank of a tool among the hits, from 1.
    fn rank(&self, tool: usize) -> Option<usize> {
        self.hits.iter().position(|(hit, _)| *hit == tool).map(|place| place + 1)
    }

    /// The share of its tools among the first `border` hits.
    fn recall(&self, border: usize) -> f64 {
        let found =
            self.gold.iter().filter(|tool| self.rank(**tool).is_some_and(|rank| rank <= border)).count();
        found as f64 / self.gold.len().max(1) as f64
    }

    /// Normalised discounted cumulative gain of the first ten hits, each worth one or nothing.
    fn ndcg(&self) -> f64 {
        let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
        let ranks = (1..=BORDER).zip(&self.hits).filter(|(_, (tool, _))| self.gold.contains(tool));
        let ideal: f64 = (1..=BORDER.min(self.gold.len())).map(gain).sum();
        if ideal > 0.0 { ranks.map(|(rank, _)| gain(rank)).sum::<f64>() / ideal } else { 0.0 }
    }

    fn no_match(&self) -> f64 {
        f64::from(u8::from(self.is_no_match))
    }

    /// The confidence of the first hit; 0 where there is no hit.
    pub(super) fn confidence(&self) -> f64 {
        self.hits.first().map_or(0.0, |(_, confidence)| *confidence)
    }

    /// Quality of the whole result, from 0 to 1. "No match" is either right or wrong.
    pub(super) fn score(&self) -> f64 {
        match (self.is_answerable(), self.is_no_match) {
            (true, false) => self.ndcg(),
            (false, true) => 1.0,
            _ => 0.0,
        }
    }

    /// What a reader needs to see of a failed query.
    pub(super) fn wrong(&self, catalog: &Catalog, labels: &Labels, labelled: &Labelled) -> WrongQuery {
        let name = |tool: usize| catalog.tools.get(tool).map(|tool| tool.name.clone()).unwrap_or_default();
        let hits = self.hits.iter().take(HITS);
        WrongQuery {
            file: labels.file.clone(),
            line: labelled.line,
            query: labelled.query.clone(),
            score: self.score(),
            verdict: if self.is_no_match { "no_match" } else { "match" },
            gold: self.gold.iter().map(|&tool| (name(tool), self.rank(tool))).collect(),
            hits: hits.map(|&(tool, confidence)| (name(tool), confidence)).collect(),
        }
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

// Labelled queries: lines of JSON, each with a query and the tools that serve it. An unusable line is a finding, and
// the others count.

/// Longest line and largest file that are read, in bytes.
const MAX_LINE: usize = 64 << 10;
const MAX_FILE: u64 = 64 << 20;
/// Most characters of a message about a line, which may repeat a value of it.
const MAX_MESSAGE: usize = 160;

/// Help on the form of a line.
const SHAPE: &str =
    "each line is one object, such as {\"query\": \"open an issue\", \"gold\": [\"create_issue\"]}";

/// A file of labelled queries.
#[derive(Clone, Debug)]
pub struct LabelFile {
    /// Its path.
    pub path: PathBuf,
    /// Its name in findings and reports.
    pub shown: String,
    /// Whether all of its queries are unanswerable here, whatever their `gold` says.
    pub is_unanswerable: bool,
    /// Place where it is named, if a file names it.
    pub named_at: Option<Place>,
}

/// The labelled queries of a file.
#[derive(Debug)]
pub struct Labels {
    /// The file.
    pub file: String,
    /// Queries that can be used.
    pub queries: Vec<Labelled>,
    /// Findings about lines that cannot.
    pub findings: Vec<Finding>,
    /// Its text, for excerpts of findings.
    pub document: Option<Document>,
}

/// A query, and the tools that should be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// Its line number.
    pub line: usize,
    /// The query, in words.
    pub query: String,
    /// The tools that serve it, by their positions in the catalog, each once; empty when no tool does.
    pub gold: Vec<usize>,
}

/// One line as written. Other fields, such as a note, are ignored.
#[derive(Deserialize)]
struct Line {
    query: String,
    gold: Option<Vec<String>>,
}

/// The files that a configuration names, below its folder.
pub fn configured(eval: &Eval, root: &Path) -> Vec<LabelFile> {
    let file = |(index, path): (usize, &PathBuf)| LabelFile {
        path: root.join(path),
        shown: path.to_string_lossy().into_owned(),
        is_unanswerable: false,
        named_at: Some(Place::new("toolcrib.toml", format!("/eval/queries/{index}"))),
    };
    eval.queries.iter().enumerate().map(file).collect()
}

impl LabelFile {
    /// Reads the file, and looks up its names in the catalog.
    pub fn read(&self, catalog: &Catalog) -> Labels {
        let mut labels =
            Labels { file: self.shown.clone(), queries: Vec::new(), findings: Vec::new(), document: None };
        let bytes = match read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let place = self.named_at.clone().unwrap_or_else(|| Place::new(&self.shown, ""));
                let message = format!("cannot read the labelled queries {}: {error}", self.shown);
                labels.findings.push(Finding::new(Code::LabelInvalid, message).at(place));
                return labels;
            }
        };
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            if !line.trim_ascii().is_empty() {
                self.line(number, line, catalog, &mut labels);
            }
        }
        if labels.queries.is_empty() && labels.findings.is_empty() {
            let finding = Finding::new(Code::LabelInvalid, "no labelled queries in this file").help(SHAPE);
            labels.findings.push(finding.at(Place::new(&self.shown, "")));
        }
        let text = String::from_utf8_lossy(bytes).into();
        let file = self.shown.clone();
        labels.document =
            Some(Document { file, format: Format::Json, text, value: Value::Null, repairs: Vec::new() });
        labels
    }

    /// Reads one line, and reports its mistakes. A query of which some names are known is used with these.
    fn line(&self, number: usize, bytes: &[u8], catalog: &Catalog, labels: &mut Labels) {
        let place = |column| Place { line: Some(number), column, ..Place::new(&self.shown, "") };
        let mut invalid = |message: &str, column| {
            let message = clipped(&clean_line(message), MAX_MESSAGE).into_owned();
            let finding = Finding::new(Code::LabelInvalid, message).help(SHAPE);
            labels.findings.push(finding.at(place(column)));
        };
        if bytes.len() > MAX_LINE {
            return invalid(&format!("a line of more than {} KiB", MAX_LINE >> 10), None);
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return invalid("the line is not UTF-8", None);
        };
        let Line { query, gold } = match serde_json::from_str(text) {
            Ok(line) => line,
            Err(error) => {
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                return invalid(message, Some(error.column()));
            }
        };
        let names = match gold {
            _ if query.trim().is_empty() => return invalid("the query is empty", None),
            _ if self.is_unanswerable => Vec::new(),
            Some(names) => names,
            None => return invalid("missing field `gold`", None),
        };
        let mut gold = Vec::new();
        for name in &names {
            match place_of(name, catalog) {
                Ok(place) if !gold.contains(&place) => gold.push(place),
                Ok(_) => {}
                Err(finding) => {
                    let written = Value::from(name.as_str()).to_string();
                    let column = text.find(&written).map(|at| text[..at].chars().count() + 1);
                    labels.findings.push(finding.at(place(column)));
                }
            }
        }
        // A query without any known tool must not count as one that no tool serves.
        if names.is_empty() || !gold.is_empty() {
            labels.queries.push(Labelled { line: number, query, gold });
        }
    }
}

/// Position of the tool with this name, or why the name identifies no tool.
fn place_of(name: &str, catalog: &Catalog) -> Result<usize, Finding> {
    if let Some(place) = catalog.find(name).and_then(|tool| catalog.position(&tool.name)) {
        return Ok(place);
    }
    let unresolved = catalog.explain(name, catalog.resolve(name));
    let near: Vec<&str> = unresolved.near.iter().map(|tool| tool.name.as_str()).collect();
    let help = match near.first() {
        Some(_) if unresolved.is_ambiguous => format!("say which: {}", near.join(", ")),
        Some(near) => format!("did you mean `{near}`?"),
        None => "name a tool of this catalog, or leave `gold` empty where no tool serves the query".into(),
    };
    Err(Finding::new(Code::LabelUnknown, unresolved.message).help(help))
}

/// The file, if it is not too large.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(std::io::Error::other(format!("it is larger than {} MiB", MAX_FILE >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_search::Hit;

    /// Hits in this order, the first with this confidence.
    fn outcome(gold: &[usize], hits: &[usize], confidence: f32) -> QueryOutcome {
        let hit = |&entry: &usize| Hit { entry, score: 1.0, confidence, reason: String::new() };
        let verdict = if confidence >= 0.5 { Verdict::Match } else { Verdict::NoMatch };
        QueryOutcome::new(gold, SearchResult { verdict, hits: hits.iter().map(hit).collect() })
    }

    fn value(name: &str, all: &[QueryOutcome]) -> Option<f64> {
        let (_, measure) = MEASURES.iter().find(|(other, _)| *other == name).unwrap();
        measure(all)
    }

    #[track_caller]
    fn check(all: &[QueryOutcome], expect: &[(&str, f64)]) {
        for (name, expect) in expect {
            let got = value(name, all).unwrap();
            assert!((got - expect).abs() < 1e-9, "{name}: {got} and not {expect}");
        }
    }

    #[test]
    fn one_query_by_hand() {
        // Two tools serve it, at ranks two and four.
        let one = [outcome(&[7, 9], &[1, 7, 2, 9, 3], 0.8)];
        // (1/log2(3) + 1/log2(5)) / (1/log2(2) + 1/log2(3))
        let ndcg = (0.630_929_753_571_457_5 + 0.430_676_558_073_393) / (1.0 + 0.630_929_753_571_457_5);
        let expect = [
            ("recall_1", 0.0),
            ("recall_5", 1.0),
            ("ndcg", ndcg),
            ("wrong_no_match", 0.0),
            ("recall_5_answered", 1.0),
        ];
        check(&one, &expect);
        assert_eq!(value("refused", &one), None, "no query is unanswerable");
    }

    #[test]
    fn several_queries_by_hand() {
        let all = [
            outcome(&[1], &[1, 2, 3], 0.9), // right
            outcome(&[2], &[1, 2, 3], 0.7), // second
            outcome(&[3], &[3], 0.2),       // right, and kept back
            outcome(&[4], &[], 0.0),        // nothing at all, which is no_match
            outcome(&[], &[5], 0.1),        // rightly no_match
            outcome(&[], &[6], 0.7),        // answered all the same
        ];
        check(
            &all,
            &[
                ("recall_1", 0.5),
                ("recall_5", 0.75),
                ("ndcg", (1.0 + 0.630_929_753_571_457_5 + 1.0) / 4.0),
                ("wrong_no_match", 0.5),
                ("recall_5_answered", 0.5),
                ("refused", 0.5),
            ],
        );
    }

    #[test]
    fn only_the_first_ten_gain_and_confidence_is_a_share() {
        let hits: Vec<usize> = (0..40).collect();
        let far = outcome(&[10], &hits, f32::NAN);
        assert_eq!((far.ndcg(), far.confidence()), (0.0, 0.0));
        // With more tools than ranks, ten right ones are all there can be.
        let many: Vec<usize> = (0..20).collect();
        assert!((outcome(&many, &hits, 2.0).ndcg() - 1.0).abs() < 1e-12);
        assert_eq!(outcome(&many, &hits, 2.0).confidence(), 1.0);
    }
}
