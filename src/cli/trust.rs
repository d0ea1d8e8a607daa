//! `toolcrib trust`: folders whose toolcrib.toml counts although it was merely found, and the list of them.

use std::path::{Path, PathBuf};

use super::{CommandError, CommandResult, failed, print, print_note};
use crate::config::{self, Workspace};
use crate::finding::Severity;
use crate::trust::{Content, Trusted, exposed};

/// Let the toolcrib.toml of a folder count although no command names it.
///
/// A toolcrib.toml that is merely found in the working folder is read as with --offline: it runs no command, contacts
/// no server or model, and reads no environment variable. After `toolcrib trust DIR` it counts as if it were named. The trust ends when that file, a definition below a [[source]] with trust = "run", or a program
/// it. The trust ends when that file, a definition below a [[source]] with trust = "run", or a program of the folder
/// changes.
#[allow(rustdoc::broken_intra_doc_links, reason = "the text is the help of the command")]
#[derive(Debug, clap::Args)]
pub(super) struct Trust {
    /// The folder.
    #[arg(required_unless_present = "list", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print the folders that are trusted.
    #[arg(long, conflicts_with_all = ["folder", "remove"])]
    list: bool,
    /// Trust the folder no longer.
    #[arg(long)]
    remove: bool,
}

impl Trust {
    pub(super) fn run(self) -> CommandResult {
        let state = state_folder()
            .ok_or_else(|| failed("there is no folder for state: set HOME or XDG_STATE_HOME"))?;
        let fail = |problem| failed(problem);
        let Some(folder) = self.folder else {
            let trusted = Trusted::open(&state).map_err(fail)?;
            return print(&trusted.folders().map(|folder| format!("{folder}\n")).collect::<String>());
        };
        let mut trusted = Trusted::open_to_change(&state).map_err(fail)?;
        if self.remove {
            return remove(&mut trusted, &folder);
        }
        let workspace = readable(&folder)?;
        let path = canonical(&workspace.root)?;
        let content = Content::of(&workspace);
        if let Some(problem) = exposure(&workspace, &content) {
            return Err(failed(format!("not trusted: {problem}")));
        }
        print(&summary(&content))?;
        trusted.insert(path.clone(), content.hash);
        save(&trusted)?;
        print_note(format!(
            "{path} is trusted until one of these changes; `toolcrib trust --remove {path}` ends it"
        ));
        Ok(())
    }
}

fn remove(trusted: &mut Trusted, folder: &Path) -> CommandResult {
    // A deleted folder is named by the path that was stored.
    let path = canonical(folder).unwrap_or_else(|_| folder.to_string_lossy().into_owned());
    if !trusted.remove(&path) {
        return Err(failed(format!(
            "{path} is not trusted; `toolcrib trust --list` prints the trusted folders"
        )));
    }
    save(trusted)?;
    print_note(format!("{path} is trusted no longer"));
    Ok(())
}

fn save(trusted: &Trusted) -> CommandResult {
    trusted.save().map_err(|error| failed(format!("cannot remember it: {error}")))
}

/// The workspace of a folder, if its configuration is there and without errors.
fn readable(folder: &Path) -> Result<Workspace, CommandError> {
    let workspace = config::read(folder);
    if workspace.document.is_none() {
        let message = format!("there is no toolcrib.toml in {} that can be read", folder.display());
        return Err(CommandError::Usage(message));
    }
    if workspace.findings.iter().any(|finding| finding.severity == Severity::Error) {
        let message = format!("its toolcrib.toml has errors; `toolcrib check {}`", folder.display());
        return Err(failed(message));
    }
    Ok(workspace)
}

fn canonical(folder: &Path) -> Result<String, CommandError> {
    let fail = |why: String| CommandError::Usage(format!("{} cannot be trusted: {why}", folder.display()));
    let path = folder.canonicalize().map_err(|error| fail(error.to_string()))?;
    path.into_os_string().into_string().map_err(|_| fail("its path is not text".into()))
}

/// Reason why other users may change the folder, if they may.
fn exposure(workspace: &Workspace, content: &Content) -> Option<String> {
    let own = [workspace.root.clone(), workspace.root.join("toolcrib.toml")];
    own.iter().chain(&content.files).find_map(|path| exposed(path))
}

/// The programs and addresses that would be used, in lines.
fn summary(content: &Content) -> String {
    let mut text = String::new();
    let mut part = |title: &str, lines: &mut dyn Iterator<Item = String>| {
        let lines: Vec<String> = lines.map(|line| format!("  {line}\n")).collect();
        if !lines.is_empty() {
            text.push_str(&format!("{title}\n{}", lines.concat()));
        }
    };
    part("runs", &mut content.commands.iter().cloned());
    part("contacts", &mut content.addresses.iter().cloned());
    part("reads the environment variables", &mut content.variables.iter().cloned());
    part("decided by toolcrib.toml and", &mut content.files.iter().map(|file| file.display().to_string()));
    if text.is_empty() { "runs, contacts and reads nothing\n".into() } else { text }
}

/// Whether a toolcrib.toml that was merely found counts; otherwise the reason.
pub(super) fn admit(workspace: &Workspace) -> Result<(), String> {
    let unknown = || "it is not trusted".to_string();
    let path = canonical(&workspace.root).map_err(|_| unknown())?;
    let is_own = configuration_folder().is_some_and(|own| Path::new(&path).starts_with(own));
    let trusted = match state_folder() {
        Some(folder) if !is_own => Trusted::open(&folder)?,
        _ => Trusted::default(),
    };
    let known = trusted.hash(&path);
    if known.is_none() && !is_own {
        return Err(unknown());
    }
    let content = Content::of(workspace);
    if known.is_some_and(|known| known != content.hash) {
        return Err("something that it runs has changed since it was trusted".into());
    }
    exposure(workspace, &content).map_or(Ok(()), Err)
}

/// The file with the list of trusted folders.
pub(super) fn store() -> Option<PathBuf> {
    state_folder().map(|folder| folder.join("trusted.json"))
}

/// `$XDG_STATE_HOME/toolcrib`, else `~/.local/state/toolcrib`.
pub(super) fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state", "toolcrib")
}

/// `$XDG_CACHE_HOME/toolcrib`, else `~/.cache/toolcrib`.
pub(super) fn cache_folder() -> Option<PathBuf> {
    user_folder("XDG_CACHE_HOME", ".cache", "toolcrib")
}

/// `$XDG_CONFIG_HOME/toolcrib`, else `~/.config/toolcrib`, without links.
pub(super) fn configuration_folder() -> Option<PathBuf> {
    future_configuration_folder()?.canonicalize().ok()
}

/// The same folder, whether it exists or not.
pub(super) fn future_configuration_folder() -> Option<PathBuf> {
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
