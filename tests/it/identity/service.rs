//! Credentials of a service, and tokens of callers that are passed on.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::protected::Protected;
use super::protected_api::ProtectedApi;
use crate::fixture;
use crate::issuer::Issuer;
use crate::serve::Server;

mod page;

/// The secret of the client, and the variable that holds it.
const SECRET: &str = "test-secret-of-the-robot:%&";
const VARIABLES: [(&str, &str); 2] = [("ROBOT_SECRET", SECRET), ("T_AMY", "static-token-of-amy")];

/// Tools of the API.
const TOOLS: &str = r#"[
  {"name": "who", "effect": "read", "description": "Say who calls.", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "http", "server": "api", "method": "GET", "path": "/who"}},
  {"name": "admin", "effect": "write", "description": "Administrate.", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "http", "server": "api", "method": "POST", "path": "/admin"}},
  {"name": "echo", "effect": "read", "description": "Repeat the request.", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "http", "server": "api", "method": "GET", "path": "/echo"}}
]"#;

/// Tools of an MCP server, as its author published them.
const DUMP: &str = r#"{"tools": [{"name": "whoami", "description": "Says whoami.", "inputSchema": {"type": "object"},
  "annotations": {"readOnlyHint": true}}]}"#;

/// An issuer that knows the client of toolcrib, and two people.
fn issuer() -> Arc<Issuer> {
    let issuer = Issuer::start();
    issuer.register("robot", SECRET, &[]);
    for person in ["amy", "bob"] {
        issuer.register(person, "test-secret-of-a-person", &[]);
    }
    Arc::new(issuer)
}

/// A server in front of an API, with these settings of its `auth`.
fn before_api(api: &ProtectedApi, issuer: &Issuer, auth: &str) -> (Server, TempDir) {
    let auth = auth.replace("ISSUER", issuer.url());
    served(&format!(
        "[exec]\nallow = \"write\"\n[server.api]\nurl = \"{}\"\n[server.api.auth]\n{auth}\n",
        api.url
    ))
}

fn served(config: &str) -> (Server, TempDir) {
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", config)]);
    (start(&folder), folder)
}

fn start(folder: &TempDir) -> Server {
    Server::process(fixture::text(folder.path()), &["--log-level", "trace"], &VARIABLES)
}

const ROBOT: &str =
    "as = \"service\"\nissuer = \"ISSUER\"\nclient_id = \"robot\"\nclient_secret = \"${ROBOT_SECRET}\"";
/// The envelope of a call with this token.
fn call(server: &Server, tool: &str, token: &str) -> Value {
    let asking = server.posting("/v1/tool_exec", json!({ "op": tool, "args": {} }));
    let asking = match token {
        "" => asking,
        token => asking.header("authorization", format!("Bearer {token}")),
    };
    serde_json::from_str(&asking.send().unwrap().text().unwrap()).unwrap()
}

/// The token that the issuer gives a person for a resource.
fn token_of(issuer: &Issuer, person: &str, resource: &str) -> String {
    scoped_token_of(issuer, person, resource, "")
}

fn scoped_token_of(issuer: &Issuer, person: &str, resource: &str, scope: &str) -> String {
    let form = [
        ("scope", scope),
        ("grant_type", "client_credentials"),
        ("client_id", person),
        ("client_secret", "test-secret-of-a-person"),
        ("resource", resource),
    ];
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let answer = crate::serve::client().post(format!("{}/token", issuer.url())).body(form).send().unwrap();
    let answer: Value = serde_json::from_str(&answer.text().unwrap()).unwrap();
    answer["access_token"].as_str().unwrap().to_string()
}

/// The fields of the last form that was sent to the token endpoint.
fn last_form(issuer: &Issuer) -> Vec<(String, String)> {
    let sent = issuer.received("/token");
    form_urlencoded::parse(sent.last().unwrap().as_bytes()).into_owned().collect()
}

fn field<'f>(form: &'f [(String, String)], name: &str) -> Option<&'f str> {
    form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

