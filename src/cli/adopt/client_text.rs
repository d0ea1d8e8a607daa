//! The text of a client's configuration: its servers by name, and edits of these alone.

use std::path::Path;

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item};

use super::json_map::JsonMap;
use crate::cli::catalog::in_one_line;
use crate::cli::source_table::list;
use crate::config::{Workspace, without_comments};
use crate::finding::{Code, Document, Format, Limits};

/// The name under which the client knows toolcrib.
pub(super) const OWN: &str = "toolcrib";

/// The text of a client's configuration.
#[derive(Clone, Debug)]
pub(super) struct ClientText {
    pub(super) text: String,
    /// Pointer to the servers.
    map: String,
    is_toml: bool,
}

/// The command by which the client starts toolcrib.
pub(super) struct OwnEntry {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

impl ClientText {
    pub(super) fn new(file: &Path, text: String, map: &str) -> Self {
        let is_toml = file.extension().is_some_and(|extension| extension == "toml");
        Self { text, map: map.to_string(), is_toml }
    }

    /// Another text of the same file.
    pub(super) fn with_text(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }

    /// Names of the servers, in order; `None` where the text has no place for servers.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        if self.is_toml {
            let document: DocumentMut = self.text.parse().ok()?;
            let servers = document.get(self.key())?.as_table_like()?;
            return Some(servers.iter().map(|(name, _)| name.to_string()).collect());
        }
        let map = JsonMap::at(&self.text, &self.map)?;
        Some(map.members.into_iter().map(|member| member.name).collect())
    }

    /// The text of a server's entry, for comparison and search.
    pub(super) fn entry(&self, name: &str) -> Option<String> {
        if self.is_toml {
            let document: DocumentMut = self.text.parse().ok()?;
            return Some(document.get(self.key())?.get(name)?.to_string());
        }
        let map = JsonMap::at(&self.text, &self.map)?;
        let member = map.members.iter().rev().find(|member| member.name == name)?;
        Some(self.text[member.begin..member.end].to_string())
    }

    /// The text with toolcrib in place of these servers.
    pub(super) fn with_own(&self, moved: &[String], own: &OwnEntry) -> Option<String> {
        let is_moved = |name: &str| name == OWN || moved.iter().any(|moved| moved == name);
        if self.is_toml {
            let mut document: DocumentMut = self.text.parse().ok()?;
            let servers = document.get_mut(self.key())?.as_table_like_mut()?;
            let leaving: Vec<String> =
                servers.iter().map(|(name, _)| name.to_string()).filter(|name| is_moved(name)).collect();
            leaving.iter().for_each(|name| drop(servers.remove(name)));
            servers.insert(OWN, own.as_toml());
            return Some(document.to_string());
        }
        let map = JsonMap::at(&self.text, &self.map)?;
        let first = map.members.iter().position(|member| is_moved(&member.name))?;
        let indent = map.indent(&self.text, &map.members[first]);
        let entry = own.as_json(self.map == "/context_servers", self.map.ends_with("/servers"), indent);
        let place = map.members[first].begin;
        Some(map.edited(&self.text, |member| {
            is_moved(&member.name)
                .then(|| (member.begin == place).then(|| entry.clone()).into_iter().collect())
        }))
    }

    /// The text with these servers of an older text in place of toolcrib, or after the others where it has no toolcrib.
    pub(super) fn without_own(&self, older: &Self, moved: &[String]) -> Option<String> {
        if self.is_toml {
            let mut document: DocumentMut = self.text.parse().ok()?;
            let before: DocumentMut = older.text.parse().ok()?;
            let before = before.get(self.key())?.as_table_like()?;
            let servers = document.get_mut(self.key())?.as_table_like_mut()?;
            servers.remove(OWN);
            for name in moved {
                servers.insert(name, before.get(name)?.clone());
            }
            return Some(document.to_string());
        }
        let entries: Vec<String> = moved.iter().map(|name| older.entry(name)).collect::<Option<_>>()?;
        let map = JsonMap::at(&self.text, &self.map)?;
        if !map.members.iter().any(|member| member.name == OWN) {
            return Some(map.with_more(&self.text, &entries));
        }
        Some(map.edited(&self.text, |member| (member.name == OWN).then(|| entries.clone())))
    }

    fn key(&self) -> &str {
        self.map.trim_start_matches('/')
    }
}

impl OwnEntry {
    /// The member of a JSON object, on lines that begin with `indent`.
    fn as_json(&self, names_source: bool, names_type: bool, indent: &str) -> String {
        let mut entry = json!({});
        if names_source {
            entry["source"] = "custom".into();
        }
        if names_type {
            entry["type"] = "stdio".into();
        }
        entry["command"] = self.program.as_str().into();
        entry["args"] = json!(self.arguments);
        let text = match indent.is_empty() {
            true => entry.to_string(),
            false => format!("{entry:#}").replace('\n', indent),
        };
        format!("{}: {text}", Value::from(OWN))
    }

    fn as_toml(&self) -> Item {
        let mut table = toml_edit::Table::new();
        table.insert("command", toml_edit::value(&self.program));
        table.insert("args", toml_edit::value(list(&self.arguments)));
        Item::Table(table)
    }
}

/// The mistake because of which a client's file cannot be read, with its place.
pub(super) fn syntax_mistake(workspace: &Workspace) -> Option<String> {
    let finding = workspace.findings.iter().find(|finding| finding.code == Code::FileInvalid)?;
    Some(in_one_line(finding))
}

/// The same of a file that is no client's by its name.
pub(super) fn mistake_in(file: &Path) -> Option<String> {
    let (name, limits) = (file.file_name()?.to_string_lossy(), Limits::default());
    let format = Format::of_extension(file.extension()?.to_str()?)?;
    let text = std::fs::read_to_string(file).ok()?;
    let text = if format == Format::Json { without_comments(&text) } else { text };
    Document::parse(&name, text.into_bytes(), format, &limits).err().map(|finding| in_one_line(&finding))
}
