//! The page of findings of the input, for the people who write it: by kind, the worst first.

use serde_json::{Value, json};

use super::context::{Page, Site};
use super::frame::{AT_ROOT, Frame, Link};
use super::text::{clipped, inline_html, shown_name};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{Finding, Severity};
use toolcrib_render::TemplateError;

/// Most findings on the page; `toolcrib check` lists all.
const MAX_FINDINGS: usize = 300;
/// Most characters of a message on the page.
const MAX_MESSAGE: usize = 1000;

/// The page of findings of the input, for the people who write it: by kind, the worst first.
pub(super) fn findings(site: &Site<'_>) -> Result<Page, TemplateError> {
    let mut found: Vec<&Finding> = site.relevant_findings().collect();
    found.sort_by_key(|finding| (finding.severity, finding.code, finding.place.as_ref()));
    let infos = found.iter().filter(|finding| finding.severity == Severity::Info).count();
    let mut left = MAX_FINDINGS;
    let kinds =
        found.chunk_by(|one, other| (one.severity, one.code) == (other.severity, other.code)).map(|kind| {
            let shown: Vec<Value> = kind.iter().take(left).map(|finding| row(site, finding)).collect();
            left -= shown.len();
            json!({
                "severity": kind[0].severity.as_str(),
                "code": kind[0].code.as_str(),
                "about": kind[0].code.about(),
                "count": kind.len(),
                "is_open": kind[0].severity != Severity::Info,
                "more": kind.len() - shown.len(),
                "findings": shown,
            })
        });
    let values = json!({ "kinds": kinds.collect::<Vec<_>>(), "infos": infos });
    let about = "Mistakes in the definitions, and how to fix them".to_string();
    site.render("site/findings.html", Frame::new(site, "findings", "Findings", about, AT_ROOT), values)
}

pub(super) fn row(site: &Site<'_>, finding: &Finding) -> Value {
    // Text between backticks is code.
    let line = |text: &str| inline_html(&clipped(&clean_line(text), MAX_MESSAGE));
    let named = finding.tool.as_deref().map(|name| {
        let href = site.tool_named(name).map(|shown| format!("tools/{}.html", site.tool(shown).names.safe));
        Link { text: shown_name(name, "?"), href: href.unwrap_or_default() }
    });
    let place = finding.place.as_ref().filter(|place| !place.file.is_empty()).map(|place| {
        let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
        let column = place.column.map(|column| format!(":{column}")).unwrap_or_default();
        clean_line(&format!("{}{line}{column}", place.file))
    });
    json!({
        "message": line(&finding.message),
        "help": finding.help.as_deref().map(line),
        "tool": named,
        "place": place,
    })
}
