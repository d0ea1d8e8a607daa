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
    format!("{} documented ({})", counted(tools, "tool"), counts.join(", "))
}

/// Names files that stay although their tool is gone.
pub(super) fn kept(io: &Io, report: &folder::Written, complete: bool) {
    if report.kept.is_empty() {
        return;
    }
    let shown = report.kept.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    let more = if report.kept.len() > 5 { ", …" } else { "" };
    let count = counted(report.kept.len(), "file");
    io.note(if complete {
        format!("kept {count} of tools that are gone, since they are edited: {shown}{more}")
    } else {
        format!("kept {count} as they are, since not all sources could be read: {shown}{more}")
    });
}
