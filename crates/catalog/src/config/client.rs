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
/// The longest configuration of a client, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Folders in which projects keep the files of a client; `${workspaceFolder}` is the folder around them.
const FOLDERS: [&str; 8] = [".codex", ".cursor", ".gemini", ".kiro", ".roo", ".vscode", ".windsurf", ".zed"];
/// A timeout from this number on is one in milliseconds.
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
    if !MAPS.iter().any(|map| text.contains(map.rsplit('/').next().unwrap_or_default())) {
        return None;
    }
    let text = if format == Format::Json { without_comments(&text) } else { text };
    let shown = file.file_name()?.to_string_lossy().into_owned();
    let is_marked = MARKS.iter().any(|mark| text.contains(mark)) || NAMES.contains(&&*shown);
    let document = match Document::read(&shown, text.into_bytes(), format) {
        Ok(document) => document,
        Err(_) if !is_marked => return None,
        Err(unread) => {
            let (document, findings) = (unread.document.map(without_values), vec![unread.finding]);
            return Some(ClientConfig { document, findings, ..ClientConfig::default() });
        }
    };
    let (mut sources, mut findings) = (Vec::new(), Vec::new());
    if APIS.iter().any(|key| document.value.get(key).is_some()) {
        return None;
    }
    // A dump of definitions starts no program, whatever stands beside them.
    if document.value.get("tools").is_some_and(has_definitions) && !NAMES.contains(&&*shown) {
        return None;
    }
    let (map, servers) = MAPS.iter().find_map(|map| {
        let servers = document.value.pointer(map)?.as_object()?;
        servers.values().any(starts_or_connects).then_some((*map, servers))
    })?;
    let project = Project::of(root);
    for (name, entry) in servers {
        let pointer = pointer_join(map, name);
        let place = || Place::new(&shown, pointer.clone());
        if map == "/extensions" && !starts_or_connects(entry) {
            // Extensions that are a part of Goose.
            continue;
        }
        let read = match is_excluded(&document.value, name) {
            true => Ok(None),
            false => server(entry, &project).and_then(|server| {
                let filter = filter(entry, name, document.value.get("tools").filter(|_| map == "/mcp"))?;
                Ok(server.map(|server| (server, filter)))
            }),
        };
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
                let help = match is_sse(entry) {
                    true => {
                        "name its address for streamable HTTP, which often ends in `/mcp` in place of `/sse`, with `\"type\": \"http\"`; or start a program that speaks both"
                    }
                    false => "correct this entry in the client's file",
                };
                findings.push(finding.at(place()).help(help));
            }
        }
    }
    Some(ClientConfig { document: Some(without_values(document)), sources, findings })
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
        match is_key {
            true => shown += text,
            false => shown.extend(text.chars().map(|_| '*')),
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
    ["command", "cmd", "url", "uri", "serverUrl", "httpUrl"].iter().any(|key| entry.get(key).is_some())
        && !entry.get("tools").is_some_and(has_definitions)
}

fn has_definitions(tools: &Value) -> bool {
    tools.as_array().is_some_and(|tools| tools.iter().any(Value::is_object))
}

/// Whether Gemini CLI's `mcp.allowed` or `mcp.excluded` switches a server off.
fn is_excluded(document: &Value, name: &str) -> bool {
    let has = |pointer: &str| Some(document.pointer(pointer)?.as_array()?.iter().any(|item| item == name));
    has("/mcp/excluded") == Some(true) || has("/mcp/allowed") == Some(false)
}

