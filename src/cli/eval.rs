//! `toolcrib eval`: measures search with labelled queries.

mod setups;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::catalog::{CatalogArgs, complete, refuse_unread, word};
use super::progress::Bar;
use super::render::templates;
use super::{CommandError, CommandResult, failed, print, print_note};
use crate::catalog::Checked;
use crate::config::Thresholds;
use crate::finding::{Severity, locate, text_report};
use crate::functions::CatalogView;
use crate::report::retrieval::{self, Comparison, DEPTH, LabelFile, Labels, MissedThreshold};
use crate::search::SearchRequest;
use crate::tool::clean_line;
use setups::{Asked, Setup};

/// Measure search with labelled queries: search by words, or the setups that you name.
///
/// Labels are lines of JSON: {"query": "open an issue", "gold": ["create_issue"]}. `gold` lists the right tools for
/// the query, by any of their names. It is [] where no tool fits and the right answer is no_match. A `note` may say
/// more.
///
/// Labels and thresholds can stand in toolcrib.toml, under [eval]; then no option is needed. Files named here replace
/// the configured ones, with their thresholds. Each file must reach every threshold. Exit code 1 when one is not
/// reached, or when labels cannot be used.
#[allow(rustdoc::broken_intra_doc_links, reason = "the text is the help of the command")]
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib eval examples/github
  toolcrib eval tools.json --queries queries.jsonl --min-recall-5 0.9 --min-abstention 0.8
  toolcrib eval tools.json --queries mine.jsonl --unanswerable others.jsonl --worst 30
  toolcrib eval . --setup words --setup pick:keyword
  toolcrib eval . --setup all
  toolcrib eval . --json | jq .mean.ndcg_10")]
pub(super) struct EvalArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// A file of labelled queries, instead of those in toolcrib.toml; can be given several times.
    #[arg(long, short, value_name = "FILE")]
    queries: Vec<PathBuf>,
    /// A file of queries that no tool of this catalog serves, whatever their `gold` says; can be given several times.
    #[arg(long, value_name = "FILE")]
    unanswerable: Vec<PathBuf>,
    /// Measure this setup; several are compared with the first, which thresholds hold for. `all` is every setup that is
    /// configured. Without this option, search by words is measured and no model is asked.
    #[arg(long = "setup", value_name = "NAME", value_parser = word::<Setup>())]
    setups: Vec<Setup>,
    /// Most queries that are asked at once, with --setup.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    at_once: u8,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Number of failed queries to print.
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,
    #[command(flatten)]
    thresholds: ThresholdArgs,
}

/// Thresholds that each file of labels must reach.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Thresholds, from 0 to 1")]
struct ThresholdArgs {
    /// The least share of the right tools in first place.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_recall_1: Option<f64>,
    /// The least share of the right tools among the first 3.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_recall_3: Option<f64>,
    /// The least share of the right tools among the first 5.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_recall_5: Option<f64>,
    /// The least share of the right tools among the first 10.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_recall_10: Option<f64>,
    /// The least NDCG of the first 10.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_ndcg: Option<f64>,
    /// The least mean reciprocal rank.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_mrr: Option<f64>,
    /// The least share of unanswerable queries that are answered no_match.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_abstention: Option<f64>,
    /// The largest error of confidence, on average (expected calibration error).
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_ece: Option<f64>,
}

impl EvalArgs {
    pub(super) fn run(self) -> CommandResult {
        let checked = self.catalog.read()?;
        self.catalog.report_briefly(&checked);
        refuse_unread(&checked)?;
        let (files, configured) = self.labels(&checked)?;
        let labels: Vec<Labels> = files.iter().map(|file| file.read(&checked.catalog)).collect();
        let unusable = report_labels(&checked, &labels);
        if labels.iter().all(|labels| labels.queries.is_empty()) {
            return Err(failed("no label can be used"));
        }
        let templates = templates(&self.catalog, &checked, None)?;
        let view = CatalogView::new(&checked.catalog, None, None, Arc::new(templates))?;
        let thresholds = self.thresholds.over(configured);
        let (missed, unanswered) = match self.setups.is_empty() {
            true => (self.measure(&checked, &labels, &view, &thresholds, unusable)?, false),
            false => self.compare(&checked, &labels, view, &thresholds, unusable)?,
        };
        if !missed.is_empty() {
            let messages: Vec<String> = missed.iter().map(MissedThreshold::message).collect();
            return Err(failed(messages.join("\n")));
        }
        if unanswered {
            return Err(failed("not all queries were answered by the models of their setups"));
        }
        if unusable > 0 {
            return Err(failed("not all labels could be used"));
        }
        complete(&checked)
    }

