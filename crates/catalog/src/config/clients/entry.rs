//! An entry with a server. Clients copy each other's files, so that the fields of every client are read in each format.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::file::MAX_BYTES;
use super::format::ClientFormat;
use super::placeholder::{as_placeholders, of_client};
use super::project::Project;
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
    args: Texts,
    env: Option<Pairs>,
    environment: Option<Pairs>,
    envs: Option<Pairs>,
    #[serde(rename = "envFile")]
    env_file: Text,
    /// Variables that the program gets from the client's own environment.
    env_vars: Names,
    env_keys: Names,
}

/// The address of a server, and what it has besides a program.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Remote {
    url: Text,
    uri: Text,
    #[serde(rename = "serverUrl")]
    server_url: Text,
    #[serde(rename = "httpUrl")]
    http_url: Text,
    headers: Option<Pairs>,
    http_headers: Option<Pairs>,
    bearer_token_env_var: Text,
    /// Headers with the variables that have their values.
    env_http_headers: Option<Pairs>,
    cwd: Text,
    timeout: Value,
    tool_timeout_sec: Value,
    startup_timeout_sec: Value,
}

/// A text. The error of such a type goes on after the name of its field.
#[derive(Default, Deserialize)]
#[serde(try_from = "Value")]
struct Text(Option<String>);

/// A list of texts.
#[derive(Default, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Texts(pub(super) Vec<String>);

/// Texts by name.
#[derive(Default, Deserialize)]
#[serde(try_from = "Value")]
struct Pairs(IndexMap<String, String>);

/// Names of variables, each as a text or in a table.
#[derive(Default, Deserialize)]
#[serde(try_from = "Value")]
struct Names(Vec<String>);

impl TryFrom<Value> for Text {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Null => Ok(Self(None)),
            Value::String(text) => Ok(Self(Some(text))),
            _ => Err("must be a text"),
        }
    }
}

impl TryFrom<Value> for Texts {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Null => Ok(Self::default()),
            Value::Array(items) => Ok(Self(items.into_iter().map(text).collect::<Result<_, _>>()?)),
            _ => Err("must be a list of texts"),
        }
    }
}

impl TryFrom<Value> for Pairs {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let Value::Object(map) = value else { return Err("must be a table of texts") };
        let pairs = map.into_iter().map(|(name, value)| Ok((name, text(value)?)));
        pairs.collect::<Result<_, _>>().map(Self)
    }
}

impl TryFrom<Value> for Names {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let names = match &value {
            Value::Null => Some(Vec::new()),
            Value::Array(items) => {
                items.iter().map(|item| item.as_str().or_else(|| item.get("name")?.as_str())).collect()
            }
            _ => None,
        };
        let names: Vec<&str> = names.ok_or("must be a list of names of variables")?;
        Ok(Self(names.into_iter().map(str::to_string).collect()))
    }
}

/// A text, or a number or flag as a text.
fn text(value: Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err("holds texts"),
    }
}

/// The fields of an entry that a type has. An error begins with the field that is wrong.
fn fields<T: DeserializeOwned>(entry: &Map<String, Value>) -> Result<T, String> {
    T::deserialize(entry).map_err(|problem| {
        let is_wrong = |(key, value): &(&String, &Value)| T::deserialize(&json!({ (*key): value })).is_err();
        let wrong = entry.iter().find(is_wrong).map_or("", |(key, _)| key);
        format!("`{wrong}` {problem}")
    })
}

/// Whether an entry is a server of the transport that streamable HTTP has replaced.
pub(super) fn is_sse(entry: &Value) -> bool {
    ["type", "transport", "transportType"].iter().any(|key| entry.get(key).is_some_and(|kind| kind == "sse"))
}

