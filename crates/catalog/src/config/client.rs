//! Configurations of MCP clients, read as they are: each of their servers is a live source.
//!
//! | client | key | format |
//! | --- | --- | --- |
//! | Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI, Copilot CLI, Kiro, Cline, Roo | `mcpServers` | JSON |
//! | VS Code | `servers`, also below `mcp` | JSON with comments |
//! | Zed | `context_servers` | JSON with comments |
//! | Codex | `mcp_servers` | TOML |
//! | opencode | `mcp` | JSON with comments |
//! | Goose | `extensions` | YAML |

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::{Captures, Regex};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::{Server, Source, ToolFilter, env_variables};
use toolcrib_definition::finding::{Code, Document, Finding, Format, Place, pointer_join, without_comments};

/// Pointers to the servers of a client's configuration.
const MAPS: [&str; 7] =
    ["/mcpServers", "/servers", "/mcp/servers", "/context_servers", "/mcp_servers", "/mcp", "/extensions"];
/// Texts that only the configuration of a client has. By these, a file with a syntax error is recognized.
const MARKS: [&str; 3] = ["mcpServers", "context_servers", "mcp_servers"];
/// Names of files that are the configuration of a client even without these texts.
const NAMES: [&str; 2] = ["mcp.json", "settings.json"];
/// Keys of API descriptions, which have `servers` too.
const APIS: [&str; 3] = ["openapi", "asyncapi", "swagger"];
/// Lists of the only tools of a server that a client uses. An empty list of the last one stands for all.
const ALLOWED: [&str; 5] = ["includeTools", "enabled_tools", "enabledTools", "tools", "available_tools"];
/// Lists of the tools that a client does not use.
const DENIED: [&str; 3] = ["excludeTools", "disabledTools", "disabled_tools"];
/// Switches of a server, each with the value that switches it off.
const SWITCHES: [(&str, bool); 5] =
    [("disabled", true), ("enabled", false), ("isActive", false), ("isEnabled", false), ("active", false)];
/// The longest configuration of a client, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Folders in which projects keep the files of a client; `${workspaceFolder}` is the folder around them.
const FOLDERS: [&str; 8] = [".codex", ".cursor", ".gemini", ".kiro", ".roo", ".vscode", ".windsurf", ".zed"];
/// Files of clients that count timeouts in seconds: Cline and Roo.
const SECONDS: [&str; 2] = ["cline_mcp_settings.json", "mcp_settings.json"];
/// Elsewhere, a timeout from this number on is one in milliseconds.
const MILLISECONDS: u64 = 1000;

/// The configuration of a client.
#[derive(Default)]
pub(super) struct ClientConfig {
    pub(super) document: Option<Document>,
    pub(super) sources: Vec<Source>,
    pub(super) findings: Vec<Finding>,
}

/// Format of a client's file. Clients also use endings such as `.jsonc`, or none, for JSON.
pub fn client_format(file: &Path) -> Format {
    let extension = file.extension().and_then(|extension| extension.to_str());
    extension.and_then(Format::of_extension).unwrap_or(Format::Json)
}

