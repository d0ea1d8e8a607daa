//! `toolcrib add` and `toolcrib remove`: one live server of a toolcrib.toml.

use std::path::{Path, PathBuf};

use toml_edit::DocumentMut;

use super::catalog::{CatalogArgs, counted};
use super::server_check::ServerCheck;
use super::{CommandError, CommandResult, failed, print, print_note, source_table, trust};
use crate::config::{self, Server, Source, Workspace};
use crate::finding::nearest;
use crate::render::folder::write_whole;
use crate::secret::SecretPolicy;

/// Longest name of a server: the names of its tools begin with it.
const MAX_NAME: usize = 32;
/// Most tools that are named.
const SHOWN: usize = 8;
/// The beginning of a new configuration.
const NEW: &str = "# Your own servers: `toolcrib serve` takes them where nothing nearer is configured.\n";

/// Add an MCP server to the nearest toolcrib.toml, else to your own, which is made if there is none.
///
/// The server is started or contacted once, and its tools are named; one that does not answer is not added.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib add github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github\n  toolcrib add docs https://example.com/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'"
)]
pub(super) struct AddArgs {
    /// The name of the server; its tools are NAME__tool.
    name: String,
    /// The address of a server that speaks streamable HTTP.
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    url: Option<String>,
    /// The program and its arguments, after `--`.
    #[arg(last = true)]
    command: Vec<String>,
    /// A header of requests to it, as `Name: value`; ${NAME} stands for the environment variable NAME.
    #[arg(long, value_name = "HEADER", requires = "url")]
    header: Vec<String>,
    /// An environment variable that the command gets: NAME, as it is in the environment, or NAME=VALUE.
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    env: Vec<String>,
    /// Add it without contact.
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    catalog: CatalogArgs,
}

/// Remove an MCP server from the nearest toolcrib.toml, else from your own.
#[derive(Debug, clap::Args)]
pub(super) struct RemoveArgs {
    /// The name of the server.
    name: String,
    #[command(flatten)]
    catalog: CatalogArgs,
}

impl AddArgs {
    pub(super) fn run(self) -> CommandResult {
        check_name(&self.name)?;
        let server = self.server()?;
        let file = self.catalog.file_to_edit()?;
        let known = read(&file)?;
        let is_new = known.is_none();
        let mut document = known.unwrap_or_default();
        if source_table::live_names(&document).contains(&self.name) {
            return Err(failed(format!(
                "{} has a server `{name}` already; `toolcrib remove {name}` removes it",
                file.display(),
                name = self.name
            )));
        }
        let listed =
            if self.no_check || self.catalog.offline { None } else { Some(self.check(&file, &server)?) };
        source_table::set(&mut document, &self.name, &server, true).map_err(failed)?;
        let text = if is_new { format!("{NEW}{document}") } else { document.to_string() };
        write(&file, &text)?;
        let told = listed.map_or(String::new(), |listed| format!(": {}", summary(&listed)));
        print(&format!("{} is in {}{told}\n", self.name, file.display()))?;
        note_on_trust(&file);
        Ok(())
    }

    fn server(&self) -> Result<Server, CommandError> {
        let mut server = Server { command: self.command.clone(), url: self.url.clone(), ..Server::default() };
        for variable in &self.env {
            let (name, value) = match variable.split_once('=') {
                Some((name, value)) => (name, value.to_string()),
                None => (variable.as_str(), format!("${{{variable}}}")),
            };
            without_secret(name, &value, &format!("--env {name}"))?;
            server.env.insert(name.to_string(), value);
        }
        for header in &self.header {
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| CommandError::Usage(format!("--header {header}: expected `Name: value`")))?;
            let value = value.trim();
            without_secret(name.trim(), value, &format!("--header '{}: ${{NAME}}'", name.trim()))?;
            server.headers.insert(name.trim().to_string(), value.to_string());
        }
        match server.problem() {
            Some(problem) => Err(CommandError::Usage(problem.to_string())),
            None => Ok(server),
        }
    }

    /// Contacts the server, as the configuration will.
    fn check(&self, file: &Path, server: &Server) -> Result<ServerCheck, CommandError> {
        // The server runs in the folder of the configuration.
        let root = folder_of(file)?;
        let source = Source {
            server: Some(self.name.clone()),
            prefix: Some(true),
            mcp: Some(server.clone()),
            ..Source::default()
        };
        let env_file = config::read(file).config.env_file.map(|file| root.join(file));
        let mut workspace = Workspace { root, ..Workspace::default() };
        workspace.config.sources.push(source);
        let progress = super::progress::Spinner::start(format!("waiting for {}", self.name));
        let check = ServerCheck::run(
            &workspace,
            0,
            &super::catalog::credentials(super::catalog::environment(env_file)),
        );
        progress.finish();
        match &check.problem {
            None => Ok(check),
            Some(problem) => Err(failed(format!(
                "{} was not added: {}\n  help: {}; --no-check adds it all the same",
                self.name, problem.what, problem.help
            ))),
        }
    }
}