#[track_caller]
fn assert_nowhere(server: &Server, secrets: &[&str]) {
    let log = server.log.lock().unwrap();
    for secret in secrets {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[test]
fn a_service_has_one_token_for_many_calls() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    issuer.behave(|behaviour| behaviour.delay_ms = 100);
    let (server, _folder) = before_api(&api, &issuer, ROBOT);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..12).map(|_| scope.spawn(|| call(&server, "who", ""))).collect();
        for called in calls {
            let envelope = called.join().unwrap();
            assert_eq!(envelope["result"]["sub"], "robot", "{envelope}");
        }
    });
    assert_eq!(issuer.requests("/token"), 1);
    let form = last_form(&issuer);
    assert_eq!(field(&form, "grant_type"), Some("client_credentials"));
    assert_eq!(field(&form, "resource"), Some(api.url.as_str()));
    assert_eq!(field(&form, "client_secret"), None, "the proof is in the header");
    let token = api.seen().pop().unwrap();
    assert_nowhere(&server, &[SECRET, token.trim_start_matches("Bearer ")]);
}

#[test]
fn a_client_can_ask_for_an_audience() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    let settings = format!(
        "{}\naudience = \"{}\"\nscopes = [\"a\", \"b\"]\n",
        ROBOT.replace("issuer = \"ISSUER\"", "token_url = \"ISSUER/token\""),
        api.url
    );
    let (server, _folder) = before_api(&api, &issuer, &settings);
    assert_eq!(call(&server, "who", "")["result"]["sub"], "robot");
    let form = last_form(&issuer);
    assert_eq!(field(&form, "client_secret"), None, "the proof is in the header");
    assert_eq!(field(&form, "audience"), Some(api.url.as_str()));
    assert_eq!(field(&form, "resource"), None, "the audience says it");
    assert_eq!(field(&form, "scope"), Some("a b"));
    assert_eq!(issuer.requests("/.well-known/oauth-authorization-server"), 0);
}

#[test]
fn a_refused_token_is_replaced_once_and_the_call_goes_on() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    let (server, _folder) = before_api(&api, &issuer, ROBOT);
    assert_eq!(call(&server, "who", "")["result"]["sub"], "robot");
    let first = api.seen().pop().unwrap();
    let revoked = format!("token={}", first.trim_start_matches("Bearer "));
    crate::serve::client().post(format!("{}/revoke", issuer.url())).body(revoked).send().unwrap();
    assert_eq!(call(&server, "who", "")["result"]["sub"], "robot");
    assert_eq!(issuer.requests("/token"), 2);
    let seen = api.seen();
    assert_eq!((seen.len(), &seen[0]), (2, &first));
    assert_ne!(seen[1], first);
}

#[test]
fn a_service_asks_for_the_scope_that_a_call_needs_and_keeps_it() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    let (server, _folder) = before_api(&api, &issuer, &format!("{ROBOT}\nscopes = [\"api:read\"]"));
    assert_eq!(call(&server, "who", "")["ok"], true);
    assert_eq!(call(&server, "admin", "")["ok"], true);
    assert_eq!(field(&last_form(&issuer), "scope"), Some("api:read api:admin"));
    assert_eq!(call(&server, "admin", "")["ok"], true);
    assert_eq!(issuer.requests("/token"), 2);
    // An issuer that does not give the scope is asked once more, not again and again.
    issuer.behave(|behaviour| behaviour.gives_scopes = Some(Vec::new()));
    let (server, _folder) = before_api(&api, &issuer, ROBOT);
    for _ in 0..3 {
        let refused = call(&server, "admin", "");
        assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
    }
    assert!(issuer.requests("/token") <= 2 + 2, "{}", issuer.requests("/token"));
}

