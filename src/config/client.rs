//! Configurations of MCP clients, read as they are: each of their servers is a live source.
//!
//! | client | key | format |
//! | --- | --- | --- |
//! | Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI, Cline | `mcpServers` | JSON |
//! | VS Code | `servers`, also below `mcp` | JSON with comments |
//! | Zed | `context_servers` | JSON with comments |
//! | Codex | `mcp_servers` | TOML |

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::env_file::env_variables;
use super::{Server, Source};
use crate::finding::{Code, Document, Finding, Format, Limits, Place, pointer_join};

/// Names of the files in which clients keep their servers. A file of any other name holds definitions, which name no
/// program.
const NAMES: [&str; 9] = [
    ".claude.json",
    ".mcp.json",
    "claude_desktop_config.json",
    "cline_mcp_settings.json",
    "config.toml",
    "mcp.json",
    "mcp_config.json",
    "mcp_settings.json",
    "settings.json",
];
/// Pointers to the servers of a client's configuration.
const MAPS: [&str; 5] = ["/mcpServers", "/servers", "/mcp/servers", "/context_servers", "/mcp_servers"];
/// The longest configuration of a client, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Folders in which projects keep the files of a client; `${workspaceFolder}` is the folder around them.
const FOLDERS: [&str; 6] = [".codex", ".cursor", ".gemini", ".vscode", ".windsurf", ".zed"];
/// A timeout from this number on is one in milliseconds.
const MILLISECONDS: u64 = 1000;

/// The configuration of a client.
#[derive(Default)]
pub(super) struct ClientConfig {
    pub(super) document: Option<Document>,
    pub(super) sources: Vec<Source>,
    pub(super) findings: Vec<Finding>,
}

/// Reads a file as the configuration of a client; `None` if the file is not one. A syntax error is then the only finding.
pub(super) fn read(file: &Path, root: &Path) -> Option<ClientConfig> {
    if !NAMES.contains(&file.file_name()?.to_str()?) {
        return None;
    }
    let format = Format::of_extension(file.extension()?.to_str()?)?;
    if std::fs::metadata(file).ok()?.len() > MAX_BYTES {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    if !MAPS.iter().any(|map| text.contains(map.rsplit('/').next().unwrap_or_default())) {
        return None;
    }
    let text = if format == Format::Json { without_comments(&text) } else { text };
    let shown = file.file_name()?.to_string_lossy().into_owned();
    let document = match Document::read(&shown, text.into_bytes(), format, &Limits::default()) {
        Ok(document) => document,
        Err(unread) => {
            let (document, findings) = (unread.document, vec![unread.finding]);
            return Some(ClientConfig { document, findings, ..ClientConfig::default() });
        }
    };
    let (mut sources, mut findings) = (Vec::new(), Vec::new());
    let (map, servers) = MAPS.iter().find_map(|map| {
        let servers = document.value.pointer(map)?.as_object()?;
        servers.values().any(starts_or_connects).then_some((*map, servers))
    })?;
    let project = Project::of(root);
    for (name, entry) in servers {
        let pointer = pointer_join(map, name);
        let place = || Place::new(&shown, pointer.clone());
        match server(entry, &project) {
            Ok(Some(server)) => sources.push(Source {
                mcp: Some(server),
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
                let help = match is_sse(entry) {
                    true => {
                        "name its address for streamable HTTP, which often ends in `/mcp` in place of `/sse`, with `\"type\": \"http\"`; or start a program that speaks both"
                    }
                    false => "a server has a `command` or a `url`",
                };
                findings.push(finding.at(place()).help(help));
            }
        }
    }
    Some(ClientConfig { document: Some(document), sources, findings })
}

/// The project of a client's file.
struct Project {
    /// Its folder, absolute.
    folder: PathBuf,
    /// Whether the file lies in a folder of the client's own.
    is_around: bool,
}

impl Project {
    fn of(root: &Path) -> Self {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        let name = root.file_name().and_then(|name| name.to_str());
        let is_around = name.is_some_and(|name| FOLDERS.contains(&name));
        let folder = root.parent().filter(|_| is_around).unwrap_or(&root).to_path_buf();
        Self { folder, is_around }
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
    ["command", "url", "serverUrl", "httpUrl"].iter().any(|key| entry.get(key).is_some())
        && entry.get("tools").is_none_or(|tools| !tools.is_array())
}

/// The server of an entry; `None` if it is disabled.
fn server(entry: &Value, project: &Project) -> Result<Option<Server>, String> {
    let (is_sse, entry) = (is_sse(entry), entry.as_object().ok_or("expected an object")?);
    let is = |key: &str, value: bool| entry.get(key) == Some(&Value::Bool(value));
    if is("disabled", true) || is("enabled", false) {
        return Ok(None);
    }
    if is_sse {
        return Err("it speaks HTTP with SSE, the transport that streamable HTTP has replaced".into());
    }
    // Zed once had a table of its own below `command`.
    let (program, fields) = match entry.get("command") {
        Some(Value::Object(table)) => (table.get("path"), table),
        program => (program, entry),
    };
    let filled = |text: &str| as_placeholders(text, &project.folder);
    let mut command = texts(program, "command")?;
    command.extend(texts(fields.get("args"), "args")?);
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| entry.get(*key)?.as_str());
    let mut headers = pairs(entry, &["headers", "http_headers"], &filled)?;
    if let Some(variable) = entry.get("bearer_token_env_var").and_then(Value::as_str) {
        headers.insert("Authorization".into(), format!("Bearer ${{{variable}}}"));
    }
    for (header, variable) in pairs(entry, &["env_http_headers"], &filled)? {
        headers.insert(header, format!("${{{variable}}}"));
    }
    let cwd = entry.get("cwd").and_then(Value::as_str).map(|cwd| PathBuf::from(filled(cwd)));
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
    if let Some(seconds) = timeout(entry) {
        server.timeout_seconds = seconds.max(1);
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
    if let Some(file) = entry.get("envFile").and_then(Value::as_str).map(filled) {
        let path = project.folder.join(&file);
        let is_small = std::fs::metadata(&path).is_ok_and(|about| about.len() <= MAX_BYTES);
        let text = is_small.then(|| std::fs::read_to_string(&path).ok()).flatten();
        variables.extend(env_variables(&text.ok_or_else(|| format!("its `envFile` {file} cannot be read"))?));
    }
    let taken = entry.get("env_vars").and_then(Value::as_array).into_iter().flatten();
    let taken = taken.filter_map(|name| name.as_str().or_else(|| name.get("name")?.as_str()));
    variables.extend(taken.map(|name| (name.to_string(), format!("${{{name}}}"))));
    variables.extend(pairs(entry, &["env", "environment"], filled)?);
    Ok(variables)
}

/// The timeout in seconds: clients count it in milliseconds, or in seconds.
fn timeout(entry: &Map<String, Value>) -> Option<u64> {
    let named = |key: &str| entry.get(key).and_then(Value::as_u64);
    let plain =
        named("timeout").map(|timeout| if timeout < MILLISECONDS { timeout } else { timeout / MILLISECONDS });
    plain.or_else(|| named("tool_timeout_sec")).or_else(|| named("startup_timeout_sec"))
}

fn texts(value: Option<&Value>, key: &str) -> Result<Vec<String>, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        _ => Err(format!("`{key}` holds texts")),
    };
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(text).collect(),
        Some(value) => Ok(vec![text(value)?]),
    }
}

