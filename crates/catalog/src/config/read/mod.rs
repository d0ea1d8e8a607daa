//! Finds and reads the configuration of a catalog.

mod check;
mod found;
mod workspace;

use std::path::Path;

use super::clients;
use super::payload::Provider;
use super::preset::{preset, preset_names};
use super::settings::Config;
use super::source::Source;
use super::tool_filter::ToolFilter;
use check::{check, invalid};
pub use found::NAME_IT;
use found::disarm;
pub(crate) use found::leads_out;
use toolcrib_definition::document::{Reader, open};
use toolcrib_definition::finding::{Code, Place, nearest};
use toolcrib_definition::ground::is_within;
use workspace::FILE_NAME;
pub use workspace::{FetchError, LeftOut, Workspace};

/// Reads the configuration of a folder, or a client's file, that nobody named, without what only an operator's word allows.
pub fn read_found(place: &Path) -> Workspace {
    let (folder, file) = match place.parent() {
        Some(folder) if place.is_file() => (folder, place.to_path_buf()),
        _ => (place, place.join(FILE_NAME)),
    };
    let mut workspace = if is_within(folder, &file) {
        read(place)
    } else {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let findings = vec![leads_out(Code::FileUnreadable, &name).at(Place::new(&*name, ""))];
        Workspace { root: folder.into(), findings, ..Workspace::default() }.without_files()
    };
    workspace.is_confined = true;
    if workspace.document.is_some() {
        disarm(&mut workspace);
    }
    workspace
}

/// Reads the configuration of `catalog`: a `toolcrib.toml`, a folder that may hold one, the configuration of an MCP
/// client, a single file of definitions, or the address of a registry. The last two get the default configuration.
pub fn read(catalog: &Path) -> Workspace {
    if let Some(source) = at_address(catalog) {
        let config = Config { sources: vec![source], ..Config::default() };
        return Workspace { root: ".".into(), config, ..Workspace::default() };
    }
    let (root, file) = if catalog.is_dir() {
        (catalog.to_path_buf(), Some(catalog.join(FILE_NAME)).filter(|file| file.exists()))
    } else {
        let is_config = catalog.file_name().is_some_and(|name| name == FILE_NAME);
        let root = catalog.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (root.to_path_buf(), is_config.then(|| catalog.to_path_buf()))
    };
    let mut workspace = Workspace { root, ..Workspace::default() };
    match file {
        Some(file) => read_file(&file, &mut workspace),
        None if !catalog.is_dir() => {
            if let Some(client) = clients::read(catalog, &workspace.root) {
                workspace.findings = client.findings;
                workspace.document = client.document;
                if client.sources.is_empty() {
                    return workspace.without_files();
                }
                workspace.config.sources = client.sources;
                workspace.config.payload.provider = Provider::Mcp;
                workspace.config.serve.split_exec = true;
                return workspace;
            }
            let path = catalog.file_name().unwrap_or_default().to_string_lossy().into_owned();
            workspace.config.sources = vec![Source { path, ..Source::default() }];
        }
        None => {}
    }
    workspace
}

/// The source of a catalog that is the address of a registry.
pub fn at_address(catalog: &Path) -> Option<Source> {
    let source = Source { path: catalog.to_str()?.to_string(), ..Source::default() };
    source.address().is_some().then_some(source)
}

fn read_file(file: &Path, workspace: &mut Workspace) {
    let document = match open(file, FILE_NAME) {
        Ok(document) => document,
        Err(unread) => return workspace.findings.push(unread.finding),
    };
    let mut findings = Vec::new();
    let config: Option<Config> =
        Reader::compile().read(document.value.clone(), &Place::new(FILE_NAME, ""), &mut findings);
    for finding in &mut findings {
        finding.code = Code::ConfigInvalid;
    }
    workspace.config = config.unwrap_or_default();
    workspace.config.file = std::path::absolute(file).ok();
    for source in &mut workspace.config.sources {
        source.filter = ToolFilter::of_list(&source.tools);
    }
    workspace.document = Some(document);
    workspace.findings = findings;
    check(workspace);
    add_presets(workspace);
}

fn add_presets(workspace: &mut Workspace) {
    for (index, name) in workspace.config.presets.iter().enumerate() {
        match preset(name) {
            Some(overlays) => workspace.overlays.extend(overlays),
            None => {
                let presets: Vec<&str> = preset_names().collect();
                let near = nearest(name, preset_names());
                let finding = invalid(format!("/presets/{index}"), format!("there is no preset \"{name}\""));
                let help = format!("presets are: {}", presets.join(", "));
                workspace.findings.push(finding.did_you_mean(&near, help));
            }
        }
    }
    workspace.preset_overlays = workspace.overlays.len();
    workspace.overlays.extend(workspace.config.overlays.iter().cloned());
}

#[cfg(test)]
mod tests;
