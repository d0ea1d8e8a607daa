//! Tokens of an issuer, checked by the server.

use reqwest::blocking::Response;
use serde_json::{Value, json};

use crate::fixture;
use crate::issuer::Issuer;
use crate::serve::{Server, client, header};

/// Tools of each effect, and one for a role.
const TOOLS: &str = r#"[
  {"name": "read_note", "effect": "read", "description": "Read the note.", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "static", "content": "the note"}},
  {"name": "write_note", "effect": "write", "description": "Write the note.", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "static", "content": "written"}},
  {"name": "read_plan", "effect": "read", "allowed_roles": ["editor"], "description": "Read the plan.", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "static", "content": "the plan"}}
]"#;

/// A server that takes tokens of an issuer, with these lines in the table of the issuer.
pub(super) fn protected(issuer: &Issuer, of_issuer: &str) -> (Server, tempfile::TempDir) {
    served(&format!("{}\n{of_issuer}", table(issuer)), &[])
}

fn table(issuer: &Issuer) -> String {
    format!("[exec]\nallow = \"write\"\n[[serve.issuer]]\nissuer = \"{}\"", issuer.url())
}

pub(super) fn served(config: &str, variables: &[(&str, &str)]) -> (Server, tempfile::TempDir) {
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", config)]);
    (Server::start(fixture::text(folder.path()), &["--log-level", "trace"], variables), folder)
}

/// Scopes that read, that write, and a group with a role.
pub(super) const GRANTS: &str = "\
[[serve.issuer.grant]]\nscope = \"tools:read\"\n\
[[serve.issuer.grant]]\nscope = \"tools:write\"\nallow = \"write\"\n\
[[serve.issuer.grant]]\nclaim = \"groups\"\nvalue = \"engineers\"\nroles = [\"editor\"]\n";

pub(super) fn asked(server: &Server, path: &str, token: &str) -> Response {
    server.get(path, &[("authorization", &format!("Bearer {token}"))])
}

/// A call of a tool over HTTP.
fn called(server: &Server, tool: &str, token: &str) -> Response {
    let asking = server.posting("/v1/tool_exec", json!({ "op": tool, "args": {} }));
    asking.header("authorization", format!("Bearer {token}")).send().unwrap()
}

/// A request of MCP's older revision.
pub(super) fn mcp(server: &Server, path: &str, token: &str, method: &str, params: Value) -> Response {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let asking = client().post(server.url(path)).header("content-type", "application/json");
    let asking = asking.header("accept", "application/json, text/event-stream").body(message.to_string());
    let asking = asking.header("mcp-protocol-version", "2025-11-25");
    asking.header("authorization", format!("Bearer {token}")).send().unwrap()
}

fn json_of(response: Response) -> Value {
    serde_json::from_str(&response.text().unwrap()).unwrap()
}

/// A token for the endpoint of MCP.
fn for_mcp(issuer: &Issuer, server: &Server, scope: &str) -> String {
    issuer.token().audience(&server.url("/mcp")).scope(scope).sign()
}

#[test]
fn a_client_finds_the_issuer_by_the_refusal_and_gets_in_with_its_token() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, GRANTS);
    for path in ["/mcp", "/p/none/mcp", "/tools/read_note.md", "/v1"] {
        let refused = server.get(path, &[]);
        assert_eq!(refused.status(), 401, "{path}");
        let challenge = header(&refused, "www-authenticate").to_string();
        // The scope that only reads comes first; a client asks for more when it needs more.
        assert!(challenge.contains("scope=\"tools:read\""), "{challenge}");
        let (_, rest) = challenge.split_once("resource_metadata=\"").unwrap();
        let address = rest.split('"').next().unwrap();
        let metadata = json_of(client().get(address).send().unwrap());
        let resource = if path.ends_with("/mcp") { server.url(path) } else { server.url("") };
        assert_eq!(metadata["resource"], resource, "{path}");
        assert_eq!(metadata["authorization_servers"], json!([issuer.url()]));
        assert_eq!(metadata["scopes_supported"], json!(["tools:read", "tools:write"]));
        assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
    }
    let token = for_mcp(&issuer, &server, "tools:read");
    let listed = mcp(&server, "/mcp", &token, "tools/list", json!({}));
    assert_eq!(listed.status(), 200);
    assert!(!json_of(listed)["result"]["tools"].as_array().unwrap().is_empty());
    // Docs and links in results are of the same server.
    assert_eq!(asked(&server, "/tools/read_note.md", &token).status(), 200);
    for missing in ["/tools", "/p/a/b", "/v1"] {
        let path = format!("/.well-known/oauth-protected-resource{missing}");
        assert_eq!(server.get(&path, &[]).status(), 404, "{missing}");
    }
}

