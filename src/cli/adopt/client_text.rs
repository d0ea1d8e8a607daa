//! The text of a client's configuration: its servers by name, and edits of these alone.

use std::path::Path;

use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item};

use super::json_map::{JsonMap, Member, indent_of};
use crate::cli::findings::in_one_line;
use toolcrib_catalog::config::{TIMEOUT_KEYS, Workspace, client_format, format_of_table, read_client_text};
use toolcrib_definition::document::{Document, Format, pointer_join, without_comments};
use toolcrib_definition::finding::Code;

/// The name under which the client knows toolcrib.
pub(super) const OWN: &str = "toolcrib";

/// The text of a client's configuration.
#[derive(Clone, Debug)]
pub(super) struct ClientText {
    pub(super) text: String,
    /// Pointer to the servers.
    map: String,
    format: Format,
}

/// The command by which the client starts toolcrib.
pub(super) struct OwnEntry {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// The longest times that the client gave the servers, by its own keys.
    pub(super) timeouts: Vec<(&'static str, u64)>,
}

impl ClientText {
    pub(super) fn new(file: &Path, text: String, map: &str) -> Self {
        Self { text, map: map.to_string(), format: client_format(file) }
    }

    /// The longest times that the client gives these servers.
    pub(super) fn timeouts(&self, names: &[String]) -> Vec<(&'static str, u64)> {
        let text = if self.format == Format::Json { without_comments(&self.text) } else { self.text.clone() };
        let Ok(document) = Document::parse("", text.into_bytes(), self.format) else { return Vec::new() };
        let longest = |key: &&'static str| {
            let servers = document.value.pointer(&self.map)?;
            let given = names.iter().filter_map(|name| {
                let time = servers.get(name)?.get(*key)?.as_f64()?;
                Some(time.ceil() as u64)
            });
            Some((*key, given.max()?))
        };
        TIMEOUT_KEYS.iter().filter_map(longest).collect()
    }

    /// Another text of the same file.
    pub(super) fn with_text(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }

    /// Names of the servers, in order; `None` where the text has no place for servers.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        if self.format == Format::Toml {
            let document: DocumentMut = self.text.parse().ok()?;
            let servers = document.get(self.key())?.as_table_like()?;
            return Some(servers.iter().map(|(name, _)| name.to_string()).collect());
        }
        Some(self.members()?.into_iter().map(|member| member.name).collect())
    }

    /// The text of a server's entry, for comparison and search.
    pub(super) fn entry(&self, name: &str) -> Option<String> {
        if self.format == Format::Toml {
            let document: DocumentMut = self.text.parse().ok()?;
            return Some(document.get(self.key())?.get(name)?.to_string());
        }
        let member = self.members()?.into_iter().rev().find(|member| member.name == name)?;
        Some(self.text[member.begin..member.end].to_string())
    }

    fn members(&self) -> Option<Vec<Member>> {
        match self.format {
            Format::Yaml => yaml_members(&self.text, self.key()),
            _ => JsonMap::at(&self.text, &self.map).map(|map| map.members),
        }
    }

    /// Pointer to a server.
    pub(super) fn pointer(&self, name: &str) -> String {
        pointer_join(&self.map, name)
    }

    /// The text with toolcrib in place of these servers.
    pub(super) fn with_own(&self, moved: &[String], own: &OwnEntry) -> Option<String> {
        if self.format == Format::Toml {
            return self.with_tables(moved, &[(OWN, own.as_toml())]);
        }
        let goes = |name: &str| name == OWN || moved.iter().any(|moved| moved == name);
        let members = self.members()?;
        let first = members.iter().find(|member| goes(&member.name))?;
        let (before, from) = self.text.split_at(first.begin);
        let entry = match self.format {
            Format::Yaml => own.as_yaml(from, &self.map),
            _ => {
                let has_tools = self.text[first.begin..first.end].contains("\"tools\"");
                own.as_json(&self.map, has_tools, indent_of(before))
            }
        };
        self.replaced(goes, &[entry])
    }

    /// The text with these servers of an older text in place of toolcrib, or after the others where it has no toolcrib.
    pub(super) fn without_own(&self, older: &Self, moved: &[String]) -> Option<String> {
        if self.format == Format::Toml {
            let before: DocumentMut = older.text.parse().ok()?;
            let before = before.get(self.key())?.as_table_like()?;
            let back = moved.iter().map(|name| Some((name.as_str(), before.get(name)?.clone())));
            return self.with_tables(&[], &back.collect::<Option<Vec<_>>>()?);
        }
        let entries: Vec<String> = moved.iter().map(|name| older.entry(name)).collect::<Option<_>>()?;
        self.replaced(|name| name == OWN, &entries)
    }

    /// The text of TOML with these servers, without toolcrib and those that are removed.
    fn with_tables(&self, removed: &[String], added: &[(&str, Item)]) -> Option<String> {
        let mut document: DocumentMut = self.text.parse().ok()?;
        let servers = document.get_mut(self.key())?.as_table_like_mut()?;
        removed.iter().for_each(|name| drop(servers.remove(name)));
        servers.remove(OWN);
        added.iter().for_each(|(name, table)| drop(servers.insert(name, table.clone())));
        Some(document.to_string())
    }

    /// The text with `entries` in place of the servers that go, or after the others where none goes.
    fn replaced(&self, goes: impl Fn(&str) -> bool, entries: &[String]) -> Option<String> {
        if self.format != Format::Yaml {
            return Some(JsonMap::at(&self.text, &self.map)?.replaced(&self.text, goes, entries));
        }
        let members = self.members()?;
        let place = members.iter().find(|member| goes(&member.name)).or(members.last())?.begin;
        let mut text = String::new();
        let mut after = 0;
        for member in &members {
            text += &self.text[after..member.begin];
            text += if goes(&member.name) { "" } else { &self.text[member.begin..member.end] };
            text += &if member.begin == place { entries.concat() } else { String::new() };
            after = member.end;
        }
        Some(text + &self.text[after..])
    }

    fn key(&self) -> &str {
        self.map.trim_start_matches('/')
    }
}

