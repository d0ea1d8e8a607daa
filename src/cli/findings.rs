//! Findings of a catalog in one line, for commands whose job is another.

use std::path::Path;

use super::error::{CommandResult, failed};
use super::io::Io;
use toolcrib_catalog::Checked;
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{Finding, Severity};
use toolcrib_definition::grammar::counted;

/// Reports findings in one line; for commands whose job is another. `catalog` is the one that the command line names.
pub(super) fn report_briefly(io: &Io, checked: &Checked, catalog: Option<&Path>) {
    let errors = checked.count(Severity::Error);
    let warnings = checked.count(Severity::Warning);
    if errors + warnings > 0 {
        let errors = counted(errors, "error");
        let warnings = counted(warnings, "warning");
        report(io, checked, catalog, &format!("{errors} and {warnings}"));
    }
}

pub(super) fn report(io: &Io, checked: &Checked, catalog: Option<&Path>, counted: &str) {
    let named = catalog.map(|path| format!(" {}", path.display())).unwrap_or_default();
    let first = first_lost(checked).map(|lost| format!("{lost}; ")).unwrap_or_default();
    io.note(format!("{first}{counted}; `toolcrib check{named}` shows them"));
}

/// Reports missing input in one line, and nothing else; for commands that run at every turn of a job.
pub(super) fn report_lost(io: &Io, checked: &Checked) {
    if let Some(lost) = first_lost(checked) {
        io.note(format!("{lost}; `toolcrib check` shows everything"));
    }
}

/// The first finding that keeps input out of the catalog, and the number of others.
fn first_lost(checked: &Checked) -> Option<String> {
    let mut lost = checked.findings.errors().filter(|finding| finding.code.loses_input());
    let first = lost.next()?;
    let more = match lost.count() {
        0 => String::new(),
        count => format!(" (and {count} more like it)"),
    };
    Some(format!("error[{}]: {}{more}", first.code.as_str(), in_one_line(first)))
}

/// The place of a finding, its message and its help.
pub(super) fn in_one_line(finding: &Finding) -> String {
    let place = finding.place.as_ref().map(|place| match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}: ", place.file),
        _ => format!("{}: ", place.file),
    });
    let help = finding.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("{}{}{help}", place.unwrap_or_default(), clean_line(&finding.message))
}

/// Fails where no tool could be read: an answer about such a catalog would be taken for one about its tools.
pub(super) fn refuse_unread(checked: &Checked) -> CommandResult {
    if checked.lost_input() && checked.catalog.tools.is_empty() {
        return Err(failed("no source could be read; `toolcrib check` shows why"));
    }
    Ok(())
}

/// Fails when some of the input is missing from the catalog, after the rest has been printed.
pub(super) fn complete(checked: &Checked) -> CommandResult {
    if checked.lost_input() { Err(failed("not all of the catalog could be read")) } else { Ok(()) }
}
