//! The arguments that name a catalog, shared by all commands that read one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Once, OnceLock};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantArray;

use super::render::templates;
use super::screen::Spinner;
use super::{CommandError, CommandResult, failed, print_note};
use toolcrib_catalog::config::{self, LeftOut, Workspace, at_address, env_variables, shown_address};
use toolcrib_catalog::sources::ADDRESS_HELP;
use toolcrib_catalog::{self as catalog, Checked};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{Finding, Severity, nearest};
use toolcrib_front::address::Addresses;
use toolcrib_front::credentials::Credentials;
use toolcrib_front::mcp::{Connections, Environment, list_all};
use toolcrib_front::watch::Reading;
use toolcrib_gateway::functions::CatalogView;

pub(super) use toolcrib_definition::grammar::counted;

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

    fn given(&self) -> Option<&Path> {
        self.option.as_deref().or(self.catalog.as_deref())
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

    /// Whether the command line or the environment names it.
    pub(super) fn is_named(&self) -> bool {
        self.given().is_some()
    }

    /// Reports what keeps input out of the catalog, and counts the rest; for commands whose job is another.
    pub(super) fn report_briefly(&self, checked: &Checked) {
        report_briefly(checked, self.given());
    }

    /// The same without warnings; for a server, whose first answer does not wait for lint.
    pub(super) fn report_errors(&self, checked: &Checked) {
        let errors = checked.findings.errors().count();
        if errors > 0 {
            report(checked, self.given(), &counted(errors, "error"));
        }
    }

    fn named_or_here(&self) -> &Path {
        self.given().unwrap_or_else(|| self.found.get_or_init(nearest_folder))
    }

    /// The configuration. One that was found and not named starts and contacts nothing.
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
        let mut workspace = if self.is_named() { config::read(path) } else { config::read_found(path) };
        if let Some(found) = workspace.found {
            self.left_out.get_or_init(|| found);
            self.note_left_out(|left| left.sources, "live servers and addresses of definitions");
        }
        if !self.offline && !workspace.is_confined {
            workspace.fetched = self.addresses.registries(&workspace);
        }
        workspace
    }

    /// Says that the command goes without the models of a configuration that was found.
    pub(super) fn note_models(&self) {
        self.note_left_out(|left| left.models, "models");
    }

    /// Says that calls go without the programs, servers and state of a configuration that was found.
    pub(super) fn note_backends(&self) {
        self.note_left_out(|left| left.backends, "programs, servers and state");
    }

    /// Says in one line what is left out of a configuration that was found.
    pub(super) fn note_left_out(&self, is_left: impl Fn(&LeftOut) -> bool, what: &str) {
        static TOLD: Once = Once::new();
        if self.left_out.get().is_some_and(is_left) {
            let place = self.folder();
            let place = place.display();
            let note = format!(
                "toolcrib.toml was found and not named, so its {what} are left out; name `{place}` as the catalog to use them"
            );
            TOLD.call_once(|| print_note(note));
        }
    }

    /// The way in which each new configuration of a watched catalog is read.
    pub(super) fn reading(&self) -> Reading {
        let args = self.clone();
        Arc::new(move |path: &Path| args.read_workspace(path))
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
    pub(super) fn open(&self) -> Result<Checked, CommandError> {
        let workspace = self.workspace()?;
        let progress = Spinner::start(waiting_for(&[]));
        let waiting = |names: &[String]| progress.say(waiting_for(names));
        // The lists of its live servers, if they may be contacted.
        let listings = self
            .credentials()
            .map(|credentials| list_all(&workspace, &credentials, remembered_lists(), &waiting));
        progress.finish();
        Ok(catalog::open_with(workspace, &listings.unwrap_or_default()))
    }

    /// Opens the catalog, and reports its findings in one line; fails where no tool could be read.
    pub(super) fn open_readable(&self) -> Result<Checked, CommandError> {
        let checked = self.open()?;
        self.report_briefly(&checked);
        refuse_unread(&checked).map(|()| checked)
    }

    /// The same for a command that runs at every turn of a job: it reports missing input alone.
    pub(super) fn open_at_turn(&self) -> Result<Checked, CommandError> {
        let checked = self.open()?;
        report_lost(&checked);
        refuse_unread(&checked).map(|()| checked)
    }

    /// The catalog as callers with these roles see it.
    pub(super) fn view(
        &self,
        checked: &Checked,
        profile: Option<&str>,
        roles: Option<&[String]>,
    ) -> Result<CatalogView, CommandError> {
        let templates = templates(self, checked, None)?;
        Ok(CatalogView::new(&checked.catalog, profile, roles, Arc::new(templates))?)
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
    super::watch::end_after_refreshes();
    let credentials = Credentials::new(environment);
    Arc::new(match state_folder() {
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
    state_folder().map(|folder| folder.join("servers"))
}

/// The nearest folder with a toolcrib.toml, from the current directory upward, as `.`, `..` and so on; `.` without one.
fn nearest_folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let height = here.ancestors().position(|folder| folder.join(CONFIGURATION).is_file()).unwrap_or(0);
    if height == 0 { PathBuf::from(".") } else { std::iter::repeat_n("..", height).collect() }
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

// The folders of the user that runs the program.

/// `$XDG_STATE_HOME/toolcrib`, else `~/.local/state/toolcrib`.
pub(super) fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state", "toolcrib")
}

/// `$XDG_CONFIG_HOME/toolcrib`, else `~/.config/toolcrib`.
pub(super) fn configuration_folder() -> Option<PathBuf> {
    user_folder("XDG_CONFIG_HOME", ".config", "toolcrib")
}

/// A path below a folder of the user, which a variable names, or which has its place below the home.
pub(super) fn user_folder(variable: &str, below_home: &str, path: &str) -> Option<PathBuf> {
    let below = || home().map(|home| home.join(below_home));
    absolute(variable).or_else(below).map(|folder| folder.join(path))
}

/// The user's home.
pub(super) fn home() -> Option<PathBuf> {
    absolute("HOME").or_else(|| absolute("USERPROFILE"))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

// Findings of a catalog in one line, for commands whose job is another.

/// Message while these servers have not answered.
pub(super) fn waiting_for(servers: &[String]) -> String {
    if servers.is_empty() {
        "reading the catalog".into()
    } else {
        format!("waiting for {}", servers.join(", "))
    }
}

/// Reports findings in one line; for commands whose job is another. `catalog` is the one that the command line names.
pub(super) fn report_briefly(checked: &Checked, catalog: Option<&Path>) {
    let (errors, warnings) = (checked.count(Severity::Error), checked.count(Severity::Warning));
    if errors + warnings > 0 {
        let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
        report(checked, catalog, &format!("{errors} and {warnings}"));
    }
}

fn report(checked: &Checked, catalog: Option<&Path>, counted: &str) {
    let named = catalog.map(|path| format!(" {}", path.display())).unwrap_or_default();
    let first = first_lost(checked).map(|lost| format!("{lost}; ")).unwrap_or_default();
    print_note(format!("{first}{counted}; `toolcrib check{named}` shows them"));
}

/// Reports missing input in one line, and nothing else; for commands that run at every turn of a job.
pub(super) fn report_lost(checked: &Checked) {
    if let Some(lost) = first_lost(checked) {
        print_note(format!("{lost}; `toolcrib check` shows everything"));
    }
}

/// The first finding that keeps input out of the catalog, and the number of others.
fn first_lost(checked: &Checked) -> Option<String> {
    let mut lost = checked.findings.errors().filter(|finding| finding.code.loses_input());
    let first = lost.next()?;
    let more = match lost.count() {
        0 => String::new(),
        count => format!(" (and {count} more like it)"),
    };
    Some(format!("error[{}]: {}{more}", first.code.as_str(), in_one_line(first)))
}

/// The place of a finding, its message and its help.
pub(super) fn in_one_line(finding: &Finding) -> String {
    let place = finding.place.as_ref().map(|place| match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}: ", place.file),
        _ => format!("{}: ", place.file),
    });
    let help = finding.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("{}{}{help}", place.unwrap_or_default(), clean_line(&finding.message))
}

/// Fails where no tool could be read: an answer about such a catalog would be taken for one about its tools.
pub(super) fn refuse_unread(checked: &Checked) -> CommandResult {
    if checked.lost_input() && checked.catalog.tools.is_empty() {
        return Err(failed("no source could be read; `toolcrib check` shows why"));
    }
    Ok(())
}

/// Fails when some of the input is missing from the catalog, after the rest has been printed.
pub(super) fn complete(checked: &Checked) -> CommandResult {
    if checked.lost_input() { Err(failed("not all of the catalog could be read")) } else { Ok(()) }
}
