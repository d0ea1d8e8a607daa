//! The keys of each client's published schema for a server, and what becomes of each.

use serde_json::{Map, Value, json};

use super::super::keys::{KeyFate, fate_of};
use super::*;

/// A client, the source of its schema, and the keys of a server in it.
pub(super) const SCHEMAS: [(&str, &str, &str); 15] = [
    (
        "VS Code",
        "code.visualstudio.com/docs/agents/reference/mcp-configuration",
        "type command args cwd env envFile sandboxEnabled sandbox dev url headers oauth",
    ),
    (
        "Claude Code",
        "code.claude.com/docs/en/mcp",
        "type command args env url headers headersHelper oauth timeout alwaysLoad",
    ),
    ("Claude Desktop", "modelcontextprotocol.io/docs/develop/connect-local-servers", "command args env"),
    ("Cursor", "cursor.com/docs/context/mcp", "type command args env envFile url headers auth"),
    (
        "Codex",
        "github.com/openai/codex codex-rs/config/src/mcp_types.rs",
        "command args env env_vars cwd http_headers env_http_headers url bearer_token bearer_token_env_var environment_id auth \
         startup_timeout_sec startup_timeout_ms tool_timeout_sec enabled required supports_parallel_tool_calls \
         default_tools_approval_mode enabled_tools disabled_tools scopes oauth oauth_resource name tools",
    ),
    (
        "Gemini CLI",
        "github.com/google-gemini/gemini-cli packages/core/src/config/config.ts",
        "command args env cwd url httpUrl headers tcp type timeout trust description includeTools excludeTools extensionName \
         oauth authProviderType targetAudience targetServiceAccount",
    ),
    (
        "opencode",
        "github.com/anomalyco/opencode packages/opencode/src/config/mcp.ts",
        "type command environment enabled disabled cwd timeout url headers oauth",
    ),
    (
        "Zed",
        "github.com/zed-industries/zed crates/settings_content/src/project.rs",
        "enabled remote command args env timeout url headers oauth source settings",
    ),
    (
        "Copilot CLI",
        "github.com/github/copilot-sdk generated McpServerConfig",
        "tools type isDefaultServer filterMapping timeout command args cwd env url headers oauthClientId oauthPublicClient \
         oauthGrantType auth deferTools",
    ),
    (
        "Goose",
        "github.com/block/goose crates/goose/src/agents/extension.rs",
        "type name description display_name cmd args envs env_keys timeout bundled available_tools uri headers enabled",
    ),
    (
        "Kiro",
        "kiro.dev/docs/mcp/configuration",
        "command args env cwd disabled autoApprove disabledTools timeout url headers oauth oauthScopes type",
    ),
    (
        "Cline",
        "github.com/cline/cline src/services/mcp/schemas.ts",
        "type transportType command args cwd env url headers autoApprove disabled timeout",
    ),
    (
        "Roo Code",
        "github.com/RooCodeInc/Roo-Code src/services/mcp/McpHub.ts",
        "type command args cwd env url headers disabled timeout alwaysAllow watchPaths disabledTools",
    ),
    (
        "Continue",
        "github.com/continuedev/continue packages/config-yaml/src/schemas/mcp/index.ts",
        "name serverName faviconUrl sourceFile connectionTimeout command type args env cwd url requestOptions",
    ),
    (
        "LibreChat",
        "github.com/danny-avila/LibreChat packages/data-provider/src/mcp.ts",
        "title description startup iconPath timeout sseReadTimeout initTimeout chatMenu serverInstructions requiresOAuth oauth \
         oauth_headers apiKey obo customUserVars type command args env stderr url headers proxy",
    ),
];

/// Keys whose value must not be a text, with one that changes what is read.
pub(super) fn sample(key: &str) -> Value {
    match key {
        "args" => json!(["a"]),
        "auth" | "oauth" => json!({"scopes": ["a"]}),
        "apiKey" => json!({"source": "admin", "key": "k", "authorization_type": "custom"}),
        "requestOptions" => json!({"headers": {"A": "b"}}),
        "env" | "environment" | "envs" | "headers" | "http_headers" | "env_http_headers" => json!({"A": "b"}),
        "env_vars" | "env_keys" | "scopes" | "oauthScopes" | "tools" => json!(["A"]),
        key if key.ends_with("ools") || key.ends_with("_tools") => json!(["A"]),
        "disabled" => json!(true),
        "enabled" => json!(false),
        "type" | "transportType" => json!("sse"),
        key if key.to_lowercase().contains("timeout") => json!(90_000),
        _ => json!("x"),
    }
}

