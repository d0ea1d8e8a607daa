//! Prints findings with their source lines for people, and as JSON for machines.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use annotate_snippets::renderer::{DEFAULT_LINE_NUM_STYLE, Style};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::terminal_text::{Excerpt, excerpt, visible};
use super::{Code, Finding, Place, Severity};
use crate::clean_line;
use crate::document::{Cursor, Document};
use crate::grammar::counted;

/// Most characters that are printed of one text.
const MESSAGE: usize = 600;
const NAME: usize = 200;
/// Columns of the renderer: more than any excerpt has, since excerpts are cut already.
const WIDTH: usize = 400;

/// Findings as a person reads them: errors first, then by file and place; empty without findings.
///
/// Of each code at most `limit_per_code` are shown, with a line that counts the rest.
pub fn text_report(
    findings: &[Finding],
    documents: &[Document],
    color: bool,
    limit_per_code: Option<usize>,
) -> String {
    let limit = limit_per_code.unwrap_or(usize::MAX);
    let sorted = sorted(findings);
    let mut seen: BTreeMap<(Severity, Code), usize> = BTreeMap::new();
    let mut shown = Vec::new();
    for finding in sorted {
        let count = seen.entry((finding.severity, finding.code)).or_default();
        *count += 1;
        if *count <= limit {
            shown.push(finding);
        }
    }
    let excerpts = excerpts(&shown, documents);
    let renderer = if color { Renderer::styled() } else { Renderer::plain() }.term_width(WIDTH);
    let mut out = String::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        for (index, finding) in shown.iter().enumerate().filter(|(_, finding)| finding.severity == severity) {
            out.push_str(&render(finding, excerpts.get(&index), &renderer, color));
            out.push_str("\n\n");
        }
        for ((_, code), count) in seen.iter().filter(|((of, _), count)| *of == severity && **count > limit) {
            out.push_str(&format!("... and {} more `{code}`; `--json` lists them all\n\n", count - limit));
        }
    }
    if !findings.is_empty() {
        out.push_str(&format!("{}\n", counts(findings)));
    }
    out
}

/// Findings as one JSON object, in the order of the text report; `path` is the JSON Pointer.
pub fn json_report(findings: &[Finding]) -> Value {
    let entry = |finding: &Finding| {
        let place = finding.place.as_ref();
        json!({
            "code": finding.code,
            "severity": finding.severity,
            "tool": finding.tool,
            "message": visible(&finding.message, usize::MAX),
            "file": place.map(|place| &place.file),
            "line": place.and_then(|place| place.line),
            "column": place.and_then(|place| place.column),
            "path": place.map(|place| &place.pointer),
            "help": finding.help.as_ref().map(|help| visible(help, usize::MAX)),
        })
    };
    let listed: Vec<Value> = sorted(findings).into_iter().map(entry).collect();
    let [errors, warnings, infos] = tally(findings);
    json!({ "findings": listed, "summary": { "errors": errors, "warnings": warnings, "infos": infos } })
}

/// Findings as GitHub's workflow commands, which show them at the lines of a pull request. `folder` is the folder of the places,
/// as seen from the root of the repository.
pub fn github_report(findings: &[Finding], folder: &str) -> String {
    let line = |finding: &Finding| {
        let kind = ["error", "warning", "notice"][finding.severity as usize];
        let mut properties = Vec::new();
        if let Some(place) = &finding.place {
            properties.push(format!("file={}", property(&path_from(folder, &place.file))));
            properties.extend(place.line.map(|line| format!("line={line}")));
            properties.extend(place.column.map(|column| format!("col={column}")));
        }
        properties.push(format!("title={}", finding.code));
        format!("::{kind} {}::{}\n", properties.join(","), command_text(&in_full(finding)))
    };
    sorted(findings).into_iter().map(line).collect()
}

/// Findings as compilers and editors have them, one a line: place, severity, message, code. `folder` is that of
/// [`github_report`].
pub fn short_report(findings: &[Finding], folder: &str) -> String {
    let line = |finding: &Finding| {
        let place = finding.place.as_ref().map(|place| {
            let place = Place { file: path_from(folder, &place.file), ..place.clone() };
            format!("{}: ", spot(&place))
        });
        let text = in_full(finding).replace("\nhelp: ", "; ");
        let (place, severity) = (place.unwrap_or_default(), finding.severity.as_str());
        format!("{place}{severity}: {} [{}]\n", clean_line(&text), finding.code)
    };
    sorted(findings).into_iter().map(line).collect()
}

/// Text of a workflow command, which ends at a line end.
fn command_text(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    command_text(text).replace(':', "%3A").replace(',', "%2C")
}

/// The message of a finding with its tool and its help.
fn in_full(finding: &Finding) -> String {
    let tool = finding.tool.as_ref().map(|tool| format!("{}: ", visible(tool, NAME))).unwrap_or_default();
    let help = finding.help.as_ref().map(|help| format!("\nhelp: {}", visible(help, MESSAGE)));
    format!("{tool}{}{}", visible(&finding.message, MESSAGE), help.unwrap_or_default())
}

fn path_from(folder: &str, file: &str) -> String {
    let folder = folder.trim_start_matches("./").trim_end_matches('/');
    if matches!(folder, "" | ".") || file.starts_with('/') { file.into() } else { format!("{folder}/{file}") }
}

