//! Every way of identity at once, with known secrets. Afterwards everything that was said or written is searched for them.

mod search;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::blocking::Response;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::search::{files, search};
use super::browser::{Browser, Page};
use super::protected::Protected;
use super::protected_api::ProtectedApi;
use crate::fixture::{folder, program, text};
use crate::issuer::Issuer;
use crate::serve::{Server, client};

/// Secrets of the configuration, by their variables. They are values for tests.
const VARIABLES: [(&str, &str); 3] = [
    ("OPERATOR", "known-secret-token-of-the-operator"),
    ("ROBOT_SECRET", "known-secret-of-the-robot:%&/+"),
    ("PROXY_SECRET", "known-secret-of-the-proxy"),
];

/// The clients of the secrets, as HTTP's basic authentication has them.
const CLIENTS: [(&str, usize); 1] = [("robot", 1)];

const PERSON_SECRET: &str = "known-secret-of-an-agent";

/// One way to act towards each API, and for each a tool that repeats the token.
const WAYS: [&str; 2] = ["service", "caller"];

struct Everything {
    issuer: Arc<Issuer>,
    hosted: Protected,
    apis: Vec<ProtectedApi>,
    server: Server,
    catalog: TempDir,
    state: TempDir,
    /// Everything that was said, with the place where it was.
    said: Mutex<Vec<(String, String)>>,
    /// Secrets that came up on the way, such as cookies.
    found: Mutex<Vec<String>>,
}

fn tools() -> String {
    let tools = WAYS.iter().flat_map(|way| {
        ["who", "echo", "admin"].map(|path| {
            json!({"name": format!("{path}_{way}"), "effect": "read", "description": format!("Asks {path} as {way}."),
                "parameters": {"type": "object", "properties": {"api_token": {"type": "string"}}},
                "backend": {"type": "http", "server": way, "method": "GET", "path": format!("/{path}")}})
        })
    });
    Value::Array(tools.collect()).to_string()
}

fn config(issuer: &Issuer, hosted: &Protected, apis: &[ProtectedApi]) -> String {
    let mut config = format!(
        "[state]\nurl = \"state.db\"\n[exec]\nresult_bytes = 300\n[[source]]\npath = \"tools.json\"\n\
         [[source]]\nserver = \"hosted\"\nmcp = {{ url = \"{}\", auth = {{ shared = true }} }}\n\
         [[serve.token]]\nenv = \"OPERATOR\"\nname = \"operator\"\nroles = [\"*\"]\n\
         [[serve.issuer]]\nissuer = \"{}\"\naudience = [\"{audience}\"]\n\
         [serve.proxy]\nsecret = \"${{PROXY_SECRET}}\"\nroles = [\"reader\"]\n",
        hosted.url,
        issuer.url(),
        audience = apis[1].url,
    );
    for (way, api) in WAYS.iter().zip(apis) {
        let client = match *way {
            "caller" => String::new(),
            _ => format!(
                "issuer = \"{}\"\nclient_id = \"robot\"\nclient_secret = \"${{ROBOT_SECRET}}\"\n",
                issuer.url()
            ),
        };
        config.push_str(&format!(
            "[server.{way}]\nurl = \"{}\"\n[server.{way}.auth]\nas = \"{way}\"\n{client}",
            api.url
        ));
    }
    config
}

