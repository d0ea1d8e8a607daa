//! The servers that move: each as a `[[source]]`, with its secrets in a file of their own.

use std::path::{Path, PathBuf};
use std::{fs, io};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use crate::cli::{CommandResult, failed};
use toolcrib_catalog::config::{Provider, ServeMode, Server, env_line, env_variables};
use toolcrib_definition::private_file;
use toolcrib_definition::secret::{REDACTED, SecretPolicy};
use toolcrib_docs::folder::UNFINISHED;

/// The file of secrets, beside the configuration.
const SECRETS: &str = "secrets.env";

/// The secrets of servers, by the names of their variables.
#[derive(Debug, Default)]
pub(super) struct Secrets(IndexMap<String, String>);

impl Secrets {
    pub(super) fn read(text: &str) -> Self {
        Self(env_variables(text).into_iter().collect())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The file.
    pub(super) fn text(&self) -> String {
        let lines = self.0.iter().map(|(name, value)| env_line(name, value) + "\n");
        format!("# Secrets of the servers in toolcrib.toml.\n{}", lines.collect::<String>())
    }

    /// Takes the secrets out of a server: placeholders stay in their places.
    pub(super) fn take(&mut self, name: &str, server: &mut Server) {
        let is_secret = |key: &str, value: &str| {
            let is_plain = !value.is_empty() && !value.contains("${");
            is_plain && SecretPolicy::default().is_secret_value(key, value)
        };
        for (key, value) in server.env.iter_mut().filter(|(key, value)| is_secret(key, value)) {
            *value = self.keep(name, key, value);
        }
        for (key, value) in server.headers.iter_mut().filter(|(key, value)| is_secret(key, value)) {
            let variable = format!("{name}_{key}");
            *value = self.keep(name, &variable, value);
        }
        let shown = SecretPolicy::default().command_line(&server.command);
        let mut option = String::new();
        for (item, shown) in server.command.iter_mut().zip(shown) {
            let after = item.clone();
            self.take_parts(name, &option, item, &shown);
            option = after;
        }
        if let Some(url) = &mut server.url {
            let shown = SecretPolicy::default().command_line(std::slice::from_ref(url));
            self.take_parts(name, "", url, &shown.concat());
        }
    }

    /// Takes the parts of a text that are redacted in `shown`. Each gets a name from the text before it, or from `option`.
    fn take_parts(&mut self, server: &str, option: &str, text: &mut String, shown: &str) {
        let kept: Vec<&str> = shown.split(REDACTED).collect();
        let [first, rest @ ..] = &kept[..] else { return };
        if rest.is_empty() || text.contains("${") {
            return;
        }
        let Some(mut left) = text.strip_prefix(first) else { return };
        let (mut with, mut before) = (first.to_string(), *first);
        for (index, after) in rest.iter().enumerate() {
            let is_last = index + 1 == rest.len();
            let end = if is_last { left.len().checked_sub(after.len()) } else { left.find(after) };
            let Some((secret, next)) = end.and_then(|end| Some((left.get(..end)?, left.get(end..)?))) else {
                return;
            };
            let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            let word = before.trim_end_matches(|c| !is_letter(c)).rsplit(|c| !is_letter(c)).next();
            let wanted = match word.unwrap_or_default().trim_start_matches('-') {
                "" => format!("{server}{option}"),
                word => format!("{server}_{word}"),
            };
            with += &self.keep(server, &wanted, secret);
            with += after;
            (left, before) = (&next[after.len()..], after);
        }
        *text = with;
    }

    /// Keeps a secret under a name that no other has, and returns its placeholder.
    fn keep(&mut self, server: &str, wanted: &str, secret: &str) -> String {
        let wanted = variable(wanted);
        let names = [wanted.clone(), format!("{}_{wanted}", variable(server))].into_iter();
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let is_free = |name: &String| self.0.get(name).is_none_or(|known| known == secret);
        let name = names.chain(numbered).find(is_free).unwrap_or(wanted);
        self.0.insert(name.clone(), secret.to_string());
        format!("${{{name}}}")
    }
}

/// The name of a variable: `my-key` is `MY_KEY`.
fn variable(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = text.chars().map(letter).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// A new configuration for the servers of this client, moved from this file. The client lists tools in this mode.
pub(super) fn new_configuration(client: &str, file: &str, undo: &str, mode: ServeMode) -> DocumentMut {
    let text = format!(
        "# Servers of {client}, moved here from {file}.\n# `{undo}` moves them back.\n#\n{}",
        allowed_lines().map(|line| format!("# {line}\n")).collect::<String>()
    );
    let (provider, mode) = (Provider::Mcp.as_str(), Into::<&'static str>::into(mode));
    let settings = format!(
        "env_file = \"{SECRETS}\"\n\n[payload]\nprovider = \"{provider}\"\n\n[serve]\nmode = \"{mode}\"\nsplit_exec = true\n\n[state]\nurl = \"{STATE}\"\n"
    );
    format!("{text}\n{settings}").parse().unwrap_or_default()
}

/// The sentences on the calls that agents may make.
pub(super) fn allowed_lines() -> impl Iterator<Item = &'static str> {
    [
        "What agents may do:",
        "- A call runs as it did before: the client has the annotations of the tool, and asks its person. In the mode",
        "  gateway these are the annotations of tool_exec_read and tool_exec_write.",
        "- `[exec]` with `allow = \"read\"` refuses everything but reads.",
    ]
    .into_iter()
}

/// Names of the sources that are live servers.
fn live_names(document: &DocumentMut) -> Vec<String> {
    let sources = document.get("source").and_then(Item::as_array_of_tables);
    let live = sources.into_iter().flatten().filter(|source| source.contains_key("mcp"));
    live.filter_map(|source| Some(source.get("server")?.as_str()?.to_string())).collect()
}

/// Sets the live server of this name: its `[[source]]` is changed in place, so that comments and order stay, or follows the
/// others. Fails where `source` is no `[[source]]`.
pub(super) fn add(
    document: &mut DocumentMut,
    name: &str,
    server: &Server,
    tools: &[String],
) -> CommandResult {
    let place = document.entry("source").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(sources) = place.as_array_of_tables_mut() else {
        return Err(failed("`source` is a list there; write it as [[source]] tables"));
    };
    let is_known = |source: &&mut Table| {
        source.contains_key("mcp") && source.get("server").and_then(Item::as_str) == Some(name)
    };
    let restrict = |table: &mut Table| match tools {
        [] => drop(table.remove("tools")),
        tools => drop(table.insert("tools", value(tools.iter().collect::<Array>()))),
    };
    if let Some(table) = sources.iter_mut().find(is_known) {
        table.insert("mcp", value(inline(server)));
        restrict(table);
        return Ok(());
    }
    let mut table = Table::new();
    table.decor_mut().set_prefix("\n");
    table.insert("server", value(name));
    table.insert("prefix", value(true));
    restrict(&mut table);
    table.insert("mcp", value(inline(server)));
    sources.push(table);
    Ok(())
}

/// The settings of a server that differ from the defaults.
fn inline(server: &Server) -> InlineTable {
    let mut table = InlineTable::new();
    if !server.command.is_empty() {
        table.insert("command", server.command.iter().collect::<Array>().into());
    }
    if let Some(url) = &server.url {
        table.insert("url", url.into());
    }
    if let Some(cwd) = &server.cwd {
        table.insert("cwd", cwd.to_string_lossy().into_owned().into());
    }
    for (key, values) in [("env", &server.env), ("headers", &server.headers)] {
        if !values.is_empty() {
            table.insert(key, values.iter().collect::<InlineTable>().into());
        }
    }
    if let Some(seconds) = server.timeout_seconds {
        table.insert("timeout_seconds", i64::try_from(seconds).unwrap_or(i64::MAX).into());
    }
    table
}

// The record of an adoption, from which it is undone.

/// The name of the record.
const FILE: &str = ".adopted";
/// The name of its state.
const STATE: &str = "state.db";
/// The name of the configuration.
const CONFIGURATION: &str = "toolcrib.toml";

/// An adoption.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// The client's file.
    pub(super) file: PathBuf,
    /// Pointer to the servers in it.
    pub(super) map: String,
    /// The servers that have moved, in their order.
    pub(super) moved: Vec<String>,
    /// Hash of the client's file as the adoption left it.
    pub(super) written: String,
    /// Hash of the configuration as the adoption left it.
    pub(super) configured: String,
}

/// The folder of a client's adoption, below the user's configuration folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// The name of the client's file.
    name: String,
}

