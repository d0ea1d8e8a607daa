//! Catalogs that are not served: those without tools, and those whose configuration is broken.

use crate::cli::error::{CommandResult, failed};
use crate::cli::io::Io;
use toolcrib_catalog::Checked;
use toolcrib_definition::finding::{Code, Finding, text_report};

/// A catalog without tools is a mistake, unless a live server may still list some.
pub(super) fn refuse_nothing(checked: &Checked) -> CommandResult {
    let has_servers = checked.catalog.config.sources.iter().any(|source| source.mcp.is_some());
    if checked.catalog.tools.is_empty() && !has_servers {
        return Err(failed("there is no tool to serve; `toolcrib check` shows why"));
    }
    Ok(())
}

/// A `toolcrib.toml` that is read only in part may lack the tokens and roles that restrict access.
pub(super) fn refuse_broken_configuration(io: &Io, checked: &Checked) -> CommandResult {
    // An unreachable source is no mistake in the file that names it.
    let is_away = |finding: &Finding| match finding.code {
        Code::SourceUnreachable => true,
        Code::FileUnreadable => {
            finding.place.as_ref().is_some_and(|place| place.pointer.starts_with("/source/"))
        }
        _ => false,
    };
    let is_of_configuration = |finding: &&Finding| {
        finding.place.as_ref().is_some_and(|place| place.file == "toolcrib.toml") && !is_away(finding)
    };
    let broken: Vec<Finding> = checked.findings.errors().filter(is_of_configuration).cloned().collect();
    if broken.is_empty() {
        return Ok(());
    }
    io.note(text_report(&broken, &checked.documents, true, Some(10)).trim_end());
    let message =
        "toolcrib.toml has errors, and without the parts in error the server could be too open; correct them";
    Err(failed(message))
}