#[test]
fn a_token_that_an_api_repeats_is_hidden() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    let (server, _folder) = before_api(&api, &issuer, ROBOT);
    let envelope = call(&server, "echo", "");
    let token = api.seen().pop().unwrap();
    assert_eq!(envelope["result"], "Bearer [redacted]", "{envelope}");
    assert!(!envelope.to_string().contains(token.trim_start_matches("Bearer ")));
    let preview = server.posting("/v1/tool_exec", json!({ "op": "who", "args": {}, "dry_run": true }));
    assert!(preview.send().unwrap().text().unwrap().contains(r#""authorization":"[redacted]""#));
}

#[test]
fn a_token_request_follows_no_redirect_and_ends_in_time() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    let (server, _folder) = before_api(&api, &issuer, ROBOT);
    issuer.behave(|behaviour| behaviour.redirects_token_to = Some(format!("{}/stolen", api.url)));
    let refused = call(&server, "who", "");
    assert!(refused["error"]["message"].as_str().unwrap().contains("redirects"), "{refused}");
    assert_eq!(api.seen(), Vec::<String>::new(), "neither the call nor the secret came here");
    issuer.behave(|behaviour| behaviour.redirects_token_to = None);
    issuer.behave(|behaviour| behaviour.is_dead = true);
    let refused = call(&server, "who", "");
    assert!(refused["error"]["message"].as_str().unwrap().contains("503"), "{refused}");
    issuer.behave(|behaviour| behaviour.is_dead = false);
    assert_eq!(call(&server, "who", "")["ok"], true);
    issuer.behave(|behaviour| behaviour.delay_ms = 60_000);
    let (server, _folder) =
        before_api(&api, &issuer, &format!("{ROBOT}\n[server.other]\nurl = \"http://127.0.0.1:9\""));
    let config = std::fs::read_to_string(_folder.path().join("toolcrib.toml")).unwrap();
    let config = config.replace("[server.api]\n", "[server.api]\ntimeout_seconds = 1\n");
    drop(server);
    let (server, _folder) = served(&config);
    let refused = call(&server, "who", "");
    assert!(refused["error"]["message"].as_str().unwrap().contains("in time"), "{refused}");
}

#[test]
fn an_issuer_that_refuses_is_named_and_one_failure_is_for_all_that_waited() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    issuer.behave(|behaviour| behaviour.delay_ms = 300);
    let settings = ROBOT.replace("client_id = \"robot\"", "client_id = \"nobody\"");
    let (server, _folder) = before_api(&api, &issuer, &settings);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..6).map(|_| scope.spawn(|| call(&server, "who", ""))).collect();
        for called in calls {
            let refused = called.join().unwrap();
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(message.contains("401: invalid_client"), "{refused}");
            assert!(message.contains("`client_id` or its `client_secret` is wrong"), "{refused}");
            let next = refused["error"]["next_action"].as_str().unwrap();
            assert!(next.contains("`auth` of the server `api`"), "{refused}");
            assert!(!refused.to_string().contains(SECRET));
        }
    });
    assert!(issuer.requests("/token") < 6, "{}", issuer.requests("/token"));
    assert_nowhere(&server, &[SECRET]);
}

#[test]
fn an_unknown_issuer_is_answered_with_what_was_asked_for_and_what_to_do() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    let settings = ROBOT.replace("\"ISSUER\"", "\"ISSUER/tenant\"");
    let (server, _folder) = before_api(&api, &issuer, &settings);
    let refused = call(&server, "who", "");
    let message = refused["error"]["message"].as_str().unwrap();
    for part in [
        "404",
        "/.well-known/oauth-authorization-server/tenant",
        "/tenant/.well-known/openid-configuration",
        "correct `issuer`, or set `token_url`",
    ] {
        assert!(message.contains(part), "{part}: {refused}");
    }
    assert!(!message.contains("127.0.0.1"), "{refused}");
}

#[test]
fn metadata_of_another_issuer_is_refused_before_the_secret_is_sent() {
    let issuer = issuer();
    let api = ProtectedApi::start(&issuer);
    issuer.behave(|behaviour| behaviour.claims_issuer = Some("https://other.example".into()));
    let (server, _folder) = before_api(&api, &issuer, ROBOT);
    let refused = call(&server, "who", "");
    assert!(refused["error"]["message"].as_str().unwrap().contains("another issuer"), "{refused}");
    assert_eq!(issuer.requests("/token"), 0);
}

/// A server in front of a protected MCP server whose tools are listed.
fn before_mcp(hosted: &Protected, issuer: &Issuer, auth: &str, more: &str) -> (Server, TempDir) {
    let auth = auth.replace("ISSUER", issuer.url()).replace('\n', ", ");
    served(&format!(
        "[[source]]\nserver = \"hosted\"\nmcp = {{ url = \"{}\", auth = {{ {auth} }} }}\n{more}",
        hosted.url
    ))
}