/// The members of a block of YAML at the top of a document, as whole lines. Comments and blank lines between them belong to none.
fn yaml_members(text: &str, key: &str) -> Option<Vec<Member>> {
    let mut places = text.split_inclusive('\n').scan(0, |place, line| {
        let begin = *place;
        *place += line.len();
        Some((begin, line))
    });
    places.find(|(_, line)| {
        let rest = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
        rest.is_some_and(|rest| rest.trim().is_empty() || rest.trim().starts_with('#'))
    })?;
    let mut members = Vec::<Member>::new();
    let mut indent = None;
    for (begin, line) in places {
        let content = line.trim();
        let depth = line.len() - line.trim_start_matches(' ').len();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if depth == 0 {
            break;
        }
        if depth == *indent.get_or_insert(depth) {
            let name = content.split_once(':')?.0.trim_matches(['"', '\'']).to_string();
            members.push(Member { name, begin, end: begin, comma: None });
        }
        members.last_mut()?.end = begin + line.len();
    }
    Some(members)
}

impl OwnEntry {
    /// The member of the JSON object at `map`, on lines that begin with `indent`. Copilot CLI needs `tools`.
    fn as_json(&self, map: &str, has_tools: bool, indent: &str) -> String {
        let format = format_of_table(map);
        let mut entry = json!({});
        if let Some((field, kind)) = format.and_then(|format| format.kind) {
            entry[field] = kind.into();
        }
        if format.is_some_and(|format| format.lists_command) {
            let command = [&self.program].into_iter().chain(&self.arguments);
            entry["command"] = command.map(String::as_str).collect();
            entry["enabled"] = true.into();
        } else {
            entry["command"] = self.program.as_str().into();
            entry["args"] = json!(self.arguments);
        }
        if has_tools {
            entry["tools"] = json!(["*"]);
        }
        for (key, time) in &self.timeouts {
            entry[*key] = (*time).into();
        }
        let text =
            if indent.is_empty() { entry.to_string() } else { format!("{entry:#}").replace('\n', indent) };
        format!("{}: {text}", Value::from(OWN))
    }

    /// The extension of Goose, or a server as in JSON, with the indent of the member that begins here.
    fn as_yaml(&self, place: &str, map: &str) -> String {
        let indent = &place[..place.len() - place.trim_start_matches(' ').len()];
        let program = json!(self.program);
        let arguments = json!(self.arguments);
        if map != "/extensions" {
            let times = self.timeouts.iter().map(|(key, time)| format!("{indent}  {key}: {time}\n"));
            let times: String = times.collect();
            return format!(
                "{indent}{OWN}:\n{indent}  command: {program}\n{indent}  args: {arguments}\n{times}"
            );
        }
        let timeout = self.timeouts.iter().map(|(_, time)| *time).max().unwrap_or_default().max(300);
        format!(
            "{indent}{OWN}:\n{indent}  type: stdio\n{indent}  name: {OWN}\n{indent}  enabled: true\n{indent}  cmd: {program}\n{indent}  args: {arguments}\n{indent}  timeout: {timeout}\n"
        )
    }

