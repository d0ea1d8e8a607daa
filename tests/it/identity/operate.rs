//! Pages of the people who run the server, and attacks on them: self-approval, foreign forms, forged cookies, sessions of others.

use std::io::{Read, Write};
use std::net::TcpListener;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::blocking::Response;
use ring::hmac;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::browser::{Browser, Page};
use crate::fixture::{folder, text};
use crate::issuer::Issuer;
use crate::serve::{Server, client};

const TOOLS: &str = r#"[
  {"name": "pay", "op": "bank.pay", "effect": "destructive", "approval": true, "description": "Pay a bill.",
   "parameters": {"type": "object", "properties": {"to": {"type": "string"}, "pin": {"type": "string", "format": "password"}}},
   "backend": {"type": "static", "content": "paid"}},
  {"name": "balance", "op": "bank.balance", "effect": "read", "description": "Read the balance of an account.",
   "parameters": {"type": "object", "properties": {"account": {"type": "string"}}, "required": ["account"]},
   "backend": {"type": "static", "content": 7}},
  {"name": "vault", "op": "bank.vault", "effect": "read", "allowed_roles": ["boss"], "description": "Open the vault.",
   "parameters": {"type": "object", "properties": {}}, "backend": {"type": "static", "content": "gold"}}
]"#;
const CONFIG: &str = "[exec]\nallow = \"destructive\"\n[state]\nurl = \"state.db\"\n\
    [[serve.token]]\nenv = \"T_AGENT\"\nname = \"agent\"\nroles = [\"clerk\"]\n\
    [[serve.token]]\nenv = \"T_AMY\"\nname = \"amy\"\nroles = [\"clerk\"]\n\
    [[serve.token]]\nenv = \"T_ROOT\"\nname = \"root\"\nroles = [\"*\"]\n\
    [[serve.token]]\nenv = \"T_OTHER\"\nname = \"other-root\"\nroles = [\"*\"]\n";
const AGENT: &str = "agent-token-0123456789";
const AMY: &str = "amy-token-0123456789";
const ROOT: &str = "root-token-0123456789";
const OTHER: &str = "other-token-0123456789";
const VARIABLES: [(&str, &str); 4] =
    [("T_AGENT", AGENT), ("T_AMY", AMY), ("T_ROOT", ROOT), ("T_OTHER", OTHER)];

fn bank(more: &str) -> (Server, TempDir) {
    let folder = folder(&[("tools.json", TOOLS), ("toolcrib.toml", &format!("{CONFIG}{more}"))]);
    let secret = [("HOOK", "hook-secret")];
    let server = Server::start(text(folder.path()), &[], &[&VARIABLES[..], &secret].concat());
    (server, folder)
}

fn call(server: &Server, token: &str, session: &str, op: &str, args: Value) -> Value {
    let request = server.posting("/v1/tool_exec", json!({"op": op, "args": args}));
    let request = request.header("authorization", format!("Bearer {token}")).header("x-session-id", session);
    serde_json::from_str(&request.send().unwrap().text().unwrap()).unwrap()
}

