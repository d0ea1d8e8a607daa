//! A client's file: recognized by its content, and parsed.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::format::{ClientFormat, MCP_SERVERS, OPENCODE, tables};
use toolcrib_definition::document::{Document, Format, Unread, without_comments};
use toolcrib_definition::ground::is_within;

/// Names of files that are the configuration of a client, whatever they hold.
const NAMES: [&str; 2] = ["mcp.json", "settings.json"];
/// Keys of the program or the address of a server, of which a map without a table needs one in each entry.
const STARTS: [&str; 2] = ["command", "url"];
/// Keys of API descriptions, which have `servers` too.
const APIS: [&str; 3] = ["openapi", "asyncapi", "swagger"];
/// The folder in which a plugin keeps its manifest.
pub(super) const PLUGIN_FOLDER: &str = ".claude-plugin";
/// The longest configuration of a client, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Format of a client's file. Clients also use endings such as `.jsonc`, or none, for JSON.
pub fn client_format(file: &Path) -> Format {
    let extension = file.extension().and_then(|extension| extension.to_str());
    extension.and_then(Format::of_extension).unwrap_or(Format::Json)
}

/// Reads the text of a client's file, whose JSON may have comments.
pub fn read_client_text(file: &Path, shown: &str, text: &str) -> Result<Document, Box<Unread>> {
    let format = client_format(file);
    let text = if format == Format::Json { without_comments(text) } else { text.to_string() };
    Document::read(shown, text.into_bytes(), format)
}

