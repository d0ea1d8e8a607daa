//! A catalog that follows the one on disk.

use std::sync::Arc;

use crate::cli::catalog::CatalogArgs;
use crate::cli::error::CommandError;
use crate::cli::io::Io;
use toolcrib_catalog::Findings;
use toolcrib_catalog::config::live_server;
use toolcrib_catalog::config::{self, Config};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{Code, Finding};
use toolcrib_definition::guard::{MISTAKE, guarded_now};
use toolcrib_front::watch::{Change, Follow};
use toolcrib_providers::Provider;
use toolcrib_providers::report::RequestCost;
use toolcrib_server::LiveCatalog;

/// Takes over each new catalog that differs from the last one, until there are no more. A catalog that panics while
/// it is read leaves the last one.
pub(super) fn keep_current(io: &Io, live: &LiveCatalog, catalog: &CatalogArgs, mut follow: Follow) {
    loop {
        let taken = guarded_now(|| follow.next().map(|change| take_over(io, live, catalog, change)));
        match taken {
            Ok(Some(())) => {}
            Ok(None) => return,
            Err(_) => live.fail(format!("reading the catalog broke down: {MISTAKE}")),
        }
    }
}

/// Logs the settings that have changed and take effect at the next start alone.
fn note_restart(before: &Config, now: &Config) {
    let text = |config: &Config| [serde_json::to_string(&config.state), serde_json::to_string(&config.serve)];
    let parts = text(before).into_iter().zip(text(now)).zip(["[state]", "[serve]"]);
    for (_, table) in parts.filter(|((before, now), _)| before.as_ref().ok() != now.as_ref().ok()) {
        let file = now.place(true);
        tracing::warn!("`{table}` in {file} has changed, which takes effect when toolcrib is started again");
    }
}

/// Logs what the tools cost in each request, once all servers have listed theirs; on a thread of its own, so that no client waits.
pub(super) fn log_cost(io: &Io, live: &LiveCatalog, catalog: &CatalogArgs) {
    let generation = live.current();
    let io = io.clone();
    let reader = catalog.cost_reader(&generation.unrestricted_view().catalog().config);
    let counting = move || {
        let _log = io.enter_log();
        let view = generation.unrestricted_view();
        let catalog = view.catalog();
        let payload = config::Payload { provider: Provider::Mcp, ..catalog.config.payload };
        if let Ok(cost) = RequestCost::of(catalog, view.templates(), None, payload) {
            tracing::info!("{}", cost.line(reader));
        }
    };
    let _ = std::thread::Builder::new().name("tokens".into()).spawn(counting);
}

fn take_over(io: &Io, live: &LiveCatalog, catalog: &CatalogArgs, change: Change) {
    let Change { checked, is_worse, files, notices } = change;
    notices.iter().for_each(|notice| tracing::warn!("{notice}"));
    let tools = checked.catalog.tools.len();
    let changed = files.join(", ");
    let awaited = checked.awaited.as_ref().map(|awaited| awaited.servers.join(", "));
    note_restart(&live.current().unrestricted_view().catalog().config, &checked.catalog.config);
    let is_first = awaited.is_none() && live.current().awaited.is_some();
    let is_told = |finding: &&Finding| awaited.is_none() || finding.code != Code::SourceUnreachable;
    for finding in checked.findings.errors().filter(is_told).take(10) {
        let place = finding.place.clone().unwrap_or_default();
        let file = clean_line(&place.file);
        let line = place.line.unwrap_or_default();
        let message = clean_line(&finding.message);
        tracing::warn!(code = finding.code.as_str(), file, line, "{message}");
    }
    log_definitions(&checked.findings, Some(&live.current().findings));
    match catalog.templates(io, &checked, None) {
        Ok(templates) => live.replace(checked, is_worse, &Arc::new(templates)),
        Err(CommandError::Findings(Some(problem)) | CommandError::Usage(problem)) => live.fail(problem),
        Err(CommandError::Findings(None)) => {}
    }
    if is_first {
        log_cost(io, live, catalog);
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

/// Most findings on definitions in the log at once.
const MAX_LOGGED: usize = 20;

/// Logs what was done about the definitions of live servers, without what was known before.
pub(super) fn log_definitions(findings: &Findings, before: Option<&Findings>) {
    let is_new =
        |finding: &&Finding| before.is_none_or(|before| before.definitions().all(|known| known != *finding));
    for finding in findings.definitions().filter(is_new).take(MAX_LOGGED) {
        let place = finding.place.clone().unwrap_or_default();
        let code = finding.code.as_str();
        let server = clean_line(live_server(&place.file).unwrap_or(&place.file));
        tracing::warn!(code, server, "{}", clean_line(&finding.message));
    }
}
