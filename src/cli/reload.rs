//! Keeps the catalog of a server equal to the one on disk.

use std::sync::Arc;

use super::CommandError;
use super::catalog::CatalogArgs;
use crate::finding::{Code, Finding};
use crate::guard::{MISTAKE, guarded_now};
use crate::serve::LiveCatalog;
use crate::watch::{Change, Follow};

/// Takes over each new catalog that differs from the last one, until there are no more. A catalog that panics while
/// it is read leaves the last one.
pub(super) fn keep_current(live: &LiveCatalog, catalog: &CatalogArgs, mut follow: Follow) {
    loop {
        let taken = guarded_now(|| follow.next().map(|change| take_over(live, catalog, change)));
        match taken {
            Ok(Some(())) => {}
            Ok(None) => return,
            Err(_) => live.fail(format!("reading the catalog broke down: {MISTAKE}")),
        }
    }
}

fn take_over(live: &LiveCatalog, catalog: &CatalogArgs, change: Change) {
    let Change { checked, is_worse, files, notices } = change;
    notices.iter().for_each(|notice| tracing::warn!("{notice}"));
    let (tools, changed) = (checked.catalog.tools.len(), files.join(", "));
    let awaited = checked.awaited.as_ref().map(|awaited| awaited.servers.join(", "));
    let is_told = |finding: &&Finding| awaited.is_none() || finding.code != Code::SourceUnreachable;
    for finding in checked.findings.errors().filter(is_told).take(10) {
        let place = finding.place.clone().unwrap_or_default();
        let (file, line) = (crate::tool::clean_line(&place.file), place.line.unwrap_or_default());
        let message = crate::tool::clean_line(&finding.message);
        tracing::warn!(code = finding.code.as_str(), file, line, "{message}");
    }
    match super::render::templates(catalog, &checked, None) {
        Ok(templates) => live.replace(checked, is_worse, &Arc::new(templates)),
        Err(CommandError::Findings(Some(problem)) | CommandError::Usage(problem)) => live.fail(problem),
        Err(CommandError::Findings(None)) => {}
    }
    let version = live.current().version.clone();
    match live.stale() {
        None => tracing::info!(tools, version, changed, "the catalog changed"),
        Some(_) if awaited.is_some() => {
            tracing::info!(
                tools,
                version,
                awaited,
                "the catalog changed, and some servers have not answered yet"
            )
        }
        Some(_) if is_worse => {
            tracing::warn!(version, changed, "the catalog is broken; the last good one is served")
        }
        Some(_) => tracing::warn!(tools, version, changed, "not all of the catalog can be served"),
    }
}