/// Reads a file with servers; `None` if its content is something else.
pub(super) fn open(file: &Path) -> Option<Result<Document, Box<Unread>>> {
    if std::fs::metadata(file).ok()?.len() > MAX_BYTES {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let has_table = |(table, _): (&str, _)| text.contains(table.rsplit('/').next().unwrap_or_default());
    let format = client_format(file);
    let is_map = format == Format::Json && is_map_of_servers(&text);
    if !is_map && (!tables().any(has_table) || is_something_else(&text, format)) {
        return None;
    }
    let shown = file.file_name()?.to_string_lossy();
    let is_named = NAMES.contains(&&*shown);
    let is_told = |(table, format): (&str, &ClientFormat)| format.is_telling && text.contains(&table[1..]);
    match read_client_text(file, &shown, &text) {
        Err(_) if !is_named && !tables().any(is_told) => None,
        Ok(document) if APIS.iter().any(|key| document.value.get(key).is_some()) => None,
        // A dump of definitions starts no program, whatever else is in it.
        Ok(document) if !is_named && document.value.get("tools").is_some_and(has_definitions) => None,
        read => Some(read.map(with_names)),
    }
}

/// A document whose list of servers, each with its `name`, is a map.
fn with_names(mut document: Document) -> Document {
    let lists = tables().map(|(pointer, _)| pointer).chain([""]);
    for pointer in lists {
        let Some(list) = document.value.pointer_mut(pointer).filter(|list| list.is_array()) else { continue };
        if let Some(servers) = named_servers(list) {
            *list = Value::Object(servers);
        }
    }
    document
}

/// The servers of a list, by name; `None` if it has anything else.
fn named_servers(list: &Value) -> Option<Map<String, Value>> {
    let named = |entry: &Value| Some((entry.get("name")?.as_str()?.to_string(), entry.clone()));
    let servers: Map<String, Value> = list.as_array()?.iter().map(named).collect::<Option<_>>()?;
    are_servers(&servers).then_some(servers)
}

/// The file with the servers of a plugin, which its manifest names.
pub(super) fn referred(file: &Path, document: &Value) -> Option<PathBuf> {
    let named = document.get("mcpServers")?.as_str()?;
    let folder = file.parent()?;
    let root = if folder.ends_with(PLUGIN_FOLDER) { folder.parent()? } else { folder };
    let servers = root.join(named);
    (servers != file && is_within(root, &servers)).then_some(servers)
}

/// Whether a text is nothing but servers by name, as plugins have them in `.mcp.json`. Definitions have texts or schemas besides.
fn is_map_of_servers(text: &str) -> bool {
    if !STARTS.iter().any(|key| text.contains(key)) {
        return false;
    }
    // Comments are wrong syntax; what is no server ends the reading before them.
    are_only_servers(text)
        .or_else(
            |error| if error.is_syntax() { are_only_servers(&without_comments(text)) } else { Err(error) },
        )
        .unwrap_or(false)
}

fn are_only_servers(text: &str) -> serde_json::Result<bool> {
    if text.trim_start().starts_with('[') {
        let list: Vec<ServerEntry> = serde_json::from_str(text)?;
        return Ok(!list.is_empty() && list.iter().all(|entry| entry.has_name));
    }
    let by_name: IndexMap<String, ServerEntry> = serde_json::from_str(text)?;
    Ok(!by_name.is_empty())
}

/// An entry that is a server. Definitions can be long, and the first one ends the reading.
#[derive(Deserialize)]
#[serde(try_from = "Map<String, Value>")]
struct ServerEntry {
    has_name: bool,
}

impl TryFrom<Map<String, Value>> for ServerEntry {
    type Error = &'static str;

    fn try_from(fields: Map<String, Value>) -> Result<Self, Self::Error> {
        let entry = Value::Object(fields);
        let has_name = entry.get("name").is_some_and(Value::is_string);
        if is_server(&entry) { Ok(Self { has_name }) } else { Err("no server") }
    }
}

/// Whether fields are nothing but servers by name.
fn are_servers(fields: &Map<String, Value>) -> bool {
    !fields.is_empty() && fields.values().all(is_server)
}

fn is_server(entry: &Value) -> bool {
    const OF_DEFINITIONS: [&str; 7] =
        ["parameters", "inputSchema", "input_schema", "schema", "function", "method", "backend"];
    STARTS.iter().any(|key| entry.get(key).is_some_and(|given| given.is_string() || given.is_array()))
        && starts_or_connects(entry)
        && !OF_DEFINITIONS.iter().any(|key| entry.get(key).is_some())
}

/// Whether a text is plainly of something else, by its keys at the top. Definitions can be long, and are parsed elsewhere.
pub(super) fn is_something_else(text: &str, format: Format) -> bool {
    let Ok(keys) = serde_json::from_str::<IndexMap<String, IgnoredAny>>(text) else {
        let begins = |begin: &str| text.trim_start().starts_with(begin);
        return (format == Format::Json && begins("[")) || APIS.iter().any(|key| begins(&format!("{key}:")));
    };
    let has = |key: &str| keys.contains_key(key);
    let mut of_clients = tables().filter_map(|(table, _)| table.split('/').nth(1)).chain(["projects"]);
    APIS.into_iter().any(has) || !of_clients.any(has)
}

/// The servers of a document.
#[derive(Clone, Copy)]
pub(super) struct ServerTable<'d> {
    pub(super) pointer: &'static str,
    pub(super) format: &'static ClientFormat,
    pub(super) servers: &'d Map<String, Value>,
}

impl<'d> ServerTable<'d> {
    /// The first table with a server.
    pub(super) fn of(document: &'d Value) -> Option<Self> {
        let in_table = tables().find_map(|(pointer, format)| {
            let servers = document.pointer(pointer)?.as_object()?;
            servers.values().any(starts_or_connects).then_some(Self { pointer, format, servers })
        });
        let whole = document.as_object().filter(|fields| are_servers(fields));
        in_table.or(whole.map(|servers| Self { pointer: "", format: &MCP_SERVERS, servers }))
    }

    /// The rules of a document for the tools of all its servers, which opencode has: `tools` and `permission`.
    pub(super) fn rules_for_all(self, document: &Value) -> [Option<&Value>; 2] {
        ["tools", "permission"].map(|key| if *self.format == OPENCODE { document.get(key) } else { None })
    }
}

/// Whether an entry is a server, and not a list of its tools.
pub(super) fn starts_or_connects(entry: &Value) -> bool {
    ["command", "cmd", "url", "uri", "serverUrl", "httpUrl"].iter().any(|key| entry.get(key).is_some())
        && !entry.get("tools").is_some_and(has_definitions)
}

fn has_definitions(tools: &Value) -> bool {
    tools.as_array().is_some_and(|tools| tools.iter().any(Value::is_object))
}

