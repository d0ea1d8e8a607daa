//! Placeholders of clients, such as `${env:X}`, as toolcrib writes them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// The placeholders of clients, and `$NAME` where no shell reads it: at the start of a text or after a separator.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\$?\{env:(?P<env>[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?)\}|\$\{input:(?P<input>[^}:]+)\}",
        r"|\$\{(?P<known>workspaceFolder|workspaceRoot|workspaceFolderBasename|cwd|userHome|pathSeparator|/)\}",
        r"|\$\{(?P<plugin>(?:CLAUDE_)?PLUGIN_ROOT)(?::-[^}]*)?\}",
        r"|(?P<before>^|[\s/:=@?&,])\$(?P<plain>[A-Z_][A-Z0-9_]*)\b",
    ))
    .ok()
});

/// A placeholder that `as_placeholders` has left: its name is no environment variable.
static OF_CLIENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\$\{(?:[a-zA-Z]+:[^-][^}]*|file|[a-z]+[A-Z][A-Za-z]*)\}|\{file:[^}]*\}|\{\{[A-Z][A-Z0-9_]*\}\}",
    )
    .ok()
});

/// The first placeholder that only the client can replace, such as `${command:x}`.
pub(super) fn of_client(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let filled = as_placeholders(text, Path::new("/"), Path::new("/"));
            Some(OF_CLIENT.as_ref()?.find(&filled)?.as_str().to_string())
        }
        Value::Array(items) => items.iter().find_map(of_client),
        Value::Object(fields) => fields.values().find_map(of_client),
        _ => None,
    }
}

/// The inputs in an entry, which a client asks its person for, each with its variable here.
pub(super) fn inputs(value: &Value) -> BTreeMap<String, String> {
    match value {
        Value::String(text) => {
            let found = PLACEHOLDER.iter().flat_map(|pattern| pattern.captures_iter(text));
            let inputs = found.filter_map(|found| Some(found.name("input")?.as_str().to_string()));
            inputs.map(|input| (input.clone(), variable(&input))).collect()
        }
        Value::Array(items) => items.iter().flat_map(inputs).collect(),
        Value::Object(fields) => fields.values().flat_map(inputs).collect(),
        _ => BTreeMap::new(),
    }
}

/// A text with the placeholders of clients as toolcrib writes them: `${env:X}`, `{env:X}` and `$X` are `${X}`,
/// `${input:my-token}` is the variable `MY_TOKEN`, the workspace is the folder of the file, and the root of a plugin its folder.
pub(super) fn as_placeholders(text: &str, root: &Path, plugin: &Path) -> String {
    let Some(pattern) = &*PLACEHOLDER else { return text.to_string() };
    // A shell replaces its own variables.
    let is_script = text.contains([';', '|', '`', '(', '\n']) || text.contains("&&");
    let replaced = pattern.replace_all(text, |found: &Captures<'_>| {
        let part = |name: &str| found.name(name).map(|part| part.as_str());
        if part("plugin").is_some() {
            return plugin.to_string_lossy().into_owned();
        }
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
    input.to_ascii_uppercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_clients_are_those_of_toolcrib() {
        let root = Path::new("project");
        let filled = |text: &str| as_placeholders(text, root, Path::new("/plugin $1"));
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
        assert_eq!(filled("${CLAUDE_PLUGIN_ROOT}/a:${PLUGIN_ROOT:-x}"), "/plugin $1/a:/plugin $1");
        assert_eq!(filled("cd ${PLUGIN_ROOT} && ${MY_PLUGIN_ROOT}"), "cd /plugin $1 && ${MY_PLUGIN_ROOT}");
    }

    #[test]
    fn what_only_the_client_knows_has_a_name() {
        for text in [
            "${command:x.y}", "${workspaceFolder:api}", "${fileDirname}", "${file}", "{file:~/key}",
            "{{API_KEY}}",
        ] {
            assert_eq!(of_client(&serde_json::json!({"args": ["a", text]})).as_deref(), Some(text));
        }
        let known =
            ["${X}", "${X:-y}", "${x_y}", "${env:X}", "{env:X}", "${input:x}", "${workspaceFolder}", "{x}"];
        assert_eq!(of_client(&serde_json::json!(known)), None);
    }
}
