//! Labelled queries: lines of JSON, each with a query and the tools that serve it. An unusable line is a finding, and
//! the others count.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use toolcrib_catalog::Catalog;
use toolcrib_catalog::config::Eval;
use toolcrib_definition::document::{Document, Format};
use toolcrib_definition::finding::{Code, Finding, Place};
use toolcrib_definition::{clean_line, clipped};

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
    if let Some(place) = catalog.find(name).and_then(|tool| catalog.position(&tool.names.canonical)) {
        return Ok(place);
    }
    let unresolved = catalog.explain(name, catalog.resolve(name));
    let near: Vec<&str> = unresolved.near.iter().map(|tool| tool.names.canonical.as_str()).collect();
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
