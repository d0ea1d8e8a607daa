//! `toolcrib eval`: measures search with labelled queries.

use std::path::PathBuf;

use serde_json::json;

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult, failed};
use super::findings::{complete, in_one_line};
use super::io::Io;
use super::progress::Bar;
use toolcrib_catalog::Checked;
use toolcrib_definition::document::locate;
use toolcrib_definition::finding::{Code, Severity, text_report};
use toolcrib_providers::report::retrieval::{self, DEPTH, LabelFile, Labels, MEASURES};
use toolcrib_search::SearchRequest;

/// Thresholds by measure, in percent.
type Thresholds = Vec<(String, f64)>;

/// Measure search with labelled queries.
///
/// Labels are lines of JSON: {"query": "open an issue", "gold": ["create_issue"]}. `gold` lists the expected tools by
/// any of their names. It is [] where no tool fits and the right result is no_match.
///
/// Labels and thresholds can stand in toolcrib.toml, under [eval]; then no option is needed. Files named here replace
/// the configured ones, with their thresholds. Each file must reach every threshold. Exit code 1 when one is not
/// reached, or when labels cannot be used.
#[allow(rustdoc::broken_intra_doc_links, reason = "the text is the help of the command")]
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib eval examples/github
  toolcrib eval tools.json --queries queries.jsonl --at-least recall_5=90,refused=80
  toolcrib eval tools.json --queries mine.jsonl --unanswerable others.jsonl --worst 30
  toolcrib eval . --json | jq .files[0].ndcg")]
pub(super) struct EvalArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// A file of labelled queries, instead of those in toolcrib.toml; can be given several times.
    #[arg(long, short, value_name = "FILE")]
    queries: Vec<PathBuf>,
    /// A file of queries that no tool of this catalog serves, whatever their `gold` says; can be given several times.
    #[arg(long, value_name = "FILE")]
    unanswerable: Vec<PathBuf>,
    /// The least percentage of recall_1, recall_5, ndcg or refused, such as recall_1=60,ndcg=70.
    #[arg(long, value_name = "MEASURE=PERCENT", value_delimiter = ',', value_parser = threshold)]
    at_least: Vec<(String, f64)>,
    /// Number of failed queries to print.
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl EvalArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let checked = self.catalog.open_readable(io)?;
        let (files, thresholds) = self.labels(&checked)?;
        let labels: Vec<Labels> = files.iter().map(|file| file.read(&checked.catalog)).collect();
        let unusable = report_labels(io, &checked, &labels);
        if labels.iter().all(|labels| labels.queries.is_empty()) {
            return Err(failed("no label can be used"));
        }
        let view = self.catalog.view(io, &checked, None, None)?;
        let index = view.search();
        let find = |query: &str| index.find(SearchRequest { query, within: None, limit: DEPTH });
        let bar = Bar::new(io, "asking", labels.iter().map(|labels| labels.queries.len() as u64).sum());
        let report = retrieval::evaluate(&checked.catalog, &labels, &find, self.worst, &|| bar.add(1));
        bar.finish();
        let missed = report.missed(thresholds.iter().map(|(name, least)| (name.as_str(), *least)));
        if self.json {
            let mut json = serde_json::to_value(&report).map_err(failed)?;
            json["missed"] = json!(missed);
            json["unusable_labels"] = unusable.into();
            io.print(&format!("{json:#}\n"))?;
        } else {
            io.print(&report.table())?;
        }
        if !missed.is_empty() {
            return Err(failed(missed.join("\n")));
        }
        if unusable > 0 {
            return Err(failed("not all labels could be used"));
        }
        complete(&checked)
    }

    /// The files of labels, and the thresholds that go with them.
    fn labels(&self, checked: &Checked) -> Result<(Vec<LabelFile>, Thresholds), CommandError> {
        let folder = self.catalog.folder().canonicalize().ok();
        // The path relative to the configuration, where the file lies below it.
        let shown = |path: &PathBuf| {
            let below = path.canonicalize().ok().zip(folder.as_ref());
            let below = below.and_then(|(path, folder)| path.strip_prefix(folder).ok().map(PathBuf::from));
            below.as_ref().unwrap_or(path).to_string_lossy().into_owned()
        };
        let named = |path: &PathBuf, is_unanswerable: bool| LabelFile {
            path: path.clone(),
            shown: shown(path),
            is_unanswerable,
            named_at: None,
        };
        let queries = self.queries.iter().map(|path| named(path, false));
        let files: Vec<LabelFile> =
            queries.chain(self.unanswerable.iter().map(|path| named(path, true))).collect();
        if let Some(missing) = files.iter().find(|file| !file.path.exists()) {
            return Err(CommandError::Usage(format!("there are no labelled queries at {}", missing.shown)));
        }
        if !files.is_empty() {
            return Ok((files, self.at_least.clone()));
        }
        let eval = &checked.catalog.config.eval;
        let files = retrieval::configured(eval, &self.catalog.folder());
        if files.is_empty() {
            let message =
                "there are no labelled queries: name a file with --queries, or under [eval] in toolcrib.toml";
            let left_out = checked.findings.iter().find(|finding| finding.code == Code::LabelInvalid);
            return Err(CommandError::Usage(left_out.map_or(message.into(), in_one_line)));
        }
        if !self.at_least.is_empty() {
            return Ok((files, self.at_least.clone()));
        }
        let configured = eval.at_least.iter().map(|(name, least)| Ok((measure(name)?, *least)));
        let configured: Result<Thresholds, String> = configured.collect();
        let thresholds = configured
            .map_err(|why| CommandError::Usage(format!("`at_least` under [eval] in toolcrib.toml: {why}")))?;
        Ok((files, thresholds))
    }
}

