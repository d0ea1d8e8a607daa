//! The text of a client's configuration: its servers by name, and edits of these alone.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use strum::{IntoStaticStr, VariantArray};
use toml_edit::{Array, DocumentMut, Item};

use crate::cli::catalog::{self, in_one_line, user_folder};
use crate::cli::io::Io;
use toolcrib_catalog::config::{Workspace, client_format};
use toolcrib_definition::finding::{Code, Document, Format, pointer_unescape, without_comments};

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
            let (members, entries) = (self.members()?, entries.concat());
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
        let (mut text, mut after) = (String::new(), 0);
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
    let (mut members, mut indent) = (Vec::<Member>::new(), None);
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
        let text = match indent.is_empty() {
            true => entry.to_string(),
            false => format!("{entry:#}").replace('\n', indent),
        };
        format!("{}: {text}", Value::from(OWN))
    }

    /// The extension of Goose, with the indent of the member that begins here.
    fn as_yaml(&self, place: &str) -> String {
        let indent = &place[..place.len() - place.trim_start_matches(' ').len()];
        let (program, arguments) = (json!(self.program), json!(self.arguments));
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

// An object within JSON with comments, and the places of its members in the text: an edit leaves every other byte alone.

/// An object: from its `{` to its `}`.
#[derive(Debug)]
pub(super) struct JsonMap {
    pub(super) open: usize,
    /// The place of the `}`.
    pub(super) close: usize,
    pub(super) members: Vec<Member>,
}

/// A member: from the quote before its name to the end of its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) begin: usize,
    pub(super) end: usize,
    /// The place of the comma between it and the next one.
    comma: Option<usize>,
}

impl JsonMap {
    /// The object at a pointer; `None` where the text has none.
    pub(super) fn at(text: &str, pointer: &str) -> Option<Self> {
        let blank = without_comments(text);
        let mut raw: &RawValue = serde_json::from_str(&blank).ok()?;
        for token in pointer.split('/').skip(1) {
            let name = pointer_unescape(token);
            let Members(members) = serde_json::from_str(raw.get()).ok()?;
            raw = members.into_iter().rev().find(|(known, _)| *known == name)?.1;
        }
        let Members(members) = serde_json::from_str(raw.get()).ok()?;
        let place = |part: &str| part.as_ptr() as usize - blank.as_ptr() as usize;
        let open = place(raw.get());
        let mut after = open + 1;
        let members = members.into_iter().map(|(name, value)| {
            let begin = after + blank[after..].find('"').unwrap_or_default();
            let end = place(value.get()) + value.get().len();
            let comma = end + blank[end..].len() - blank[end..].trim_start().len();
            let comma = blank[comma..].starts_with(',').then_some(comma);
            after = comma.map_or(end, |comma| comma + 1);
            Member { name, begin, end, comma }
        });
        Some(Self { open, members: members.collect(), close: open + raw.get().len() - 1 })
    }

    /// The text with other members: each kept one with what stands before it, each new one on lines like those of the others.
    /// `change` gives for each member its new texts, none to remove it, or `None` to keep it.
    pub(super) fn edited(&self, text: &str, change: impl Fn(&Member) -> Option<Vec<String>>) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut after = self.open + 1;
        for member in &self.members {
            let before = &text[after..member.begin];
            match change(member) {
                None => parts.push(text[after..member.comma.unwrap_or(member.end)].to_string()),
                Some(new) => {
                    let indent = indent_of(before);
                    parts.extend(new.iter().map(|new| format!("{indent}{new}")));
                }
            }
            after = member.comma.map_or(member.end, |comma| comma + 1);
        }
        let tail = &text[after..self.close];
        let tail = if parts.is_empty() { tail.trim_start_matches(',') } else { tail };
        format!("{}{}{tail}{}", &text[..=self.open], parts.join(","), &text[self.close..])
    }

    /// The text with these members after the others.
    pub(super) fn with_more(&self, text: &str, new: &[String]) -> String {
        let Some(last) = self.members.last() else {
            let (before, after) = text.split_at(self.open + 1);
            return format!("{before}{}{after}", new.join(", "));
        };
        let indent = self.indent(text, last);
        let new: String = new.iter().map(|new| format!(",{indent}{new}")).collect();
        format!("{}{new}{}", &text[..last.end], &text[last.end..])
    }

    /// The whitespace before a member on a line of its own.
    pub(super) fn indent<'t>(&self, text: &'t str, member: &Member) -> &'t str {
        indent_of(&text[..member.begin])
    }
}

/// The last line break and the blanks after it; empty without a line break.
fn indent_of(before: &str) -> &str {
    let Some(line) = before.rfind('\n') else { return "" };
    let begin = if before[..line].ends_with('\r') { line - 1 } else { line };
    let blanks = before[line + 1..].len() - before[line + 1..].trim_start_matches([' ', '\t']).len();
    &before[begin..line + 1 + blanks]
}

/// The members of an object, in order, as they stand in the text.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        from.deserialize_map(Read).map(Members)
    }
}

