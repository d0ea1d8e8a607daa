//! What the tools of servers that move cost.

use super::target::Target;
use crate::BUILT_IN;
use crate::cli::error::CommandError;
use crate::cli::io::Io;
use crate::cli::progress::Spinner;
use crate::cli::servers::{credentials, environment, waiting_for};
use toolcrib_catalog as catalog;
use toolcrib_catalog::config::{self, Config, Mode, ServeMode, Source, Workspace};
use toolcrib_definition::clean_line;
use toolcrib_front::mcp::examine;
use toolcrib_providers::report::RequestCost;
use toolcrib_render::Templates;

/// What the servers' tools cost, measured by starting each server once.
pub(super) struct Cost {
    pub(super) tools: RequestCost,
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
    ) -> Result<Self, CommandError> {
        let configuration = target.folder.configuration();
        let earlier =
            if configuration.is_file() { config::read(&configuration).config.sources } else { Vec::new() };
        let moves = |source: &Source| moving.iter().any(|moving| moving.server == source.server);
        let stay = earlier.into_iter().filter(|source| !moves(source));
        let sources = stay.chain(moving.iter().cloned()).collect();
        let workspace =
            Workspace { config: Config { sources, ..workspace.config.clone() }, ..workspace.clone() };
        let progress = Spinner::start(io, waiting_for(&[]));
        let credentials = credentials(io, environment(io, Some(target.folder.secrets())));
        let waiting = |names: &[String]| progress.say(waiting_for(names));
        let (examined, listings) = examine(&workspace, &credentials, &waiting);
        progress.finish();
        let silent = examined.iter().filter(|server| server.outcome.is_err());
        let silent = silent.map(|server| clean_line(&server.name)).collect();
        let catalog = catalog::open_with(workspace, &listings).catalog;
        let tools = RequestCost::of(&catalog, &Templates::from(BUILT_IN), None, catalog.config.payload)?;
        Ok(Self { tools, silent })
    }

    /// The mode to use. Without tools, their number is unknown, so the client lists them as before.
    pub(super) fn mode(&self) -> ServeMode {
        match self.tools.mode {
            Mode::Gateway => ServeMode::Gateway,
            Mode::Hybrid => ServeMode::Hybrid,
            _ => ServeMode::Full,
        }
    }

    pub(super) fn line(&self) -> String {
        let silent = match &self.silent[..] {
            [] => String::new(),
            names => format!(" Without {}, which did not answer.", names.join(", ")),
        };
        self.tools.line() + &silent
    }
}
