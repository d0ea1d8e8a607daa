//! People try a tool on its page, with their own rights; attacks on the form are refused, and nothing runs by them.

use serde_json::json;

use super::browser::{Browser, Page};
use crate::serve::{Server, client};

const READER: &str = "reader-token-0123456789";
const ADMIN: &str = "admin-token-0123456789";
const CALLERS: &str = "[[serve.token]]\nenv = \"T_READER\"\nname = \"amy\"\nroles = [\"reader\"]\nallow = \"read\"\n\n\
                       [[serve.token]]\nenv = \"T_ADMIN\"\nname = \"root\"\nroles = [\"*\"]\n";
const CONFIG: &str = "[exec]\nallow = \"write\"\n";
const VARIABLES: [(&str, &str); 2] = [("T_READER", READER), ("T_ADMIN", ADMIN)];
const TOOLS: &str = r#"[
  {"name": "get_note", "description": "Get a note.", "effect": "read", "backend": {"type": "static", "content": "the note itself"},
   "parameters": {"type": "object", "required": ["id", "level"], "properties": {
     "id": {"type": "integer", "minimum": 1}, "level": {"enum": ["low", "high"]},
     "options": {"type": "object", "properties": {"path": {"type": "string", "maxLength": 4}}},
     "tags": {"type": "array", "items": {"type": "string"}}}}},
  {"name": "add_note", "description": "Add a note.", "effect": "write", "backend": {"type": "static", "content": "added"},
   "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}},
  {"name": "wipe", "description": "Wipe all.", "effect": "write", "allowed_roles": ["admin"], "backend": {"type": "static", "content": "wiped"},
   "parameters": {"type": "object", "properties": {}}}
]"#;

fn serve(config: &str) -> Server {
    Server::of(TOOLS, config, &VARIABLES)
}

/// Sends the first form of a tool's page that has a field of this name, or the form itself.
fn send(browser: &mut Browser, page: &Page, fields: &[(&str, &str)]) -> Page {
    let name = page.url.path().rsplit('/').next().unwrap();
    browser.submit(page, &format!("{name}#try"), fields)
}

