//! `toolcrib adopt`: moves the servers of a client's configuration behind toolcrib, and back.

mod client;
mod client_text;
mod cost;
mod file;
mod json_map;
mod moved;
mod places;
mod plan;
mod program;
mod record;
mod report;
mod servers;
mod target;
mod undo;

use std::path::Path;

use crate::cli::error::{CommandError, CommandResult, failed};
use crate::cli::io::Io;
use crate::cli::word::word;
use file::{ATTEMPTS, being_edited, write_file};
pub(super) use places::{adopted, adopted_file, differences_at, of_client, of_project, reader_of};
use plan::Plan;
use report::{report, report_nothing};
use target::{Target, target_of};
use toolcrib_catalog::config::{CLIENTS, ServeMode};
use toolcrib_definition::private_file;
use toolcrib_render::folder::lock;
use undo::undo;

/// Move the servers of an MCP client behind toolcrib.
///
/// toolcrib becomes the one entry in the client's file. Each server is started once, to count its tools.
///
/// The servers go to a toolcrib.toml of their own in your configuration folder, or beside the file of a project, their
/// secrets to a file that only you can read. Everything else in the client's file stays as it is, and a copy of the file is kept. Restart the
/// client afterwards.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib adopt cursor --dry-run\n  toolcrib adopt cursor\n  toolcrib adopt .mcp.json --mode full\n  toolcrib adopt --all\n  toolcrib adopt cursor --undo"
)]
pub(super) struct AdoptArgs {
    #[arg(value_name = "CLIENT | FILE", required_unless_present = "all", help = clients_or_file())]
    client: Option<String>,
    /// Every client of this list whose file has servers.
    #[arg(long, conflicts_with = "client")]
    all: bool,
    /// Change nothing, and print what would change. Servers are started all the same.
    #[arg(long)]
    dry_run: bool,
    /// Start and contact no server; each start of toolcrib then decides on the mode.
    #[arg(long, conflicts_with = "undo")]
    offline: bool,
    /// Move the servers back.
    #[arg(long, conflicts_with = "mode")]
    undo: bool,
    /// The tools that the client lists: gateway, hybrid, full, or auto; `serve` explains them. The default is the one
    /// that costs least now, and it stays.
    #[arg(long, value_parser = word::<ServeMode>(), value_name = "NAME", hide_possible_values = true)]
    mode: Option<ServeMode>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The help for the client to adopt.
fn clients_or_file() -> String {
    let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
    format!("{}, or a client's file", names.join(", "))
}

impl AdoptArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let folder = io.user_folder("XDG_CONFIG_HOME", ".config").ok_or_else(|| {
            failed("there is no folder for your configuration: set HOME or XDG_CONFIG_HOME")
        })?;
        let own = folder.join("toolcrib");
        // Two runs at once would overwrite each other's files.
        let _lock = if self.dry_run {
            None
        } else {
            private_file::create_folder(&own).map_err(failed)?;
            Some(lock(&own).map_err(failed)?)
        };
        let Some(name) = &self.client else { return self.run_all(io, &own) };
        self.run_for(io, target_of(io, &own, name, self.undo)?)
    }

    /// Adopts every client with servers. A client that cannot be adopted does not stop the others.
    fn run_all(&self, io: &Io, own: &Path) -> CommandResult {
        let mut found = 0;
        let mut failures = Vec::new();
        for client in &CLIENTS {
            let Ok(target) = target_of(io, own, client.name, self.undo) else { continue };
            if self.undo && target.folder.record().is_none() {
                continue;
            }
            found += 1;
            if let Err(CommandError::Findings(Some(problem)) | CommandError::Usage(problem)) =
                self.run_for(io, target)
            {
                failures.push(problem);
            }
        }
        match (found, failures.is_empty()) {
            (0, _) => Err(failed("no client with servers was found; name the file: toolcrib adopt FILE")),
            (_, true) => Ok(()),
            _ => Err(failed(failures.join("\n"))),
        }
    }

    fn run_for(&self, io: &Io, target: Target) -> CommandResult {
        if !self.dry_run {
            target.folder.clean(&target.file);
        }
        if self.undo {
            return undo(io, &target, self.dry_run, self.json);
        }
        for _ in 0..ATTEMPTS {
            let Some(plan) = Plan::new(io, &target, self.mode, self.offline)? else {
                return report_nothing(io, &target, self.json);
            };
            if self.dry_run || write(&target, &plan)? {
                return report(io, &target, &plan, self.dry_run, self.json);
            }
        }
        Err(being_edited(&target.file))
    }
}

/// Writes the configuration, the secrets, the copy and the record, and then the client's file. Returns false, and
/// changes nothing, if the client's file was edited meanwhile.
fn write(target: &Target, plan: &Plan) -> Result<bool, CommandError> {
    let Target { folder, file, .. } = target;
    let fail = |error: std::io::Error| failed(format!("cannot write to {}: {error}", folder.path.display()));
    let earlier = folder.content();
    private_file::write(&folder.configuration(), plan.configuration.as_bytes()).map_err(fail)?;
    folder.hide_from_git().map_err(fail)?;
    private_file::write(&folder.secrets(), plan.secrets.text().as_bytes()).map_err(fail)?;
    private_file::write(&folder.backup(), plan.before.as_bytes()).map_err(fail)?;
    folder.keep(&plan.record).map_err(fail)?;
    let written = write_file(file, &plan.after, &plan.read);
    if !matches!(written, Ok(true)) {
        for (file, content) in earlier {
            match content {
                Some(content) => private_file::write(&file, &content).map_err(fail)?,
                None => std::fs::remove_file(&file).map_err(fail)?,
            }
        }
    }
    written
}