/// Asks for a payment; the id of its approval.
fn ask(server: &Server, token: &str, to: &str) -> String {
    let answer = call(server, token, "s1", "bank.pay", json!({"to": to, "pin": "4711"}));
    answer["error"]["details"]["approval"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_string()
}

fn signed_in(server: &Server, token: &str) -> Browser {
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/"));
    let page = browser.submit(&page, "/sign-in", &[("token", token)]);
    assert_eq!(page.status, 200, "{}", page.text);
    browser
}

fn open(server: &Server, browser: &mut Browser, path: &str) -> Page {
    browser.open(&server.url(path))
}

/// Sends a form by hand, with these cookies and headers.
fn send(server: &Server, path: &str, headers: &[(&str, &str)], form: &str) -> Response {
    let request = client().post(server.url(path)).header("content-type", "application/x-www-form-urlencoded");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(form.to_string()).send().unwrap()
}

fn cookie_of(server: &Server, browser: &Browser) -> String {
    let (name, value) = browser.cookie(&server.url(""), "toolcrib-session").unwrap();
    format!("{name}={value}")
}

#[test]
fn an_operator_reads_all_of_a_call_and_approves_or_denies_it() {
    let (server, folder) = bank("");
    let (first, second) = (ask(&server, AGENT, "<b>bob</b>"), ask(&server, AGENT, "eve"));
    let mut root = signed_in(&server, ROOT);
    let list = open(&server, &mut root, "/approvals.html");
    assert!(list.text.contains("2 calls wait") && list.text.contains(&first), "{}", list.text);
    let page = open(&server, &mut root, &format!("/approvals/{first}"));
    for shown in
        ["&lt;b&gt;bob", "hidden: 4 bytes", "agent", ">destructive<", "tools/pay.html", "Nobody has approved"]
    {
        assert!(page.text.contains(shown), "{shown} in {}", page.text);
    }
    assert!(!page.text.contains("4711") && !page.text.contains("<b>bob"), "{}", page.text);
    let done = root.submit(&page, &first, &[("decision", "approve"), ("reason", "fine")]);
    assert!(done.status == 200 && done.text.contains("approved, not used yet"), "{}", done.text);
    let paid = call(&server, AGENT, "s1", "bank.pay", json!({"to": "<b>bob</b>", "pin": "4711"}));
    assert_eq!(paid["result"], "paid", "{paid}");
    let page = open(&server, &mut root, &format!("/approvals/{second}"));
    assert!(page.text.contains("The tool is the same as in"), "{}", page.text);
    root.submit(&page, &second, &[("decision", "deny"), ("reason", "not eve")]);
    let refused = call(&server, AGENT, "s1", "bank.pay", json!({"to": "eve", "pin": "4711"}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("not eve"), "{refused}");
    // The trace names the person, and a decision is made once.
    let session = open(&server, &mut root, "/sessions/s1?caller=agent");
    assert!(session.text.contains("denied, by root, not eve"), "{}", session.text);
    let again = root.submit(&page, &second, &[("decision", "approve")]);
    assert!(again.text.contains(">denied<"), "{}", again.text);
    drop(folder);
}

#[test]
fn what_changed_in_a_tool_since_the_last_yes_is_shown() {
    let (server, folder) = bank("");
    let first = ask(&server, AGENT, "bob");
    let mut root = signed_in(&server, ROOT);
    let page = open(&server, &mut root, &format!("/approvals/{first}"));
    root.submit(&page, &first, &[("decision", "approve")]);
    call(&server, AGENT, "s1", "bank.pay", json!({"to": "bob", "pin": "4711"}));
    let waiting = ask(&server, AGENT, "eve");
    drop(server);
    let changed = TOOLS
        .replace("Pay a bill.", "Pay any bill.")
        .replace("\"to\": {\"type\": \"string\"}", "\"to\": {\"type\": \"string\", \"maxLength\": 9}");
    crate::fixture::write(folder.path(), "tools.json", &changed);
    let server = Server::start(text(folder.path()), &[], &VARIABLES);
    let mut root = signed_in(&server, ROOT);
    let void = open(&server, &mut root, &format!("/approvals/{waiting}"));
    assert!(
        void.text.contains("cannot be approved") && !void.text.contains("value=\"approve\""),
        "{}",
        void.text
    );
    let refused = root.submit(&void, &waiting, &[("decision", "approve")]);
    assert_eq!(refused.status, 403, "{}", refused.text);
    let second = ask(&server, AGENT, "bob");
    let page = open(&server, &mut root, &format!("/approvals/{second}"));
    for shown in
        ["The tool has changed since", "/parameters/properties/to/maxLength", "Pay a bill.", "Pay any bill."]
    {
        assert!(page.text.contains(shown), "{shown} in {}", page.text);
    }
}

#[test]
fn attacks_on_an_approval_are_refused() {
    let (server, _folder) = bank("");
    let (id, own) = (ask(&server, AGENT, "eve"), ask(&server, ROOT, "eve"));
    let (mut root, mut other, mut amy) =
        (signed_in(&server, ROOT), signed_in(&server, OTHER), signed_in(&server, AMY));
    let path = format!("/approvals/{id}");
    let page = open(&server, &mut root, &path);
    let csrf = page.form(&id).into_iter().find(|(name, _)| name == "csrf").unwrap().1;
    let (yes, cookie) = (format!("csrf={csrf}&decision=approve"), cookie_of(&server, &root));
    let foreign = open(&server, &mut other, &path).form(&id)[0].1.clone();
    let forged = cookie.replace('.', "x.");
    let origin = server.url("");
    let (root_bearer, agent_bearer) = (format!("Bearer {ROOT}"), format!("Bearer {AGENT}"));
    type Attack<'a> = (&'a str, &'a str, Vec<(&'a str, &'a str)>, String);
    let attacks: [Attack<'_>; 9] = [
        ("no value in the form", &path, vec![("cookie", &cookie)], "decision=approve".into()),
        (
            "the value of another person",
            &path,
            vec![("cookie", &cookie)],
            format!("csrf={foreign}&decision=approve"),
        ),
        (
            "a page of another site",
            &path,
            vec![("cookie", &cookie), ("origin", "https://evil.example")],
            yes.clone(),
        ),
        (
            "a site that the browser names",
            &path,
            vec![("cookie", &cookie), ("sec-fetch-site", "cross-site")],
            yes.clone(),
        ),
        ("a forged cookie", &path, vec![("cookie", &forged), ("origin", &origin)], yes.clone()),
        ("no cookie", &path, vec![("origin", &origin)], yes.clone()),
        (
            "a token of an operator in place of a person",
            &path,
            vec![("authorization", &root_bearer)],
            yes.clone(),
        ),
        ("the token of the agent", &path, vec![("authorization", &agent_bearer)], yes.clone()),
        ("a GET", &path, vec![("cookie", &cookie)], String::new()),
    ];
    for (name, path, headers, form) in attacks {
        let answer = match name {
            "a GET" => server.get(&format!("{path}?decision=approve&csrf={csrf}"), &headers),
            _ => send(&server, path, &headers, &form),
        };
        assert!(
            name == "a GET" || [401, 403].contains(&answer.status().as_u16()),
            "{name}: {}",
            answer.status()
        );
        assert!(open(&server, &mut root, path).text.contains(">waiting<"), "{name}");
    }
    // Nobody decides about a call of their own: neither by the page nor by hand.
    let own_page = open(&server, &mut root, &format!("/approvals/{own}"));
    assert!(
        own_page.text.contains("This is your own call") && !own_page.text.contains("<textarea"),
        "{}",
        own_page.text
    );
    let answer =
        send(&server, &format!("/approvals/{own}"), &[("cookie", &cookie), ("origin", &origin)], &yes);
    assert_eq!(answer.status(), 403);
    assert!(open(&server, &mut root, &format!("/approvals/{own}")).text.contains(">waiting<"));
    assert!(
        open(&server, &mut other, &format!("/approvals/{own}")).text.contains("<textarea"),
        "somebody else does"
    );
    // A person who is not an operator sees no call of others, and decides about none.
    assert_eq!(open(&server, &mut amy, &path).status, 404);
    assert!(!open(&server, &mut amy, "/approvals.html").text.contains("bank.pay"));
    let asked = ask(&server, AMY, "eve");
    let page = open(&server, &mut amy, &format!("/approvals/{asked}"));
    assert!(page.text.contains("An operator decides") && !page.text.contains("<textarea"), "{}", page.text);
    let amys = page.form("/sign-out")[0].1.clone();
    let form = format!("csrf={amys}&decision=approve");
    let headers = [("cookie", &*cookie_of(&server, &amy)), ("origin", &*origin)];
    assert_eq!(send(&server, &path, &headers, &form).status(), 404);
    assert_eq!(send(&server, &format!("/approvals/{asked}"), &headers, &form).status(), 403);
    for path in
        ["/approvals.html", "/servers.html", "/sessions.html", "/usage.html", "/sessions/s1/events.jsonl"]
    {
        assert_eq!(server.get(path, &[]).status(), 401, "{path}");
    }
    assert_eq!(open(&server, &mut amy, "/servers.html").status, 403);
    assert!(
        !page.text.contains("servers.html") && open(&server, &mut root, "/").text.contains("servers.html")
    );
}

#[test]
fn a_failed_call_is_found_and_a_session_is_shown_in_order_and_exported() {
    let (server, _folder) = bank("");
    let search = server.posting("/v1/tool_search", json!({"query": "read balance"}));
    search.header("authorization", format!("Bearer {AGENT}")).header("x-session-id", "s-7").send().unwrap();
    call(&server, AGENT, "s-7", "bank.balance", json!({"account": "<i>1</i>"}));
    call(&server, AGENT, "s-7", "bank.balance", json!({}));
    call(&server, AMY, "s-8", "bank.balance", json!({"account": "2"}));
    let (mut root, mut amy) = (signed_in(&server, ROOT), signed_in(&server, AMY));
    let sessions = open(&server, &mut root, "/sessions.html").text;
    let place = |what: &str| sessions.find(what).unwrap_or_else(|| panic!("{what} in {sessions}"));
    assert!(
        place(">s-<wbr>8<") < place(">s-<wbr>7<") && sessions.contains("1 failed"),
        "the newest comes first"
    );
    let failed = open(&server, &mut root, "/sessions.html?outcome=failed&tool=balance").text;
    assert!(failed.contains("VALIDATION_ERROR") && failed.contains("sessions/s-7?caller=agent"), "{failed}");
    assert!(!failed.contains("s-8"), "{failed}");
    for (path, count) in [
        ("?outcome=failed", 1),
        ("?tool=balance", 3),
        ("?tool=balance&caller=amy", 1),
        ("?outcome=ok&caller=agent", 1),
        ("?tool=pay", 0),
        ("?outcome=failed&caller=amy", 0),
    ] {
        let text = open(&server, &mut root, &format!("/sessions.html{path}")).text;
        assert_eq!(text.matches("<li><p class=\"badges\">").count(), count, "{path}: {text}");
    }
    let session = open(&server, &mut root, "/sessions/s-7?caller=agent").text;
    let order =
        ["id=\"e1\"", ">search<", "read balance", "id=\"e2\"", "&lt;i&gt;1", "id=\"e3\"", "VALIDATION_ERROR"];
    let places: Vec<_> = order
        .iter()
        .map(|what| session.find(what).unwrap_or_else(|| panic!("{what} in {session}")))
        .collect();
    assert!(places.is_sorted() && session.contains(" tokens") && session.contains(" ms"), "{session}");
    let lines = open(&server, &mut root, "/sessions/s-7/events.jsonl?caller=agent");
    let events: Vec<Value> = lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.iter().map(|event| &event["id"]).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(lines.header("content-type"), "application/jsonl");
    let usage = open(&server, &mut root, "/usage.html").text;
    assert!(usage.contains("<td>3</td><td>1</td><td>1</td>"), "{usage}");
    // Everybody else sees their own.
    let own = open(&server, &mut amy, "/sessions.html").text;
    assert!(own.contains(">s-<wbr>8<") && !own.contains("s-<wbr>7"), "{own}");
    for path in [
        "/sessions/s-7",
        "/sessions/s-7?caller=agent",
        "/sessions/s-7/events.jsonl?caller=agent",
        "/sessions/none",
    ] {
        assert_eq!(open(&server, &mut amy, path).status, 404, "{path}");
    }
    for path in [
        "/sessions.html?tool=balance&caller=agent",
        "/sessions.html?caller=agent",
        "/sessions.html?outcome=failed",
    ] {
        let text = open(&server, &mut amy, path).text;
        assert!(!text.contains("s-7") && !text.contains("VALIDATION_ERROR</span>"), "{path}: {text}");
    }
    let usage = open(&server, &mut amy, "/usage.html?caller=agent").text;
    assert!(usage.contains("Nothing was called"), "{usage}");
    assert!(open(&server, &mut amy, "/usage.html").text.contains("<td>1</td><td>0</td>"));
    // A tool of another role is nowhere.
    call(&server, ROOT, "s-9", "bank.vault", json!({}));
    for path in ["/sessions.html", "/sessions.html?tool=vault", "/usage.html", "/approvals.html"] {
        let text =
            open(&server, &mut amy, path).text.replace("value=\"vault\"", "").replace("tool=vault", "");
        assert!(!text.contains("vault"), "{path}: {text}");
    }
    assert!(open(&server, &mut root, "/usage.html").text.contains("vault"));
}

#[test]
fn an_operator_of_one_tenant_sees_nothing_of_another() {
    let issuer = Issuer::start();
    let config = format!(
        "[exec]\nallow = \"destructive\"\n[state]\nurl = \"state.db\"\n[[serve.issuer]]\nissuer = \"{}\"\ntenant = \"tid\"\n\
         [[serve.issuer.grant]]\nscope = \"ops\"\nroles = [\"*\"]\nallow = \"destructive\"\n\
         [[serve.issuer.grant]]\nscope = \"call\"\nallow = \"destructive\"\n",
        issuer.url()
    );
    let folder = folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
    let server = Server::start(text(folder.path()), &[], &[]);
    let token = |tenant: &str, name: &str, scope: &str| {
        let token = issuer.token().audience(&server.url("")).scope(scope).claim("sub", name);
        token.claim("tid", tenant).sign()
    };
    let (one, two) = (token("one", "bot", "call"), token("two", "bot", "call"));
    let (of_one, of_two) = (ask(&server, &one, "bob"), ask(&server, &two, "eve"));
    let mut boss = signed_in(&server, &token("one", "boss", "ops"));
    let place = issuer.url().replace("https://", "");
    for (path, own, other) in [
        ("/approvals.html".to_string(), of_one.as_str(), of_two.as_str()),
        ("/sessions.html".into(), "one/bot", "two/bot"),
        ("/sessions.html?outcome=waiting".into(), "one/bot", "two/bot"),
    ] {
        let text = open(&server, &mut boss, &path).text.replace("&#x2F;", "/");
        assert!(text.contains(own) && !text.contains(other), "{path}: {text}");
    }
    let caller = |tenant: &str| format!("{tenant}%2Fbot%40{}", place.replace('/', "%2F"));
    assert_eq!(open(&server, &mut boss, &format!("/sessions/s1?caller={}", caller("one"))).status, 200);
    for path in [
        format!("/sessions/s1?caller={}", caller("two")),
        format!("/sessions/s1/events.jsonl?caller={}", caller("two")),
        format!("/approvals/{of_two}"),
    ] {
        assert_eq!(open(&server, &mut boss, &path).status, 404, "{path}");
    }
    let page = open(&server, &mut boss, &format!("/approvals/{of_one}"));
    let csrf = page.form(&of_one)[0].1.clone();
    let (cookie, origin) = (cookie_of(&server, &boss), server.url(""));
    let form = format!("csrf={csrf}&decision=approve");
    let headers = [("cookie", &*cookie), ("origin", &*origin)];
    assert_eq!(send(&server, &format!("/approvals/{of_two}"), &headers, &form).status(), 404);
    assert_eq!(send(&server, &format!("/approvals/{of_one}"), &headers, &form).status(), 303);
}

#[test]
fn a_call_that_waits_is_announced_with_a_signature_and_without_its_arguments() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hook = format!(
        "[approval]\nwebhook = \"http://{}/hook\"\nsecret = \"${{HOOK}}\"\n[serve]\npublic_url = \"http://127.0.0.1:9\"\n",
        listener.local_addr().unwrap()
    );
    // The tables of tokens come last.
    let (settings, tokens) = CONFIG.split_once("[[serve.token]]").unwrap();
    let config = format!("{settings}{hook}[[serve.token]]{tokens}");
    let folder = folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
    let variables = [&VARIABLES[..], &[("HOOK", "hook-secret")]].concat();
    let server = Server::start(text(folder.path()), &[], &variables);
    let id = ask(&server, AGENT, "eve");
    // The first attempt fails, and the notice is sent again.
    let mut requests = Vec::new();
    for status in ["503 Busy", "204 No Content"] {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        let text = loop {
            let count = stream.read(&mut buffer).unwrap();
            bytes.extend_from_slice(&buffer[..count]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if text.contains("\r\n\r\n") && text.trim_end().ends_with('}') {
                break text;
            }
        };
        write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        requests.push(text);
    }
    let (head, body) = requests[1].split_once("\r\n\r\n").unwrap();
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"hook-secret");
    let signed = format!("{}.{}.{body}", header("webhook-id"), header("webhook-timestamp"));
    let own = header("webhook-signature").strip_prefix("v1,").unwrap();
    hmac::verify(&key, signed.as_bytes(), &STANDARD.decode(own).unwrap()).unwrap();
    let told: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&told["id"], &told["op"], &told["effect"]),
        (&json!(id), &json!("bank.pay"), &json!("destructive"))
    );
    assert_eq!(told["url"], format!("http://127.0.0.1:9/approvals/{id}"));
    assert!(!body.contains("eve") && !body.contains("4711"), "{body}");
}