impl Folder {
    pub(super) fn new(path: PathBuf, file: &Path) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { path, name }
    }

    pub(super) fn configuration(&self) -> PathBuf {
        self.path.join(CONFIGURATION)
    }

    pub(super) fn secrets(&self) -> PathBuf {
        self.path.join(SECRETS)
    }

    /// A copy of the client's file. Its extension keeps it from being read as definitions.
    pub(super) fn backup(&self) -> PathBuf {
        self.path.join(format!("{}.before-toolcrib", self.name))
    }

    /// The files of an adoption, with their content.
    pub(super) fn content(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let files = [self.configuration(), self.secrets(), self.backup(), self.path.join(FILE)];
        files.into_iter().map(|file| (file.clone(), fs::read(file).ok())).collect()
    }

    /// Removes files that a killed run has left unfinished, here and beside the client's file; they can hold secrets.
    pub(super) fn clean(&self, client_file: &Path) {
        let remove = |folder: &Path, is_unfinished: fn(&str) -> bool| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let left = entries.filter(|entry| is_unfinished(&entry.file_name().to_string_lossy()));
            left.for_each(|entry| drop(fs::remove_file(entry.path())));
        };
        remove(&self.path, |name| name.starts_with('.') && name.ends_with(".new"));
        if let Some(folder) = client_file.parent() {
            remove(folder, |name| name.starts_with(UNFINISHED));
        }
    }

    /// The record, where there is one.
    pub(super) fn record(&self) -> Option<Record> {
        let text = fs::read_to_string(self.path.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(super) fn keep(&self, record: &Record) -> io::Result<()> {
        private_file::write(&self.path.join(FILE), serde_json::to_string_pretty(record)?.as_bytes())
    }

    /// Removes what the adoption has written. The configuration and the secrets stay where somebody has edited it, or where it
    /// has servers besides those that were put back. Whether they stay.
    pub(super) fn clear(&self, record: &Record) -> io::Result<bool> {
        let configuration = fs::read_to_string(self.configuration()).unwrap_or_default();
        let has_only_moved = configuration
            .parse::<DocumentMut>()
            .is_ok_and(|document| live_names(&document).iter().all(|name| record.moved.contains(name)));
        let is_kept =
            !configuration.is_empty() && (hash(&configuration) != record.configured || !has_only_moved);
        // The record goes last, so that a killed run can be repeated.
        let own = [self.backup(), self.path.join(FILE)];
        let state = ["", "-wal", "-shm"].map(|ending| self.path.join(format!("{STATE}{ending}")));
        let whole = [self.configuration(), self.secrets()].into_iter().chain(state).collect::<Vec<_>>();
        let leaving = whole.iter().filter(|_| !is_kept).chain(&own);
        for file in leaving.filter(|file| file.exists()) {
            fs::remove_file(file)?;
        }
        let _ = fs::remove_dir(&self.path);
        Ok(is_kept)
    }
}

pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