    fn as_toml(&self) -> Item {
        let mut table = toml_edit::Table::new();
        table.insert("command", toml_edit::value(&self.program));
        table.insert("args", toml_edit::value(self.arguments.iter().collect::<Array>()));
        for (key, time) in &self.timeouts {
            table.insert(key, toml_edit::value(i64::try_from(*time).unwrap_or(i64::MAX)));
        }
        Item::Table(table)
    }
}

/// The mistake because of which a client's file cannot be read, with its place.
pub(super) fn syntax_mistake(workspace: &Workspace) -> Option<String> {
    let finding = workspace.findings.iter().find(|finding| finding.code == Code::FileInvalid)?;
    Some(in_one_line(finding))
}

/// The same of a file that is not recognized as a client's.
pub(super) fn mistake_in(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_string_lossy();
    let text = std::fs::read_to_string(file).ok()?;
    read_client_text(file, &name, &text).err().map(|unread| in_one_line(&unread.finding))
}

/// Pointer to the servers of a client's configuration.
pub(super) fn map_of(workspace: &Workspace) -> Option<String> {
    let of_sources = workspace.config.sources.iter().filter_map(|source| source.pointer.as_deref());
    let places =
        workspace.findings.iter().filter_map(|finding| Some(finding.place.as_ref()?.pointer.as_str()));
    let pointer = of_sources.chain(places).next()?;
    Some(pointer.rsplit_once('/')?.0.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::adopt::client::files;
    use crate::cli::io::Io;
    use toolcrib_catalog::config::{self, CLIENTS, Client};

    /// A client's file with one server.
    fn file_with_boats(client: &Client, table: &str, format: Format) -> String {
        let program = if client.format.lists_command { json!(["x"]) } else { "x".into() };
        let parents = table[1..].split('/').rev();
        match format {
            Format::Toml => format!("[{}.boats]\ncommand = \"x\"\n", &table[1..]),
            Format::Yaml => format!("{}:\n  boats:\n    cmd: x\n", &table[1..]),
            _ => parents
                .fold(json!({"boats": {"command": program}}), |inner, key| json!({ key: inner }))
                .to_string(),
        }
    }

    #[test]
    fn each_client_reads_the_entry_that_adopt_writes() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().as_os_str().to_os_string();
        let variable = move |name: &str| (name == "HOME").then(|| path.clone());
        let io = Io::new("toolcrib".into(), std::io::empty(), std::io::sink(), std::io::sink(), variable);
        for client in &CLIENTS {
            let files = files(&io, client);
            assert!(!files.is_empty() && files.len() == client.files.len(), "{}", client.name);
            for (file, table) in
                files.iter().flat_map(|file| client.format.servers.iter().map(move |table| (file, table)))
            {
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                let text = file_with_boats(client, table, client_format(file));
                let sources = |text: &str| {
                    std::fs::write(file, text).unwrap();
                    let workspace = config::read(file);
                    assert_eq!(map_of(&workspace).as_deref(), Some(*table), "{text}{:?}", workspace.findings);
                    let sources = workspace.config.sources.into_iter();
                    sources
                        .map(|source| (source.server.unwrap(), source.mcp.unwrap().command))
                        .collect::<Vec<_>>()
                };
                assert_eq!(sources(&text), [("boats".to_string(), vec!["x".to_string()])]);
                let arguments = vec!["serve".to_string(), "--stdio".to_string()];
                let own =
                    OwnEntry { program: "/bin/toolcrib".into(), arguments, timeouts: vec![("timeout", 60)] };
                let after =
                    ClientText::new(file, text, table).with_own(&["boats".to_string()], &own).unwrap();
                let command = ["/bin/toolcrib", "serve", "--stdio"].map(str::to_string).to_vec();
                assert_eq!(sources(&after), [(OWN.to_string(), command)]);
            }
        }
    }

    #[test]
    fn the_docs_name_each_client() {
        let docs = include_str!("../../../docs/servers.md");
        for client in &CLIENTS {
            assert!(docs.contains(&format!("`{}`", client.name)), "{}", client.name);
        }
    }
}