#[test]
fn without_an_issuer_there_is_no_metadata_and_static_tokens_are_refused_as_before() {
    let (server, _folder) = served("[[serve.token]]\nenv = \"T_AMY\"", &[("T_AMY", "static-token-of-amy")]);
    assert_eq!(server.get("/.well-known/oauth-protected-resource/mcp", &[]).status(), 404);
    let refused = server.get("/mcp", &[]);
    assert_eq!(header(&refused, "www-authenticate"), "Bearer realm=\"toolcrib\"");
}

#[test]
fn static_tokens_stay_beside_an_issuer() {
    let issuer = Issuer::start();
    let config = format!("{}\n[[serve.token]]\nenv = \"T_AMY\"\nallow = \"read\"", table(&issuer));
    let (server, _folder) = served(&config, &[("T_AMY", "static-token-of-amy")]);
    assert_eq!(asked(&server, "/tools/read_note.md", "static-token-of-amy").status(), 200);
    assert_eq!(asked(&server, "/mcp", "static-token-of-eve").status(), 401);
    assert_eq!(called(&server, "write_note", "static-token-of-amy").status(), 403);
    assert_eq!(issuer.requests("/introspect"), 0);
}

#[test]
fn each_algorithm_of_a_public_key_is_accepted() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, "");
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        issuer.behave(|behaviour| behaviour.algorithm = algorithm.into());
        let token = for_mcp(&issuer, &server, "");
        assert_eq!(mcp(&server, "/mcp", &token, "tools/list", json!({})).status(), 200, "{algorithm}");
    }
    assert_eq!(issuer.requests("/jwks"), 1, "the keys are read once");
}

#[test]
fn scopes_and_claims_become_rights() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, GRANTS);
    let token = |scope: &str, groups: Value| {
        issuer.token().audience(&server.url("/mcp")).scope(scope).claim("groups", groups).sign()
    };
    let (reader, writer) = (token("tools:read", Value::Null), token("tools:read tools:write", Value::Null));
    let engineer = token("", json!(["people", "engineers"]));
    let statuses = |tool: &str| {
        [&reader, &writer, &engineer].map(|token| called(&server, tool, token).status().as_u16())
    };
    assert_eq!(statuses("read_note"), [200, 200, 200]);
    assert_eq!(statuses("write_note"), [403, 200, 403]);
    assert_eq!(statuses("read_plan"), [404, 404, 200]);
    let none = asked(&server, "/mcp", &token("other", json!("people")));
    assert_eq!(none.status(), 403);
    assert!(header(&none, "www-authenticate").contains("error=\"insufficient_scope\""));
    assert_eq!(json_of(none)["error"]["code"], "INSUFFICIENT_SCOPE");
}

#[test]
fn a_call_that_needs_another_scope_says_which() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, GRANTS);
    let reader = for_mcp(&issuer, &server, "tools:read");
    let over_http = called(&server, "write_note", &reader);
    let over_mcp = mcp(
        &server,
        "/mcp",
        &reader,
        "tools/call",
        json!({ "name": "tool_exec", "arguments": { "op": "write_note", "args": {} } }),
    );
    for (refused, path) in [(over_http, ""), (over_mcp, "/mcp")] {
        assert_eq!(refused.status(), 403);
        let challenge = header(&refused, "www-authenticate").to_string();
        assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
        assert!(challenge.contains("scope=\"tools:read tools:write\""), "{challenge}");
        let metadata =
            format!("resource_metadata=\"{}{path}\"", server.url("/.well-known/oauth-protected-resource"));
        assert!(challenge.contains(&metadata), "{challenge}");
        assert!(refused.text().unwrap().contains("PERMISSION_DENIED"));
    }
    // A batch has results of other calls, and is no refusal as a whole.
    let calls = json!([{ "op": "read_note", "args": {} }, { "op": "write_note", "args": {} }]);
    let batch = json!({ "name": "tool_batch", "arguments": { "calls": calls } });
    assert_eq!(mcp(&server, "/mcp", &reader, "tools/call", batch).status(), 200);
    // No token has more than the server allows at all.
    let (server, _folder) =
        served(&format!("[[serve.issuer]]\nissuer = \"{}\"\n{GRANTS}", issuer.url()), &[]);
    let refused = called(&server, "write_note", &for_mcp(&issuer, &server, "tools:read"));
    assert_eq!((refused.status().as_u16(), header(&refused, "www-authenticate")), (403, ""));
}

