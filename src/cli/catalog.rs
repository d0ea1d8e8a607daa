//! The arguments that name a catalog, shared by all commands that read one.

mod report;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantArray;

use super::{CommandError, failed, print_note, trust};
use crate::catalog::{self, CatalogCache, Checked};
use crate::config::{self, Workspace, at_address, env_variables, shown_address};
use crate::credentials::Credentials;
use crate::finding::{Code, Finding, Place};
use crate::sources::mcp::{Connections, Environment, list_all};
use crate::sources::{ADDRESS_HELP, Addresses, Listings};
use crate::watch::Reading;
pub(super) use report::{
    complete, counted, in_one_line, refuse_unread, report_briefly, report_errors, report_lost, waiting_for,
};

/// Endings of files of definitions.
const DEFINITIONS: [&str; 4] = [".json", ".yaml", ".yml", ".toml"];
/// The name of a configuration.
const CONFIGURATION: &str = "toolcrib.toml";

/// Help for a toolcrib.toml that was merely found: two ways to make it count.
pub(super) const HELP: &str = "name it, as in `toolcrib check .`, or trust it with `toolcrib trust .`";

/// The catalog, and the part of it that may be used.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CatalogArgs {
    /// A toolcrib.toml, a folder, one file of definitions in any known format, the configuration of an MCP client, or the
    /// https:// address of a registry.json. The default is the current directory; its toolcrib.toml is read as with --offline
    /// unless `toolcrib trust` has trusted it.
    #[arg(value_name = "CATALOG", env = "TOOLCRIB_CATALOG", hide_env_values = true)]
    catalog: Option<PathBuf>,
    /// The catalog of a server that names none.
    #[arg(skip)]
    found: Option<PathBuf>,
    /// Registries at addresses that the catalog names.
    #[arg(skip)]
    pub(super) addresses: Addresses,
    #[arg(skip)]
    cache: Arc<OnceLock<Option<CatalogCache>>>,
    /// Contact no live servers and no models, and run no commands. Tools of live servers count as missing input.
    #[arg(long)]
    pub(super) offline: bool,
    /// Read every definition again; without it, what was read before is used while no file has changed.
    #[arg(long)]
    no_catalog_cache: bool,
}

impl CatalogArgs {
    /// The path of the catalog; one that does not exist is a wrong command line.
    pub(super) fn path(&self) -> Result<&Path, CommandError> {
        let path = self.named_or_here();
        if path.exists() || at_address(path).is_some() {
            Ok(path)
        } else {
            Err(CommandError::Usage(format!("there is no catalog at {}", path.display())))
        }
    }

    /// Whether the command line names it, or its configuration is trusted: then its backends may be used.
    pub(super) fn counts(&self) -> Result<bool, CommandError> {
        let here = || self.workspace().map(|here| here.document.is_some() && !here.is_found);
        if self.catalog.is_some() { Ok(true) } else { here() }
    }

    /// Whether the command line or the environment names it.
    pub(super) fn is_named(&self) -> bool {
        self.catalog.is_some()
    }

    /// Reports what keeps input out of the catalog, and counts the rest; for commands whose job is another.
    pub(super) fn report_briefly(&self, checked: &Checked) {
        report_briefly(checked, self.catalog.as_deref());
    }

    /// Reports errors in one line.
    pub(super) fn report_errors(&self, checked: &Checked) {
        report_errors(checked, self.catalog.as_deref());
    }

    /// The same with the catalog that is found where none is named: the nearest folder with a toolcrib.toml, from the working
    /// folder upward; where it has no definitions either, the user's own configuration.
    pub(super) fn or_found(self) -> Self {
        let found = if self.catalog.is_none() { nearest_folder().or_else(own_folder) } else { None };
        Self { found, ..self }
    }

    fn named_or_here(&self) -> &Path {
        self.catalog.as_deref().or(self.found.as_deref()).unwrap_or(Path::new("."))
    }