/// Reads a file as the configuration of a client; `None` if its content is something else. A syntax error is then the only finding.
pub(super) fn read(file: &Path, root: &Path) -> Option<ClientConfig> {
    let format = client_format(file);
    if std::fs::metadata(file).ok()?.len() > MAX_BYTES {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let is_named = |map: &str| text.contains(map.rsplit('/').next().unwrap_or_default());
    if !MAPS.into_iter().any(is_named) || is_something_else(&text, format) {
        return None;
    }
    let text = if format == Format::Json { without_comments(&text) } else { text };
    let shown = file.file_name()?.to_string_lossy().into_owned();
    let is_marked = MARKS.iter().any(|mark| text.contains(mark)) || NAMES.contains(&&*shown);
    let document = match Document::read(&shown, text.into_bytes(), format) {
        Ok(document) => document,
        Err(_) if !is_marked => return None,
        Err(unread) => {
            let document = unread.document.map(without_values);
            let findings = vec![unread.finding];
            return Some(ClientConfig { document, findings, ..ClientConfig::default() });
        }
    };
    let mut sources = Vec::new();
    let mut findings = Vec::new();
    if APIS.iter().any(|key| document.value.get(key).is_some()) {
        return None;
    }
    // A dump of definitions starts no program, whatever stands beside them.
    if document.value.get("tools").is_some_and(has_definitions) && !NAMES.contains(&&*shown) {
        return None;
    }
    findings.extend(of_projects(&document.value, &shown));
    let known = MAPS.iter().find_map(|map| {
        let servers = document.value.pointer(map)?.as_object()?;
        servers.values().any(starts_or_connects).then_some((*map, servers))
    });
    let Some((map, servers)) = known else {
        let document = Some(without_values(document));
        return (!findings.is_empty()).then_some(ClientConfig { document, sources, findings });
    };
    let mut project = Project::of(root);
    project.counts_seconds |= SECONDS.contains(&&*shown) || map == "/extensions";
    let beside = beside(&shown, root);
    for (name, entry) in servers {
        let pointer = pointer_join(map, name);
        let place = || Place::new(&shown, pointer.clone());
        if map == "/extensions" && !starts_or_connects(entry) {
            // Extensions that are a part of Goose.
            continue;
        }
        let read = is_excluded(&document.value, name).and_then(|is_excluded| {
            let mut rules = Rules::new(name, servers, map);
            if shown == ".mcp.json" {
                rules.project = project.folder.to_string_lossy().into_owned();
            }
            rules.read(&document.value);
            beside.as_ref().map_err(String::clone)?.iter().for_each(|value| rules.read(value));
            let server = if is_excluded || rules.denied.iter().any(|tool| tool == "*") {
                None
            } else {
                server(entry, &project, map == "/mcp")?
            };
            let global = ["tools", "permission"].map(|key| document.value.get(key).filter(|_| map == "/mcp"));
            let filter = rules.added_to(filter(entry, name, global)?);
            Ok(server.map(|server| (server, filter)))
        });
        match read {
            Ok(Some((server, filter))) => sources.push(Source {
                mcp: Some(server),
                filter,
                server: Some(name.clone()),
                prefix: Some(true),
                pointer: Some(pointer),
                ..Source::default()
            }),
            Ok(None) => {
                let finding = Finding::new(Code::ServerDisabled, format!("the server `{name}` is disabled"));
                findings.push(finding.at(place()));
            }
            Err(problem) => {
                let finding = Finding::new(Code::ConfigInvalid, format!("the server `{name}`: {problem}"));
                let help = if is_sse(entry) {
                    "name its address for streamable HTTP, which often ends in `/mcp` in place of `/sse`, with `\"type\": \"http\"`; or start a program that speaks both"
                } else {
                    "correct this entry in the client's file"
                };
                findings.push(finding.at(place()).help(help));
            }
        }
    }
    Some(ClientConfig { document: Some(without_values(document)), sources, findings })
}

/// Whether a text is plainly of something else, by its keys at the top. Definitions can be long, and are parsed elsewhere.
fn is_something_else(text: &str, format: Format) -> bool {
    let Ok(keys) = serde_json::from_str::<IndexMap<String, IgnoredAny>>(text) else {
        let begins = |begin: &str| text.trim_start().starts_with(begin);
        return (format == Format::Json && begins("[")) || APIS.iter().any(|key| begins(&format!("{key}:")));
    };
    let has = |key: &str| keys.contains_key(key);
    let mut of_clients = MAPS.iter().filter_map(|map| map.split('/').nth(1)).chain(["projects"]);
    APIS.into_iter().any(has) || !of_clients.any(has)
}

/// The servers that Claude Code has for one project each, as `claude mcp add` writes them: they are used nowhere else.
fn of_projects(document: &Value, shown: &str) -> Vec<Finding> {
    let projects = document.get("projects").and_then(Value::as_object).into_iter().flatten();
    let servers = projects.flat_map(|(project, settings)| {
        let servers = settings.get("mcpServers").and_then(Value::as_object).into_iter().flatten();
        servers.filter(|(_, entry)| starts_or_connects(entry)).map(move |(name, _)| {
            let message = format!("the server `{name}` is for the project {project} alone, and is left out");
            let pointer = pointer_join(&pointer_join("/projects", project), "mcpServers");
            let finding = Finding::new(Code::ServerDisabled, message);
            finding.at(Place::new(shown, pointer_join(&pointer, name))).help(
                "`claude mcp add --scope user` adds it for all projects, and `--scope project` to `.mcp.json` there; adopt that file",
            )
        })
    });
    servers.collect()
}

/// Hides the texts of a document that are no keys: findings show lines of it, and a server's entry can hold secrets.
fn without_values(mut document: Document) -> Document {
    let mut shown = String::with_capacity(document.text.len());
    let mut rest = &*document.text;
    while let Some(begin) = rest.find('"') {
        let mut is_escaped = false;
        let inner = &rest[begin + 1..];
        let end = inner.find(|c| {
            let is_end = (c == '"' && !is_escaped) || c == '\n';
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        let (text, after) = inner.split_at(end.unwrap_or(inner.len()));
        let follows = after.strip_prefix('"').map(str::trim_start);
        let is_key = follows.is_some_and(|follows| follows.starts_with([':', '=', '.']));
        shown += &rest[..=begin];
        if is_key {
            shown += text
        } else {
            shown.extend(text.chars().map(|_| '*'))
        }
        let closing = usize::from(!after.is_empty());
        shown += &after[..closing];
        rest = &after[closing..];
    }
    document.text = (shown + rest).into();
    document
}

/// The project of a client's file.
struct Project {
    /// Its folder, absolute.
    folder: PathBuf,
    /// Whether the file lies in a folder of the client's own.
    is_around: bool,
    /// Whether the client counts timeouts in seconds.
    counts_seconds: bool,
}

impl Project {
    fn of(root: &Path) -> Self {
        let mut root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        if root.ends_with(".kiro/settings") {
            root.pop();
        }
        let name = root.file_name().and_then(|name| name.to_str());
        let is_around = name.is_some_and(|name| FOLDERS.contains(&name));
        let folder = root.parent().filter(|_| is_around).unwrap_or(&root).to_path_buf();
        Self { folder, is_around, counts_seconds: name == Some(".roo") }
    }

    /// A program as it is started from this folder.
    fn program(&self, program: String) -> String {
        let is_beside = self.is_around && program.contains(['/', '\\']) && !program.contains("${");
        let path = Path::new(&program);
        let joined = (is_beside && path.is_relative()).then(|| self.folder.join(path));
        joined.map_or(program, |path| path.to_string_lossy().into_owned())
    }
}

/// Whether an entry is a server of the transport that streamable HTTP has replaced.
fn is_sse(entry: &Value) -> bool {
    let named = |key: &str| entry.get(key).and_then(Value::as_str);
    ["type", "transport", "transportType"].iter().any(|key| named(key) == Some("sse"))
}

/// Whether an entry is a server, and not a list of its tools.
fn starts_or_connects(entry: &Value) -> bool {
    ["command", "cmd", "url", "uri", "serverUrl", "httpUrl"].iter().any(|key| entry.get(key).is_some())
        && !entry.get("tools").is_some_and(has_definitions)
}

fn has_definitions(tools: &Value) -> bool {
    tools.as_array().is_some_and(|tools| tools.iter().any(Value::is_object))
}

/// Whether a list of Gemini CLI switches a server off.
fn is_excluded(document: &Value, name: &str) -> Result<bool, String> {
    let lists = [
        ("/mcp/excluded", true),
        ("/mcp/allowed", false),
        ("/excludeMCPServers", true),
        ("/allowMCPServers", false),
    ];
    for (pointer, is_off) in lists {
        let Some(list) = document.pointer(pointer).filter(|list| !list.is_null()) else { continue };
        // A server of VS Code can have such a name.
        if list.is_object() && pointer.starts_with("/mcp/") {
            continue;
        }
        if texts(Some(list), &pointer[1..])?.iter().any(|item| item == name) == is_off {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The settings of a client that lie beside its file with servers.
fn beside(file: &str, root: &Path) -> Result<Vec<Value>, String> {
    let folder = std::path::absolute(root).unwrap_or_default();
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let home = home.unwrap_or_else(|| folder.clone());
    let settings = |folder: &Path, name: &str| folder.join(".claude").join(name);
    let of_claude = [
        settings(&folder, "settings.json"),
        settings(&folder, "settings.local.json"),
        settings(&home, "settings.json"),
        home.join(".claude.json"),
    ];
    let files = match file {
        ".mcp.json" => of_claude.to_vec(),
        ".claude.json" => of_claude[..3].to_vec(),
        "config.yaml" => vec![folder.join("permission.yaml")],
        _ => return Ok(Vec::new()),
    };
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).ok()?;
        let format = client_format(path);
        let text = if format == Format::Json { without_comments(&text) } else { text };
        let read = Document::read(&path.to_string_lossy(), text.into_bytes(), format);
        let problem = |_| format!("{} cannot be read, which can switch it off", path.display());
        Some(read.map(|document| document.value).map_err(problem))
    };
    files.iter().filter_map(read).collect()
}

/// Keys below which a client has a table for each of several projects, agents or profiles, and applies one of them.
const SCOPES: [&str; 5] = ["projects", "profiles", "modes", "agents", "agent"];
/// Beginnings of words in keys of lists that switch tools off.
const OFF: [&str; 7] = ["exclude", "deny", "denied", "disable", "disallow", "never", "block"];

/// What a client's settings say elsewhere of the tools of one server, by names such as `mcp__server__tool`.
struct Rules<'c> {
    server: &'c str,
    /// The same as clients put it before the names of tools.
    prefix: String,
    servers: &'c Map<String, Value>,
    map: &'static str,
    /// The project that they are read for, if the file belongs to one.
    project: String,
    /// Tools that are switched off.
    denied: Vec<String>,
    /// The place of a rule that only the client can apply: it asks, or applies to one project, agent or profile.
    of_client: Option<String>,
}

/// A place in the settings.
#[derive(Clone, Default)]
struct RulePlace {
    keys: Vec<String>,
    /// The tool that the keys name; `*` for the whole server.
    tool: Option<String>,
    is_off: bool,
    asks: bool,
    /// Whether it is for a project, an agent or a profile that is not the active one.
    is_scoped: bool,
}

impl<'c> Rules<'c> {
    fn new(server: &'c str, servers: &'c Map<String, Value>, map: &'static str) -> Self {
        let prefix = plain_name(server);
        Self { server, prefix, servers, map, project: String::new(), denied: Vec::new(), of_client: None }
    }

    fn read(&mut self, document: &Value) {
        let active = ["/default_profile", "/agent/default_profile"];
        let active = active.iter().find_map(|pointer| document.pointer(pointer)?.as_str());
        self.walk(document, RulePlace::default(), active);
    }

    fn walk(&mut self, value: &Value, place: RulePlace, active: Option<&str>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let place = self.below(&place, key, active);
                    let at = format!("/{}", place.keys.join("/"));
                    // The servers have filters of their own, and so have the rules of opencode for all agents.
                    let is_read =
                        at == self.map || (self.is_opencode() && matches!(&*at, "/tools" | "/permission"));
                    // A list for the servers of a project's own file.
                    let is_of_others = key == "disabledMcpjsonServers" && self.project.is_empty();
                    if !is_read && !is_of_others {
                        self.walk(value, place, active);
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    match item.as_str() {
                        Some(text) => {
                            let is_of_all =
                                matches!(&*place.keys.join("/"), "excludeTools" | "tools/exclude");
                            let all = || is_of_all.then(|| text.to_string());
                            if let Some(tool) = self.named(text).or_else(all) {
                                self.note(RulePlace { tool: Some(tool), ..place.clone() }, true);
                            }
                        }
                        None => self.walk(item, place.clone(), active),
                    }
                }
            }
            Value::Bool(is_on) => self.note(place, *is_on),
            Value::String(text) => match text.as_str() {
                "deny" | "never" | "disabled" | "off" => self.note(RulePlace { is_off: true, ..place }, true),
                "ask" | "confirm" | "prompt" => self.note(RulePlace { asks: true, ..place }, true),
                _ => {}
            },
            _ => {}
        }
    }

    fn is_opencode(&self) -> bool {
        self.map == "/mcp"
    }

    fn below(&self, place: &RulePlace, key: &str, active: Option<&str>) -> RulePlace {
        let mut below = place.clone();
        let parent = place.keys.last().map(String::as_str).unwrap_or_default();
        let lower = key.to_lowercase();
        below.is_off |= OFF.iter().any(|word| lower.contains(word));
        below.asks |= lower == "ask" || lower.starts_with("ask_");
        let is_scope = SCOPES.contains(&parent) && (parent != "agent" || self.is_opencode());
        below.is_scoped |=
            is_scope && Some(key) != active && (self.project.is_empty() || key != self.project);
        let of_server = || (parent == "tools" && place.tool.is_some()).then(|| key.to_string());
        below.tool = self.named(key).or_else(of_server).or(below.tool);
        below.keys.push(key.to_string());
        below
    }

    /// The tool of the server that a text names; `*` where it names the server.
    fn named(&self, text: &str) -> Option<String> {
        if text != self.server && self.servers.contains_key(text) {
            return None;
        }
        let rest = ["mcp__", "mcp:", "mcp_", "@"].iter().find_map(|begin| text.strip_prefix(begin));
        [Some(text), rest].into_iter().flatten().find_map(|text| {
            let rest = text.strip_prefix(self.server).or_else(|| text.strip_prefix(&self.prefix))?;
            let tool = rest.split('(').next().unwrap_or_default();
            match ["__", "_", ".", ":", "/"].iter().find_map(|between| tool.strip_prefix(between)) {
                Some(tool) => Some(tool.to_string()),
                None => tool.is_empty().then(|| "*".to_string()),
            }
        })
    }

    /// Notes what a place says, where it names a tool and its value is `is_on`.
    fn note(&mut self, place: RulePlace, is_on: bool) {
        let Some(tool) = place.tool else { return };
        let key = place.keys.last().map(|key| key.to_lowercase()).unwrap_or_default();
        let is_switch =
            tool != "*" || self.named(&key).is_some() || SWITCHES.iter().any(|(switch, _)| key == *switch);
        let is_off = if place.is_off || place.asks { is_on } else { !is_on && is_switch };
        if !is_off {
            return;
        }
        if place.asks || place.is_scoped {
            self.of_client = Some(place.keys.join("."));
        } else {
            self.denied.push(tool);
        }
    }

    fn added_to(self, filter: Option<ToolFilter>) -> Option<ToolFilter> {
        if self.denied.is_empty() && self.of_client.is_none() {
            return filter;
        }
        let mut filter = filter.unwrap_or_default();
        filter.denied.extend(self.denied);
        filter.of_client = self.of_client.or(filter.of_client);
        if filter.key.is_empty() {
            filter.key = "settings".into();
        }
        Some(filter)
    }
}

/// The name of a server as clients put it before those of its tools.
fn plain_name(server: &str) -> String {
    server.replace(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'), "_")
}

/// The tools that a client uses of a server: the lists of its entry, and opencode's `tools` and `permission` with names such as
/// `server_*`.
fn filter(entry: &Value, server: &str, global: [Option<&Value>; 2]) -> Result<Option<ToolFilter>, String> {
    let mut filter = ToolFilter::default();
    let names = |key: &str, value: &Value| match value {
        Value::Object(tools) if key == "tools" && tools.values().all(Value::is_boolean) => Ok(None),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            Ok(Some(items.iter().filter_map(Value::as_str).map(str::to_string).collect::<Vec<_>>()))
        }
        Value::Object(_) => Err(format!(
            "`{key}` holds settings of tools that only the client applies; expected a list of names, or true or false for each"
        )),
        _ => Err(format!("`{key}` must be a list of tool names")),
    };
    let set = |key: &'static str| Some((key, entry.get(key).filter(|value| !value.is_null())?));
    for (key, value) in ALLOWED.into_iter().filter_map(set) {
        let Some(names) = names(key, value)? else { continue };
        if names.iter().any(|name| name == "*") || (key == "available_tools" && names.is_empty()) {
            continue;
        }
        filter.key = key.to_string();
        filter.allowed.push(names);
    }
    for (key, value) in DENIED.into_iter().filter_map(set) {
        let names = names(key, value)?.unwrap_or_default();
        if !names.is_empty() {
            filter.key = key.to_string();
            filter.denied.extend(names);
        }
    }
    for (name, _) in entry
        .get("tools")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, is_on)| **is_on == false)
    {
        filter.key = "tools".into();
        filter.denied.push(name.clone());
    }
    let prefix = format!("{}_", plain_name(server));
    for (key, rules) in ["tools", "permission"].into_iter().zip(global) {
        let rules = match rules {
            None | Some(Value::Null) => continue,
            Some(Value::Object(rules)) => rules.clone(),
            Some(rule) => Map::from_iter([("*".to_string(), rule.clone())]),
        };
        for (name, rule) in rules {
            let begin = name.split(['*', '?']).next().unwrap_or_default();
            if !begin.starts_with(&prefix) && !prefix.starts_with(begin)
                || begin == name && !name.starts_with(&prefix)
            {
                continue;
            }
            // Rules for arguments; those of a server match `*` alone.
            let rule =
                rule.get("*").or_else(|| rule.as_object().map(|_| &Value::Bool(true))).unwrap_or(&rule);
            let is_on = match rule.as_str() {
                Some("ask") => {
                    filter.key = key.into();
                    filter.of_client = Some(format!("{key}.{name}"));
                    true
                }
                Some("allow") => true,
                Some("deny") => false,
                _ => rule.as_bool().ok_or_else(|| format!("`{key}` has {rule} for `{name}`; expected true or false, or one of allow, ask and deny"))?,
            };
            if !is_on {
                filter.key = key.into();
                // `?` is any letter: too much is denied rather than too little.
                let name = name.replace('?', "*");
                match name.strip_suffix('*').filter(|begin| prefix.starts_with(begin)) {
                    Some(_) => filter.denied.push("*".into()),
                    None => filter.denied_with_prefix.push((prefix.clone(), name)),
                }
            }
        }
    }
    Ok((!filter.key.is_empty()).then_some(filter))
}