impl RemoveArgs {
    pub(super) fn run(self) -> CommandResult {
        let file = self.catalog.file_to_edit()?;
        let name = &self.name;
        let Some(mut document) = read(&file)? else {
            return Err(failed(format!("there is no {}", file.display())));
        };
        let known = source_table::live_names(&document);
        if !source_table::remove(&mut document, name) {
            let near = nearest(name, known.iter().map(String::as_str));
            let others = if near.is_empty() { known.join(", ") } else { near.join(", ") };
            let others = if others.is_empty() { "it has none".into() } else { format!("it has {others}") };
            return Err(failed(format!("{} has no server `{name}`; {others}", file.display())));
        }
        write(&file, &document.to_string())?;
        print(&format!("{name} is no longer in {}\n", file.display()))?;
        note_on_trust(&file);
        Ok(())
    }
}

/// The toolcrib.toml as a document; `None` where there is none yet.
fn read(file: &Path) -> Result<Option<DocumentMut>, CommandError> {
    let shown = file.display();
    match std::fs::read_to_string(file) {
        Ok(text) => {
            let document =
                text.parse().map_err(|error| failed(format!("{shown} cannot be read: {error}")))?;
            Ok(Some(document))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(format!("{shown} cannot be read: {error}"))),
    }
}

fn write(file: &Path, text: &str) -> CommandResult {
    // A link leads to the file that is meant.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    folder_of(file)?;
    write_whole(&target, text.as_bytes())
        .map_err(|error| failed(format!("cannot write {}: {error}", file.display())))
}

/// The folder of a configuration, made where there is none.
fn folder_of(file: &Path) -> Result<PathBuf, CommandError> {
    let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
    let made = if folder == PathBuf::new() { Ok(()) } else { std::fs::create_dir_all(&folder) };
    made.map_err(|error| failed(format!("cannot make {}: {error}", folder.display())))?;
    Ok(folder)
}

fn check_name(name: &str) -> CommandResult {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_plain && (1..=MAX_NAME).contains(&name.len()) && !name.starts_with('-') {
        return Ok(());
    }
    Err(CommandError::Usage(format!(
        "{name:?} is no name of a server: expected letters, digits, `-` and `_`, at most {MAX_NAME}"
    )))
}

/// Refuses a secret that would be written into the configuration.
fn without_secret(name: &str, value: &str, instead: &str) -> CommandResult {
    let policy = SecretPolicy::default();
    let is_secret = policy.is_secret(name) || policy.text(value) != value;
    if !is_secret || value.is_empty() || value.contains("${") {
        return Ok(());
    }
    Err(CommandError::Usage(format!(
        "the value of {name} looks like a secret, which does not belong into toolcrib.toml: set it in the environment, and give {instead}"
    )))
}

fn summary(check: &ServerCheck) -> String {
    let shown: Vec<&str> = check.tools.iter().take(SHOWN).map(String::as_str).collect();
    let more = if check.tools.len() > SHOWN { ", ..." } else { "" };
    format!(
        "{}, {} tokens in full, listed in {:.1} s: {}{more}",
        counted(check.tools.len(), "tool"),
        check.tokens,
        check.took.as_secs_f64(),
        shown.join(", ")
    )
}

/// Says that the configuration counts only once it is trusted, where nobody names it.
fn note_on_trust(file: &Path) {
    if let Err(why) = trust::admit(&config::read(file)) {
        let folder = file.parent().unwrap_or(Path::new(".")).display().to_string();
        let folder = if folder.is_empty() { ".".to_string() } else { folder };
        print_note(format!(
            "where no command names it, this configuration is read as with --offline: {why}; `toolcrib trust {folder}` makes it count"
        ));
    }
}
