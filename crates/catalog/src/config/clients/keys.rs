//! What becomes of each key of an entry. A key of the clients' published schemas is carried, said, or without meaning here; any
//! other one is said, unless its words are those of a protection.

use serde_json::{Map, Value};

use KeyFate::{Carried, Nothing, Said, Stays};
use toolcrib_definition::words;

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyFate {
    /// It is read into the server, its sign-in, or the filter of its tools.
    Carried,
    /// Without it, the server would lack a credential or a bound, so the server stays with its client.
    Stays,
    /// It is not used here, and this is what changes.
    Said(&'static str),
    /// It is about the windows, lists or bookkeeping of its client.
    Nothing,
}

const ASKS: &str = "your client asks again before these tools, until you approve those of toolcrib there";
const LISTS: &str = "the mode of toolcrib decides which tools are listed";
const PARALLEL: &str = "your client may run calls of toolcrib one after the other";

const FATES: [(KeyFate, &str); 10] = [
    (
        Carried,
        "active apiKey args auth available_tools bearer_token_env_var cmd command connectionTimeout cwd disabled \
         disabledTools disabled_tools enabled enabledTools enabled_tools env envFile env_http_headers env_keys env_vars \
         environment envs excludeTools headers headersHelper httpUrl http_headers includeTools initTimeout isActive isEnabled \
         oauth oauthScopes requestOptions scopes serverUrl startup_timeout_ms startup_timeout_sec timeout \
         tool_timeout_sec tools transport transportType type uri url",
    ),
    (
        Stays,
        "authProviderType bearer_token customUserVars environment_id oauthClientId oauthGrantType oauth_headers \
         oauth_resource obo proxy sandbox sandboxEnabled targetAudience targetServiceAccount tcp xaa",
    ),
    (Said(ASKS), "alwaysAllow autoApprove default_tools_approval_mode trust trusted"),
    (Said(LISTS), "alwaysLoad deferTools"),
    (Said(PARALLEL), "supports_parallel_tool_calls"),
    (Said("toolcrib does not watch or debug the program"), "dev watchPaths"),
    (Said("the server starts on this machine"), "remote"),
    (Said("toolcrib starts even if this server does not"), "required startup"),
    (Said("texts of results and instructions pass unchanged"), "filterMapping serverInstructions"),
    (
        Nothing,
        "bundled chatMenu description displayName display_name extensionName faviconUrl fromGalleryId gallery icon iconPath \
         isDefaultServer name note oauthPublicClient requiresOAuth serverName settings source sourceFile sseReadTimeout \
         stderr title version",
    ),
];

/// Words for credentials and bounds. An unknown key with one of them is not left out.
const WORDS: &str = "account apikey approval audience auth authentication authorization bearer ca cert certificate \
    certificates certs cipher client container cookie cookies credential credentials docker firewall hook hooks \
    identity isolate isolated isolation jail key keys keychain keyring login mtls network oauth oauth2 passphrase password \
    permission permissions policy proxy sandbox sandboxed sandboxing scope scopes secret secrets security seccomp \
    sigv4 ssl sso tls token tokens username vault verify helper provider generator script";

/// The fate of a key.
pub(super) fn fate_of(key: &str) -> KeyFate {
    let named = FATES.iter().find(|(_, keys)| keys.split_whitespace().any(|known| known == key));
    let protects = |word: &String| WORDS.split_whitespace().any(|known| known == word);
    match named {
        Some((fate, _)) => *fate,
        None if key.starts_with(['_', '$', '/', '#']) => Nothing,
        None if words(key).iter().any(protects) => Stays,
        None => Said("it is not known"),
    }
}

/// The first key of an entry that would be lost with its protection.
pub(super) fn protection(entry: &Map<String, Value>) -> Option<&str> {
    set_keys(entry).find(|key| fate_of(key) == Stays)
}

/// The keys of an entry that are not used here, each with what changes.
pub(super) fn unused(entry: &Map<String, Value>) -> impl Iterator<Item = (&str, &'static str)> {
    set_keys(entry).filter_map(|key| match fate_of(key) {
        Said(why) => Some((key, why)),
        _ => None,
    })
}

/// The keys whose value is not that of an absent key.
pub(super) fn set_keys(entry: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(is_on) => *is_on,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(_) => true,
    };
    entry.iter().filter(move |(_, value)| is_set(value)).map(|(key, _)| key.as_str())
}