/// What is read of a server with a program or an address, and this key.
fn read_with(key: Option<&str>, is_remote: bool, format: &str) -> String {
    let start = if is_remote { json!({"url": "https://a.example"}) } else { json!({"command": "x"}) };
    let mut entry: Map<String, Value> = start.as_object().unwrap().clone();
    if let Some(key) = key {
        if matches!(key, "cmd" | "command" | "url" | "uri" | "httpUrl" | "serverUrl") {
            entry.clear();
        }
        let address = matches!(key, "url" | "uri" | "httpUrl" | "serverUrl");
        entry.insert(key.into(), if address { "https://b.example".into() } else { sample(key) });
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("any.json");
    let servers = json!({"a": entry, "b": {"command": "y"}});
    std::fs::write(&file, json!({ format: servers }).to_string()).unwrap();
    let config = read(&file, folder.path()).unwrap();
    let a = config.sources.iter().find(|source| source.server.as_deref() == Some("a"));
    let said: Vec<&str> = config.findings.iter().map(|finding| finding.message.as_str()).collect();
    let filter = a.and_then(|source| source.filter.as_ref());
    format!("{:?} {filter:?} {said:?}", a.and_then(|source| source.mcp.as_ref()))
        .replace(&*folder.path().to_string_lossy(), "")
}

#[test]
fn each_key_of_a_published_schema_has_a_fate() {
    for (client, source, keys) in SCHEMAS {
        for key in keys.split_whitespace() {
            let fate = fate_of(key);
            assert_ne!(fate, KeyFate::Said("it is not known"), "{client} ({source}): {key}");
            let reads = |is_remote| read_with(Some(key), is_remote, "mcpServers");
            let plain = |is_remote| read_with(None, is_remote, "mcpServers");
            let differs = |is_remote| reads(is_remote) != plain(is_remote);
            let shown = format!("{client}, {key}: {}\n{}", reads(false), reads(true));
            match fate {
                KeyFate::Carried => assert!(differs(false) || differs(true), "{shown}"),
                KeyFate::Nothing => assert!(!differs(false) && !differs(true), "{shown}"),
                KeyFate::Said(why) => assert!(reads(false).contains(why) && differs(true), "{shown}"),
                KeyFate::Stays => {
                    assert!(
                        reads(true).starts_with("None") && reads(true).contains(&format!("`{key}")),
                        "{shown}"
                    )
                }
            }
        }
    }
}

#[test]
fn an_unknown_key_is_said_and_an_unknown_protection_stays() {
    assert!(
        read_with(Some("frobnicate"), false, "mcpServers")
            .contains("`frobnicate` is not used: it is not known")
    );
    for key in ["clientCertificate", "tlsCaFile", "credentialsFile", "tokenScript", "isolation"] {
        assert!(read_with(Some(key), true, "mcpServers").starts_with("None"), "{key}");
    }
    assert!(!read_with(Some("_comment"), false, "mcpServers").contains("_comment"));
}

#[test]
fn a_sign_in_with_scopes_alone_is_carried_and_one_with_a_client_id_stays() {
    let entry = |entry: Value| -> (Option<Server>, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("any.json");
        std::fs::write(&file, json!({"mcpServers": {"a": entry}}).to_string()).unwrap();
        let config = read(&file, folder.path()).unwrap();
        let said = config.findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
        (config.sources.into_iter().next().and_then(|source| source.mcp), said)
    };
    let url = "https://a.example";
    let (server, _) = entry(json!({"url": url, "oauth": {"scopes": "read write", "callbackPort": 9}}));
    assert_eq!(server.unwrap().auth.unwrap().scopes, ["read", "write"]);
    for stays in [
        json!({"url": url, "oauth": {"clientId": "c"}}),
        json!({"url": url, "auth": {"CLIENT_ID": "c"}}),
        json!({"url": url, "apiKey": {"source": "user", "authorization_type": "bearer"}}),
        json!({"url": url, "requestOptions": {"verifySsl": true}}),
        json!({"url": url, "type": "websocket"}),
        json!({"url": url, "headers": {"X": "{{LIBRECHAT_USER_ID}}"}}),
    ] {
        let (server, said) = entry(stays.clone());
        assert!(server.is_none() && said.contains("the server `a`"), "{stays}: {said}");
    }
    let (server, _) =
        entry(json!({"url": url, "apiKey": {"source": "admin", "key": "k", "authorization_type": "bearer"}}));
    assert_eq!(server.unwrap().headers["Authorization"], "Bearer k");
    let (server, _) = entry(json!({"url": url, "headersHelper": "make-headers --now"}));
    assert_eq!(server.unwrap().headers_command.last().unwrap(), "make-headers --now");
    let (_, said) = entry(json!({"command": "x", "env": {"T": "${input:my-token}"}}));
    assert!(said.contains("`${input:my-token}` is the environment variable MY_TOKEN"), "{said}");
}