#[test]
fn a_token_for_one_endpoint_is_for_no_other() {
    let issuer = Issuer::start();
    let config =
        format!("{}\n[profile.a]\ninclude = [\"read_note\"]\n[profile.b]\ninclude = [\"*\"]", table(&issuer));
    let (server, _folder) = served(&config, &[]);
    let status = |audience: &str, path: &str| {
        let token = issuer.token().audience(&server.url(audience)).sign();
        mcp(&server, path, &token, "tools/list", json!({})).status().as_u16()
    };
    let paths = ["/mcp", "/p/a/mcp", "/p/b/mcp"];
    for audience in ["", "/", "/mcp", "/mcp/", "/p/a", "/p/a/mcp", "/p/b/mcp", "/p/c/mcp"] {
        for path in paths {
            let expected = if audience == path { 200 } else { 401 };
            assert_eq!(status(audience, path), expected, "a token for {audience} at {path}");
        }
    }
    // A token that was accepted at one endpoint is remembered for that one alone.
    let token = issuer.token().audience(&server.url("/p/a/mcp")).sign();
    let at = |path: &str| mcp(&server, path, &token, "tools/list", json!({})).status().as_u16();
    assert_eq!([at("/p/a/mcp"), at("/p/b/mcp"), at("/mcp"), at("/p/a/mcp")], [200, 401, 401, 200]);
}

#[test]
fn audiences_of_the_configuration_replace_the_address() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, "audience = [\"api://tools\"]");
    let status =
        |audience: &str| asked(&server, "/v1", &issuer.token().audience(audience).sign()).status().as_u16();
    assert_eq!([status("api://tools"), status("api://other"), status(&server.url(""))], [200, 401, 401]);
    let several = issuer.token().claim("aud", json!(["api://other", "api://tools"])).sign();
    assert_eq!(asked(&server, "/v1", &several).status(), 200);
}

#[test]
fn the_public_url_names_the_resource_and_is_a_name_of_the_server() {
    let issuer = Issuer::start();
    let config = format!("serve.public_url = \"https://tools.example.com/\"\n{}", table(&issuer));
    let (server, _folder) = served(&config, &[]);
    let path = "/.well-known/oauth-protected-resource/mcp";
    let metadata = server.json_of(path, &[("host", "tools.example.com")]);
    assert_eq!(metadata["resource"], "https://tools.example.com/mcp");
    let status =
        |audience: &str| asked(&server, "/v1", &issuer.token().audience(audience).sign()).status().as_u16();
    assert_eq!([status("https://tools.example.com/mcp"), status(&server.url("/mcp"))], [200, 401]);
}

#[test]
fn new_keys_of_an_issuer_are_read_when_a_token_names_one() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, "");
    let before = for_mcp(&issuer, &server, "");
    assert_eq!(asked(&server, "/v1", &before).status(), 200);
    issuer.rotate();
    let after = for_mcp(&issuer, &server, "x");
    assert_eq!(asked(&server, "/v1", &after).status(), 200);
    // Strangers invent key ids: these are looked up every ten seconds.
    let read = issuer.requests("/jwks");
    for invented in 0..20 {
        let token = issuer.token().audience(&server.url("/mcp")).key_id(&format!("k{invented}")).sign();
        assert_eq!(asked(&server, "/v1", &token).status(), 401);
    }
    assert!(issuer.requests("/jwks") < read + 10);
    // The key was withdrawn; the token that it signed is remembered until it expires, a new one is refused.
    assert_eq!(asked(&server, "/v1", &after).status(), 200);
}

#[test]
fn keys_without_ids_are_read_again_when_a_signature_fits_none() {
    let issuer = Issuer::start();
    let without_ids = || {
        let mut keys = issuer.key_set();
        for key in keys["keys"].as_array_mut().unwrap() {
            key.as_object_mut().unwrap().remove("kid");
        }
        keys.to_string()
    };
    let folder = fixture::folder(&[
        ("tools.json", TOOLS),
        ("keys.json", &without_ids()),
        ("toolcrib.toml", &format!("{}\njwks = \"keys.json\"", table(&issuer))),
    ]);
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    let before = for_mcp(&issuer, &server, "");
    assert_eq!(asked(&server, "/v1", &before).status(), 200);
    issuer.rotate();
    fixture::write(folder.path(), "keys.json", &without_ids());
    let after = for_mcp(&issuer, &server, "x");
    assert_eq!(asked(&server, "/v1", &after).status(), 200);
}