/// The tools that a client uses of a server: the lists of its entry, and opencode's `tools` with names such as `server_*`.
fn filter(entry: &Value, server: &str, tools: Option<&Value>) -> Result<Option<ToolFilter>, String> {
    let mut filter = ToolFilter::default();
    let names = |key: &str, value: &Value| match value {
        Value::Object(tools) if key == "tools" && tools.values().all(Value::is_boolean) => Ok(None),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            Ok(Some(items.iter().filter_map(Value::as_str).map(str::to_string).collect::<Vec<_>>()))
        }
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
    let switches = |tools: Option<&Value>| tools.and_then(Value::as_object).cloned().unwrap_or_default();
    let of_all = switches(tools).into_iter().map(|(name, is_on)| (name, format!("{server}_"), is_on));
    let of_entry = switches(entry.get("tools")).into_iter().map(|(name, is_on)| (name, String::new(), is_on));
    for (name, prefix, _) in of_all.chain(of_entry).filter(|(_, _, is_on)| is_on == &Value::Bool(false)) {
        filter.key = "tools".into();
        filter.denied_with_prefix.push((prefix, name));
    }
    Ok((!filter.key.is_empty()).then_some(filter))
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
    let mut command = texts(program, "command")?;
    command.extend(texts(fields.get("args"), "args")?);
    let url = ["url", "uri", "serverUrl", "httpUrl"].iter().find_map(|key| entry.get(*key)?.as_str());
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
    variables.extend(pairs(entry, &["env", "environment", "envs"], filled)?);
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
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_clients_are_those_of_toolcrib() {
        let root = Path::new("project");
        let filled = |text: &str| as_placeholders(text, root);
        assert_eq!(filled("Bearer ${env:TOKEN}"), "Bearer ${TOKEN}");
        assert_eq!(filled("${input:my-token.2}"), "${MY_TOKEN_2}");
        assert_eq!(filled("${workspaceFolder}/data"), "project/data");
        assert_eq!(filled("${TOKEN} $X"), "${TOKEN} ${X}");
        assert_eq!(filled("{env:TOKEN}${env:A:-b}"), "${TOKEN}${A:-b}");
        assert_eq!(filled("Bearer $TOKEN"), "Bearer ${TOKEN}");
        assert_eq!(filled("pa$WORD a$$B $lower"), "pa$WORD a$$B $lower");
        assert_eq!(filled("cd $HOME && ls"), "cd $HOME && ls");
        assert_eq!(filled("${userHome}${/}${workspaceFolderBasename}"), "${HOME}/project");
        assert_eq!(filled("${workspaceRoot}:${cwd}"), "project:project");
    }

    #[test]
    fn what_only_the_client_knows_has_a_name() {
        for text in ["${command:x.y}", "${workspaceFolder:api}", "${fileDirname}", "${file}", "{file:~/key}"]
        {
            assert_eq!(of_client(&serde_json::json!({"args": ["a", text]})).as_deref(), Some(text));
        }
        let known =
            ["${X}", "${X:-y}", "${x_y}", "${env:X}", "{env:X}", "${input:x}", "${workspaceFolder}", "{x}"];
        assert_eq!(of_client(&serde_json::json!(known)), None);
    }

    fn sources(name: &str, text: &str) -> Option<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let config = read(&file, folder.path())?;
        Some(config.sources.into_iter().filter_map(|source| source.server).collect())
    }

    #[test]
    fn a_client_is_recognized_by_its_content() {
        let entry = r#"{"a": {"command": "x", "tools": ["*"]}, /* c */}"#;
        for (name, text) in [
            ("any.json", format!("{{\"mcpServers\": {entry}}}")),
            ("any.jsonc", format!("{{\"servers\": {entry}}}")),
            ("any", format!("{{\"mcp\": {{\"servers\": {entry}}}}}")),
            ("x.json", format!("{{\"context_servers\": {entry}}}")),
            ("opencode.json", r#"{"mcp": {"a": {"type": "local", "command": ["x"]}}}"#.into()),
            ("any.toml", "[mcp_servers.a]\ncommand = 'x'\n".into()),
            (
                "config.yaml",
                "extensions:\n  dev:\n    type: builtin\n  a:\n    type: stdio\n    cmd: x\n    args: []\n"
                    .into(),
            ),
        ] {
            assert_eq!(sources(name, &text), Some(vec!["a".to_string()]), "{name}");
        }
        for text in [
            r#"{"asyncapi": "2.6.0", "servers": {"a": {"url": "https://a.example"}}}"#,
            r#"{"servers": {"a": {"url": "https://a.example", "tools": [{"name": "b"}]}}}"#,
            r#"{"servers": {"a": }"#,
            "mcp",
        ] {
            assert_eq!(sources("any.json", text), None, "{text}");
        }
    }

    #[test]
    fn lists_of_tools_restrict_a_server() {
        let filter_of = |entry: Value, tools: Option<Value>| filter(&entry, "a", tools.as_ref());
        let allows =
            |entry: Value| filter_of(entry, None).unwrap().is_none_or(|filter| filter.allows("sink_boat"));
        for entry in [
            serde_json::json!({"excludeTools": ["sink_boat"]}),
            serde_json::json!({"disabledTools": ["sink_*"]}),
            serde_json::json!({"disabled_tools": ["*"]}),
            serde_json::json!({"includeTools": ["list_boats"]}),
            serde_json::json!({"enabled_tools": []}),
            serde_json::json!({"tools": ["list_boats"]}),
            serde_json::json!({"tools": {"sink_boat": false}}),
            serde_json::json!({"tools": ["sink_boat"], "excludeTools": ["sink_boat"]}),
        ] {
            assert!(!allows(entry.clone()), "{entry}");
        }
        for entry in [
            serde_json::json!({}),
            serde_json::json!({"tools": ["*"], "disabledTools": [], "available_tools": []}),
            serde_json::json!({"includeTools": ["sink_boat"]}),
        ] {
            assert!(allows(entry.clone()), "{entry}");
        }
        assert!(filter_of(serde_json::json!({"excludeTools": "sink_boat"}), None).is_err());
        let of_opencode =
            filter_of(serde_json::json!({}), Some(serde_json::json!({"a_sink*": false, "b": true})));
        let of_opencode = of_opencode.unwrap().unwrap();
        assert!(!of_opencode.allows("sink_boat") && of_opencode.allows("list_boats"));
    }
}