/// Adds findings about the labels that the configuration names.
pub(super) fn check_labels(catalog: &CatalogArgs, checked: &mut Checked) {
    for file in retrieval::configured(&checked.catalog.config.eval, &catalog.folder()) {
        let labels = file.read(&checked.catalog);
        let mut findings = labels.findings;
        checked.catalog.configure(&mut findings);
        locate(&checked.documents, &mut findings);
        checked.findings.extend(findings);
        checked.documents.extend(labels.document);
    }
}

/// Reports mistakes in labels; returns the number of errors.
fn report_labels(io: &Io, checked: &Checked, labels: &[Labels]) -> usize {
    let mut findings: Vec<_> = labels.iter().flat_map(|labels| labels.findings.iter().cloned()).collect();
    checked.catalog.configure(&mut findings);
    locate(&checked.documents, &mut findings);
    findings.retain(|finding| finding.severity != Severity::Info);
    let documents: Vec<_> =
        checked.documents.iter().chain(labels.iter().flat_map(|labels| &labels.document)).cloned().collect();
    if !findings.is_empty() {
        io.note(text_report(&findings, &documents, true, Some(5)).trim_end());
    }
    let used: usize = labels.iter().map(|labels| labels.queries.len()).sum();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    if errors > 0 && used > 0 {
        io.note(format!("asking the {used} queries that can be used"));
    }
    errors
}

/// A measure and its least percentage.
fn threshold(text: &str) -> Result<(String, f64), String> {
    let (name, percent) = text.split_once('=').ok_or("expected MEASURE=PERCENT, such as recall_5=90")?;
    let percent: f64 = percent.parse().map_err(|_| "a threshold is a percentage from 0 to 100")?;
    match percent {
        // A share, as in 0.8, would be reached by almost anything.
        _ if percent > 0.0 && percent < 1.0 => Err(format!(
            "a threshold is a percentage: for {percent} of all queries write {}",
            percent * 100.0
        )),
        0.0..=100.0 => Ok((measure(name)?, percent)),
        _ => Err("a threshold is a percentage from 0 to 100".into()),
    }
}

/// The name of a measure that exists.
fn measure(name: &str) -> Result<String, String> {
    let names = MEASURES.map(|(name, _)| name);
    if names.contains(&name) {
        Ok(name.to_string())
    } else {
        Err(format!("there is no measure `{name}`; there are {}", names.join(", ")))
    }
}
