//! The plan of an adoption: the text of each file that it would write.

use indexmap::IndexSet;
use toml_edit::DocumentMut;

use super::client_text::{OWN, OwnEntry};
use super::cost::Cost;
use super::moved::{Secrets, add, new_configuration};
use super::program::program;
use super::record::{Record, hash};
use super::servers::{ClientServers, LeftServer};
use super::target::{Target, undo_command};
use crate::cli::differences::of_tools;
use crate::cli::error::{CommandError, CommandResult, failed};
use crate::cli::io::Io;
use toolcrib_catalog::config::{Difference, ServeMode, Source};
use toolcrib_definition::clean_line;
use toolcrib_definition::grammar::counted;

/// The changes of an adoption.
pub(super) struct Plan {
    /// The text of the client's file as it was read.
    pub(super) read: String,
    /// The text of the client's file after the adoption.
    pub(super) after: String,
    /// What the tools cost, for people.
    pub(super) cost: Cost,
    /// The text that `--undo` brings back.
    pub(super) before: String,
    /// The servers that move now.
    pub(super) moved: Vec<String>,
    /// Servers that stay in the client's file, with the reasons.
    pub(super) left: Vec<LeftServer>,
    /// What works otherwise for the servers that move, and their variables that were inputs of the client.
    pub(super) differences: Vec<(String, Difference)>,
    pub(super) configuration: String,
    pub(super) secrets: Secrets,
    pub(super) record: Record,
}

impl Plan {
    /// Plans the changes; `None` if there is nothing to move. Without a mode, the one that costs least is used.
    pub(super) fn new(
        io: &Io,
        target: &Target,
        mode: Option<ServeMode>,
        is_offline: bool,
    ) -> Result<Option<Self>, CommandError> {
        let earlier = target.folder.record();
        refuse_second_file(target, earlier.as_ref())?;
        let client = ClientServers::read(target, earlier.as_ref())?;
        refuse_lost_entry(target, earlier.as_ref(), &client)?;
        refuse_other_configuration(target, earlier.as_ref(), &client)?;
        if client.moving.is_empty() && client.has_own && mode.is_none() {
            return Ok(None);
        }
        if client.moving.is_empty() && !client.has_own {
            let left = reasons(&client.left);
            return Err(failed(format!("{} has no server that can be moved: {left}", target.file.display())));
        }
        let Record { moved: earlier, differences: mut earlier_differences, .. } = earlier.unwrap_or_default();
        earlier_differences
            .retain(|name, _| client.moving.iter().all(|source| source.server.as_ref() != Some(name)));
        let before = client.before(target, &earlier)?;
        let cost = Cost::of(io, target, &client.workspace, &client.moving, is_offline)?;
        let differences = differences(&client.moving, &cost);
        let mut configuration = configuration_of(target, mode, &cost)?;
        let mut secrets =
            Secrets::read(&std::fs::read_to_string(target.folder.secrets()).unwrap_or_default());
        let moved = move_to(&mut configuration, &mut secrets, client.moving)?;
        let configuration = configuration.to_string();
        let own = OwnEntry {
            timeouts: client.text.timeouts(&client.names),
            program: if target.project.is_some() { OWN.into() } else { program(io)? },
            arguments: ["serve", "--stdio", &target.named_configuration()].map(str::to_string).to_vec(),
        };
        let after = client.text.with_own(&moved, &own).ok_or_else(|| {
            failed(format!("cannot edit {}: each server must begin on its own line", target.file.display()))
        })?;
        let earlier = if client.has_own { earlier } else { Vec::new() };
        let all: IndexSet<String> = earlier.into_iter().chain(moved.iter().cloned()).collect();
        let mut said = earlier_differences;
        for (server, difference) in &differences {
            said.entry(server.clone()).or_default().push(clean_line(&difference.to_string()));
        }
        let record = Record {
            differences: said,
            file: target.file.clone(),
            map: client.map,
            moved: all.into_iter().collect(),
            written: hash(&after),
            configured: hash(&configuration),
        };
        let read = client.text.text;
        let left = client.left;
        Ok(Some(Self { read, after, cost, before, moved, left, differences, configuration, secrets, record }))
    }

