//! The `[[source]]` tables of live servers in a toolcrib.toml: changed in place, so that comments and order stay.

use indexmap::IndexMap;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use crate::config::Server;

/// Names of the sources that are live servers.
pub(super) fn live_names(document: &DocumentMut) -> Vec<String> {
    let sources = document.get("source").and_then(Item::as_array_of_tables);
    let live = sources.into_iter().flatten().filter(|source| source.contains_key("mcp"));
    live.filter_map(|source| Some(source.get("server")?.as_str()?.to_string())).collect()
}

/// Sets the live server of this name: its table is replaced, or follows the others. Fails where `source` is no `[[source]]`.
pub(super) fn set(
    document: &mut DocumentMut,
    name: &str,
    server: &Server,
    prefix: bool,
) -> Result<(), String> {
    let place = document.entry("source").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(sources) = place.as_array_of_tables_mut() else {
        return Err("`source` is a list there; write it as [[source]] tables".into());
    };
    let known = position(sources, name);
    match known.and_then(|known| sources.get_mut(known)) {
        Some(table) => drop(table.insert("mcp", value(inline(server)))),
        None => {
            let mut table = Table::new();
            table.decor_mut().set_prefix("\n");
            table.insert("server", value(name));
            if prefix {
                table.insert("prefix", value(true));
            }
            table.insert("mcp", value(inline(server)));
            sources.push(table);
        }
    }
    Ok(())
}

fn position(sources: &ArrayOfTables, name: &str) -> Option<usize> {
    let is_named = |source: &Table| source.get("server").and_then(Item::as_str) == Some(name);
    sources.iter().position(|source| source.contains_key("mcp") && is_named(source))
}

/// The settings of a server that differ from the defaults.
fn inline(server: &Server) -> InlineTable {
    let usual = Server::default();
    let mut table = InlineTable::new();
    if !server.command.is_empty() {
        table.insert("command", list(&server.command).into());
    }
    if let Some(url) = &server.url {
        table.insert("url", url.into());
    }
    if let Some(cwd) = &server.cwd {
        table.insert("cwd", cwd.to_string_lossy().into_owned().into());
    }
    for (key, values) in [("env", &server.env), ("headers", &server.headers)] {
        if !values.is_empty() {
            table.insert(key, pairs(values).into());
        }
    }
    if server.timeout_seconds != usual.timeout_seconds {
        table.insert("timeout_seconds", i64::try_from(server.timeout_seconds).unwrap_or(i64::MAX).into());
    }
    table
}

fn pairs(values: &IndexMap<String, String>) -> InlineTable {
    values.iter().collect()
}

/// A list of texts on one line.
pub(super) fn list(texts: &[String]) -> Array {
    texts.iter().collect()
}
