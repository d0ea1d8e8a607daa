//! An entry with a server. Clients copy each other's files, so that the fields of every client are read in each format.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::file::MAX_BYTES;
use super::format::ClientFormat;
use super::placeholder::{as_placeholders, of_client};
use super::problem::EntryProblem;
use super::project::Project;
use super::uncarried::uncarried;
use crate::config::env_file::env_variables;
use crate::config::server::Server;

/// Switches of a server, each with the value that switches it off.
pub(super) const SWITCHES: [(&str, bool); 5] =
    [("disabled", true), ("enabled", false), ("isActive", false), ("isEnabled", false), ("active", false)];
/// Where clients count in seconds or milliseconds, a timeout from this number on is one in milliseconds.
const MILLISECONDS: u64 = 1000;

/// The program of a server.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Process {
    args: Option<Vec<Text>>,
    env: Option<Texts>,
    environment: Option<Texts>,
    envs: Option<Texts>,
    #[serde(rename = "envFile")]
    env_file: Option<String>,
    /// Variables that the program gets from the client's own environment.
    env_vars: Option<Vec<VariableName>>,
    env_keys: Option<Vec<VariableName>>,
}

/// The address of a server, and what it has besides a program.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Remote {
    url: Option<String>,
    uri: Option<String>,
    #[serde(rename = "serverUrl")]
    server_url: Option<String>,
    #[serde(rename = "httpUrl")]
    http_url: Option<String>,
    headers: Option<Texts>,
    http_headers: Option<Texts>,
    bearer_token_env_var: Option<String>,
    /// Headers with the variables that have their values.
    env_http_headers: Option<Texts>,
    cwd: Option<String>,
    timeout: Value,
    tool_timeout_sec: Value,
    startup_timeout_sec: Value,
}

/// A text, or a number or flag as a text.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
struct Text(String);

type Texts = IndexMap<String, Text>;

/// The name of a variable, which Codex also writes as a table.
#[derive(Deserialize)]
#[serde(untagged)]
enum VariableName {
    Plain(String),
    Table { name: String },
}

impl TryFrom<Value> for Text {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::String(text) => Ok(Self(text)),
            Value::Number(_) | Value::Bool(_) => Ok(Self(value.to_string())),
            _ => Err("no text"),
        }
    }
}

/// The fields of an entry that a type has. The error names the one that is wrong.
fn fields<T: DeserializeOwned>(entry: &Map<String, Value>) -> Result<T, EntryProblem> {
    T::deserialize(entry).map_err(|_| {
        let is_wrong = |(key, value): &(&String, &Value)| T::deserialize(&json!({ (*key): value })).is_err();
        let wrong = entry.iter().find(is_wrong);
        wrong.map_or(EntryProblem::NoObject, |(key, value)| EntryProblem::wrong(key, expected(key, value)))
    })
}

/// What a value of the wrong type should be.
fn expected(key: &str, value: &Value) -> &'static str {
    let is_table = key.starts_with("env") && key != "envFile" || key.ends_with("headers");
    match (key, value) {
        ("env_vars" | "env_keys", _) => "must be a list of names of variables",
        (_, Value::Object(_)) if is_table => "holds texts",
        _ if is_table => "must be a table of texts",
        ("args", Value::Array(_)) => "holds texts",
        ("args", _) => "must be a list of texts",
        _ => "must be a text",
    }
}

/// The texts of a list; none for null.
pub(super) fn texts(key: &str, list: &Value) -> Result<Vec<String>, EntryProblem> {
    let texts = Option::<Vec<Text>>::deserialize(list);
    let expected = if list.is_array() { "holds texts" } else { "must be a list of texts" };
    let texts = texts.map_err(|_| EntryProblem::wrong(key, expected))?;
    Ok(texts.into_iter().flatten().map(|text| text.0).collect())
}

/// Whether an entry is a server of the transport that streamable HTTP has replaced.
fn is_sse(entry: &Value) -> bool {
    ["type", "transport", "transportType"].iter().any(|key| entry.get(key).is_some_and(|kind| kind == "sse"))
}