#[test]
fn a_form_shows_errors_at_its_fields_then_a_dry_run_then_the_result() {
    let server = serve(CONFIG);
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/tools/get_note.html"));
    for expected in
        ["name=\"/id\"", "name=\"/options/path\"", "<option value=\"&quot;high&quot;\"", "name=\"json\""]
    {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    let wrong = send(&mut browser, &page, &[("/id", "0"), ("/level", ""), ("/options/path", "too long")]);
    assert_eq!(wrong.status, 200);
    assert_eq!(wrong.text.matches("aria-invalid").count(), 3, "{}", wrong.text);
    assert!(
        wrong.text.contains("value=\"too long\"") && !wrong.text.contains("The call fits"),
        "{}",
        wrong.text
    );
    let fits = send(&mut browser, &wrong, &[("/id", "7"), ("/level", "\"high\""), ("/tags", "a\nb c")]);
    assert!(fits.text.contains("The call fits. Nothing has run yet."), "{}", fits.text);
    assert!(!fits.text.contains("the note itself"), "a dry run runs nothing");
    let same = "{&quot;id&quot;:7,&quot;level&quot;:&quot;high&quot;,&quot;tags&quot;:[&quot;a&quot;,&quot;b c&quot;]}";
    assert!(fits.text.contains(same), "{}", fits.text);
    for program in ["curl http", "requests.post(", "await fetch(", "toolcrib call tool_exec"] {
        assert!(fits.text.contains(program), "{program}");
    }
    // The form that runs the call is the first on the page, with the arguments of the dry run.
    let ran = send(&mut browser, &fits, &[("run", "yes")]);
    assert!(ran.text.contains("The call has run.") && ran.text.contains("the note itself"), "{}", ran.text);
    let raw = send(&mut browser, &page, &[("json", "{\"id\": 3, \"level\": \"low\"}")]);
    assert!(raw.text.contains("The call fits"), "{}", raw.text);
    let broken = send(&mut browser, &page, &[("json", "{\"id\": <script>")]);
    assert!(broken.text.contains("not JSON") && !broken.text.contains("<script>\""), "{}", broken.text);
}

#[test]
fn a_call_has_the_rights_of_the_person_who_tries_it() {
    let server = serve(&format!("{CONFIG}{CALLERS}"));
    let mut seen = Vec::new();
    for token in [READER, ADMIN] {
        let mut browser = Browser::default();
        let page = browser.open(&server.url("/tools/add_note.html"));
        let page = browser.submit(&page, "/sign-in", &[("token", token)]);
        let page = send(&mut browser, &page, &[("/text", "hello")]);
        let ran = send(&mut browser, &page, &[("json", "{\"text\": \"hello\"}"), ("run", "yes")]);
        seen.push(ran.text.contains("The call has run."));
        let hidden = browser.open(&server.url("/tools/wipe.html"));
        assert_eq!(hidden.status, if token == ADMIN { 200 } else { 404 });
    }
    assert_eq!(seen, [false, true], "amy may only read");
    // Nobody may post to the page of a tool that they cannot see, or without having signed in.
    let mut amy = Browser::default();
    let page = amy.open(&server.url("/tools/add_note.html"));
    let page = amy.submit(&page, "/sign-in", &[("token", READER)]);
    let csrf = page.form("add_note.html#try")[0].1.clone();
    let (name, value) = amy.cookie(&server.url(""), "toolcrib-session").unwrap();
    let post = |path: &str, cookie: &str| {
        let asking =
            client().post(server.url(path)).header("cookie", cookie).header("origin", server.url(""));
        let asking = asking.header("content-type", "application/x-www-form-urlencoded");
        asking.body(format!("csrf={csrf}&json=%7B%7D&run=yes")).send().unwrap().status().as_u16()
    };
    let cookie = format!("{name}={value}");
    assert_eq!((post("/tools/wipe.html", &cookie), post("/tools/add_note.html", "")), (404, 401));
    assert_eq!(post("/v1/tool_exec", &cookie), 401, "a cookie is of no use to the API");
    assert_eq!(post("/tools/add_note.md", &cookie), 405);
}

#[test]
fn a_form_of_another_site_or_session_runs_nothing() {
    for config in [CONFIG.to_string(), format!("{CONFIG}{CALLERS}")] {
        let server = serve(&config);
        let mut browser = Browser::default();
        let mut page = browser.open(&server.url("/tools/add_note.html"));
        if page.status == 401 {
            page = browser.submit(&page, "/sign-in", &[("token", ADMIN)]);
        }
        let own = page.form("add_note.html#try").into_iter().find(|(name, _)| name == "csrf").unwrap().1;
        let cookie = browser.cookie(&server.url(""), "toolcrib-session");
        let cookie = cookie.map(|(name, value)| format!("{name}={value}"));
        let post = |csrf: &str, headers: &[(&str, &str)]| {
            let asking = client().post(server.url("/tools/add_note.html"));
            let asking = asking.header("content-type", "application/x-www-form-urlencoded");
            let asking = cookie.iter().fold(asking, |asking, cookie| asking.header("cookie", cookie));
            let asking = headers.iter().fold(asking, |asking, (name, value)| asking.header(*name, *value));
            let answer = asking.body(format!("csrf={csrf}&json=%7B%7D&run=yes")).send().unwrap();
            let status = answer.status().as_u16();
            (status, answer.text().unwrap().contains("The call has run."))
        };
        let home = server.url("");
        let good = [("origin", home.as_str()), ("sec-fetch-site", "same-origin")];
        assert_eq!(post(&own, &good), (200, true));
        for csrf in ["", "0", &"0".repeat(64), &own[1..]] {
            assert_eq!(post(csrf, &good), (403, false), "{csrf}");
        }
        for headers in [
            [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
            [("origin", "null"), ("sec-fetch-site", "same-origin")],
            [("sec-fetch-mode", "navigate"), ("sec-fetch-site", "cross-site")],
            [("sec-fetch-mode", "navigate"), ("sec-fetch-site", "same-site")],
        ] {
            assert_eq!(post(&own, &headers), (403, false), "{headers:?}");
        }
        let as_json =
            client().post(server.url("/tools/add_note.html")).header("content-type", "application/json");
        let as_json = cookie.iter().fold(as_json, |asking, cookie| asking.header("cookie", cookie));
        let as_json =
            as_json.body(json!({"csrf": own, "json": "{}", "run": "yes"}).to_string()).send().unwrap();
        // Without a form, the cookie is of no use.
        assert_eq!(as_json.status().as_u16(), if cookie.is_some() { 401 } else { 415 });
    }
}

#[test]
fn a_run_that_is_sent_twice_runs_once() {
    let server = serve(CONFIG);
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/tools/add_note.html"));
    let fits = send(&mut browser, &page, &[("/text", "hello")]);
    let [first, again] = [(), ()].map(|()| send(&mut browser, &fits, &[("run", "yes")]).text);
    assert!(first.contains("The call has run.") && again.contains("The call has run."), "{again}");
    assert!(again.contains("replay") && !first.contains("replay"), "{again}");
}
