//! The credentials of an entry beside its headers: a sign-in with scopes, a key, and the program that makes headers.

use serde_json::{Map, Value};

use super::keys::set_keys;
use super::problem::EntryProblem;
use crate::config::server_auth::ServerAuth;

/// Keys of a sign-in that say what toolcrib finds out or chooses by itself.
const FOUND: [&str; 5] = ["enabled", "callbackPort", "redirectPort", "redirectUri", "redirect_uri"];
const SIGNS_IN: &str = "`toolcrib login` signs in, and chooses the address at which it ends";
const TIMES: &str = "the time limit of calls is `timeout_seconds` here";

/// The sign-in of an entry; `None` for that of every server. One with a client id of its own stays with its client, since the id is
/// registered for the client's own address.
pub(super) fn server_auth(entry: &Map<String, Value>) -> Result<Option<ServerAuth>, EntryProblem> {
    let mut scopes = Vec::new();
    for table in ["oauth", "auth"] {
        match entry.get(table) {
            Some(Value::Object(fields)) => {
                for key in set_keys(fields).filter(|key| !FOUND.contains(key)) {
                    if !matches!(key, "scopes" | "scope") {
                        return Err(EntryProblem::Uncarried(format!("{table}.{key}")));
                    }
                    scopes.extend(words_of(&fields[key]));
                }
            }
            None | Some(Value::Null | Value::Bool(false)) => {}
            Some(_) => return Err(EntryProblem::Uncarried(table.into())),
        }
    }
    scopes.extend(["scopes", "oauthScopes"].iter().filter_map(|key| entry.get(*key)).flat_map(words_of));
    Ok((!scopes.is_empty()).then(|| ServerAuth { scopes, ..ServerAuth::default() }))
}

/// Parts of keys that are carried otherwise, each with what changes.
pub(super) fn chosen_here(entry: &Map<String, Value>) -> impl Iterator<Item = (String, &'static str)> {
    let part = |table: &'static str, key: &'static str, change| {
        let fields = entry.get(table)?.as_object()?;
        let is_set = key != "enabled" && set_keys(fields).any(|known| known == key);
        is_set.then(|| (format!("{table}.{key}"), change))
    };
    let found =
        ["oauth", "auth"].into_iter().flat_map(move |table| FOUND.map(|key| part(table, key, SIGNS_IN)));
    found.chain([part("requestOptions", "timeout", TIMES)]).flatten()
}

/// The words of a text, or the texts of a list.
fn words_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(words_of).collect(),
        value => value.as_str().unwrap_or_default().split_whitespace().map(str::to_string).collect(),
    }
}

/// The headers of LibreChat's `apiKey` and Continue's `requestOptions`.
pub(super) fn more_headers(entry: &Map<String, Value>) -> Result<Vec<(String, String)>, EntryProblem> {
    let mut headers = Vec::new();
    if let Some(key) = entry.get("apiKey").filter(|key| !key.is_null()) {
        let part = |name: &str| key.get(name).and_then(Value::as_str);
        let (Some(value), Some("admin")) = (part("key"), part("source")) else {
            return Err(EntryProblem::Uncarried("apiKey".into()));
        };
        headers.push(match part("authorization_type") {
            Some("custom") => (part("custom_header").unwrap_or("X-Api-Key").into(), value.into()),
            Some("basic") => ("Authorization".into(), format!("Basic {value}")),
            _ => ("Authorization".into(), format!("Bearer {value}")),
        });
    }
    if let Some(options) = entry.get("requestOptions").and_then(Value::as_object) {
        if let Some(key) = set_keys(options).find(|key| !matches!(*key, "headers" | "timeout")) {
            return Err(EntryProblem::Uncarried(format!("requestOptions.{key}")));
        }
        let own = options.get("headers").and_then(Value::as_object).into_iter().flatten();
        headers.extend(own.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string()))));
    }
    Ok(headers)
}

/// The program of `headersHelper`, which clients run in a shell.
pub(super) fn headers_command(entry: &Map<String, Value>) -> Vec<String> {
    let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
    let helper = entry.get("headersHelper").and_then(Value::as_str).filter(|helper| !helper.is_empty());
    helper.map(|helper| [shell[0], shell[1], helper].map(str::to_string).to_vec()).unwrap_or_default()
}