#[test]
fn a_service_lists_and_calls_the_tools_of_a_hosted_server_in_both_wires() {
    for is_newer in [true, false] {
        let issuer = issuer();
        let hosted = Protected::start(&issuer, is_newer);
        // The server itself names its issuer.
        let settings = ROBOT.replace("issuer = \"ISSUER\"\n", "");
        let settings = format!("{settings}\nscopes = [\"tools:read\"]");
        let (server, _folder) =
            before_mcp(&hosted, &issuer, &settings, "[exec.trust_hints]\nhosted = \"always\"\n");
        assert_eq!(call(&server, "whoami", "")["result"], "whoami for robot");
        assert_eq!(field(&last_form(&issuer), "resource"), Some(hosted.url.as_str()));
        assert_eq!(issuer.requests("/token"), 1);
        // More scopes are asked for where a tool needs them.
        assert_eq!(call(&server, "admin", "")["result"], "admin for robot");
        assert_eq!(issuer.requests("/token"), 2);
        assert_nowhere(&server, &[SECRET]);
    }
}

#[test]
fn the_token_of_the_caller_is_passed_on_to_the_server_that_it_is_for() {
    let issuer = issuer();
    let hosted = Protected::start(&issuer, true);
    let api = ProtectedApi::start(&issuer);
    let config = format!(
        "[[source]]\npath = \"tools.json\"\n[[source]]\npath = \"dump.json\"\nserver = \"hosted\"\n\
         [server.hosted]\nurl = \"{}\"\n[server.hosted.auth]\nas = \"caller\"\n\
         [server.api]\nurl = \"{}\"\n[server.api.auth]\nas = \"caller\"\n\
         [[serve.issuer]]\nissuer = \"{}\"\naudience = [\"{}\", \"{}\"]\n[[serve.token]]\nenv = \"T_AMY\"\n",
        hosted.url,
        api.url,
        issuer.url(),
        hosted.url,
        api.url
    );
    let folder = fixture::folder(&[("tools.json", TOOLS), ("dump.json", DUMP), ("toolcrib.toml", &config)]);
    let server = start(&folder);
    for person in ["amy", "bob"] {
        assert_eq!(call(&server, "who", &token_of(&issuer, person, &api.url))["result"]["sub"], person);
        let token = &scoped_token_of(&issuer, person, &hosted.url, "tools:read");
        let envelope = call(&server, "whoami", token);
        assert_eq!(envelope["result"], format!("whoami for {person}"), "{envelope}");
        // The token is for another server: this one refuses it, and says so.
        api.seen();
        let refused = call(&server, "who", token);
        assert_eq!(refused["ok"], false);
        assert!(refused["error"]["message"].as_str().unwrap().contains("token of the caller"), "{refused}");
        assert_nowhere(&server, &[token]);
    }
    // Our own tokens are not passed on.
    api.seen();
    for tool in ["who", "whoami"] {
        let refused = call(&server, tool, "static-token-of-amy");
        assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
        assert!(refused["error"]["next_action"].as_str().unwrap().contains("token of its own"), "{refused}");
    }
    assert_eq!(api.seen(), Vec::<String>::new());
}

#[test]
fn headers_of_the_caller_reach_a_live_source() {
    let issuer = issuer();
    let hosted = Protected::start(&issuer, true);
    let headers = "Authorization = \"Bearer ${LISTS}\", X-Tenant = \"${caller:X-Tenant}\"";
    let config = format!(
        "[[source]]\nserver = \"hosted\"\nmcp = {{ url = \"{}\", headers = {{ {headers} }} }}\n",
        hosted.url
    );
    let folder = fixture::folder(&[("toolcrib.toml", &config)]);
    let token = scoped_token_of(&issuer, "amy", &hosted.url, "tools:read");
    let server = Server::start(fixture::text(folder.path()), &[], &[("LISTS", &token)]);
    let called = |tenant: &str| -> Value {
        let asking = server.posting("/v1/tool_exec", json!({ "op": "whoami", "args": {} }));
        let asking = if tenant.is_empty() { asking } else { asking.header("x-tenant", tenant) };
        serde_json::from_str(&asking.send().unwrap().text().unwrap()).unwrap()
    };
    assert_eq!(called("acme")["result"], "whoami for amy");
    assert_eq!(called("")["error"]["code"], "PERMISSION_DENIED");
}
