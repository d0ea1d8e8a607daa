//! Hidden tools leave no trace: servers with hidden tools, with edited ones and with none give byte for byte the same
//! answers, headers included.

mod names;
mod news;
mod profiles;
mod requests;

use std::io::Read;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use regex::Regex;
use reqwest::blocking::Response;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{self, folder, package, text, write};
use crate::serve::{Server, client};
use requests::{Asked, about};

pub const GUEST: &str = "guest-token-0123456789";
pub const ADMIN: &str = "admin-token-0123456789";

/// Tools that everybody sees.
const VISIBLE: &str = r#"[
  {"name": "get_user", "category": "People", "description": "Read the profile of a person: name, team and mail address.", "effect": "read",
   "aliases": ["whois"], "backend": {"type": "static", "content": {"name": "Ada"}},
   "parameters": {"type": "object", "properties": {"id": {"type": "string", "description": "Who."}}, "required": ["id"]}},
  {"name": "list_users", "category": "People", "description": "List all people of a team, sorted by name.", "effect": "read",
   "backend": {"type": "static", "content": [1, 2, 3]}, "parameters": {"type": "object", "properties": {"team": {"type": "string"}}}},
  {"name": "rename_user", "category": "People", "description": "Change the name of a person everywhere.", "effect": "write",
   "backend": {"type": "static", "content": "ok"}, "parameters": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}, "required": ["id"]}},
  {"name": "refund", "op": "billing.refund", "category": "Billing", "description": "Pay money back to a customer.", "allowed_roles": ["admin"], "when_forbidden": "visible",
   "parameters": {"type": "object", "properties": {"amount": {"type": "integer", "description": "Zanzibar."}}}}
]"#;

/// Tools that only administrators see: their names meet those of others, and their words those of queries.
const HIDDEN: &str = r#"[
  {"name": "Get_User", "op": "vault.person", "category": "People", "allowed_roles": ["admin"], "aliases": ["whos"], "description": "Read the secret file of a person.",
   "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}},
  {"name": "get-user", "category": "Vault/Secrets", "allowed_roles": ["admin"], "description": "Unseal a person.", "parameters": {"type": "object"}},
  {"name": "whois", "category": "Vault", "allowed_roles": ["admin"], "description": "Whose key this is.", "parameters": {"type": "object"}},
  {"name": "read_vault", "category": ["Vault/Secrets", "People"], "tags": ["vault"], "allowed_roles": ["admin"], "effect": "read",
   "description": "Read the profile of a person from the vault: name, team and mail address.", "backend": {"type": "static", "content": 1},
   "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}},
  {"name": "list_secrets", "category": "People", "allowed_roles": ["admin", "ops"], "description": "List all secrets of a team.", "parameters": {"type": "object"}}
]"#;

/// The same after an edit: other words, other schemas, one tool less and one more.
const EDITED: &str = r#"[
  {"name": "Get_User", "op": "vault.people", "category": "People", "allowed_roles": ["admin"], "aliases": ["who"], "description": "Rename a user, list users, pay back.",
   "parameters": {"type": "object", "properties": {"team": {"type": "integer"}}}},
  {"name": "list_users", "category": "Vault/Keys", "allowed_roles": ["admin"], "description": "Keys.", "parameters": {"type": "object"}},
  {"name": "read_vault", "category": ["Vault/Secrets"], "allowed_roles": ["admin"], "description": "Quaxolotl of the vault.", "parameters": {"type": "object"}},
  {"name": "wipe_vault", "category": "People", "allowed_roles": ["ops"], "description": "Wipe.", "effect": "destructive", "parameters": {"type": "object"}},
  {"name": "list_secrets", "category": "People", "allowed_roles": ["admin"], "description": "List all secrets of a person, name, team and mail address.", "parameters": {"type": "object"}}
]"#;

pub const CONFIG: &str = "title = \"Company\"\n\n[exec]\nallow = \"write\"\n\n\
    [[category]]\npath = \"People\"\nsummary = \"Who works here\"\n\n\
    [[serve.token]]\nenv = \"T_GUEST\"\nroles = [\"guest\"]\n\n[[serve.token]]\nenv = \"T_ADMIN\"\nroles = [\"*\"]\n";
/// The same with what the operator says of hidden tools.
const MORE: &str = "\n[[category]]\npath = \"Vault/Secrets\"\nsummary = \"Keys of the house\"\n\n\
    [[overlay]]\nmatch = \"read_vault\"\ntags = [\"sealed\"]\n";

/// A server with these tokens, whose words are ready to be searched.
pub fn serve(folder: &TempDir, more: &[&str]) -> Server {
    let server = Server::start(text(folder.path()), more, &[("T_GUEST", GUEST), ("T_ADMIN", ADMIN)]);
    let end = Instant::now() + Duration::from_secs(60);
    while [GUEST, ADMIN].iter().any(|token| detail(&server, token)["search"] != "ready") {
        assert!(Instant::now() < end, "{}", server.log.lock().unwrap());
        std::thread::sleep(Duration::from_millis(30));
    }
    server
}