/// Whether a switch of an entry is off.
fn is_off(entry: &Map<String, Value>) -> Result<bool, EntryProblem> {
    for (key, off) in SWITCHES {
        let is_set = match entry.get(key) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.trim().to_ascii_lowercase().parse().ok(),
            Some(value) => value.as_bool(),
        };
        if is_set.ok_or_else(|| EntryProblem::wrong(key, "must be true or false"))? == off {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The server of an entry; `None` if it is disabled.
pub(super) fn server(
    entry: &Value,
    project: &Project,
    format: &ClientFormat,
) -> Result<Option<Server>, EntryProblem> {
    let all = entry.as_object().ok_or(EntryProblem::NoObject)?;
    if is_off(all)? {
        return Ok(None);
    }
    if is_sse(entry) {
        return Err(EntryProblem::Sse);
    }
    if let Some(unknown) = of_client(entry) {
        return Err(EntryProblem::PlaceholderOfClient(unknown));
    }
    if let Some(key) = uncarried(all) {
        return Err(EntryProblem::Uncarried(key.to_string()));
    }
    let filled = |text: &str| as_placeholders(text, &project.folder, &project.plugin);
    // Zed once had a table of its own below `command`.
    let (program, process) = match all.get("command").or_else(|| all.get("cmd")) {
        Some(Value::Object(table)) => (table.get("path"), table),
        program => (program, all),
    };
    let mut command = match program {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(program)) => vec![program.clone()],
        Some(items @ Value::Array(_)) if format.lists_command => texts("command", items)?,
        Some(_) => {
            let expected = "must be a text, the program; its arguments are the list `args`";
            return Err(EntryProblem::wrong("command", expected));
        }
    };
    let mut process: Process = fields(process)?;
    let arguments = process.args.take().unwrap_or_default();
    // Without a program, the first argument must not become one.
    if !command.is_empty() {
        command.extend(arguments.into_iter().map(|argument| argument.0));
    }
    let remote: Remote = fields(all)?;
    let mut command = command.iter().map(|text| filled(text));
    let program = command.next().map(|program| project.program(program));
    let cwd = remote.cwd.as_deref().map(|cwd| PathBuf::from(filled(cwd)));
    let server = Server {
        command: program.into_iter().chain(command).collect(),
        env: process.variables(project)?,
        cwd: if project.is_around { Some(project.folder.join(cwd.unwrap_or_default())) } else { cwd },
        timeout_seconds: remote.timeout(project.counts_seconds),
        headers: remote.headers(filled),
        url: remote.url.or(remote.uri).or(remote.server_url).or(remote.http_url).map(|url| filled(&url)),
        ..Server::default()
    };
    server.problem().map_or(Ok(Some(server)), |problem| Err(EntryProblem::Server(problem)))
}

impl Process {
    /// The variables of `envFile`, those of the environment, and the server's own, which win.
    fn variables(self, project: &Project) -> Result<IndexMap<String, String>, EntryProblem> {
        let filled = |text: &str| as_placeholders(text, &project.folder, &project.plugin);
        let mut variables = IndexMap::new();
        if let Some(file) = self.env_file.as_deref().map(filled) {
            let path = project.folder.join(&file);
            let is_small = std::fs::metadata(&path).is_ok_and(|about| about.len() <= MAX_BYTES);
            let text = if is_small { std::fs::read_to_string(&path).ok() } else { None };
            let text = text.ok_or(EntryProblem::EnvFile(file))?;
            variables.extend(env_variables(&text));
        }
        for VariableName::Plain(name) | VariableName::Table { name } in
            [self.env_vars, self.env_keys].into_iter().flatten().flatten()
        {
            variables.insert(name.clone(), format!("${{{name}}}"));
        }
        let own = self.env.or(self.environment).or(self.envs).into_iter().flatten();
        variables.extend(own.map(|(name, value)| (name, filled(&value.0))));
        Ok(variables)
    }
}

impl Remote {
    fn headers(&self, filled: impl Fn(&str) -> String) -> IndexMap<String, String> {
        let own = self.headers.iter().chain(&self.http_headers).take(1).flatten();
        let mut headers: IndexMap<_, _> = own.map(|(name, value)| (name.clone(), filled(&value.0))).collect();
        if let Some(variable) = &self.bearer_token_env_var {
            headers.insert("Authorization".into(), format!("Bearer ${{{variable}}}"));
        }
        for (header, variable) in self.env_http_headers.iter().flatten() {
            headers.insert(header.clone(), format!("${{{}}}", filled(&variable.0)));
        }
        headers
    }

    /// The timeout in seconds. Clients count it in milliseconds, or in seconds.
    fn timeout(&self, counts_seconds: bool) -> Option<u64> {
        let plain = self.timeout.as_u64().map(|timeout| {
            if counts_seconds || timeout < MILLISECONDS { timeout } else { timeout / MILLISECONDS }
        });
        let seconds = plain.or(self.tool_timeout_sec.as_u64()).or(self.startup_timeout_sec.as_u64())?;
        Some(seconds.max(1))
    }
}