fn pairs(
    entry: &Map<String, Value>,
    keys: &[&str],
    filled: &dyn Fn(&str) -> String,
) -> Result<IndexMap<String, String>, String> {
    let Some((key, Value::Object(map))) = keys.iter().find_map(|key| Some((*key, entry.get(*key)?))) else {
        return Ok(IndexMap::new());
    };
    map.iter()
        .map(|(name, value)| {
            let text = texts(Some(value), key)?;
            let [text] = &text[..] else { return Err(format!("`{key}` holds texts")) };
            Ok((name.clone(), filled(text)))
        })
        .collect()
}

static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\$\{(?:(env|input):([^}:]+)|(workspaceFolder|userHome|pathSeparator|/))\}").ok()
});

/// A text with the placeholders of clients as toolcrib writes them: `${env:X}` is `${X}`, `${input:my-token}` is the
/// variable `MY_TOKEN`, and the workspace is the folder of the file.
fn as_placeholders(text: &str, root: &Path) -> String {
    let Some(pattern) = &*PLACEHOLDER else { return text.to_string() };
    let replaced = pattern.replace_all(text, |found: &Captures<'_>| {
        match (found.get(1).map(|kind| kind.as_str()), found.get(2), found.get(3).map(|name| name.as_str())) {
            (Some("env"), Some(name), _) => format!("${{{}}}", name.as_str()),
            (Some(_), Some(name), _) => format!("${{{}}}", variable(name.as_str())),
            (_, _, Some("userHome")) => "${HOME}".to_string(),
            (_, _, Some("workspaceFolder")) => match root.to_string_lossy() {
                root if root.is_empty() => ".".to_string(),
                root => root.into_owned(),
            },
            _ => std::path::MAIN_SEPARATOR.to_string(),
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

/// JSON with its comments, and commas before a closing bracket, replaced with spaces: every place stays the same.
pub fn without_comments(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    let blank = |out: &mut Vec<u8>, from: usize, to: usize| {
        out[from..to].iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    };
    if text.starts_with('\u{feff}') {
        blank(&mut out, 0, '\u{feff}'.len_utf8());
    }
    while at < out.len() {
        match (out[at], out.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at += 1;
                while at < out.len() && out[at] != b'"' {
                    at += if out[at] == b'\\' { 2 } else { 1 };
                }
            }
            (b'/', Some(b'/')) => {
                let end = text.as_bytes()[at..].iter().position(|byte| *byte == b'\n');
                let end = end.map_or(out.len(), |end| at + end);
                blank(&mut out, at, end);
                at = end;
                continue;
            }
            (b'/', Some(b'*')) => {
                let end = text.as_bytes()[at + 2..].windows(2).position(|pair| pair == b"*/");
                let end = end.map_or(out.len(), |end| at + 2 + end + 2);
                blank(&mut out, at, end);
                at = end;
                continue;
            }
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
            }
            (byte, _) if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_blank_and_texts_are_not() {
        let text = "{ // a, }\n \"a\": \"// \\\" /* x */,}\", /* é\n */ \"b\": [1, 2, ],\n}";
        let plain = without_comments(text);
        assert_eq!(plain.len(), text.len());
        let value: Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, serde_json::json!({"a": "// \" /* x */,}", "b": [1, 2]}));
        for broken in ["/*", "//", "\"", "\"\\", "/", "{,", ",}"] {
            assert_eq!(without_comments(broken).len(), broken.len());
        }
    }

    #[test]
    fn placeholders_of_clients_are_those_of_toolcrib() {
        let root = Path::new("project");
        let filled = |text: &str| as_placeholders(text, root);
        assert_eq!(filled("Bearer ${env:TOKEN}"), "Bearer ${TOKEN}");
        assert_eq!(filled("${input:my-token.2}"), "${MY_TOKEN_2}");
        assert_eq!(filled("${workspaceFolder}/data"), "project/data");
        assert_eq!(filled("${TOKEN} $X"), "${TOKEN} $X");
    }
}