fn detail(server: &Server, token: &str) -> Value {
    server.json_of("/readyz?verbose", &[("authorization", &format!("Bearer {token}"))])
}

/// Asks a server; what the answer is, but for what differs from call to call.
fn answered(server: &Server, asked: &Asked, token: &str) -> String {
    let url = server.url(asked.path.as_str());
    let mut asking = match &asked.body {
        Some(body) => client().post(url).header("content-type", "application/json").body(body.to_string()),
        None => client().get(url),
    };
    for (name, value) in &asked.headers {
        asking = asking.header(name, value);
    }
    written(asking.header("authorization", format!("Bearer {token}")).send().unwrap(), &server.address)
}

/// Status, headers and body without the time, trace ids and the port.
fn written(response: Response, address: &str) -> String {
    let status = response.status();
    let headers = response.headers().iter().filter(|(name, _)| *name != "date");
    let headers: Vec<String> =
        headers.map(|(name, value)| masked(&format!("{name}: {}", value.to_str().unwrap())).0).collect();
    let is_compressed = headers.iter().any(|header| header == "content-encoding: gzip");
    let bytes = response.bytes().unwrap();
    let mut whole = Vec::new();
    match is_compressed {
        true => drop(GzDecoder::new(&*bytes).read_to_end(&mut whole).unwrap()),
        false => whole.extend_from_slice(&bytes),
    }
    let body = String::from_utf8_lossy(&whole).into_owned();
    let (text, is_timed) = masked(&body.replace(address, "HOST"));
    // A page with the address of its server, or a form of it, has a tag and a length of its own.
    let is_own = |header: &&String| {
        (is_timed || text.contains("HOST"))
            && ["content-length", "etag"].iter().any(|name| header.starts_with(name))
    };
    let told = headers.iter().filter(|header| !is_own(header));
    let told: Vec<&str> = told.map(String::as_str).collect();
    format!("{status}\n{}\n\n{}", told.join("\n").replace(address, "HOST"), text)
}

/// Without the ids of traces and sessions, the values of forms and times, and whether there were any.
fn masked(body: &str) -> (String, bool) {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
        let ids = "(?:tr|s)_[0-9a-z]{12}";
        // The tokens of an answer count the digits of its time.
        let times =
            r#"(\\?"(?:(?:toolcrib/)?latency_ms|latency_us|at)\\?": ?)[0-9.]+(?:,\\?"tokens\\?": ?[0-9]+)?"#;
        // Numbers of events are made of their times.
        let numbers = r#"("id":)[0-9]{16}"#;
        // The number of checks that the server is ready counts as well.
        let metrics = r#"(_duration_seconds|_body_bytes_total|route="health")\S* [0-9.e-]+"#;
        let forms = r#"(name="csrf" value=")[0-9a-f]{64}"#;
        Regex::new(&format!("{ids}|{times}|{metrics}|{numbers}|{forms}")).unwrap()
    });
    let masked = PATTERN.replace_all(body, "$1$2$3$4").into_owned();
    let is_timed = masked != body;
    (masked, is_timed)
}

/// Checks that these servers give a guest the same answers.
#[track_caller]
fn assert_same(asked: &[Asked], without: &Server, with: &[(&str, &Server)]) {
    let mut differ = Vec::new();
    for asked in asked {
        let expected = answered(without, asked, GUEST);
        for (name, server) in with {
            let got = answered(server, asked, GUEST);
            differ.extend(difference(&got, &expected).map(|how| format!("{asked:?}, {name} hidden: {how}")));
        }
    }
    assert!(differ.is_empty(), "{} answers differ: {:#?}", differ.len(), &differ[..differ.len().min(9)]);
}

/// Where two answers part.
fn difference(got: &str, expected: &str) -> Option<String> {
    let at = got.bytes().zip(expected.bytes()).position(|(one, other)| one != other);
    let at = at.or((got.len() != expected.len()).then(|| got.len().min(expected.len())))?;
    let around = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(90)..text.len().min(at + 60)]).into_owned()
    };
    Some(format!("{:?} instead of {:?}", around(got), around(expected)))
}

#[test]
#[ignore = "slow"]
fn hidden_tools_leave_no_trace_in_any_answer() {
    let plain = || vec![("people.json", VISIBLE), ("toolcrib.toml", CONFIG)];
    let config = format!("{CONFIG}{MORE}");
    let first = format!("[{},\n{}", inner(HIDDEN), &VISIBLE.trim()[1..]);
    let without = folder(&plain());
    let with = folder(&[plain(), vec![("vault.json", HIDDEN)]].concat());
    let edited = folder(&[("a_vault.json", EDITED), ("people.json", VISIBLE), ("toolcrib.toml", &config)]);
    let among = folder(&[("people.json", first.as_str()), ("toolcrib.toml", CONFIG)]);
    let broken = folder(&[plain(), vec![("vault.json", "[{\"name\": ")]].concat());
    for mode in ["gateway", "full"] {
        let more = ["--mode", mode];
        let servers = [&without, &with, &edited, &among, &broken].map(|folder| serve(folder, &more));
        let [without, with, edited, among, broken] = &servers;
        let all = [("its", with), ("edited", edited), ("intermingled", among), ("unreadable", broken)];
        let mut asked = about(&["get_user", "billing.refund"], &hidden());
        // The mode decides the calls by name, and the lists of MCP.
        asked.retain(|asked| mode == "gateway" || asked.depends_on_mode());
        assert!(asked.len() > if mode == "gateway" { 60 } else { 40 }, "{}", asked.len());
        assert_same(&asked, without, &all);
        // The session in which all of that happened, and what was counted.
        assert_same(&requests::afterwards(), without, &all);
        let admin = |asked: &&Asked| answered(with, asked, ADMIN) != answered(without, asked, ADMIN);
        let differs = asked.iter().filter(admin).count();
        assert!(differs > 20, "the requests are about hidden tools: {differs}");
    }
}

