//! What the tools of servers that move cost.

use super::places::reader_of;
use super::target::Target;
use crate::BUILT_IN;
use crate::cli::error::CommandError;
use crate::cli::io::Io;
use crate::cli::progress::Spinner;
use crate::cli::servers::{credentials, environment, remembered_lists, waiting_for};
use toolcrib_catalog::config::{self, Config, Mode, ServeMode, Source, Workspace};
use toolcrib_catalog::sources::Listings;
use toolcrib_catalog::{self as catalog, Catalog};
use toolcrib_definition::clean_line;
use toolcrib_front::mcp::{Examined, examine};
use toolcrib_providers::report::{CostReader, RequestCost};
use toolcrib_render::Templates;

/// What the servers' tools cost, measured by starting each server once.
pub(super) struct Cost {
    pub(super) tools: RequestCost,
    /// The servers' tools.
    pub(super) catalog: Catalog,
    reader: CostReader,
    /// Number of the servers that were started.
    pub(super) asked: usize,
    /// Whether no server was started.
    is_offline: bool,
    /// The servers that listed no tools.
    pub(super) silent: Vec<String>,
}

impl Cost {
    /// Counts the tools of servers that move now or moved earlier.
    pub(super) fn of(
        io: &Io,
        target: &Target,
        workspace: &Workspace,
        moving: &[Source],
        is_offline: bool,
    ) -> Result<Self, CommandError> {
        let configuration = target.folder.configuration();
        let earlier =
            if configuration.is_file() { config::read(&configuration).config.sources } else { Vec::new() };
        let moves = |source: &Source| moving.iter().any(|moving| moving.server == source.server);
        let stay = earlier.into_iter().filter(|source| !moves(source));
        let sources = stay.chain(moving.iter().cloned()).collect();
        let workspace =
            Workspace { config: Config { sources, ..workspace.config.clone() }, ..workspace.clone() };
        let (examined, listings) =
            if is_offline { Default::default() } else { asked(io, target, &workspace) };
        let asked = examined.len();
        let silent = examined.iter().filter(|server| server.outcome.is_err());
        let silent = silent.map(|server| clean_line(&server.name)).collect();
        let catalog = catalog::open_with(workspace, &listings).catalog;
        let tools = RequestCost::of(&catalog, &Templates::from(BUILT_IN), None, catalog.config.payload)?;
        Ok(Self { tools, catalog, reader: reader_of(&target.file), is_offline, asked, silent })
    }

    /// The mode to use.
    pub(super) fn mode(&self) -> ServeMode {
        match self.tools.mode {
            // Nobody knows yet what the tools of all servers cost.
            _ if self.is_offline || !self.silent.is_empty() => ServeMode::Auto,
            _ if matches!(self.reader, CostReader::DeferringClient(_)) => ServeMode::Full,
            Mode::Gateway => ServeMode::Gateway,
            Mode::Hybrid => ServeMode::Hybrid,
            _ => ServeMode::Full,
        }
    }

    pub(super) fn line(&self) -> String {
        if self.is_offline {
            return "No server was started, so what their tools cost is not known.".into();
        }
        let silent = match &self.silent[..] {
            [] => String::new(),
            names => format!(" Without {}, which did not answer.", names.join(", ")),
        };
        self.tools.line(self.reader) + &silent
    }
}

/// Asks the servers of a workspace, with the secrets of the adoption.
fn asked(io: &Io, target: &Target, workspace: &Workspace) -> (Vec<Examined>, Listings) {
    let progress = Spinner::start(io, waiting_for(&[]));
    let credentials = credentials(io, environment(io, Some(target.folder.secrets())));
    let waiting = |names: &[String]| progress.say(waiting_for(names));
    let asked = examine(workspace, &credentials, remembered_lists(io).as_deref(), &waiting);
    progress.finish();
    asked
}