#[test]
fn keys_may_lie_in_a_file() {
    let issuer = Issuer::start();
    let folder = fixture::folder(&[
        ("tools.json", TOOLS),
        ("keys.json", &issuer.key_set().to_string()),
        ("toolcrib.toml", &format!("{}\njwks = \"keys.json\"", table(&issuer))),
    ]);
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    assert_eq!(asked(&server, "/v1", &for_mcp(&issuer, &server, "")).status(), 200);
    assert_eq!(issuer.requests("/jwks"), 0);
    issuer.rotate();
    fixture::write(folder.path(), "keys.json", &issuer.key_set().to_string());
    assert_eq!(asked(&server, "/v1", &for_mcp(&issuer, &server, "x")).status(), 200);
}

/// A token by client credentials.
pub(super) fn client_token(issuer: &Issuer, resource: &str, scope: &str) -> String {
    issuer.register("agent", "agent-secret-0123", &[]);
    let form = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("grant_type", "client_credentials"), ("resource", resource), ("scope", scope)])
        .finish();
    let asking =
        client().post(format!("{}/token", issuer.url())).basic_auth("agent", Some("agent-secret-0123"));
    let answer =
        asking.header("content-type", "application/x-www-form-urlencoded").body(form).send().unwrap();
    let answer = json_of(answer);
    answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_string()
}

#[test]
fn an_agent_gets_in_with_client_credentials() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, GRANTS);
    let token = client_token(&issuer, &server.url("/mcp"), "tools:read tools:write");
    assert_eq!(called(&server, "write_note", &token).status(), 200);
}

#[test]
fn a_dead_issuer_stops_neither_other_callers_nor_tokens_that_are_known() {
    let (dead, alive) = (Issuer::start(), Issuer::start());
    let issuer = |issuer: &Issuer| format!("[[serve.issuer]]\nissuer = \"{}\"\n", issuer.url());
    let (server, _folder) = served(&format!("{}{}", issuer(&dead), issuer(&alive)), &[]);
    let known = for_mcp(&dead, &server, "");
    assert_eq!(asked(&server, "/v1", &known).status(), 200);
    dead.behave(|behaviour| behaviour.is_dead = true);
    dead.rotate();
    assert_eq!(asked(&server, "/v1", &known).status(), 200);
    assert_eq!(asked(&server, "/v1", &for_mcp(&dead, &server, "x")).status(), 401);
    assert_eq!(asked(&server, "/v1", &for_mcp(&alive, &server, "")).status(), 200);
    // An issuer that was never there: its tokens are neither good nor bad.
    let (server, _folder) = served(&format!("{}{}", issuer(&dead), issuer(&alive)), &[]);
    let unknown = asked(&server, "/v1", &for_mcp(&dead, &server, ""));
    assert_eq!((unknown.status().as_u16(), header(&unknown, "retry-after")), (503, "5"));
    assert_eq!(json_of(unknown)["error"]["code"], "ISSUER_UNAVAILABLE");
    assert_eq!(asked(&server, "/v1", &for_mcp(&alive, &server, "")).status(), 200);
    assert_eq!(server.get("/healthz", &[]).status(), 200);
}

#[test]
#[ignore = "slow"]
fn a_slow_issuer_stops_only_its_own_tokens() {
    let (slow, alive) = (Issuer::start(), Issuer::start());
    slow.behave(|behaviour| behaviour.delay_ms = 60_000);
    let issuer = |issuer: &Issuer| format!("[[serve.issuer]]\nissuer = \"{}\"\n", issuer.url());
    let (server, _folder) = served(&format!("{}{}", issuer(&slow), issuer(&alive)), &[]);
    let waits = for_mcp(&slow, &server, "");
    std::thread::scope(|scope| {
        let waiting: Vec<_> =
            (0..8).map(|_| scope.spawn(|| asked(&server, "/v1", &waits).status().as_u16())).collect();
        for scopes in ["a", "b", "c"] {
            assert_eq!(asked(&server, "/v1", &for_mcp(&alive, &server, scopes)).status(), 200);
        }
        assert!(waiting.into_iter().all(|waiting| waiting.join().unwrap() == 503));
    });
}