// The clients whose configurations are known by name, and the places of their files.

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Client {
    ClaudeDesktop,
    Cursor,
    Vscode,
    ClaudeCode,
    Codex,
    Gemini,
    Windsurf,
    Zed,
    Opencode,
    CopilotCli,
    Kiro,
    Cline,
    Goose,
    Roo,
}

impl Client {
    /// The client with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::VARIANTS.iter().copied().find(|client| client.name() == name)
    }

    /// The client whose own configuration is this file.
    pub(super) fn of_file(io: &Io, file: &Path) -> Option<Self> {
        let is_own = |own: &PathBuf| own.canonicalize().is_ok_and(|own| own == file);
        Self::VARIANTS.iter().copied().find(|client| client.files(io).iter().any(is_own))
    }

    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// The name that people know.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::Opencode => "opencode",
            Self::CopilotCli => "Copilot CLI",
            Self::Kiro => "Kiro",
            Self::Cline => "Cline",
            Self::Goose => "Goose",
            Self::Roo => "Roo Code",
        }
    }

    /// The places of its user's configuration, the usual one first.
    pub(super) fn files(self, io: &Io) -> Vec<PathBuf> {
        let home = |path: &str| catalog::home(io).map(|home| home.join(path));
        let of_applications = |path: &str| applications(io).map(|folder| folder.join(path));
        let files = match self {
            Self::ClaudeDesktop => vec![of_applications("Claude/claude_desktop_config.json")],
            Self::Cursor => vec![home(".cursor/mcp.json")],
            Self::Vscode => vec![
                of_applications("Code/User/mcp.json"),
                of_applications("Code/User/settings.json"),
                of_applications("Code - Insiders/User/mcp.json"),
                of_applications("VSCodium/User/mcp.json"),
            ],
            Self::ClaudeCode => vec![home(".claude.json")],
            Self::Codex => {
                vec![
                    io.path_variable("CODEX_HOME")
                        .map(|own| own.join("config.toml"))
                        .or(home(".codex/config.toml")),
                ]
            }
            Self::Gemini => vec![home(".gemini/settings.json")],
            Self::Windsurf => vec![home(".codeium/windsurf/mcp_config.json")],
            Self::Zed if cfg!(windows) => vec![of_applications("Zed/settings.json")],
            Self::Zed => vec![user_folder(io, "XDG_CONFIG_HOME", ".config", "zed/settings.json")],
            Self::Opencode => ["opencode/opencode.json", "opencode/opencode.jsonc"]
                .map(|path| user_folder(io, "XDG_CONFIG_HOME", ".config", path))
                .to_vec(),
            Self::CopilotCli => vec![home(".copilot/mcp-config.json")],
            Self::Kiro => vec![home(".kiro/settings/mcp.json")],
            Self::Cline => vec![of_applications(
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            )],
            Self::Goose if cfg!(windows) => vec![of_applications("Block/goose/config/config.yaml")],
            Self::Goose => vec![user_folder(io, "XDG_CONFIG_HOME", ".config", "goose/config.yaml")],
            Self::Roo => ["mcp_settings.json", "cline_mcp_settings.json"]
                .map(|name| {
                    let folder = "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings";
                    of_applications(&format!("{folder}/{name}"))
                })
                .to_vec(),
        };
        files.into_iter().flatten().collect()
    }
}

/// The folder in which applications keep their settings.
fn applications(io: &Io) -> Option<PathBuf> {
    if cfg!(windows) {
        return io.path_variable("APPDATA");
    }
    if cfg!(target_os = "macos") {
        return catalog::home(io).map(|home| home.join("Library/Application Support"));
    }
    user_folder(io, "XDG_CONFIG_HOME", ".config", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ // é\n  \"x\": 1,\n  \"mcp\": {\n    // first\n    \"a\": {\"n\": \"}\"}, // of a\n    /* b */ \"b\": [1],\n    \"c\": 2,\n  },\n}\n";

    fn edited(change: impl Fn(&str) -> Option<Vec<String>>) -> String {
        JsonMap::at(TEXT, "/mcp").unwrap().edited(TEXT, |member| change(&member.name))
    }

    #[test]
    fn an_edit_leaves_every_other_byte_alone() {
        assert_eq!(edited(|_| None), TEXT);
        let replaced = edited(|name| (name == "b").then(|| vec!["\"d\": 3".into()]));
        assert_eq!(replaced, TEXT.replace(" // of a\n    /* b */ \"b\": [1]", "\n    \"d\": 3"));
        let first = edited(|name| Some(if name == "a" { vec!["\"d\": 3".into()] } else { Vec::new() }));
        assert_eq!(first, "{ // é\n  \"x\": 1,\n  \"mcp\": {\n    \"d\": 3,\n  },\n}\n");
        assert_eq!(edited(|_| Some(Vec::new())), "{ // é\n  \"x\": 1,\n  \"mcp\": {\n  },\n}\n");
    }

    #[test]
    fn a_text_without_the_object_has_no_map() {
        for text in ["", "{", "[]", "{\"mcp\": 1}", "{\"mcp\": {\"a\": }}"] {
            assert!(JsonMap::at(text, "/mcp").is_none(), "{text}");
        }
    }
}