impl Everything {
    fn start() -> Self {
        let issuer = Arc::new(Issuer::start());
        issuer.register("robot", VARIABLES[1].1, &[]);
        issuer.register("agent", PERSON_SECRET, &[]);
        let hosted = Protected::start(&issuer, true);
        let apis: Vec<ProtectedApi> = WAYS.iter().map(|_| ProtectedApi::start(&issuer)).collect();
        let config = config(&issuer, &hosted, &apis);
        let catalog = folder(&[("tools.json", &tools()), ("toolcrib.toml", &config)]);
        let state = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str]| run(&catalog, &state, arguments);
        let mut said = vec![run(&["doctor"]), run(&["check"])];
        said.push(run(&["login", "hosted"]));
        assert!(said[2].1.contains("signed in at"), "{}", said[2].1);
        let home = [("XDG_STATE_HOME", text(state.path()))];
        let more = ["--log-level", "trace,rmcp=trace,hyper=trace", "--mode", "full"];
        let server = Server::process(text(catalog.path()), &more, &[&VARIABLES[..], &home].concat());
        let (said, found) = (Mutex::new(said), Mutex::default());
        Self { issuer, hosted, apis, server, catalog, state, said, found }
    }

    fn run(&self, arguments: &[&str]) -> String {
        let (place, text) = run(&self.catalog, &self.state, arguments);
        self.heard(&place, &text);
        text
    }

    fn heard(&self, place: &str, text: &str) {
        self.said.lock().unwrap().push((place.into(), text.into()));
    }

    /// The text of an answer. Cookies are for the browser, and are searched for elsewhere.
    fn told(&self, place: &str, answer: Response) -> String {
        let (status, headers) = (answer.status(), answer.headers().clone());
        let headers = headers.iter().filter(|(name, _)| *name != "set-cookie");
        let headers: String = headers.map(|(name, value)| format!("{name}: {value:?}\n")).collect();
        let text = answer.text().unwrap();
        self.heard(place, &format!("{status}\n{headers}\n{text}"));
        text
    }

    fn get(&self, path: &str, authorization: &str) -> String {
        let headers =
            [("authorization", authorization), ("accept", "text/html, application/json;q=0.9, */*")];
        let place = path.split('?').next().unwrap_or(path);
        self.told(place, self.server.get(path, &headers[usize::from(authorization.is_empty())..]))
    }

    fn post(&self, path: &str, token: &str, body: Value) -> String {
        let asking = self.server.posting(path, body).header("accept", "application/json, text/event-stream");
        let asking = asking.header("mcp-protocol-version", "2025-11-25").bearer_auth(token);
        let asking = if path == "/mcp" { asking } else { asking.header("x-session-id", "known-session") };
        self.told(path, asking.send().unwrap())
    }

    /// The outcome of a call through `tool_exec`.
    fn call(&self, tool: &str, token: &str) -> Value {
        let call = json!({ "op": tool, "args": {} });
        serde_json::from_str(&self.post("/v1/tool_exec", token, call)).unwrap()
    }

    /// A token of an issuer by client credentials.
    fn token(&self, issuer: &Issuer) -> String {
        let form =
            [("grant_type", "client_credentials"), ("resource", self.apis[1].url.as_str()), ("scope", "a")];
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let asking =
            client().post(format!("{}/token", issuer.url())).basic_auth("agent", Some(PERSON_SECRET));
        let asking = asking.header("content-type", "application/x-www-form-urlencoded").body(form);
        let answer: Value = asking.send().unwrap().json().unwrap();
        answer["access_token"].as_str().unwrap().to_string()
    }

    /// A page of this server in a browser; its cookies are secrets.
    fn page(&self, browser: &Browser, place: &str, page: &Page) {
        let headers = page.headers.iter().filter(|(name, _)| *name != "set-cookie");
        let headers: String = headers.map(|(name, value)| format!("{name}: {value:?}\n")).collect();
        self.heard(place, &format!("{headers}\n{}", page.text));
        for kind in ["toolcrib-session", "toolcrib-form"] {
            let cookie = browser.cookie(&self.server.url(""), kind);
            self.found.lock().unwrap().extend(cookie.map(|(_, value)| value));
        }
    }

    /// A person signs in with a token, looks around, and signs out.
    fn person(&self, signed: &str) {
        let mut browser = Browser::default();
        for token in [VARIABLES[0].1, "nobody-has-this-secret-token", signed] {
            let page = browser.open(&self.server.url("/sign-in"));
            self.page(&browser, "/sign-in", &page);
            let answer = browser.submit(&page, "/sign-in", &[("token", token), ("return", "/")]);
            self.page(&browser, "/sign-in", &answer);
            for path in ["/", "/tools/who_caller.html", "/search.html?q=who", "/sign-in", "/nothing"] {
                let page = browser.open(&self.server.url(path));
                self.page(&browser, path, &page);
            }
            let home = browser.open(&self.server.url("/"));
            if home.status == 200 {
                let out = browser.submit(&home, "/sign-out", &[]);
                self.page(&browser, "/sign-out", &out);
            }
        }
        let mut found = self.found.lock().unwrap();
        found.sort();
        found.dedup();
        assert!(found.len() >= 3, "two sessions and a browser");
    }

    /// Every value that must be nowhere.
    fn secrets(&self, more: &[String]) -> Vec<String> {
        let mut secrets: Vec<String> = VARIABLES.iter().map(|(_, value)| value.to_string()).collect();
        let basic = |(id, place): (&str, usize)| STANDARD.encode(format!("{id}:{}", VARIABLES[place].1));
        secrets.extend(CLIENTS.map(basic));
        secrets.push("nobody-has-this-secret-token".into());
        secrets.extend(self.issuer.given());
        for sent in self.issuer.received("/token") {
            let fields = form_urlencoded::parse(sent.as_bytes()).into_owned();
            let names = ["code_verifier", "client_secret", "refresh_token", "subject_token", "token"];
            secrets.extend(fields.filter(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value));
        }
        secrets.extend(self.found.lock().unwrap().iter().cloned());
        secrets.extend_from_slice(more);
        secrets.sort();
        secrets.dedup();
        secrets
    }
}

