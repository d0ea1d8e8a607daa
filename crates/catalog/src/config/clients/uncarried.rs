//! Keys of an entry by which its client signs in to a server or contains it, and which only the client can act on. Without
//! them, the server would lose its credential or its bounds.

use serde_json::{Map, Value};

use toolcrib_definition::words;

/// Keys with such words that mean the same here.
const CARRIED: [&str; 4] = ["bearer_token_env_var", "env_keys", "trust", "trusted"];

/// Words for credentials and bounds. A key with one of them is not left out, whichever client has it.
const WORDS: &str = "account apikey approval audience auth authentication authorization bearer ca cert certificate \
    certificates certs cipher client container cookie cookies credential credentials docker firewall hook hooks \
    identity isolate isolated isolation jail key keys keychain keyring login mtls network oauth oauth2 passphrase password \
    permission permissions policy proxy sandbox sandboxed sandboxing scope scopes secret secrets security seccomp \
    sigv4 ssl sso tls token tokens username vault verify";

/// Words of programs that make the other fields.
const HELPERS: [&str; 4] = ["helper", "provider", "generator", "script"];

/// The first key of an entry that would be lost with its protection.
pub(super) fn uncarried(entry: &Map<String, Value>) -> Option<&str> {
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(is_on) => *is_on,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(_) => true,
    };
    let protects = |word: &String| {
        WORDS.split_whitespace().any(|known| known == word) || HELPERS.contains(&word.as_str())
    };
    let is_comment = |key: &str| key.starts_with(['_', '$', '/', '#']);
    let is_ours = |key: &str| CARRIED.contains(&key) || is_comment(key);
    let mut keys = entry.iter().filter(|(key, value)| is_set(value) && !is_ours(key));
    keys.find(|(key, _)| words(key).iter().any(protects)).map(|(key, _)| key.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_of_credentials_and_bounds_are_found() {
        let check = |entry: Value, expect: Option<&str>| {
            assert_eq!(uncarried(entry.as_object().unwrap()), expect, "{entry}");
        };
        for key in [
            "headersHelper", "oauth", "auth", "authProviderType", "sandbox", "sandboxEnabled", "apiKey",
            "api_key", "clientCertificate", "oauth_resource", "scopes", "tlsCaFile", "targetAudience",
            "credentialsFile", "proxy",
        ] {
            check(json!({"command": "x", key: "y"}), Some(key));
            check(json!({"url": "https://a.example", key: {"a": 1}}), Some(key));
            for nothing in [json!(null), json!(false), json!(""), json!({}), json!([])] {
                check(json!({"command": "x", key: nothing}), None);
            }
        }
        check(
            json!({
                "type": "http", "url": "https://a.example", "headers": {"Authorization": "x"}, "http_headers": {"a": "b"},
                "bearer_token_env_var": "A", "env_http_headers": {"a": "B"}, "description": "d", "icon": "i",
                "timeout": 3, "cwd": ".", "env": {"TOKEN": "x"}, "envs": {}, "env_keys": ["A"], "env_vars": ["A"], "envFile": "f",
                "autoApprove": ["a"], "alwaysAllow": ["a"], "disabledTools": ["a"], "includeTools": ["a"],
                "excludeTools": ["a"], "trust": true, "enabled": true, "bundled": true, "name": "n", "watchPaths": ["a"],
                "source": "custom", "settings": {"a": 1}, "required": true, "note": "n", "gallery": true, "_auth": "a note", "version": "1",
                "fromGalleryId": "x", "startup_timeout_sec": 1, "supports_parallel_tool_calls": true,
            }),
            None,
        );
    }
}
