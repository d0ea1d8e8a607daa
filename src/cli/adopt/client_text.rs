//! The text of a client's configuration: its servers by name, and edits of these alone.

use std::path::Path;

use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item};

use super::json_map::{JsonMap, Member};
use crate::cli::findings::in_one_line;
use toolcrib_catalog::config::{Workspace, client_format};
use toolcrib_definition::finding::{Code, Document, Format, without_comments};

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

/// Keys of the times that a client waits for a server.
const TIMEOUTS: [&str; 3] = ["timeout", "tool_timeout_sec", "startup_timeout_sec"];

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
            let given = names.iter().filter_map(|name| servers.get(name)?.get(*key)?.as_u64());
            Some((*key, given.max()?))
        };
        TIMEOUTS.iter().filter_map(longest).collect()
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
        let names = |members: Vec<Member>| members.into_iter().map(|member| member.name).collect();
        Some(names(self.members()?))
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

    /// The text with toolcrib in place of these servers.
    pub(super) fn with_own(&self, moved: &[String], own: &OwnEntry) -> Option<String> {
        let is_moved = |name: &str| name == OWN || moved.iter().any(|moved| moved == name);
        if self.format == Format::Yaml {
            let members = self.members()?;
            let first = members.iter().find(|member| is_moved(&member.name))?;
            let entry = own.as_yaml(&self.text[first.begin..]);
            return Some(self.with_members(&members, |member| {
                let is_place = member.begin == first.begin;
                is_moved(&member.name).then(|| if is_place { entry.clone() } else { String::new() })
            }));
        }
        if self.format == Format::Toml {
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
        let first_member = &map.members[first];
        let has_tools = self.text[first_member.begin..first_member.end].contains("\"tools\"");
        let entry = own.as_json(&self.map, has_tools, indent);
        let place = map.members[first].begin;
        Some(map.edited(&self.text, |member| {
            is_moved(&member.name)
                .then(|| (member.begin == place).then(|| entry.clone()).into_iter().collect())
        }))
    }

    /// The text with these servers of an older text in place of toolcrib, or after the others where it has no toolcrib.
    pub(super) fn without_own(&self, older: &Self, moved: &[String]) -> Option<String> {
        if self.format == Format::Toml {
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
        if self.format == Format::Yaml {
            let members = self.members()?;
            let entries = entries.concat();
            let place = members.iter().find(|member| member.name == OWN).or(members.last())?.begin;
            return Some(self.with_members(&members, |member| {
                let own = &self.text[member.begin..member.end];
                let stays = if member.name == OWN { "" } else { own };
                (member.begin == place).then(|| format!("{stays}{entries}"))
            }));
        }
        let map = JsonMap::at(&self.text, &self.map)?;
        if !map.members.iter().any(|member| member.name == OWN) {
            return Some(map.with_more(&self.text, &entries));
        }
        Some(map.edited(&self.text, |member| (member.name == OWN).then(|| entries.clone())))
    }

    /// The text with other texts of members; `change` gives the new one, or `None` to keep it.
    fn with_members(&self, members: &[Member], change: impl Fn(&Member) -> Option<String>) -> String {
        let mut text = String::new();
        let mut after = 0;
        for member in members {
            text += &self.text[after..member.begin];
            text += &change(member).unwrap_or_else(|| self.text[member.begin..member.end].to_string());
            after = member.end;
        }
        text + &self.text[after..]
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
        let mut entry = json!({});
        match map {
            "/context_servers" => entry["source"] = "custom".into(),
            "/mcp" => entry["type"] = "local".into(),
            map if map.ends_with("/servers") => entry["type"] = "stdio".into(),
            _ => {}
        }
        if map == "/mcp" {
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

    /// The extension of Goose, with the indent of the member that begins here.
    fn as_yaml(&self, place: &str) -> String {
        let indent = &place[..place.len() - place.trim_start_matches(' ').len()];
        let program = json!(self.program);
        let arguments = json!(self.arguments);
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
    let format = client_format(file);
    let text = std::fs::read_to_string(file).ok()?;
    let text = if format == Format::Json { without_comments(&text) } else { text };
    Document::parse(&name, text.into_bytes(), format).err().map(|finding| in_one_line(&finding))
}