/// The server of an entry; `None` if it is disabled. Only opencode has the arguments in `command`.
fn server(entry: &Value, project: &Project, is_opencode: bool) -> Result<Option<Server>, String> {
    let is_sse = is_sse(entry);
    let entry = entry.as_object().ok_or("expected an object")?;
    for (key, off) in SWITCHES {
        let is_set = match entry.get(key) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.trim().to_ascii_lowercase().parse().ok(),
            Some(value) => value.as_bool(),
        };
        if is_set.ok_or_else(|| format!("`{key}` must be true or false"))? == off {
            return Ok(None);
        }
    }
    if is_sse {
        return Err("it speaks HTTP with SSE, the transport that streamable HTTP has replaced".into());
    }
    // Zed once had a table of its own below `command`.
    let (program, fields) = match entry.get("command").or_else(|| entry.get("cmd")) {
        Some(Value::Object(table)) => (table.get("path"), table),
        program => (program, entry),
    };
    if let Some(unknown) = of_client(&Value::Object(entry.clone())) {
        return Err(format!(
            "only the client knows the value of `{unknown}`: write the value itself, or `${{NAME}}` with an environment variable that has it"
        ));
    }
    let filled = |text: &str| as_placeholders(text, &project.folder);
    let mut command = match program.filter(|program| !program.is_null()) {
        Some(items @ Value::Array(_)) if is_opencode => texts(Some(items), "command")?,
        Some(Value::String(program)) => vec![program.clone()],
        Some(_) => {
            return Err("`command` must be a text, the program; its arguments are the list `args`".into());
        }
        None => Vec::new(),
    };
    let arguments = texts(fields.get("args"), "args")?;
    // Without a program, the first argument must not become one.
    if !command.is_empty() {
        command.extend(arguments);
    }
    let url = ["url", "uri", "serverUrl", "httpUrl"].iter().find_map(|key| text_at(entry, key).transpose());
    let url = url.transpose()?;
    let mut headers = pairs(entry, &["headers", "http_headers"], &filled)?;
    if let Some(variable) = text_at(entry, "bearer_token_env_var")? {
        headers.insert("Authorization".into(), format!("Bearer ${{{variable}}}"));
    }
    for (header, variable) in pairs(entry, &["env_http_headers"], &filled)? {
        headers.insert(header, format!("${{{variable}}}"));
    }
    let cwd = text_at(entry, "cwd")?.map(|cwd| PathBuf::from(filled(cwd)));
    let cwd = if project.is_around { Some(project.folder.join(cwd.unwrap_or_default())) } else { cwd };
    let mut command = command.iter().map(|text| filled(text));
    let program = command.next().map(|program| project.program(program));
    let mut server = Server {
        command: program.into_iter().chain(command).collect(),
        env: variables(fields, project, &filled)?,
        cwd,
        url: url.map(filled),
        headers,
        ..Server::default()
    };
    if let Some(seconds) = timeout(entry, project.counts_seconds) {
        server.timeout_seconds = Some(seconds.max(1));
    }
    match server.problem() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(Some(server)),
    }
}

