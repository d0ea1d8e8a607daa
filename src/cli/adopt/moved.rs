//! The servers that move: each as a `[[source]]`, with its secrets in a file of their own.

use indexmap::IndexMap;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use super::target::Target;
use crate::cli::error::{CommandResult, failed};
use toolcrib_catalog::config::{Provider, ServeMode, Server, env_line, env_variables};
use toolcrib_definition::secret::{REDACTED, SecretPolicy};

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
            let is_plain = !value.is_empty() && !value.contains("${");
            is_plain && SecretPolicy::default().is_secret_value(key, value)
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
            let after = item.clone();
            self.take_parts(name, &option, item, &shown);
            option = after;
        }
        if let Some(url) = &mut server.url {
            let shown = SecretPolicy::default().command_line(std::slice::from_ref(url));
            self.take_parts(name, "", url, &shown.concat());
        }
    }

    /// Takes the parts of a text that are redacted in `shown`. Each gets a name from the text before it, or from `option`.
    fn take_parts(&mut self, server: &str, option: &str, text: &mut String, shown: &str) {
        let kept: Vec<&str> = shown.split(REDACTED).collect();
        let [first, rest @ ..] = &kept[..] else { return };
        if rest.is_empty() || text.contains("${") {
            return;
        }
        let Some(mut left) = text.strip_prefix(first) else { return };
        let mut with = first.to_string();
        let mut before = *first;
        for (index, after) in rest.iter().enumerate() {
            let is_last = index + 1 == rest.len();
            let end = if is_last { left.len().checked_sub(after.len()) } else { left.find(after) };
            let Some((secret, next)) = end.and_then(|end| Some((left.get(..end)?, left.get(end..)?))) else {
                return;
            };
            let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            let word = before.trim_end_matches(|c| !is_letter(c)).rsplit(|c| !is_letter(c)).next();
            let wanted = match word.unwrap_or_default().trim_start_matches('-') {
                "" => format!("{server}{option}"),
                word => format!("{server}_{word}"),
            };
            with += &self.keep(server, &wanted, secret);
            with += after;
            (left, before) = (&next[after.len()..], after);
        }
        *text = with;
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

/// A new configuration for the servers of this client. The client lists tools in this mode.
pub(super) fn new_configuration(target: &Target, mode: ServeMode) -> DocumentMut {
    let name = target.name_in_project();
    let (client, file, called) = match &name {
        Some(name) => ("this project", name.clone(), name.as_str()),
        None => (&*target.title, target.file.to_string_lossy().into_owned(), &*target.called),
    };
    let [secrets, state] = target.folder.names_of_private();
    let text = format!(
        "# Servers of {client}, moved here from {file}.\n# `toolcrib adopt {called} --undo` moves them back.\n#\n{}",
        allowed_lines().map(|line| format!("# {line}\n")).collect::<String>()
    );
    let provider = Provider::Mcp.as_str();
    let mode = Into::<&'static str>::into(mode);
    let settings = format!(
        "env_file = \"{secrets}\"\n\n[payload]\nprovider = \"{provider}\"\n\n[serve]\nmode = \"{mode}\"\nsplit_exec = true\n\n[state]\nurl = \"{state}\"\n"
    );
    format!("{text}\n{settings}").parse().unwrap_or_default()
}

/// The sentences on the calls that agents may make.
pub(super) fn allowed_lines() -> impl Iterator<Item = &'static str> {
    [
        "What agents may do:",
        "- A call runs as it did before: the client has the annotations of the tool, and asks its person. In the mode",
        "  gateway these are the annotations of tool_exec_read and tool_exec_write.",
        "- `[exec]` with `allow = \"read\"` refuses everything but reads.",
    ]
    .into_iter()
}

/// Sets the live server of this name: its `[[source]]` is changed in place, so that comments and order stay, or follows the
/// others. Fails where `source` is no `[[source]]`.
pub(super) fn add(
    document: &mut DocumentMut,
    name: &str,
    server: &Server,
    tools: &[String],
) -> CommandResult {
    let place = document.entry("source").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(sources) = place.as_array_of_tables_mut() else {
        return Err(failed("`source` is a list there; write it as [[source]] tables"));
    };
    let is_known = |source: &&mut Table| {
        source.contains_key("mcp") && source.get("server").and_then(Item::as_str) == Some(name)
    };
    let restrict = |table: &mut Table| match tools {
        [] => drop(table.remove("tools")),
        tools => drop(table.insert("tools", value(tools.iter().collect::<Array>()))),
    };
    if let Some(table) = sources.iter_mut().find(is_known) {
        table.insert("mcp", value(inline(server)));
        restrict(table);
        return Ok(());
    }
    let mut table = Table::new();
    table.decor_mut().set_prefix("\n");
    table.insert("server", value(name));
    table.insert("prefix", value(true));
    restrict(&mut table);
    table.insert("mcp", value(inline(server)));
    sources.push(table);
    Ok(())
}

/// The settings of a server that differ from the defaults.
fn inline(server: &Server) -> InlineTable {
    let mut table = InlineTable::new();
    if !server.command.is_empty() {
        table.insert("command", server.command.iter().collect::<Array>().into());
    }
    if let Some(url) = &server.url {
        table.insert("url", url.into());
    }
    if let Some(cwd) = &server.cwd {
        table.insert("cwd", cwd.to_string_lossy().into_owned().into());
    }
    for (key, values) in [("env", &server.env), ("headers", &server.headers)] {
        if !values.is_empty() {
            table.insert(key, values.iter().collect::<InlineTable>().into());
        }
    }
    if let Some(file) = &server.env_file {
        table.insert("env_file", file.into());
    }
    if !server.headers_command.is_empty() {
        table.insert("headers_command", server.headers_command.iter().collect::<Array>().into());
    }
    for (key, seconds) in
        [("start_seconds", server.start_seconds), ("timeout_seconds", server.timeout_seconds)]
    {
        if let Some(seconds) = seconds {
            table.insert(key, i64::try_from(seconds).unwrap_or(i64::MAX).into());
        }
    }
    if let Some(auth) = &server.auth {
        let mut scopes = InlineTable::new();
        scopes.insert("scopes", auth.scopes.iter().collect::<Array>().into());
        table.insert("auth", scopes.into());
    }
    table
}