    /// The mode in the configuration.
    pub(super) fn mode(&self) -> Option<String> {
        let document: DocumentMut = self.configuration.parse().ok()?;
        Some(document.get("serve")?.get("mode")?.as_str()?.to_string())
    }
}

/// What works otherwise for these servers, each with its name.
fn differences(moving: &[Source], cost: &Cost) -> Vec<(String, Difference)> {
    let of_source = |source: &Source| {
        let name = source.server.clone().unwrap_or_default();
        let of_tools = of_tools(&cost.catalog, &name, cost.tools.mode);
        let all = source.differences.clone().into_iter().chain(of_tools);
        all.map(|difference| (name.clone(), difference)).collect::<Vec<_>>()
    };
    moving.iter().flat_map(of_source).collect()
}

/// Refuses to adopt a second file of a client.
fn refuse_second_file(target: &Target, earlier: Option<&Record>) -> CommandResult {
    let Some(other) = earlier.map(|earlier| &earlier.file).filter(|other| **other != target.file) else {
        return Ok(());
    };
    Err(failed(format!(
        "{} is adopted already, and {} can have only one adopted file; nothing was changed. Run `toolcrib adopt {} --undo` to move its servers back, then adopt {}",
        other.display(),
        target.title,
        other.display(),
        target.file.display()
    )))
}

/// Refuses a file that has lost its entry for toolcrib, since its earlier servers would be lost too. If the copy equals the file,
/// the file has them all.
fn refuse_lost_entry(target: &Target, earlier: Option<&Record>, client: &ClientServers) -> CommandResult {
    let has_all =
        || std::fs::read_to_string(target.folder.backup()).is_ok_and(|copy| copy == client.text.text);
    let Some(earlier) = earlier else { return Ok(()) };
    if client.has_own || has_all() {
        return Ok(());
    }
    Err(failed(format!(
        "{} no longer has an entry for toolcrib, but {} moved from it earlier: {}; nothing was changed. Run `{}` to put them back, then adopt the file again",
        target.file.display(),
        counted(earlier.moved.len(), "server"),
        earlier.moved.join(", "),
        undo_command(target)
    )))
}

/// Refuses to write into a project's configuration that no adoption has made, or through a link.
fn refuse_other_configuration(
    target: &Target,
    earlier: Option<&Record>,
    client: &ClientServers,
) -> CommandResult {
    let configuration = target.folder.configuration();
    let is_ours = earlier.is_some() || client.has_own || !configuration.exists();
    if target.project.is_none() || is_ours && !target.folder.path.is_symlink() {
        return Ok(());
    }
    Err(failed(format!(
        "{} or {} was not made by `adopt`; nothing was changed\n  help: move it, or add the servers to toolcrib.toml as `[[source]]`",
        configuration.display(),
        target.folder.path.display()
    )))
}

/// The configuration as it is, or a new one, in this mode.
fn configuration_of(
    target: &Target,
    mode: Option<ServeMode>,
    cost: &Cost,
) -> Result<DocumentMut, CommandError> {
    let file = target.folder.configuration();
    let Ok(text) = std::fs::read_to_string(&file) else {
        return Ok(new_configuration(target, mode.unwrap_or(cost.mode())));
    };
    let mut document: DocumentMut =
        text.parse().map_err(|error| failed(format!("{} cannot be read: {error}", file.display())))?;
    if let Some(mode) = mode {
        document["serve"]["mode"] = toml_edit::value(Into::<&'static str>::into(mode));
    }
    Ok(document)
}

/// Moves the servers to the configuration, and their secrets to the others. Returns the names of the servers.
fn move_to(
    configuration: &mut DocumentMut,
    secrets: &mut Secrets,
    moving: Vec<Source>,
) -> Result<Vec<String>, CommandError> {
    let mut moved = Vec::new();
    for source in moving {
        let (Some(name), Some(mut server)) = (source.server, source.mcp) else { continue };
        secrets.take(&name, &mut server);
        add(configuration, &name, &server, &source.tools)?;
        moved.push(name);
    }
    Ok(moved)
}

/// The servers that stay, with the reasons.
pub(super) fn reasons(left: &[LeftServer]) -> String {
    let each = left.iter().map(|server| format!("{} ({})", clean_line(&server.name), server.reason));
    each.collect::<Vec<_>>().join(", ")
}