/// The variables of a server: those of `envFile`, those that it takes from the environment, and its own, which win.
fn variables(
    entry: &Map<String, Value>,
    project: &Project,
    filled: &dyn Fn(&str) -> String,
) -> Result<IndexMap<String, String>, String> {
    let mut variables = IndexMap::new();
    if let Some(file) = text_at(entry, "envFile")?.map(filled) {
        let path = project.folder.join(&file);
        let is_small = std::fs::metadata(&path).is_ok_and(|about| about.len() <= MAX_BYTES);
        let text = is_small.then(|| std::fs::read_to_string(&path).ok()).flatten();
        variables.extend(env_variables(&text.ok_or_else(|| format!("its `envFile` {file} cannot be read"))?));
    }
    for key in ["env_vars", "env_keys"] {
        let expected = || format!("`{key}` must be a list of names of variables");
        let Some(names) = entry.get(key).filter(|names| !names.is_null()) else { continue };
        for name in names.as_array().ok_or_else(expected)? {
            let name = name.as_str().or_else(|| name.get("name")?.as_str()).ok_or_else(expected)?;
            variables.insert(name.to_string(), format!("${{{name}}}"));
        }
    }
    variables.extend(pairs(entry, &["env", "environment", "envs"], filled)?);
    Ok(variables)
}