    /// The configuration. One that was merely found is disarmed, and a note says so.
    pub(super) fn workspace(&self) -> Result<Workspace, CommandError> {
        let workspace = self.read_workspace(self.path()?);
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

    fn read_workspace(&self, path: &Path) -> Workspace {
        let mut workspace = config::read(path);
        self.admit(&mut workspace);
        if !self.offline && !workspace.is_found {
            workspace.fetched = self.addresses.registries(&workspace);
        }
        workspace
    }

    fn admit(&self, workspace: &mut Workspace) {
        static TOLD: Once = Once::new();
        let is_found = self.catalog.is_none() && workspace.document.is_some();
        let Some(why) = is_found.then(|| trust::admit(workspace).err()).flatten() else { return };
        workspace.disarm(HELP);
        TOLD.call_once(|| {
            print_note(format!(
                "toolcrib.toml was merely found here, and is read as with --offline: {why}; {HELP}"
            ));
        });
    }

    /// The way in which each new configuration of a watched catalog is read.
    pub(super) fn reading(&self) -> Reading {
        let (args, was_trusted) = (self.clone(), AtomicBool::new(false));
        Reading::new(move |path| {
            let mut workspace = args.read_workspace(path);
            if !workspace.is_found {
                was_trusted.store(true, Ordering::Relaxed);
            } else if was_trusted.load(Ordering::Relaxed) {
                let message = "something that this folder runs has changed since it was trusted";
                let finding =
                    Finding::new(Code::ConfigInvalid, message).help("read it, and `toolcrib trust` it again");
                workspace.findings.push(finding.at(Place::new("toolcrib.toml", "")));
            }
            workspace
        })
    }

    /// The list of trusted folders, whose changes count beside those of the catalog.
    pub(super) fn also(&self) -> Option<PathBuf> {
        self.catalog.is_none().then(trust::store).flatten()
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

    /// Opens the catalog, as it was read before where nothing has changed; then it has no documents.
    pub(super) fn open(&self) -> Result<Checked, CommandError> {
        let workspace = self.workspace()?;
        let listings = self.listings(&workspace);
        Ok(self.open_with(workspace, &listings))
    }

    /// Reads the catalog, with its documents.
    pub(super) fn read(&self) -> Result<Checked, CommandError> {
        Ok(self.open_workspace(self.workspace()?))
    }

    fn open_with(&self, workspace: Workspace, listings: &Listings) -> Checked {
        let Some(cache) = self.cache() else { return catalog::open_with(workspace, listings) };
        let opened = cache.open(workspace, listings, || {});
        cache.wait();
        opened.note.iter().for_each(print_note);
        opened.checked
    }

    /// The catalogs that were read before.
    pub(super) fn cache(&self) -> Option<CatalogCache> {
        let of_user = || {
            let folder = trust::cache_folder().filter(|_| !self.no_catalog_cache)?;
            Some(CatalogCache::new(folder.join("catalogs"), program()?))
        };
        self.cache.get_or_init(of_user).clone()
    }

    /// Opens the catalog of a workspace.
    pub(super) fn open_workspace(&self, workspace: Workspace) -> Checked {
        let listings = self.listings(&workspace);
        catalog::open_with(workspace, &listings)
    }

    /// The lists of its live servers, if they may be contacted.
    fn listings(&self, workspace: &Workspace) -> Listings {
        let progress = super::progress::Spinner::start(waiting_for(&[]));
        let waiting = |names: &[String]| progress.say(waiting_for(names));
        let listings = self
            .credentials()
            .map(|credentials| list_all(workspace, &credentials, remembered_lists(), &waiting));
        progress.finish();
        listings.unwrap_or_default()
    }

    /// A path from the configuration, which is relative to its folder.
    pub(super) fn beside(&self, path: &Path) -> PathBuf {
        self.folder().join(path)
    }

    /// Connections to live servers, if they may be contacted.
    pub(super) fn connections(&self) -> Option<Arc<Connections>> {
        self.environment().map(|environment| Arc::new(remembering(Connections::new(environment))))
    }

    /// The tokens for live servers, if they may be contacted.
    pub(super) fn credentials(&self) -> Option<Arc<Credentials>> {
        self.environment().map(credentials)
    }

    /// The variables for live servers, if they may be contacted.
    pub(super) fn environment(&self) -> Option<Environment> {
        let file = || self.workspace().ok().and_then(|here| Some(here.root.join(here.config.env_file?)));
        (!self.offline).then(|| environment(file()))
    }

    /// The toolcrib.toml that `add` and `remove` edit, which may not exist yet: the named one, else the nearest, else the
    /// user's own.
    pub(super) fn file_to_edit(&self) -> Result<PathBuf, CommandError> {
        if let Some(named) = &self.catalog {
            let file = if named.is_dir() { named.join(CONFIGURATION) } else { named.clone() };
            let is_one = file.file_name() == Some(std::ffi::OsStr::new(CONFIGURATION));
            return is_one.then_some(file).ok_or_else(|| {
                CommandError::Usage(format!("{} is no toolcrib.toml, and no folder", named.display()))
            });
        }
        let folder = nearest_folder().or_else(trust::future_configuration_folder);
        let folder = folder.ok_or_else(|| {
            failed("there is no folder for your configuration: set HOME or XDG_CONFIG_HOME")
        })?;
        Ok(folder.join(CONFIGURATION))
    }
}

/// Identity of this program; every build has another one.
fn program() -> Option<String> {
    let path = std::env::current_exe().ok()?;
    let facts = path.metadata().ok()?;
    Some(format!("{} {:?} {:?}", path.display(), facts.len(), facts.modified().ok()?))
}

/// The variables of a file of the configuration, and of this process.
pub(super) fn environment(file: Option<PathBuf>) -> Environment {
    #[expect(clippy::disallowed_methods, reason = "this is the command line")]
    let of_process = |name: &str| std::env::var(name).ok();
    let in_file = move |name: &str| file.as_deref().and_then(|file| in_env_file(file, name));
    Environment::new(move |name| in_file(name).or_else(|| of_process(name)))
}

/// A variable in the file of the configuration, as it stands there now.
fn in_env_file(file: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    env_variables(&text).into_iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// The tokens for servers, with the sign-ins in the user's folder of state.
pub(super) fn credentials(environment: Environment) -> Arc<Credentials> {
    let credentials = Credentials::new(environment);
    Arc::new(match trust::state_folder() {
        Some(folder) => credentials.stored_in(folder.join("sign-ins")),
        None => credentials,
    })
}

/// The connections, with a memory for the lists of servers and with sign-ins in the user's folder of state.
pub(super) fn remembering(connections: Connections) -> Connections {
    let environment = connections.environment().clone();
    let connections = connections.with_credentials(credentials(environment));
    match remembered_lists() {
        Some(folder) => connections.remember_in(folder),
        None => connections,
    }
}

/// The folder of remembered lists.
fn remembered_lists() -> Option<PathBuf> {
    trust::state_folder().map(|folder| folder.join("servers"))
}

/// The nearest folder with a toolcrib.toml, from the working folder upward, as `.`, `..` and so on.
fn nearest_folder() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let is_configured = |folder: &&Path| folder.join(CONFIGURATION).is_file();
    let (height, _) = here.ancestors().enumerate().find(|(_, folder)| is_configured(folder))?;
    Some(if height == 0 { PathBuf::from(".") } else { std::iter::repeat_n("..", height).collect() })
}

/// The user's own configuration, unless the working folder has files that may be definitions.
fn own_folder() -> Option<PathBuf> {
    let entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().to_lowercase());
    let is_definition = |name: String| DEFINITIONS.iter().any(|ending| name.ends_with(ending));
    let folder = trust::configuration_folder()?;
    (folder.join(CONFIGURATION).is_file() && !names.any(is_definition)).then_some(folder)
}

/// One word of an enum; help and completions list them all.
pub(super) fn word<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + Into<&'static str> + Copy + Send + Sync,
{
    let words = T::VARIANTS.iter().map(|&variant| variant.into());
    PossibleValuesParser::new(words).try_map(|word| {
        let named = |variant: &&T| Into::<&'static str>::into(**variant) == word;
        T::VARIANTS.iter().find(named).copied().ok_or("unknown name")
    })
}
