//! The arguments that name a catalog, shared by all commands that read one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::adopt::{adopted, adopted_file, of_client, of_project, reader_of};
use super::error::{CommandError, failed};
use super::findings::{refuse_unread, report, report_briefly, report_lost};
use super::io::Io;
use super::progress::Spinner;
use super::servers::{credentials, environment, remembered_lists, remembering, waiting_for};
use crate::BUILT_IN;
use toolcrib_catalog::config::{self, Config, LeftOut, Workspace, at_address, shown_address};
use toolcrib_catalog::sources::ADDRESS_HELP;
use toolcrib_catalog::{self as catalog, Checked};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::grammar::counted;
use toolcrib_front::address::Addresses;
use toolcrib_front::credentials::Credentials;
use toolcrib_front::mcp::{Connections, Environment, list_all};
use toolcrib_front::watch::Reading;
use toolcrib_gateway::functions::CatalogView;
use toolcrib_providers::report::CostReader;
use toolcrib_render::Templates;

/// The name of a configuration.
const CONFIGURATION: &str = "toolcrib.toml";

/// The message about a catalog that does not exist: a file beside it with nearly its name, or else what a catalog is.
fn missing(path: &Path) -> String {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let listed = folder.read_dir().into_iter().flatten().flatten();
    let there: Vec<String> = listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let help = match nearest(&name, there.iter().map(String::as_str)).first() {
        Some(near) => format!("did you mean `{}`?", path.with_file_name(near).display()),
        None => {
            "name a toolcrib.toml, a folder or a file of tools; `toolcrib init` writes a new catalog".into()
        }
    };
    format!("there is no catalog at {}\n  help: {help}", path.display())
}

/// The catalog, and the part of it that may be used.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct CatalogArgs {
    /// A toolcrib.toml, a folder, one file of definitions in any known format, the configuration of an MCP client, or
    /// the https:// address of a registry.json.
    ///
    /// The default is the nearest folder with a toolcrib.toml, from the current directory upward, without what it would
    /// start or contact; else the current directory.
    #[arg(value_name = "CATALOG", env = "TOOLCRIB_CATALOG", hide_env_values = true)]
    catalog: Option<PathBuf>,
    /// The same as an option, which many try first.
    #[arg(long = "catalog", value_name = "CATALOG", hide = true)]
    option: Option<PathBuf>,
    /// The folder that is found where none is named.
    #[arg(skip)]
    found: Arc<OnceLock<PathBuf>>,
    /// Parts that are left out of a configuration that was found and not named.
    #[arg(skip)]
    left_out: Arc<OnceLock<LeftOut>>,
    /// Whether that was said.
    #[arg(skip)]
    is_told: Arc<OnceLock<()>>,
    /// Registries at addresses that the catalog names.
    #[arg(skip)]
    pub(super) addresses: Addresses,
    /// Contact no live servers and no models, and run no commands.
    ///
    /// Tools of live servers count as missing input.
    #[arg(long)]
    pub(super) offline: bool,
}

impl CatalogArgs {
    /// The catalog at a path that the user has named earlier.
    pub(super) fn named(catalog: PathBuf) -> Self {
        Self { catalog: Some(catalog), ..Self::default() }
    }

    /// The same catalog, for a person who asks about servers: it may be the name of a client. Without a name, it is the nearest
    /// `toolcrib.toml`, else a project's file for clients, else the tools in this folder, else what was adopted last.
    pub(super) fn or_adopted(mut self, io: &Io) -> Self {
        let given = self.given().filter(|given| !given.exists()).and_then(Path::to_str);
        if let Some(place) = given.and_then(|name| of_client(io, name)) {
            return Self { catalog: Some(place), option: None, ..self };
        }
        if self.is_named() {
            return self;
        }
        let here = std::env::current_dir().unwrap_or_default();
        if here.ancestors().any(|folder| folder.join(CONFIGURATION).is_file()) {
            return self;
        }
        match of_project(io, &here) {
            Some(file) => drop(self.found.set(file.strip_prefix(&here).unwrap_or(&file).into())),
            None => self.catalog = self.last_adopted(io, &here),
        }
        self
    }