/// Whether a switch of an entry is off.
fn is_off(entry: &Map<String, Value>) -> Result<bool, String> {
    for (key, off) in SWITCHES {
        let is_set = match entry.get(key) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.trim().to_ascii_lowercase().parse().ok(),
            Some(value) => value.as_bool(),
        };
        if is_set.ok_or_else(|| format!("`{key}` must be true or false"))? == off {
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
) -> Result<Option<Server>, String> {
    let all = entry.as_object().ok_or("expected an object")?;
    if is_off(all)? {
        return Ok(None);
    }
    if is_sse(entry) {
        return Err("it speaks HTTP with SSE, the transport that streamable HTTP has replaced".into());
    }
    if let Some(unknown) = of_client(entry) {
        return Err(format!(
            "only the client knows the value of `{unknown}`: write the value itself, or `${{NAME}}` with an environment variable that has it"
        ));
    }
    let filled = |text: String| as_placeholders(&text, &project.folder);
    // Zed once had a table of its own below `command`.
    let (program, process) = match all.get("command").or_else(|| all.get("cmd")) {
        Some(Value::Object(table)) => (table.get("path"), table),
        program => (program, all),
    };
    let mut command = match program {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(program)) => vec![program.clone()],
        Some(items @ Value::Array(_)) if format.lists_command => {
            Texts::try_from(items.clone()).map_err(|problem| format!("`command` {problem}"))?.0
        }
        Some(_) => {
            return Err("`command` must be a text, the program; its arguments are the list `args`".into());
        }
    };
    let mut process: Process = fields(process)?;
    // Without a program, the first argument must not become one.
    if !command.is_empty() {
        command.append(&mut process.args.0);
    }
    let remote: Remote = fields(all)?;
    let mut command = command.into_iter().map(filled);
    let program = command.next().map(|program| project.program(program));
    let cwd = remote.cwd.0.as_ref().map(|cwd| PathBuf::from(filled(cwd.clone())));
    let server = Server {
        command: program.into_iter().chain(command).collect(),
        env: process.variables(project)?,
        cwd: if project.is_around { Some(project.folder.join(cwd.unwrap_or_default())) } else { cwd },
        timeout_seconds: remote.timeout(project.counts_seconds),
        headers: remote.headers(project),
        url: [remote.url, remote.uri, remote.server_url, remote.http_url]
            .into_iter()
            .find_map(|url| url.0)
            .map(filled),
        ..Server::default()
    };
    server.problem().map_or(Ok(Some(server)), |problem| Err(problem.to_string()))
}

impl Process {
    /// The variables of `envFile`, those of the environment, and the server's own, which win.
    fn variables(self, project: &Project) -> Result<IndexMap<String, String>, String> {
        let filled = |text: &str| as_placeholders(text, &project.folder);
        let mut variables = IndexMap::new();
        if let Some(file) = self.env_file.0 {
            let file = filled(&file);
            let path = project.folder.join(&file);
            let is_small = std::fs::metadata(&path).is_ok_and(|about| about.len() <= MAX_BYTES);
            let text = if is_small { std::fs::read_to_string(&path).ok() } else { None };
            let text = text.ok_or_else(|| format!("its `envFile` {file} cannot be read"))?;
            variables.extend(env_variables(&text));
        }
        let passed = self.env_vars.0.into_iter().chain(self.env_keys.0);
        variables.extend(passed.map(|name| (name.clone(), format!("${{{name}}}"))));
        let own = self.env.or(self.environment).or(self.envs).unwrap_or_default();
        variables.extend(own.0.into_iter().map(|(name, value)| (name, filled(&value))));
        Ok(variables)
    }
}

impl Remote {
    fn headers(&self, project: &Project) -> IndexMap<String, String> {
        let filled = |value: &String| as_placeholders(value, &project.folder);
        let own = self.headers.as_ref().or(self.http_headers.as_ref());
        let own = own.iter().flat_map(|own| &own.0).map(|(name, value)| (name.clone(), filled(value)));
        let token = self.bearer_token_env_var.0.iter();
        let token = token.map(|variable| ("Authorization".to_string(), format!("Bearer ${{{variable}}}")));
        let of_variables = self.env_http_headers.iter().flat_map(|headers| &headers.0);
        let of_variables =
            of_variables.map(|(name, variable)| (name.clone(), format!("${{{}}}", filled(variable))));
        own.chain(token).chain(of_variables).collect()
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
