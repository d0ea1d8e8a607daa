//! The servers that move: each as a `[[source]]`, with its secrets in a file of their own.

use indexmap::IndexMap;
use toml_edit::{DocumentMut, value};

use crate::cli::source_table;
use crate::config::{ServeMode, Server, env_line, env_variables};
use crate::secret::{REDACTED, SecretPolicy};

/// The file of secrets, beside the configuration.
pub(super) const SECRETS: &str = "secrets.env";

/// The secrets of servers, by the names of their variables.
#[derive(Debug, Default)]
pub(super) struct Secrets(IndexMap<String, String>);

impl Secrets {
    pub(super) fn read(text: &str) -> Self {
        Self(env_variables(text).into_iter().collect())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The file.
    pub(super) fn text(&self) -> String {
        let lines = self.0.iter().map(|(name, value)| env_line(name, value) + "\n");
        format!("# Secrets of the servers in toolcrib.toml.\n{}", lines.collect::<String>())
    }

    /// Takes the secrets out of a server: placeholders stay in their places.
    pub(super) fn take(&mut self, name: &str, server: &mut Server) {
        let is_secret = |key: &str, value: &str| {
            let policy = SecretPolicy::default();
            let is_plain = !value.is_empty() && !value.contains("${");
            is_plain && (policy.is_secret(key) || policy.text(value) != value)
        };
        for (key, value) in server.env.iter_mut().filter(|(key, value)| is_secret(key, value)) {
            *value = self.keep(name, key, value);
        }
        for (key, value) in server.headers.iter_mut().filter(|(key, value)| is_secret(key, value)) {
            let variable = format!("{name}_{key}");
            *value = self.keep(name, &variable, value);
        }
        let shown = SecretPolicy::default().command_line(&server.command);
        let mut option = String::new();
        for (item, shown) in server.command.iter_mut().zip(shown) {
            if shown == REDACTED && !item.contains("${") {
                *item = self.keep(name, &format!("{name}{option}"), item);
            }
            option.clone_from(item);
        }
    }

    /// Keeps a secret under a name that no other has, and returns its placeholder.
    fn keep(&mut self, server: &str, wanted: &str, secret: &str) -> String {
        let wanted = variable(wanted);
        let names = [wanted.clone(), format!("{}_{wanted}", variable(server))].into_iter();
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let is_free = |name: &String| self.0.get(name).is_none_or(|known| known == secret);
        let name = names.chain(numbered).find(is_free).unwrap_or(wanted);
        self.0.insert(name.clone(), secret.to_string());
        format!("${{{name}}}")
    }
}

/// The name of a variable: `my-key` is `MY_KEY`.
fn variable(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = text.chars().map(letter).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// A new configuration for the servers of this client, moved from this file.
pub(super) fn new_configuration(
    client: &str,
    file: &str,
    undo: &str,
    mode: Option<ServeMode>,
) -> DocumentMut {
    let text = format!(
        "# Servers of {client}, moved here from {file}.\n# `{undo}` moves them back.\n#\n{}",
        allowed_lines().map(|line| format!("# {line}\n")).collect::<String>()
    );
    let mut document: DocumentMut = format!("{text}\nenv_file = \"{SECRETS}\"\n").parse().unwrap_or_default();
    if let Some(mode) = mode {
        let mut serve = toml_edit::Table::new();
        serve.insert("mode", value(Into::<&'static str>::into(mode)));
        document.insert("serve", toml_edit::Item::Table(serve));
    }
    document
}

/// The sentences on the calls that agents may make.
pub(super) fn allowed_lines() -> impl Iterator<Item = &'static str> {
    [
        "What agents may do:",
        "- Where the client lists each tool by its name (the modes full and hybrid), a call runs as it did before: the",
        "  client has the annotations of the tool, and asks its person.",
        "- In the mode gateway the client sees tool_exec alone. It runs reads, and refuses everything else until you add",
        "  `[exec]` with `allow = \"write\"`, or \"destructive\".",
        "- `[exec]` with `allow = \"read\"` refuses everything but reads in every mode.",
    ]
    .into_iter()
}

/// Adds a server, or replaces the one with this name.
pub(super) fn add(document: &mut DocumentMut, name: &str, server: &Server) -> Result<(), String> {
    source_table::set(document, name, server, true)
}
