//! Docs in a folder, for the commands that write them: whether there are some, and what was written.

use std::path::Path;

use super::io::Io;
use toolcrib_definition::grammar::counted;
use toolcrib_render::folder;

/// Whether a folder holds docs of an earlier run; an unreadable one counts, so that it is left alone.
pub(super) fn has_docs(folder: &Path) -> bool {
    folder::owned(folder).map_or(true, |files| !files.is_empty())
}

/// Number of files created, changed, removed and left, in words.
pub(super) fn summary(tools: usize, report: &folder::Written) -> String {
    let counts = [
        (report.created, "created"),
        (report.updated, "updated"),
        (report.removed, "removed"),
        (report.unchanged, "unchanged"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let counts = if counts.is_empty() { "nothing changed".into() } else { counts.join(", ") };
    format!("{} documented ({counts})", counted(tools, "tool"))
}

/// Names edited files that were replaced, and files that stay although their tool is gone.
pub(super) fn replaced_or_kept(io: &Io, report: &folder::Written, complete: bool) {
    if !report.replaced.is_empty() {
        io.note(format!("replaced your edits in {}", some_of(&report.replaced)));
    }
    if !report.kept.is_empty() {
        let why = match complete {
            true => "of tools that are gone, since they are edited",
            false => "as they are, since not all sources could be read",
        };
        io.note(format!("kept {} {why}: {}", counted(report.kept.len(), "file"), some_of(&report.kept)));
    }
}

/// The first names of a list.
fn some_of(names: &[String]) -> String {
    let more = if names.len() > 5 { ", …" } else { "" };
    names.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ") + more
}