/// The timeout in seconds: clients count it in milliseconds, or in seconds.
fn timeout(entry: &Map<String, Value>, counts_seconds: bool) -> Option<u64> {
    let named = |key: &str| entry.get(key).and_then(Value::as_u64);
    let plain = named("timeout").map(|timeout| {
        if counts_seconds || timeout < MILLISECONDS { timeout } else { timeout / MILLISECONDS }
    });
    plain.or_else(|| named("tool_timeout_sec")).or_else(|| named("startup_timeout_sec"))
}

fn text_at<'e>(entry: &'e Map<String, Value>, key: &str) -> Result<Option<&'e str>, String> {
    let value = entry.get(key).filter(|value| !value.is_null());
    value.map(|value| value.as_str().ok_or_else(|| format!("`{key}` must be a text"))).transpose()
}

fn text(value: &Value, key: &str) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(format!("`{key}` holds texts")),
    }
}

fn texts(value: Option<&Value>, key: &str) -> Result<Vec<String>, String> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(|item| text(item, key)).collect(),
        Some(_) => Err(format!("`{key}` must be a list of texts")),
    }
}

fn pairs(
    entry: &Map<String, Value>,
    keys: &[&str],
    filled: &dyn Fn(&str) -> String,
) -> Result<IndexMap<String, String>, String> {
    match keys.iter().find_map(|key| Some((*key, entry.get(*key)?))) {
        None | Some((_, Value::Null)) => Ok(IndexMap::new()),
        Some((key, Value::Object(map))) => {
            map.iter().map(|(name, value)| Ok((name.clone(), filled(&text(value, key)?)))).collect()
        }
        Some((key, _)) => Err(format!("`{key}` must be a table of texts")),
    }
}