/// Runs the program to its end, as the person who owns this state: its place, and all that it said.
fn run(catalog: &TempDir, state: &TempDir, arguments: &[&str]) -> (String, String) {
    let is_logout = arguments.contains(&"--sign-out");
    let with_catalog = [arguments, &[text(catalog.path())]].concat();
    let mut command = program(if is_logout { arguments } else { &with_catalog });
    let browser = state.path().join("browser");
    if !browser.exists() {
        fs::write(&browser, "#!/bin/sh\ncurl -sL -o /dev/null \"$1\"\n").unwrap();
        #[cfg(unix)]
        fs::set_permissions(&browser, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    command.envs(VARIABLES).env("XDG_STATE_HOME", state.path()).env("BROWSER", &browser);
    command.env("RUST_LOG", "trace").env_remove("SSH_CONNECTION").env_remove("SSH_TTY");
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (format!("toolcrib {}", arguments.join(" ")), said.concat())
}

#[test]
#[ignore = "slow"]
fn no_secret_is_in_any_log_trace_error_metric_page_or_file() {
    let mut all = Everything::start();
    let (signed, opaque) = (all.token(&all.issuer), "known-opaque-token-of-nobody".to_string());
    let wrong = all.issuer.token().audience("https://elsewhere.example").sign();
    let old = all.issuer.token().audience(&all.apis[1].url).seconds(-7_000).sign();
    let operator = VARIABLES[0].1;

    // Calls in every way, and their results, errors and dry runs.
    for way in WAYS {
        let called = all.call(&format!("who_{way}"), &signed);
        assert_eq!(called["ok"], true, "{way}: {called}");
        let echoed = all.call(&format!("echo_{way}"), &signed);
        assert!(echoed["ok"] == true && echoed["result"].to_string().contains("[redacted]"), "{echoed}");
        all.call(&format!("admin_{way}"), &signed);
        all.call(&format!("who_{way}"), &opaque);
        all.call(&format!("who_{way}"), operator);
        let dry = json!({"op": format!("who_{way}"), "args": {"api_token": signed}, "dry_run": true});
        all.post("/v1/tool_exec", &signed, dry);
    }
    assert_eq!(all.call("whoami", &signed)["result"], "whoami for amy", "the sign-in of the operator");
    all.call("admin", &signed);
    for (method, params) in [
        ("tools/call", json!({"name": "echo_caller", "arguments": {}})),
        ("tools/call", json!({"name": "whoami", "arguments": {}})),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
    ] {
        for token in [&signed, &opaque, &wrong] {
            all.post("/mcp", token, json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        }
    }

    // Tokens that are refused, and tokens at places where none belongs.
    let forged = format!("{}x", &signed[..signed.len() - 3]);
    let basic = format!("Basic {}", STANDARD.encode(format!("agent:{signed}")));
    for authorization in [
        format!("Bearer {wrong}"),
        format!("Bearer {old}"),
        format!("Bearer {forged}"),
        format!("Bearer {opaque}{opaque}"),
        basic,
        String::new(),
    ] {
        all.get("/v1", &authorization);
        all.get("/mcp", &authorization);
        all.get("/", &authorization);
    }
    for path in ["/", "/mcp", "/v1/tool_search", "/tools/who_caller.md", "/sign-in", "/nothing"] {
        all.get(&format!("{path}?query=who&access_token={signed}&code={operator}"), "");
    }
    all.person(&signed);

    // A proxy, and somebody who pretends to be one.
    for secret in [VARIABLES[2].1, "nobody-has-this-secret-token"] {
        for path in ["/", "/v1", "/metrics"] {
            let headers = [("x-forwarded-user", "amy"), ("x-proxy-secret", secret), ("accept", "text/html")];
            all.told(path, all.server.get(path, &headers));
        }
    }

    // Pages and counters, for the operator too.
    for token in [operator, &signed] {
        for path in [
            "/metrics",
            "/readyz?verbose",
            "/v1",
            "/openapi.json",
            "/registry.json",
            "/findings.html",
            "/tools/README.md",
            "/tools/who_service.html",
            "/sessions/known-session/events.jsonl",
            "/.well-known/oauth-protected-resource/mcp",
        ] {
            all.get(path, &format!("Bearer {token}"));
        }
    }

    // Issuers that are gone, and a sign-in that cannot be prolonged.
    all.issuer.behave(|behaviour| behaviour.refuses_refresh = true);
    end_sign_in(all.state.path());
    let again = all.call("whoami", &signed);
    all.issuer.behave(|behaviour| behaviour.is_dead = true);
    for way in WAYS {
        all.call(&format!("who_{way}"), &signed);
        all.call(&format!("who_{way}"), &format!("{opaque}-unknown"));
    }
    for command in
        [&["doctor"][..], &["check"], &["trace", "--all", "--json"], &["usage"], &["approvals", "list"]]
    {
        all.run(command);
    }
    let call = json!({"op": "whoami", "args": {}}).to_string();
    all.run(&["call", "tool_exec", &call]);
    let sign_ins = files(&all.state.path().join("toolcrib/sign-ins"));
    all.run(&["login", "hosted", "--sign-out"]);
    assert!(again["ok"] == true || again["error"]["code"] == "SIGN_IN_REQUIRED", "{again}");
    all.server.terminate();
    assert!(all.server.ended(Duration::from_secs(20)).is_some());
    assert!(all.hosted.let_in() > 0);

    let mut places: Vec<(String, Vec<u8>)> = all
        .said
        .lock()
        .unwrap()
        .iter()
        .map(|(place, text)| (place.clone(), text.clone().into_bytes()))
        .collect();
    places.push(("the log".into(), all.server.log.lock().unwrap().clone().into_bytes()));
    places.extend(files(all.catalog.path()));
    places.extend(files(all.state.path()));
    let log = all.server.log.lock().unwrap().clone();
    assert!(log.contains("TRACE") && log.contains("/v1/tool_exec"), "the log has every detail");
    let secrets = all.secrets(&[wrong, old, opaque]);
    search(&places, &secrets);
    // The file of a sign-in has its tokens, and no secret of anybody else.
    let configured: Vec<String> = VARIABLES.iter().map(|(_, value)| value.to_string()).collect();
    search(&sign_ins, &configured);
    assert!(!sign_ins.is_empty() && secrets.len() > 15, "{} secrets", secrets.len());
}

/// Makes the token of the sign-in one that has ended.
fn end_sign_in(state: &Path) {
    for (path, bytes) in files(&state.join("toolcrib/sign-ins")) {
        if let Ok(mut stored) = serde_json::from_slice::<Value>(&bytes)
            && stored.get("received_at").is_some()
        {
            stored["received_at"] = 1.into();
            fs::write(path, stored.to_string()).unwrap();
        }
    }
}