/// A text in quotes, to the end of its line at most, with what tells that it is a key.
static QUOTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""((?:[^"\\\n]|\\[^\n])*\\?)("\s*[:=.]|"|)"#).ok());

/// Hides the texts of a document that are no keys: findings show lines of it, and a server's entry can hold secrets.
pub(super) fn without_values(mut document: Document) -> Document {
    let hidden = |found: &Captures<'_>| match &found[2] {
        "" | "\"" => format!("\"{}{}", "*".repeat(found[1].chars().count()), &found[2]),
        _ => found[0].to_string(),
    };
    let shown = QUOTED.as_ref().map(|quoted| quoted.replace_all(&document.text, hidden).into_owned());
    document.text = shown.unwrap_or_default().into();
    document
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry() -> impl Strategy<Value = String> {
        let key = "command|url|cmd|name|tools|description|parameters|method";
        let value = prop::sample::select(vec!["\"x\"", "[\"x\"]", "[{\"a\": 1}]", "{}", "1", "[1,]"]);
        let field = (key, value).prop_map(|(key, value)| format!("\"{key}\": {value}"));
        let fields =
            prop::collection::vec(field, 0..4).prop_map(|fields| format!("{{{}}}", fields.join(", ")));
        prop_oneof![9 => fields, 1 => Just("[]".to_string()), 1 => Just("\"url\" // of it\n".to_string())]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn servers_alone_are_told_as_by_reading_everything(
            entries in prop::collection::vec(entry(), 0..4),
            is_list in any::<bool>(),
            end in prop::sample::select(vec!["", " // end", "]", " /* \"url\" */"]),
        ) {
            let named = |(at, entry): (usize, &String)| format!("\"{at}\": {entry}");
            let text = if is_list {
                format!("[{}]{end}", entries.join(","))
            } else {
                format!("{{{}}}{end}", entries.iter().enumerate().map(named).collect::<Vec<_>>().join(","))
            };
            let whole = match serde_json::from_str::<Value>(&without_comments(&text)) {
                Ok(Value::Object(fields)) => are_servers(&fields),
                Ok(list) => named_servers(&list).is_some(),
                Err(_) => false,
            };
            let is_marked = STARTS.iter().any(|key| text.contains(key));
            prop_assert_eq!(is_map_of_servers(&text), is_marked && whole, "{}", text);
        }
    }

    #[test]
    fn only_keys_of_a_document_are_shown() {
        let check = |text: &str, shown: &str| {
            let document =
                Document { text: text.into(), ..Document::parse("a", b"{}".to_vec(), Format::Json).unwrap() };
            assert_eq!(&*without_values(document).text, shown);
        };
        check(r#"{"a": "b c", "d" : ["é\"f"], g = "h"}"#, r#"{"a": "***", "d" : ["****"], g = "*"}"#);
        check("\"a\".\"b\" = \"c\\\\\" # \"d", "\"a\".\"b\" = \"***\" # \"*");
        check("\"open\n\"x\\\n: \"end\\\"", "\"****\n\"**\n: \"*****");
    }

    #[test]
    fn definitions_are_told_from_clients_by_the_keys_at_the_top() {
        for (text, format) in [
            (r#"[{"name": "mcp", "description": "servers"}]"#, Format::Json),
            (r#"{"tools": [{"name": "a", "mcpServers": {}}]}"#, Format::Json),
            (r#"{"openapi": "3.1.0", "servers": [], "paths": {}}"#, Format::Json),
            ("openapi: 3.1.0\nservers: []\n", Format::Yaml),
        ] {
            assert!(is_something_else(text, format), "{text}");
        }
        for (text, format) in [
            (r#"{"mcp": {"servers": {}}}"#, Format::Json),
            (r#"{"projects": {"/a": {"mcpServers": {}}}}"#, Format::Json),
            ("{\"a\": 1, // comment\n\"servers\": {}}", Format::Json),
            (r#"{"mcpServers": {"a": }"#, Format::Json),
            ("extensions:\n  a:\n    cmd: x\n", Format::Yaml),
            ("[mcp_servers.a]\ncommand = 'x'\n", Format::Toml),
        ] {
            assert!(!is_something_else(text, format), "{text}");
        }
    }
}
