//! Findings of the input, for the people who write it.

use std::collections::BTreeMap;

use serde::Serialize;
use tera::Context;

use super::frame::{Frame, Link};
use super::name::{clipped, shown_name};
use super::{Page, Site, html};
use crate::finding::{Code, Finding, Severity};
use crate::render::TemplateError;
use crate::render::markdown::inline;
use crate::tool::clean_line;

/// Most findings on the page; `toolcrib check` lists all.
const MAX_FINDINGS: usize = 300;
/// Most characters of a message on the page.
const MAX_MESSAGE: usize = 1000;

#[derive(Serialize)]
struct FindingRow {
    severity: &'static str,
    code: &'static str,
    /// HTML.
    message: String,
    /// HTML.
    help: Option<String>,
    tool: Option<Link>,
    place: Option<String>,
}

/// Number of findings of a code.
#[derive(Serialize)]
struct Counted {
    severity: &'static str,
    code: &'static str,
    about: &'static str,
    count: usize,
}

/// The page.
pub(super) fn page(site: &Site<'_>) -> Result<Page, TemplateError> {
    let mut found: Vec<&Finding> = site.relevant_findings().collect();
    found.sort_by_key(|finding| (finding.severity, finding.place.as_ref(), finding.code));
    let mut codes: BTreeMap<(Severity, Code), usize> = BTreeMap::new();
    for finding in &found {
        *codes.entry((finding.severity, finding.code)).or_default() += 1;
    }
    let counted: Vec<Counted> = codes
        .into_iter()
        .map(|((severity, code), count)| Counted {
            severity: severity.as_str(),
            code: code.as_str(),
            about: code.about(),
            count,
        })
        .collect();
    let shown: Vec<FindingRow> = found.iter().take(MAX_FINDINGS).map(|finding| row(site, finding)).collect();
    let infos = found.iter().filter(|finding| finding.severity == Severity::Info).count();
    let mut context = Context::new();
    context.insert("codes", &counted);
    context.insert("infos", &infos);
    context.insert("more", &(found.len() - shown.len()));
    context.insert("findings", &shown);
    let about = "Mistakes in the definitions, and how to fix them".to_string();
    site.render("site/findings.html", Frame::at_root(site, "findings", "Findings", about), context)
}

/// A message as HTML: text between backticks is code.
fn line(text: &str) -> String {
    html::line(&inline(&clipped(&clean_line(text), MAX_MESSAGE)))
}

fn row(site: &Site<'_>, finding: &Finding) -> FindingRow {
    let named = finding.tool.as_deref().map(|name| {
        let href = site.tool_named(name).map(|shown| format!("tools/{}.html", site.tool(shown).safe_name));
        Link { text: shown_name(name, "?"), href: href.unwrap_or_default() }
    });
    let place = finding.place.as_ref().filter(|place| !place.file.is_empty()).map(|place| {
        let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
        let column = place.column.map(|column| format!(":{column}")).unwrap_or_default();
        clean_line(&format!("{}{line}{column}", place.file))
    });
    FindingRow {
        severity: finding.severity.as_str(),
        code: finding.code.as_str(),
        message: line(&finding.message),
        help: finding.help.as_deref().map(line),
        tool: named,
        place,
    }
}
