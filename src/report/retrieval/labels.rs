//! Labelled queries: lines of JSON, each with a query and the tools that serve it. An unusable line is a finding, and
//! the others count.

use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::config::Eval;
use crate::finding::{Code, Document, Finding, Format, Limits, Place, Reader, locate};

/// Longest line and largest file that are read, in bytes.
const LINE: Limits = Limits { max_bytes: 64 << 10, max_depth: 16 };
const MAX_FILE: u64 = 64 << 20;

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
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["query", "gold"]))]
struct Line {
    query: String,
    gold: Vec<String>,
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
        let reader = Reader::compile();
        let lines: Vec<(usize, &[u8])> = bytes.split(|byte| *byte == b'\n').enumerate().collect();
        let read: Vec<(Option<Labelled>, Vec<Finding>)> = lines
            .into_par_iter()
            .filter(|(_, line)| !line.trim_ascii().is_empty())
            .map(|(index, line)| self.line(index + 1, line, &reader, catalog))
            .collect();
        for (labelled, findings) in read {
            labels.queries.extend(labelled);
            labels.findings.extend(findings);
        }
        if labels.queries.is_empty() && labels.findings.is_empty() {
            let finding = Finding::new(Code::LabelInvalid, "no labelled queries in this file").help(SHAPE);
            labels.findings.push(finding.at(Place::new(&self.shown, "")));
        }
        let text = String::from_utf8_lossy(bytes).into();
        let file = self.shown.clone();
        labels.document = Some(Document { file, format: Format::Json, text, value: Value::Null });
        labels
    }

    /// Reads one line, and reports its mistakes. A query of which some names are known is used with these.
    fn line(
        &self,
        number: usize,
        bytes: &[u8],
        reader: &Reader<Line>,
        catalog: &Catalog,
    ) -> (Option<Labelled>, Vec<Finding>) {
        let mut document = match Document::parse(&self.shown, bytes.to_vec(), Format::Json, &LINE) {
            Ok(document) => document,
            Err(finding) => return (None, vec![of_line(finding, number)]),
        };
        if self.is_unanswerable
            && let Value::Object(fields) = &mut document.value
        {
            fields.insert("gold".into(), Value::Array(Vec::new()));
        }
        let mut findings = Vec::new();
        let line = reader.read(document.value.take(), &Place::new(&self.shown, ""), &mut findings);
        // The wrong field was left out, and without it the query would be another one.
        findings.truncate(1);
        for finding in &mut findings {
            finding.code = Code::LabelInvalid;
            finding.help.get_or_insert_with(|| SHAPE.into());
        }
        let mut labelled = None;
        if let Some(line) = line.filter(|_| findings.is_empty()) {
            if line.query.trim().is_empty() {
                let place = Place::new(&self.shown, "/query");
                findings.push(Finding::new(Code::LabelInvalid, "the query is empty").at(place));
            } else {
                labelled = self.labelled(number, line, catalog, &mut findings);
            }
        }
        locate(std::slice::from_ref(&document), &mut findings);
        for place in findings.iter_mut().filter_map(|finding| finding.place.as_mut()) {
            place.line = Some(number);
        }
        (labelled, findings)
    }

    fn labelled(
        &self,
        line: usize,
        written: Line,
        catalog: &Catalog,
        findings: &mut Vec<Finding>,
    ) -> Option<Labelled> {
        let names = &written.gold;
        let mut gold = Vec::new();
        for (index, name) in names.iter().enumerate() {
            match place_of(name, catalog) {
                Ok(place) if !gold.contains(&place) => gold.push(place),
                Ok(_) => {}
                Err(finding) => findings.push(finding.at(Place::new(&self.shown, format!("/gold/{index}")))),
            }
        }
        let query = written.query;
        // A query without any known tool must not count as one that no tool serves.
        (names.is_empty() || !gold.is_empty()).then_some(Labelled { line, query, gold })
    }
}

/// Position of the tool with this name, or the reason why there is none.
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

/// Turns a finding about the text of a line into one about the file.
fn of_line(finding: Finding, number: usize) -> Finding {
    let (message, help) = match finding.code {
        Code::FileTooLarge => {
            (format!("a line of more than {} KiB", LINE.max_bytes >> 10), Some(SHAPE.to_string()))
        }
        Code::FileUnreadable => (finding.message.clone(), finding.help.clone()),
        _ => (finding.message.replace("the file ", "the line "), Some(SHAPE.to_string())),
    };
    let place = finding.place.map(|place| Place { line: Some(number), ..place });
    Finding {
        code: Code::LabelInvalid,
        severity: Code::LabelInvalid.severity(),
        message,
        help,
        place,
        tool: None,
    }
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