fn inner(list: &str) -> &str {
    list.trim().trim_start_matches('[').trim_end_matches(']')
}

fn hidden() -> [&'static str; 6] {
    ["Get_User", "get-user", "vault.person", "read_vault", "list_secrets", "quaxolotl"]
}

#[test]
#[ignore = "slow"]
fn a_reload_of_hidden_tools_alone_changes_no_answer() {
    let folder = folder(&[("people.json", VISIBLE), ("vault.json", HIDDEN), ("toolcrib.toml", CONFIG)]);
    let server = serve(&folder, &[]);
    // Calls go into a session, and the second one of a kind is answered in short: ask each but once in each round.
    let asked = || about(&["get_user", "billing.refund"], &hidden()).into_iter();
    // A call with a key is run in the first round, and repeated from then on.
    let has_key =
        |asked: &Asked| asked.body.as_ref().is_some_and(|body| body.to_string().contains("idempotency_key"));
    let asked: Vec<Asked> = asked().filter(|asked| !asked.is_of_session() && !has_key(asked)).collect();
    let guest = || asked.iter().map(|asked| answered(&server, asked, GUEST)).collect::<Vec<_>>();
    // Bodies made for the first request are cached, also over a reload; the order of headers would show it.
    guest();
    let before = guest();
    for (round, tools) in [EDITED, "[]", HIDDEN].into_iter().enumerate() {
        let version = detail(&server, ADMIN)["registry_version"].clone();
        write(folder.path(), "vault.json", tools);
        let end = Instant::now() + Duration::from_secs(20);
        while detail(&server, ADMIN)["registry_version"] == version {
            assert!(Instant::now() < end, "round {round}: the edit is taken");
            std::thread::sleep(Duration::from_millis(30));
        }
        for (asked, (before, after)) in asked.iter().zip(before.iter().zip(guest())) {
            assert_eq!(difference(&after, before), None, "round {round}, {asked:?}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn half_of_github_hidden_by_an_overlay_is_as_if_it_were_not_there() {
    let example = package().join("examples/github");
    let config = std::fs::read_to_string(example.join("toolcrib.toml")).unwrap();
    let config = config.replace("[eval]\nqueries = [\"queries.jsonl\"]", "");
    let tools: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(example.join("tools.json")).unwrap()).unwrap();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_string();
    let is_hidden = |tool: &&Value| blake3::hash(name(tool).as_bytes()).as_bytes()[0] < 128;
    let (hidden, visible): (Vec<&Value>, Vec<&Value>) = tools.iter().partition(is_hidden);
    assert!(tools.len() == 117 && hidden.len() > 40 && visible.len() > 40, "{}", hidden.len());
    let names: Vec<String> = hidden.iter().map(|tool| name(tool)).collect();
    let config = format!(
        "{config}\n[[overlay]]\nmatch = {}\nallowed_roles = [\"admin\"]\n{}",
        json!(names),
        &CONFIG[CONFIG.find("[exec]").unwrap()..]
    );
    let whole = folder(&[("tools.json", &json!(tools).to_string()), ("toolcrib.toml", &config)]);
    let half = folder(&[("tools.json", &json!(visible).to_string()), ("toolcrib.toml", &config)]);
    let (with, without) = (serve(&whole, &[]), serve(&half, &[]));
    let seen: Vec<String> = visible.iter().map(|tool| name(tool)).collect();
    let texts = |names: &[String]| names.iter().take(4).cloned().collect::<Vec<_>>();
    let (seen, unseen) = (texts(&seen), texts(&names));
    let as_text = |names: &'static [String]| names.iter().map(String::as_str).collect::<Vec<_>>();
    let asked = about(&as_text(seen.leak()), &as_text(unseen.leak()));
    assert_same(&asked, &without, &[("half of the", &with)]);
    let pages: Vec<Asked> =
        visible.iter().map(|tool| Asked::get(&format!("/tools/{}.md", name(tool)))).collect();
    assert_same(&pages, &without, &[("half of the", &with)]);
    let admin = fixture::run(&["call", "list", "{}", text(whole.path()), "--role", "admin"]);
    assert_eq!(admin.code, 0, "{}", admin.stdout);
}