/// The placeholders of clients, and `$NAME` where no shell reads it: at the start of a text or after a separator.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\$?\{env:(?P<env>[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?)\}|\$\{input:(?P<input>[^}:]+)\}",
        r"|\$\{(?P<known>workspaceFolder|workspaceRoot|workspaceFolderBasename|cwd|userHome|pathSeparator|/)\}",
        r"|(?P<before>^|[\s/:=@?&,])\$(?P<plain>[A-Z_][A-Z0-9_]*)\b",
    ))
    .ok()
});

/// A placeholder that `as_placeholders` has left: its name is no environment variable.
static OF_CLIENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\$\{(?:[a-zA-Z]+:[^-][^}]*|file|[a-z]+[A-Z][A-Za-z]*)\}|\{file:[^}]*\}").ok()
});

/// The first placeholder that only the client can replace, such as `${command:x}`.
fn of_client(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let filled = as_placeholders(text, Path::new("/"));
            Some(OF_CLIENT.as_ref()?.find(&filled)?.as_str().to_string())
        }
        Value::Array(items) => items.iter().find_map(of_client),
        Value::Object(fields) => fields.values().find_map(of_client),
        _ => None,
    }
}

/// A text with the placeholders of clients as toolcrib writes them: `${env:X}`, `{env:X}` and `$X` are `${X}`,
/// `${input:my-token}` is the variable `MY_TOKEN`, and the workspace is the folder of the file.
fn as_placeholders(text: &str, root: &Path) -> String {
    let Some(pattern) = &*PLACEHOLDER else { return text.to_string() };
    // A shell replaces its own variables.
    let is_script = text.contains([';', '|', '`', '(', '\n']) || text.contains("&&");
    let replaced = pattern.replace_all(text, |found: &Captures<'_>| {
        let part = |name: &str| found.name(name).map(|part| part.as_str());
        match (part("env"), part("input"), part("known"), part("plain")) {
            (Some(name), ..) => format!("${{{name}}}"),
            (_, Some(input), ..) => format!("${{{}}}", variable(input)),
            (.., Some("userHome"), _) => "${HOME}".to_string(),
            (.., Some("workspaceFolderBasename"), _) => {
                root.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            (.., Some("workspaceFolder" | "workspaceRoot" | "cwd"), _) => match root.to_string_lossy() {
                root if root.is_empty() => ".".to_string(),
                root => root.into_owned(),
            },
            (.., Some(_), _) => std::path::MAIN_SEPARATOR.to_string(),
            (.., Some(name)) if !is_script => format!("{}${{{name}}}", part("before").unwrap_or_default()),
            _ => found[0].to_string(),
        }
    });
    replaced.into_owned()
}

/// The variable of an input: `github-token` is `GITHUB_TOKEN`.
fn variable(input: &str) -> String {
    input
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests;
