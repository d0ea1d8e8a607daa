//! How a server is reached, with secrets from the environment in their places.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use indexmap::IndexMap;
use regex::{Captures, Regex};

use super::Environment;
use crate::config::Server;
use crate::tool::clean_line;

/// The most characters that are told of a problem.
const MAX_TOLD: usize = 300;

/// What a command finds in its environment of ours; the rest it gets by `env`.
const INHERITED: [&str; 21] = [
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// A server as the configuration describes it, and the folder of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) server: Server,
    pub(super) root: PathBuf,
    pub(super) patience: Duration,
}

impl Endpoint {
    pub(super) fn new(server: &Server, root: &Path) -> Self {
        Self { server: server.clone(), root: root.to_path_buf(), patience: server.patience() }
    }

    pub(super) fn too_slow(&self) -> String {
        let seconds = self.patience.as_secs();
        format!("no answer within {seconds} second{}", if seconds == 1 { "" } else { "s" })
    }

    /// The whole environment of the command.
    pub(super) fn variables(
        &self,
        environment: &Environment,
        secrets: &mut Secrets,
    ) -> Result<HashMap<String, String>, String> {
        let inherited = INHERITED.iter().filter_map(|name| Some((name.to_string(), environment.get(name)?)));
        let mut variables: HashMap<String, String> = inherited.collect();
        variables.extend(secrets.fill(&self.server.env, environment)?);
        Ok(variables)
    }

    pub(super) fn headers(
        &self,
        environment: &Environment,
        secrets: &mut Secrets,
    ) -> Result<HashMap<HeaderName, HeaderValue>, String> {
        let mut headers = HashMap::new();
        for (name, value) in secrets.fill(&self.server.headers, environment)? {
            let header =
                HeaderName::try_from(&name).map_err(|_| format!("\"{name}\" is no name of a header"))?;
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| format!("the header {name} has a value that none can have"))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }

    /// The folder that the command runs in.
    pub(super) fn folder(&self) -> PathBuf {
        let folder = self.server.cwd.as_ref().map_or_else(|| self.root.clone(), |cwd| self.root.join(cwd));
        // A root of `.` is empty.
        if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
    }
}

/// What came out of the environment, and is shown to nobody.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Puts variables in their places.
    fn fill(
        &mut self,
        values: &IndexMap<String, String>,
        environment: &Environment,
    ) -> Result<Vec<(String, String)>, String> {
        static VARIABLE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}").ok());
        let mut filled = Vec::new();
        for (name, value) in values {
            let mut missing = None;
            let mut variable = |found: &Captures<'_>| match environment.get(&found[1]) {
                Some(secret) => {
                    self.0.push(secret.clone());
                    secret
                }
                None => {
                    missing = Some(format!("the environment variable {} is not set", &found[1]));
                    String::new()
                }
            };
            let value = VARIABLE.as_ref().map_or_else(
                || value.clone(),
                |pattern| pattern.replace_all(value, &mut variable).into_owned(),
            );
            if let Some(missing) = missing {
                return Err(missing);
            }
            filled.push((name.clone(), value));
        }
        Ok(filled)
    }

    /// A text of a stranger's in one line, without the secrets.
    pub(super) fn hide(&self, text: &str) -> String {
        let secrets = self.0.iter().filter(|secret| secret.len() > 3);
        let hidden = secrets.fold(text.to_string(), |text, secret| text.replace(secret.as_str(), "..."));
        clean_line(&hidden).chars().take(MAX_TOLD).collect()
    }
}
