//! A configuration that was found, and not named by the operator: nothing that it names runs.

use std::path::PathBuf;

use super::workspace::{FILE_NAME, LeftOut, Workspace};
use crate::config::overlay::Overlay;
use crate::config::source::{Source, Trust};
use crate::config::state::Telemetry;
use toolcrib_definition::finding::{Code, Finding, Place};
use toolcrib_definition::ground::is_within;
use toolcrib_definition::{Backend, clean_line};

/// Help for a catalog that was found and not named.
pub const NAME_IT: &str = "name it as the catalog, such as `.`";

/// Removes what a configuration may only have if the operator named it: programs, servers, models, variables, templates,
/// and paths out of its folder.
pub(super) fn disarm(workspace: &mut Workspace) {
    let Workspace { root, config, overlays, findings, document, .. } = workspace;
    let file = document.as_ref().map_or(FILE_NAME, |document| document.file.as_str());
    let is_inside = |path: &str| is_within(root, &root.join(path));
    let is_own_state = |at: &mut String| {
        let mut files = ["", "-journal", "-shm", "-wal"].iter().map(|end| format!("{at}{end}"));
        !at.contains("://") && !at.contains("${") && files.all(|file| is_inside(&file))
    };
    let is_trusted = |source: &Source| source.trust == Trust::Run || source.base_url_from.is_some();
    let runs = |overlay: &Overlay| {
        let backend = &overlay.set.backend;
        matches!(backend, Some(Backend::Http(_) | Backend::Mcp { .. } | Backend::Command(_)))
    };
    let mut left = LeftOut {
        sources: false,
        models: config.repair.take().is_some()
            | config.search.llm.take().is_some()
            | config.search.semantic.take().is_some(),
        templates: config.render.templates.take().is_some(),
        backends: !std::mem::take(&mut config.servers).is_empty()
            | std::mem::take(&mut config.approval).webhook.is_some()
            | config.state.url.take_if(|at| !is_own_state(at)).is_some()
            | config.sources.iter().any(is_trusted)
            | overlays.iter().any(runs),
    };
    for (index, source) in config.sources.iter_mut().enumerate() {
        source.base_url_from = None;
        let is_live = source.mcp.take().is_some();
        let finding = if is_live || source.path.contains("://") {
            left.sources = true;
            Finding::new(Code::SourceUnreachable, "this source was not contacted").help(NAME_IT)
        } else if !is_inside(&source.path) {
            leads_out(Code::FileUnreadable, &source.path)
        } else {
            continue;
        };
        source.path.clear();
        let field = if is_live { "mcp" } else { "path" };
        let own = source.pointer.clone().unwrap_or_else(|| format!("/source/{index}/{field}"));
        findings.push(finding.at(Place::new(file, own)));
    }
    let queries = &mut config.eval.queries;
    let is_outside = |(_, path): &(usize, &PathBuf)| !is_inside(&path.to_string_lossy());
    for (index, path) in queries.iter().enumerate().filter(is_outside) {
        let finding = leads_out(Code::LabelInvalid, &path.to_string_lossy());
        findings.push(finding.at(Place::new(file, format!("/eval/queries/{index}"))));
    }
    queries.retain(|path| is_inside(&path.to_string_lossy()));
    for issuer in &mut config.serve.issuers {
        issuer.jwks.take_if(|jwks| !is_inside(jwks));
    }
    config.env_file = None;
    config.telemetry = Telemetry::default();
    // The arguments stay hidden, and their calls fail.
    let set = overlays.iter_mut().flat_map(|overlay| overlay.arguments.values_mut());
    set.for_each(|argument| drop(argument.env.take()));
    workspace.found = Some(left);
}

/// A finding about a path out of a folder that nobody named.
pub(crate) fn leads_out(code: Code, path: &str) -> Finding {
    let message = format!("`{}` leads out of the folder, which was found and not named", clean_line(path));
    Finding::new(code, message).help(NAME_IT)
}