/// Findings as SARIF 2.1.0, for code scanning. `folder` is that of [`github_report`].
pub fn sarif_report(findings: &[Finding], folder: &str) -> Value {
    let findings = sorted(findings);
    let codes: BTreeSet<Code> = findings.iter().map(|finding| finding.code).collect();
    let level = |severity: Severity| ["error", "warning", "note"][severity as usize];
    let rule = |code: &Code| {
        let mut rule = json!({
            "id": code.as_str(),
            "shortDescription": { "text": code.about() },
            "defaultConfiguration": { "level": level(code.severity()) },
        });
        if let Some(help) = code.help() {
            rule["help"] = json!({ "text": help });
        }
        rule
    };
    let result = |finding: &Finding| {
        let place = finding.place.as_ref().map(|place| {
            let mut physical = json!({ "artifactLocation": { "uri": uri(&path_from(folder, &place.file)) } });
            if let Some(line) = place.line {
                physical["region"] = json!({ "startLine": line, "startColumn": place.column.unwrap_or(1) });
            }
            physical
        });
        let mut location = Map::new();
        location.extend(place.map(|place| ("physicalLocation".to_string(), place)));
        let tool = finding.tool.as_ref().map(|tool| json!([{ "name": visible(tool, NAME) }]));
        location.extend(tool.map(|tool| ("logicalLocations".to_string(), tool)));
        let mut result = json!({
            "ruleId": finding.code.as_str(),
            "ruleIndex": codes.iter().position(|code| *code == finding.code),
            "level": level(finding.severity),
            "message": { "text": in_full(finding) },
        });
        if !location.is_empty() {
            result["locations"] = json!([location]);
        }
        result
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "toolcrib",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(rule).collect::<Vec<_>>(),
            } },
            "results": findings.into_iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

/// Characters of a path that a URI does not have.
const NOT_IN_URI: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A relative path as a reference to a URI.
fn uri(path: &str) -> String {
    utf8_percent_encode(&path.replace('\\', "/"), NOT_IN_URI).to_string()
}

fn sorted(findings: &[Finding]) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| {
        let place = finding.place.as_ref();
        let spot = place.map(|place| (&place.file, place.line, place.column));
        (finding.severity, spot, finding.code, place.map(|place| &place.pointer), &finding.message)
    });
    sorted
}

/// Title, place, excerpt, notes. The renderer would count the column in the excerpt, so the place is written here.
fn render(finding: &Finding, excerpt: Option<&Excerpt>, renderer: &Renderer, color: bool) -> String {
    let level = [Level::ERROR, Level::WARNING, Level::INFO][finding.severity as usize].clone();
    let title = level.clone().primary_title(visible(&finding.message, MESSAGE)).id(finding.code.as_str());
    let mut out = renderer.render(&[Group::with_title(title)]);
    let mut rest = Group::with_level(level);
    if let Some(place) = &finding.place {
        let arrow = if color { DEFAULT_LINE_NUM_STYLE } else { Style::new() };
        let line = excerpt.and(place.line).unwrap_or_default();
        let gutter = line.to_string().len();
        out.push_str(&format!("\n{:gutter$}{arrow}-->{arrow:#} {}", "", spot(place)));
        if let Some(excerpt) = excerpt {
            let snippet = Snippet::source(excerpt.text.as_str()).line_start(line);
            rest = rest.element(snippet.annotation(AnnotationKind::Primary.span(excerpt.mark.clone())));
        }
    }
    if let Some(tool) = &finding.tool {
        rest = rest.element(Level::NOTE.with_name("tool").message(visible(tool, NAME)));
    }
    if let Some(help) = &finding.help {
        rest = rest.element(Level::HELP.message(visible(help, MESSAGE)));
    }
    if !rest.is_empty() {
        out.push('\n');
        out.push_str(&renderer.render(&[rest]));
    }
    out
}

/// A place in the form that terminals and editors turn into a link.
fn spot(place: &Place) -> String {
    let file = visible(&place.file, NAME);
    match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(line), None) => format!("{file}:{line}"),
        _ if place.pointer.is_empty() => file,
        _ => format!("{file} at {}", visible(&place.pointer, NAME)),
    }
}

/// The source lines of the findings whose document is known, by index; one pass per document.
fn excerpts(shown: &[&Finding], documents: &[Document]) -> HashMap<usize, Excerpt> {
    let mut by_file: HashMap<&str, Vec<(usize, usize, usize)>> = HashMap::new();
    for (index, finding) in shown.iter().enumerate() {
        if let Some(place) = &finding.place
            && let (Some(line), Some(column)) = (place.line, place.column)
        {
            by_file.entry(&place.file).or_default().push((line, column, index));
        }
    }
    let mut excerpts = HashMap::new();
    let mut done = HashSet::new();
    for document in documents.iter().filter(|document| done.insert(document.file.as_str())) {
        let mut places = by_file.remove(document.file.as_str()).unwrap_or_default();
        places.sort_unstable();
        let mut cursor = Cursor::new(&document.text);
        for (line, column, index) in places {
            let Some(offset) = cursor.find(line, column) else { break };
            excerpts.insert(index, excerpt(&document.text, offset));
        }
    }
    excerpts
}

fn tally(findings: &[Finding]) -> [usize; 3] {
    [Severity::Error, Severity::Warning, Severity::Info]
        .map(|severity| findings.iter().filter(|finding| finding.severity == severity).count())
}

fn counts(findings: &[Finding]) -> String {
    let parts = tally(findings).into_iter().zip(["error", "warning", "info"]).filter(|(count, _)| *count > 0);
    parts.map(|(count, word)| counted(count, word)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "tests/report.rs"]
mod tests;
