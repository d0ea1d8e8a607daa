//! An entry with a server. Clients copy each other's files, so that the fields of every client are read in each format.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::format::ClientFormat;
use super::keys::protection;
use super::placeholder::{as_placeholders, of_client};
use super::problem::EntryProblem;
use super::project::Project;
use super::sign_in::{headers_command, more_headers, server_auth};
use super::timeouts::Timeouts;
use crate::config::difference::Difference;
use crate::config::server::Server;

/// Switches of a server, each with the value that switches it off.
pub(super) const SWITCHES: [(&str, bool); 5] =
    [("disabled", true), ("enabled", false), ("isActive", false), ("isEnabled", false), ("active", false)];
/// Names of the transports that toolcrib speaks, by their letters, and of clients' words for a server of their user's.
const TRANSPORTS: [&str; 7] = ["stdio", "local", "remote", "http", "streamablehttp", "custom", "command"];

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

/// The problem of an entry whose server speaks another transport, such as the one that streamable HTTP has replaced.
fn other_transport(entry: &Value) -> Option<EntryProblem> {
    let kinds = ["type", "transport", "transportType"].into_iter().filter_map(|key| entry.get(key)?.as_str());
    kinds.into_iter().find_map(|kind| {
        let letters: String = kind.to_ascii_lowercase().replace(['-', '_'], "");
        match letters.as_str() {
            "sse" => Some(EntryProblem::Sse),
            known if known.is_empty() || TRANSPORTS.contains(&known) => None,
            _ => Some(EntryProblem::Transport(kind.to_string())),
        }
    })
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

/// The server of an entry, and its times that are not exact; `None` if it is disabled.
pub(super) fn server(
    entry: &Value,
    project: &Project,
    format: &ClientFormat,
) -> Result<Option<(Server, Vec<Difference>)>, EntryProblem> {
    let all = entry.as_object().ok_or(EntryProblem::NoObject)?;
    if is_off(all)? {
        return Ok(None);
    }
    if let Some(problem) = other_transport(entry) {
        return Err(problem);
    }
    if let Some(unknown) = of_client(entry) {
        return Err(EntryProblem::PlaceholderOfClient(unknown));
    }
    if let Some(key) = protection(all) {
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
    let times = Timeouts::of(all, format, project.counts_seconds);
    let mut headers = remote.headers(filled);
    headers.extend(more_headers(all)?.into_iter().map(|(name, value)| (name, filled(&value))));
    let env_file = process.env_file.take().map(|file| filled(&file));
    let server = Server {
        command: program.into_iter().chain(command).collect(),
        env_file: env_file.map(|file| project.file(&file)),
        env: process.variables(filled),
        cwd: if project.is_around { Some(project.folder.join(cwd.unwrap_or_default())) } else { cwd },
        timeout_seconds: times.call,
        start_seconds: times.start,
        headers,
        headers_command: headers_command(all).iter().map(|text| filled(text)).collect(),
        auth: server_auth(all)?,
        url: remote.url.or(remote.uri).or(remote.server_url).or(remote.http_url).map(|url| filled(&url)),
        ..Server::default()
    };
    server.problem().map_or(Ok(Some((server, times.rounded))), |problem| Err(EntryProblem::Server(problem)))
}

impl Process {
    /// The variables of the environment, and the server's own, which win.
    fn variables(self, filled: impl Fn(&str) -> String) -> IndexMap<String, String> {
        let mut variables = IndexMap::new();
        for VariableName::Plain(name) | VariableName::Table { name } in
            [self.env_vars, self.env_keys].into_iter().flatten().flatten()
        {
            variables.insert(name.clone(), format!("${{{name}}}"));
        }
        let own = self.env.or(self.environment).or(self.envs).into_iter().flatten();
        variables.extend(own.map(|(name, value)| (name, filled(&value.0))));
        variables
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
}