    /// The folder of what was adopted last, where this folder has no tools.
    fn last_adopted(&self, io: &Io, here: &Path) -> Option<PathBuf> {
        let mut adopted = adopted(io).into_iter().map(|adopted| adopted.folder);
        let last = adopted.next()?;
        let has_tools = || !catalog::open(config::read_found(here)).catalog.tools.is_empty();
        if has_tools() {
            return None;
        }
        let others: Vec<String> = adopted.map(|folder| folder.display().to_string()).collect();
        if !others.is_empty() {
            io.note(format!("this is {}; name another one: {}", last.display(), others.join(", ")));
        }
        Some(last)
    }

    fn given(&self) -> Option<&Path> {
        self.option.as_deref().or(self.catalog.as_deref())
    }

    /// Who reads what the tools of this catalog cost: the person of a client, if they are those of its servers.
    pub(super) fn cost_reader(&self, config: &Config) -> CostReader {
        let is_of_client = config.sources.iter().any(|source| source.pointer.is_some());
        let own = is_of_client.then(|| self.named_or_here().to_path_buf());
        adopted_file(&self.folder()).or(own).map_or(CostReader::Operator, |file| reader_of(&file))
    }

    /// The path of the catalog; one that does not exist is a wrong command line.
    pub(super) fn path(&self) -> Result<&Path, CommandError> {
        let path = self.named_or_here();
        if path.exists() || at_address(path).is_some() {
            Ok(path)
        } else {
            Err(CommandError::Usage(missing(path)))
        }
    }

    /// The catalog as a command line names it.
    pub(super) fn shown(&self) -> String {
        self.named_or_here().display().to_string()
    }

    /// Whether the command line or the environment names it.
    pub(super) fn is_named(&self) -> bool {
        self.given().is_some()
    }

    /// Reports what keeps input out of the catalog, and counts the rest; for commands whose job is another.
    pub(super) fn report_briefly(&self, io: &Io, checked: &Checked) {
        report_briefly(io, checked, self.given());
    }

    /// The same without warnings; for a server, whose first answer does not wait for lint.
    pub(super) fn report_errors(&self, io: &Io, checked: &Checked) {
        let errors = checked.findings.errors().count();
        if errors > 0 {
            report(io, checked, self.given(), &counted(errors, "error"));
        }
    }

    fn named_or_here(&self) -> &Path {
        self.given().unwrap_or_else(|| self.found.get_or_init(nearest_folder))
    }

    /// The configuration. One that was found and not named starts and contacts nothing.
    pub(super) fn workspace(&self, io: &Io) -> Result<Workspace, CommandError> {
        let workspace = self.read_workspace(io, self.path()?);
        let unfetched =
            workspace.fetched.iter().find_map(|(address, got)| Some((address, got.as_ref().err()?)));
        match unfetched {
            Some((address, problem)) => {
                let address = shown_address(address);
                Err(failed(format!("cannot fetch {address}: {problem}\n  help: {ADDRESS_HELP}")))
            }
            None => Ok(workspace),
        }
    }

    fn read_workspace(&self, io: &Io, path: &Path) -> Workspace {
        let mut workspace = if self.is_named() { config::read(path) } else { config::read_found(path) };
        if let Some(found) = workspace.found {
            self.left_out.get_or_init(|| found);
            self.note_left_out(io, |left| left.sources, "live servers and addresses of definitions");
        }
        if !self.offline && !workspace.is_confined {
            workspace.fetched = self.addresses.registries(&workspace);
        }
        workspace
    }

    /// Says that the command goes without the models of a configuration that was found.
    pub(super) fn note_models(&self, io: &Io) {
        self.note_left_out(io, |left| left.models, "models");
    }

    /// Says that calls go without the programs, servers and state of a configuration that was found.
    pub(super) fn note_backends(&self, io: &Io) {
        self.note_left_out(io, |left| left.backends, "programs, servers and state");
    }

    /// Says in one line what is left out of a configuration that was found.
    fn note_left_out(&self, io: &Io, is_left: impl Fn(&LeftOut) -> bool, what: &str) {
        if self.left_out.get().is_some_and(is_left) {
            let place = self.named_or_here();
            let file = if place.is_dir() { place.join(CONFIGURATION) } else { place.to_path_buf() };
            let (file, place) = (file.file_name().unwrap_or_default().display(), place.display());
            let note = format!(
                "{file} was found and not named, so its {what} are left out; name `{place}` as the catalog to use them"
            );
            self.is_told.get_or_init(|| io.note(note));
        }
    }