    /// Measures search by words; returns the thresholds that it does not reach.
    fn measure(
        &self,
        checked: &Checked,
        labels: &[Labels],
        view: &CatalogView,
        thresholds: &Thresholds,
        unusable: usize,
    ) -> Result<Vec<MissedThreshold>, CommandError> {
        let index = view.search();
        let find = |query: &str| index.find(SearchRequest { query, within: None, limit: DEPTH });
        let bar = Bar::new("asking", labels.iter().map(|labels| labels.queries.len() as u64).sum());
        let report = retrieval::evaluate(&checked.catalog, labels, &find, self.worst, &|| bar.add(1));
        bar.finish();
        let missed = report.missed(thresholds);
        if self.json {
            let mut json = serde_json::to_value(&report).map_err(failed)?;
            json["missed"] = json!(missed);
            json["unusable_labels"] = unusable.into();
            print(&format!("{json:#}\n"))?;
        } else {
            print(&report.table())?;
        }
        Ok(missed)
    }

    /// Compares setups; returns the thresholds that the first does not reach, and whether a model left a query
    /// unanswered.
    fn compare(
        &self,
        checked: &Checked,
        labels: &[Labels],
        view: CatalogView,
        thresholds: &Thresholds,
        unusable: usize,
    ) -> Result<(Vec<MissedThreshold>, bool), CommandError> {
        let Asked { setups, models, failures } =
            setups::ask(&self.catalog, view, &self.setups, labels, usize::from(self.at_once))?;
        let comparison = Comparison::new(&checked.catalog, labels, setups, self.worst);
        let first = comparison.setups.first();
        let missed = first.map(|first| first.report.missed(thresholds)).unwrap_or_default();
        if self.json {
            let mut json = serde_json::to_value(&comparison).map_err(failed)?;
            json["models"] = json!(models);
            json["missed"] = json!(missed);
            json["unusable_labels"] = unusable.into();
            print(&format!("{json:#}\n"))?;
        } else {
            print(&comparison.table())?;
        }
        models.iter().for_each(|model| print_note(model.text()));
        for setup in comparison.setups.iter().filter(|setup| setup.unanswered_by_model > 0) {
            let reason =
                failures.get(setup.setup.as_str()).map(|reason| clean_line(reason)).unwrap_or_default();
            let count = setup.unanswered_by_model;
            print_note(format!(
                "{}: queries without an answer from the model: {count}; {reason}",
                setup.setup
            ));
        }
        Ok((missed, !failures.is_empty()))
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
        let mut files: Vec<LabelFile> =
            queries.chain(self.unanswerable.iter().map(|path| named(path, true))).collect();
        if let Some(missing) = files.iter().find(|file| !file.path.exists()) {
            return Err(CommandError::Usage(format!("there are no labelled queries at {}", missing.shown)));
        }
        if !files.is_empty() {
            return Ok((files, Thresholds::default()));
        }
        let eval = &checked.catalog.config.eval;
        files = retrieval::configured(eval, &self.catalog.folder());
        if files.is_empty() {
            let message =
                "there are no labelled queries: name a file with --queries, or under [eval] in toolcrib.toml";
            return Err(CommandError::Usage(message.into()));
        }
        Ok((files, eval.thresholds))
    }
}

impl ThresholdArgs {
    /// These thresholds, and the configured ones where there is none here.
    fn over(&self, configured: Thresholds) -> Thresholds {
        Thresholds {
            min_recall_1: self.min_recall_1.or(configured.min_recall_1),
            min_recall_3: self.min_recall_3.or(configured.min_recall_3),
            min_recall_5: self.min_recall_5.or(configured.min_recall_5),
            min_recall_10: self.min_recall_10.or(configured.min_recall_10),
            min_ndcg: self.min_ndcg.or(configured.min_ndcg),
            min_mrr: self.min_mrr.or(configured.min_mrr),
            min_abstention: self.min_abstention.or(configured.min_abstention),
            max_ece: self.max_ece.or(configured.max_ece),
        }
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
fn report_labels(checked: &Checked, labels: &[Labels]) -> usize {
    let mut findings: Vec<_> = labels.iter().flat_map(|labels| labels.findings.iter().cloned()).collect();
    checked.catalog.configure(&mut findings);
    locate(&checked.documents, &mut findings);
    findings.retain(|finding| finding.severity != Severity::Info);
    let documents: Vec<_> =
        checked.documents.iter().chain(labels.iter().flat_map(|labels| &labels.document)).cloned().collect();
    if !findings.is_empty() {
        print_note(text_report(&findings, &documents, true, Some(5)).trim_end());
    }
    let used: usize = labels.iter().map(|labels| labels.queries.len()).sum();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    if errors > 0 && used > 0 {
        print_note(format!("asking the {used} queries that can be used"));
    }
    errors
}

/// A share from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    const DUE: &str = "thresholds are shares from 0 to 1";
    let value: f64 = text.parse().map_err(|_| DUE.to_string())?;
    match value {
        0.0..=1.0 => Ok(value),
        // A value over 1 is probably a percentage.
        2.0..=100.0 => Err(format!("{DUE}; for {value} % write {}", value / 100.0)),
        _ => Err(DUE.into()),
    }
}