#[test]
fn keys_without_an_end_are_not_read_to_it() {
    let issuer = Issuer::start();
    issuer.behave(|behaviour| behaviour.endless_keys = true);
    let (server, _folder) = protected(&issuer, "");
    assert_eq!(asked(&server, "/v1", &for_mcp(&issuer, &server, "")).status(), 503);
}

#[test]
fn callers_of_two_issuers_with_one_name_share_nothing() {
    let (one, other) = (Issuer::start(), Issuer::start());
    let issuer = |issuer: &Issuer| format!("[[serve.issuer]]\nissuer = \"{}\"\n", issuer.url());
    let (server, _folder) = served(&format!("{}{}", issuer(&one), issuer(&other)), &[]);
    let tokens = [for_mcp(&one, &server, ""), for_mcp(&other, &server, "")];
    let asking = server.posting("/v1/tool_exec", json!({ "op": "read_note", "args": {} }));
    let asking =
        asking.header("authorization", format!("Bearer {}", tokens[0])).header("x-session-id", "job");
    assert_eq!(asking.send().unwrap().status(), 200);
    let seen = |token: &str| asked(&server, "/sessions/job/events.jsonl", token).status();
    assert_eq!(seen(&tokens[0]), 200);
    assert_eq!(seen(&tokens[1]), 404);
}

#[test]
fn a_configuration_that_would_let_in_the_wrong_ones_is_refused() {
    let refused = |config: &str, listen: &str| {
        let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", config)]);
        let arguments = ["serve", fixture::text(folder.path()), "--listen", listen];
        let run = fixture::run_with(&arguments, "", &[("T_AMY", "static-token-of-amy")]);
        assert_ne!(run.code, 0, "{config}");
        run.stderr
    };
    let local = "127.0.0.1:0";
    let issuer = "[[serve.issuer]]\nissuer = \"https://login.example.com\"\n";
    for (config, said) in [
        ("[[serve.issuer]]\nissuer = \"http://login.example.com\"", "https address"),
        (&format!("{issuer}jwks = \"http://keys.example.com/\""), "https address"),
        (&format!("{issuer}{issuer}"), "has this name"),
        (&format!("{issuer}[[serve.issuer.grant]]\nroles = [\"a\"]"), "a `scope`, or a `claim`"),
        (&format!("{issuer}[[serve.issuer.grant]]\nscope = \"a\"\nprofiles = [\"b\"]"), "no profile"),
        (&format!("serve.public_url = \"tools.example.com\"\n{issuer}"), "without a path"),
        (
            &format!("{issuer}[[serve.token]]\nenv = \"T_AMY\"\nname = \"amy@login.example.com\""),
            "of an issuer",
        ),
    ] {
        let stderr = refused(config, local);
        assert!(stderr.contains(said), "{config}: {stderr}");
    }
    assert!(refused(issuer, "0.0.0.0:0").contains("public_url"));
}

/// The worked configuration of the docs, with the issuer of the test in place of that of the page.
#[test]
fn agents_with_client_credentials_work_as_documented() {
    let issuer = Issuer::start();
    issuer.register("reporter", "secret-of-the-reporter", &[]);
    issuer.register("toolcrib", "secret-of-toolcrib", &[]);
    let page = std::fs::read_to_string(fixture::package().join("docs/identity.md")).unwrap();
    let (_, section) = page.split_once("\n## Agents with client credentials\n").unwrap();
    let section = section.split("\n## ").next().unwrap().replace("https://login.example.com", issuer.url());
    let blocks = |language: &str| -> Vec<String> {
        let begins = format!("```{language}\n");
        section.split(&begins).skip(1).map(|rest| rest.split("```").next().unwrap().to_string()).collect()
    };
    let (server, _folder) = served(&blocks("toml").concat(), &[("TOOLCRIB_SECRET", "secret-of-toolcrib")]);
    let output = blocks("sh").concat().replace("http://127.0.0.1:7878", &server.url(""));
    let mut shell = std::process::Command::new("sh");
    let ran = shell.args(["-ec", &output]).env("REPORTER_SECRET", "secret-of-the-reporter").output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{output}\n{told}\n{errors}");
    for part in [
        "401", "resource_metadata=", "\"resource\": \"", "# read_note", "HTTP/1.1 403",
        "tools:read tools:write", "written",
    ] {
        assert!(told.contains(part), "{part}: {told}\n{errors}");
    }
}