    /// The way in which each new configuration of a watched catalog is read.
    pub(super) fn reading(&self, io: &Io) -> Reading {
        let args = self.clone();
        let io = io.clone();
        Arc::new(move |path: &Path| args.read_workspace(&io, path))
    }

    /// The folder that the paths of its configuration are relative to.
    pub(super) fn folder(&self) -> PathBuf {
        let path = self.named_or_here();
        if at_address(path).is_some() {
            return PathBuf::from(".");
        }
        let folder = if path.is_dir() { Some(path) } else { path.parent() };
        folder.map(Path::to_path_buf).unwrap_or_default()
    }

    /// Opens the catalog.
    pub(super) fn open(&self, io: &Io) -> Result<Checked, CommandError> {
        let workspace = self.workspace(io)?;
        let progress = Spinner::start(io, waiting_for(&[]));
        let waiting = |names: &[String]| progress.say(waiting_for(names));
        // The lists of its live servers, if they may be contacted.
        let listings = self
            .environment_of(io, &workspace)
            .map(|environment| credentials(io, environment))
            .map(|credentials| list_all(&workspace, &credentials, remembered_lists(io).as_deref(), &waiting));
        progress.finish();
        Ok(catalog::open_with(workspace, &listings.unwrap_or_default()))
    }

    /// Opens the catalog, and reports its findings in one line; fails where no tool could be read.
    pub(super) fn open_readable(&self, io: &Io) -> Result<Checked, CommandError> {
        let checked = self.open(io)?;
        self.report_briefly(io, &checked);
        refuse_unread(&checked).map(|()| checked)
    }

    /// The same for a command that runs at every turn of a job: it reports missing input alone.
    pub(super) fn open_at_turn(&self, io: &Io) -> Result<Checked, CommandError> {
        let checked = self.open(io)?;
        report_lost(io, &checked);
        refuse_unread(&checked).map(|()| checked)
    }

    /// The templates named on the command line, else the configured ones, else the built-in ones.
    pub(super) fn templates(
        &self,
        io: &Io,
        checked: &Checked,
        named: Option<&Path>,
    ) -> Result<Templates, CommandError> {
        let Some(folder) = named else {
            self.note_left_out(io, |left| left.templates, "templates");
            return Templates::of(BUILT_IN, &checked.catalog.config.render, &self.folder()).map_err(failed);
        };
        Templates::load(BUILT_IN, folder).map_err(failed)
    }

    /// The catalog as callers with these roles see it.
    pub(super) fn view(
        &self,
        io: &Io,
        checked: &Checked,
        profile: Option<&str>,
        roles: Option<&[String]>,
    ) -> Result<CatalogView, CommandError> {
        let templates = self.templates(io, checked, None)?;
        Ok(CatalogView::new(&checked.catalog, profile, roles, Arc::new(templates))?)
    }

    /// A path from the configuration, which is relative to its folder.
    pub(super) fn beside(&self, path: &Path) -> PathBuf {
        self.folder().join(path)
    }

    /// Connections to live servers, if they may be contacted.
    pub(super) fn connections(&self, io: &Io) -> Option<Arc<Connections>> {
        self.environment(io).map(|environment| Arc::new(remembering(io, Connections::new(environment))))
    }

    /// The tokens for live servers, if they may be contacted.
    pub(super) fn credentials(&self, io: &Io) -> Option<Arc<Credentials>> {
        self.environment(io).map(|environment| credentials(io, environment))
    }

    /// The variables for live servers, if they may be contacted.
    pub(super) fn environment(&self, io: &Io) -> Option<Environment> {
        if self.offline {
            return None;
        }
        self.workspace(io).map_or_else(|_| Some(environment(io, None)), |here| self.environment_of(io, &here))
    }

    /// The variables for the live servers of a workspace, if they may be contacted.
    pub(super) fn environment_of(&self, io: &Io, here: &Workspace) -> Option<Environment> {
        let file = here.config.env_file.as_ref().map(|file| here.root.join(file));
        (!self.offline).then(|| environment(io, file))
    }
}

/// The nearest folder with a toolcrib.toml, from the current directory upward, as `.`, `..` and so on; `.` without one.
fn nearest_folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let height = here.ancestors().position(|folder| folder.join(CONFIGURATION).is_file()).unwrap_or(0);
    if height == 0 { PathBuf::from(".") } else { std::iter::repeat_n("..", height).collect() }
}
