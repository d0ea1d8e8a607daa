//! People sign in to the pages with a token, and attacks on them: each is refused, and nobody is signed in by it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::browser::{Browser, set_cookies, told};
use super::resource_server::{GRANTS, protected};
use crate::fixture;
use crate::issuer::Issuer;
use crate::serve::{Server, TOOLS, client, header};

const READER: &str = "reader-token-0123456789";
const ADMIN: &str = "admin-token-0123456789";
const TOKENS: &str = "[[serve.token]]\nenv = \"T_READER\"\nname = \"amy\"\nroles = [\"reader\"]\n\n\
                      [[serve.token]]\nenv = \"T_ADMIN\"\nname = \"root\"\nroles = [\"*\"]\n";
const VARIABLES: [(&str, &str); 2] = [("T_READER", READER), ("T_ADMIN", ADMIN)];

/// A server with tokens.
fn guarded() -> Server {
    Server::with(TOKENS, &VARIABLES)
}

/// A browser whose person has signed in with a token.
fn signed_in(server: &Server, token: &str) -> Browser {
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/"));
    let page = browser.submit(&page, "/sign-in", &[("token", token)]);
    assert_eq!((page.status, page.url.path()), (200, "/"), "{}", page.text);
    browser
}

/// Whether the person of a browser is signed in.
fn is_in(server: &Server, browser: &Browser) -> bool {
    browser.clone().open(&server.url("/")).status == 200
}

#[test]
fn a_browser_gets_a_page_to_sign_in_in_place_of_json() {
    let server = guarded();
    for path in
        ["/", "/tools/list_items.html", "/tools/list_items", "/findings.html", "/registry.json", "/nothing"]
    {
        let page = Browser::default().open(&server.url(path));
        assert_eq!((page.status, page.header("cache-control")), (401, "no-store"), "{path}");
        assert!(page.header("www-authenticate").starts_with("Bearer"), "{path}");
        assert!(
            page.text.contains("<h1>Sign in</h1>") && page.text.contains("name=\"token\""),
            "{}",
            page.text
        );
        assert!(page.form("/sign-in").contains(&("return".into(), path.into())), "{}", page.text);
        for hidden in ["list_items", "files.read", "wipe", "Items"] {
            assert!(path.contains(hidden) || !page.text.contains(hidden), "{path} shows {hidden}");
        }
        let refused = server.get(path, &[]);
        assert_eq!((refused.status().as_u16(), header(&refused, "content-type")), (401, "application/json"));
    }
    // The page needs its style sheet, and nothing else of the server.
    assert_eq!(server.get("/assets/site.css", &[]).status(), 200);
    assert_eq!(server.get("/search-index.js", &[]).status(), 401);
    let call = client().post(server.url("/v1/tool_search")).header("accept", "text/html").body("{}").send();
    assert!(!call.unwrap().text().unwrap().contains("<form"));
}

#[test]
fn a_person_signs_in_with_a_token_and_out_again() {
    let server = guarded();
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/tools/list_items.html?a=b"));
    let wrong = browser.submit(&page, "/sign-in", &[("token", "wrong-token-0123456789")]);
    assert_eq!(wrong.status, 401);
    assert!(wrong.text.contains("this token is not known"), "{}", wrong.text);
    assert!(!wrong.text.contains("wrong-token"), "what was typed does not come back");
    let page = browser.submit(&wrong, "/sign-in", &[("token", READER)]);
    assert_eq!(
        (page.status, page.url.path(), page.url.query()),
        (200, "/tools/list_items.html", Some("a=b"))
    );
    assert!(
        page.text.contains("<b dir=\"auto\">amy</b>") && page.text.contains(">Sign out<"),
        "{}",
        page.text
    );
    for path in ["/", "/profiles.html", "/search.html?q=list", "/nothing-here", "/categories/Items.html"] {
        assert!(browser.open(&server.url(path)).text.contains(">Sign out<"), "{path} has a frame");
    }
    let known = browser.open(&server.url("/sign-in"));
    assert!(known.text.contains("as <b dir=\"auto\">amy</b>"), "{}", known.text);
    let session = browser.cookie(&server.url(""), "toolcrib-session").unwrap();
    let out = browser.submit(&page, "/sign-out", &[]);
    assert_eq!((out.status, out.url.path()), (200, "/sign-in"));
    assert!(out.text.contains("You are signed out."), "{}", out.text);
    assert_eq!(browser.cookie(&server.url(""), "toolcrib-session"), None);
    assert_eq!(browser.open(&server.url("/")).status, 401);
    browser.plant(&server.url(""), session);
    assert_eq!(
        browser.open(&server.url("/")).status,
        401,
        "the session is over, and not only forgotten by the browser"
    );
}

#[test]
fn who_has_signed_out_is_signed_out_at_every_server_of_this_state() {
    let folder = tempfile::tempdir().unwrap();
    let state = format!("[state]\nurl = {:?}\n\n{TOKENS}", folder.path().join("state.db"));
    let (one, other) = (Server::with(&state, &VARIABLES), Server::with(&state, &VARIABLES));
    let mut browser = signed_in(&one, READER);
    let (name, value) = browser.cookie(&one.url(""), "toolcrib-session").unwrap();
    let port = |server: &Server| server.address.rsplit_once(':').unwrap().1.to_string();
    let of_other = name.replace(&port(&one), &port(&other));
    let is_in_at_other = || {
        let asking = client().get(other.url("/")).header("cookie", format!("{of_other}={value}"));
        asking.header("accept", "text/html").send().unwrap().status() == 200
    };
    assert!(is_in_at_other());
    let page = browser.open(&one.url("/"));
    browser.submit(&page, "/sign-out", &[]);
    assert!(!is_in_at_other());
}

#[test]
fn a_person_sees_what_their_roles_see_and_nothing_else() {
    let server = guarded();
    let (mut reader, mut admin) = (signed_in(&server, READER), signed_in(&server, ADMIN));
    let paths = [
        "/",
        "/findings.html",
        "/search.html?q=wipe",
        "/search-index.js",
        "/registry.json",
        "/llms.txt",
        "/profiles.html",
        "/tools/README.md",
        "/tools/wipe_disks.html",
        "/tools/wipe_disks.md",
        "/payloads/wipe_disks.json",
    ];
    for path in paths {
        let token = format!("Bearer {READER}");
        let by_token = server.get(path, &[("authorization", &token), ("accept", "text/html,*/*;q=0.8")]);
        let page = reader.open(&server.url(path));
        assert_eq!(page.status, by_token.status().as_u16(), "{path}");
        let asked = ["q=wipe", "There is no tool <code>wipe_disks</code>"];
        let shown = asked.iter().fold(page.text, |text, asked| text.replace(asked, ""));
        assert!(!shown.contains("wipe_disks"), "{path}: {shown}");
    }
    assert!(admin.open(&server.url("/search-index.js")).text.contains("wipe_disks"));
    assert_eq!(admin.open(&server.url("/tools/wipe_disks.html")).status, 200);
}

/// A folder with a catalog, and a server on it with state in a file.
fn stored(folder: &TempDir, config: &str, variables: &[(&str, &str)]) -> Server {
    fixture::write(folder.path(), "tools.json", TOOLS);
    fixture::write(folder.path(), "toolcrib.toml", config);
    let state = folder.path().join("state.db");
    Server::start(fixture::text(folder.path()), &["--state", fixture::text(&state)], variables)
}

/// The browser of a session at another replica, as behind one address.
fn at(browser: &Browser, from: &str, to: &Server) -> Browser {
    let (name, value) = browser.cookie(&format!("http://{from}"), "toolcrib-session").unwrap();
    let port = |address: &str| address.rsplit_once(':').unwrap().1.to_string();
    let mut other = Browser::default();
    other.plant(&to.url(""), (name.replace(&port(from), &port(&to.address)), value));
    other
}

#[test]
fn replicas_share_sign_ins_and_a_restart_ends_none() {
    let folder = tempfile::tempdir().unwrap();
    let one = stored(&folder, TOKENS, &VARIABLES);
    let browser = signed_in(&one, READER);
    let two = stored(&folder, TOKENS, &VARIABLES);
    assert_eq!(at(&browser, &one.address, &two).open(&two.url("/")).status, 200);
    let before = one.address.clone();
    drop((one, two));
    let again = stored(&folder, TOKENS, &VARIABLES);
    assert_eq!(at(&browser, &before, &again).open(&again.url("/")).status, 200);
}

#[test]
fn a_change_of_the_callers_ends_sign_ins() {
    let folder = tempfile::tempdir().unwrap();
    let server = stored(&folder, TOKENS, &VARIABLES);
    let (browser, before) = (signed_in(&server, READER), server.address.clone());
    drop(server);
    let without = TOKENS.split("\n\n").nth(1).unwrap();
    let changed = [("T_READER", "another-token-0123456789"), ("T_ADMIN", ADMIN)];
    let promoted = TOKENS.replace("roles = [\"reader\"]", "roles = [\"admin\"]");
    for (config, variables) in [(without, VARIABLES), (TOKENS, changed), (promoted.as_str(), VARIABLES)] {
        let again = stored(&folder, config, &variables);
        let mut there = at(&browser, &before, &again);
        assert_eq!(there.open(&again.url("/")).status, 401, "{config}");
    }
}

/// A cookie of a person, and the facts in it.
fn cookie(server: &Server, browser: &Browser) -> (String, Value, String) {
    let (name, value) = browser.cookie(&server.url(""), "toolcrib-session").unwrap();
    let (facts, signature) = value.split_once('.').unwrap();
    let facts = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(facts).unwrap()).unwrap();
    (name, facts, signature.to_string())
}

#[test]
fn a_cookie_has_no_token_and_ends_with_it() {
    let issuer = Issuer::start();
    let (server, _folder) = protected(&issuer, GRANTS);
    let token = issuer.token().audience(&server.url("/mcp")).scope("tools:read").seconds(4).sign();
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/tools/read_note.html"));
    let page = browser.submit(&page, "/sign-in", &[("token", &token)]);
    assert_eq!((page.status, page.url.path()), (200, "/tools/read_note.html"), "{}", page.text);
    let (_, facts, _) = cookie(&server, &browser);
    assert!(facts["name"].as_str().unwrap().starts_with("amy@"), "{facts}");
    assert!(token.split('.').skip(1).all(|part| !facts.to_string().contains(part)), "{facts}");
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(browser.open(&server.url("/")).status, 401, "the token has expired, and so the cookie");
    // Tokens that are no more, or never were, are refused like those in a header.
    let other = Issuer::start();
    let mcp = server.url("/mcp");
    for (token, status, why) in [
        (issuer.token().audience(&mcp).scope("tools:read").seconds(-60).sign(), 401, "has expired"),
        (
            issuer.token().audience("https://other.example/mcp").scope("tools:read").sign(),
            401,
            "another resource",
        ),
        (issuer.token().audience(&mcp).scope("other").sign(), 403, "no rights here"),
        (other.token().audience(&mcp).scope("tools:read").sign(), 401, "another issuer"),
        (issuer.token().audience(&mcp).scope("tools:read").forged(), 401, "signature"),
        ("nobody-has-this-token".into(), 401, "is not known"),
    ] {
        let page = browser.open(&server.url("/sign-in"));
        let refused = browser.submit(&page, "/sign-in", &[("token", &token)]);
        assert!(refused.status == status && refused.text.contains(why), "{why}: {}", refused.text);
        assert_eq!(browser.open(&server.url("/")).status, 401);
    }
}

#[test]
fn a_sign_in_to_one_profile_is_for_no_other() {
    let issuer = Issuer::start();
    let (server, _folder) =
        protected(&issuer, "[profile.notes]\ninclude = [\"read_note\"]\n[profile.plans]\n");
    let token = issuer.token().audience(&server.url("/p/notes/mcp")).sign();
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/p/notes/"));
    let page = browser.submit(&page, "/sign-in", &[("token", &token)]);
    assert_eq!((page.status, page.url.path()), (200, "/p/notes/"), "{}", page.text);
    for elsewhere in ["/", "/p/plans/"] {
        assert_eq!(browser.open(&server.url(elsewhere)).status, 401, "{elsewhere}");
    }
}

#[test]
fn forged_cookies_sign_nobody_in() {
    let (server, other) = (guarded(), guarded());
    let (amy, elsewhere) = (signed_in(&server, READER), signed_in(&other, ADMIN));
    let (name, facts, signature) = cookie(&server, &amy);
    let (_, of_other, other_signature) = cookie(&other, &elsewhere);
    let text = |facts: &Value| URL_SAFE_NO_PAD.encode(facts.to_string());
    let mut admin = facts.clone();
    admin["roles"] = json!(["*"]);
    let mut longer = facts.clone();
    longer["until"] = json!(i64::MAX);
    let own = amy.cookie(&server.url(""), "toolcrib-session").unwrap().1;
    let facts = own.split_once('.').unwrap().0;
    for forged in [
        format!("{}.{signature}", text(&admin)),
        format!("{}.{signature}", text(&longer)),
        // Signed with the key of another server.
        format!("{}.{other_signature}", text(&of_other)),
        elsewhere.cookie(&other.url(""), "toolcrib-session").unwrap().1,
        format!("{facts}.{}", "0".repeat(64)),
        format!("{facts}."),
        facts.to_string(),
        ADMIN.to_string(),
        String::new(),
    ] {
        let mut browser = Browser::default();
        browser.plant(&server.url(""), (name.clone(), forged.clone()));
        assert_eq!(browser.open(&server.url("/")).status, 401, "{forged}");
    }
    let twice = format!("{name}={own}; {name}={own}");
    assert_eq!(
        server.get("/", &[("cookie", &twice)]).status(),
        401,
        "another server may have set one of them"
    );
}

#[test]
fn cookies_are_for_this_server_alone() {
    let config = format!("serve.public_url = \"https://tools.example.com\"\n{TOKENS}");
    let server = Server::with(&config, &VARIABLES);
    for host in ["tools.example.com", "127.0.0.1"] {
        let page = server.get("/", &[("accept", "text/html"), ("host", host)]);
        let [cookie] = set_cookies(&page).try_into().unwrap();
        assert!(cookie.starts_with("__Host-toolcrib-form="), "{cookie}");
        for attribute in ["; HttpOnly", "; Secure", "; SameSite=Strict", "; Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        assert!(!cookie.contains("Domain"), "{cookie}");
    }
    let server = guarded();
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let page = server.get("/", &[("accept", "text/html")]);
    let [cookie] = set_cookies(&page).try_into().unwrap();
    assert!(cookie.starts_with(&format!("toolcrib-form-{port}=")), "{cookie}");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/") && !cookie.contains("Secure"), "{cookie}");
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/"));
    let csrf = page.form("/sign-in").into_iter().find(|(name, _)| name == "csrf").unwrap().1;
    let (name, value) = browser.cookie(&server.url(""), "toolcrib-form").unwrap();
    let signed = client().post(server.url("/sign-in")).header("cookie", format!("{name}={value}"));
    let signed = signed.header("content-type", "application/x-www-form-urlencoded");
    let signed = signed.body(format!("csrf={csrf}&token={READER}&return=/")).send().unwrap();
    let [session, form] = set_cookies(&signed).try_into().unwrap();
    assert!(session.contains("; HttpOnly; SameSite=Strict; Path=/; Max-Age=28"), "{session}");
    assert!(form.contains("Max-Age=0"), "{form}");
}

#[test]
fn no_cache_gives_the_page_of_one_person_to_another() {
    let server = guarded();
    let (mut amy, mut root) = (signed_in(&server, READER), signed_in(&server, ADMIN));
    for path in ["/", "/tools/list_items.html", "/tools/list_items.md", "/registry.json", "/nothing-here"] {
        let page = amy.open(&server.url(path));
        assert!(
            page.header("cache-control") != "no-cache" && page.header("vary").contains("cookie"),
            "{path}"
        );
        assert!(!page.header("cache-control").contains("public"), "{path}");
        assert_eq!(page.header("cross-origin-resource-policy"), "same-origin", "{path}");
        if !path.ends_with(".md") {
            assert_ne!(page.text, root.open(&server.url(path)).text, "{path} is of one person");
        }
    }
    // The tag of one person's page is of no use to another one.
    let tag = amy.open(&server.url("/")).header("etag").to_string();
    let (name, value) = root.cookie(&server.url(""), "toolcrib-session").unwrap();
    let cookie = format!("{name}={value}");
    let asked = [("cookie", cookie.as_str()), ("if-none-match", tag.as_str()), ("accept", "text/html")];
    assert_eq!(server.get("/", &asked).status(), 200);
    // Files without names in them are the same for everybody, and pages without people as they were.
    let by_token = server.get("/tools/list_items.md", &[("authorization", &format!("Bearer {READER}"))]);
    assert_eq!(header(&by_token, "etag"), amy.open(&server.url("/tools/list_items.md")).header("etag"));
    assert_eq!(
        (header(&by_token, "cache-control"), header(&by_token, "vary")),
        ("no-cache", "accept-encoding")
    );
}

#[test]
fn a_cookie_reads_pages_and_calls_nothing() {
    let server = guarded();
    let admin = signed_in(&server, ADMIN);
    let (name, value) = admin.cookie(&server.url(""), "toolcrib-session").unwrap();
    let cookie = format!("{name}={value}");
    let with = |request: reqwest::blocking::RequestBuilder| {
        request
            .header("cookie", &cookie)
            .header("accept", "application/json")
            .send()
            .unwrap()
            .status()
            .as_u16()
    };
    assert_eq!(with(server.asking("/registry.json")), 200);
    for path in ["/v1", "/v1/workspace.tar", "/metrics", "/mcp"] {
        assert_eq!(with(server.asking(path)), 401, "GET {path}");
    }
    for path in ["/v1/tool_exec", "/v1/tools/list_items", "/mcp", "/", "/tools/list_items.md"] {
        for origin in [server.url(""), "https://evil.example".into()] {
            let status = with(server.posting(path, "{}").header("origin", &origin));
            assert_eq!(status, if origin == server.url("") { 401 } else { 403 }, "POST {path} {origin}");
        }
    }
    // A token that is shown counts, whatever the cookie says.
    let wrong = server.get("/", &[("cookie", &cookie), ("authorization", "Bearer wrong-token-0123456789")]);
    assert_eq!(wrong.status(), 401);
}

#[test]
fn an_open_server_asks_nobody_to_sign_in() {
    let server = Server::with("", &[]);
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/"));
    assert!(page.status == 200 && !page.text.contains("Sign"), "{}", page.text);
    assert_eq!(page.header("cache-control"), "no-cache");
    assert_eq!(browser.open(&server.url("/sign-in/nowhere")).status, 404);
}

#[test]
fn login_csrf_signs_nobody_in() {
    let server = guarded();
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/"));
    let csrf = page.form("/sign-in").into_iter().find(|(name, _)| name == "csrf").unwrap().1;
    let (name, value) = browser.cookie(&server.url(""), "toolcrib-form").unwrap();
    let (own, other) = (format!("{name}={value}"), format!("{name}={}", "0".repeat(64)));
    let evil = "https://evil.example".to_string();
    let post = |cookie: Option<&str>, csrf: &str, origin: Option<&str>| {
        let body = format!("csrf={csrf}&token={READER}&return=/");
        let request = client().post(server.url("/sign-in")).body(body);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = cookie.into_iter().fold(request, |request, cookie| request.header("cookie", cookie));
        let response = origin.into_iter().fold(request, |request, origin| request.header("origin", origin));
        let response = response.send().unwrap();
        let sets = response.headers().get_all("set-cookie").iter();
        let is_in = sets.filter(|set| set.to_str().unwrap().starts_with("toolcrib-session")).count() > 0;
        (response.status().as_u16(), is_in)
    };
    let home = server.url("");
    assert_eq!(post(None, &csrf, Some(&home)), (403, false), "without the cookie of the page");
    assert_eq!(post(Some(&other), &csrf, Some(&home)), (403, false), "with the form of another browser");
    assert_eq!(post(Some(&own), "", Some(&home)), (403, false), "without the value of the form");
    assert_eq!(post(Some(&own), &"0".repeat(64), Some(&home)), (403, false), "with a made-up value");
    assert_eq!(post(Some(&own), &csrf, Some(&evil)), (403, false), "from another site");
    assert_eq!(post(Some(&own), &csrf, Some("null")), (403, false), "from a page that hides its origin");
    assert_eq!(post(Some(&own), &csrf, Some(&home)), (303, true));
    let as_json = client().post(server.url("/sign-in")).header("cookie", &own);
    let as_json = as_json.header("content-type", "application/json").body("{}").send().unwrap();
    assert_eq!(as_json.status(), 415);
}

#[test]
fn a_cookie_that_somebody_has_planted_is_replaced() {
    let server = guarded();
    let attacker = signed_in(&server, READER);
    let mut victim = Browser::default();
    victim.plant(&server.url(""), attacker.cookie(&server.url(""), "toolcrib-session").unwrap());
    let page = victim.open(&server.url("/sign-in"));
    assert!(page.text.contains("as <b dir=\"auto\">amy</b>"), "{}", page.text);
    // Signing in ends the session that the browser had.
    let mut fresh = Browser::default();
    let page = fresh.open(&server.url("/"));
    fresh.plant(&server.url(""), attacker.cookie(&server.url(""), "toolcrib-session").unwrap());
    let page = fresh.submit(&page, "/sign-in", &[("token", ADMIN)]);
    assert!(page.text.contains("root"), "{}", page.text);
    assert!(!is_in(&server, &attacker));
}

#[test]
fn signing_out_takes_a_form_of_the_same_session() {
    let server = guarded();
    let (mut amy, mut root) = (signed_in(&server, READER), signed_in(&server, ADMIN));
    let page = amy.open(&server.url("/"));
    let others = root.open(&server.url("/")).form("/sign-out")[0].1.clone();
    for csrf in ["", "0", &"0".repeat(64), &others] {
        let refused = amy.submit(&page, "/sign-out", &[("csrf", csrf)]);
        assert_eq!(refused.status, 403, "{csrf}");
        assert!(refused.text.contains("FORM_REFUSED"), "{}", refused.text);
        assert!(is_in(&server, &amy));
    }
    let (name, value) = amy.cookie(&server.url(""), "toolcrib-session").unwrap();
    let evil = client().post(server.url("/sign-out")).header("cookie", format!("{name}={value}"));
    let evil = evil.header("origin", "https://evil.example").body("").send().unwrap();
    assert_eq!((evil.status().as_u16(), is_in(&server, &amy)), (403, true));
    let read =
        client().get(server.url("/sign-out")).header("cookie", format!("{name}={value}")).send().unwrap();
    assert_eq!((read.status().as_u16(), is_in(&server, &amy)), (405, true), "a link signs nobody out");
}

#[test]
fn nobody_is_led_to_another_site() {
    let server = guarded();
    let bad = [
        "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "///evil.example",
        "/\t/evil.example", "/\n/evil.example", "javascript:alert(1)", "http:evil.example",
        "%2F%2Fevil.example", "/\r\nset-cookie: a=b", "data:text/html,a", " https://evil.example",
    ];
    for address in bad {
        let encoded: String = form_urlencoded::byte_serialize(address.as_bytes()).collect();
        let mut browser = Browser::default();
        let page = browser.open(&server.url(&format!("/sign-in?return={encoded}")));
        assert!(page.form("/sign-in").contains(&("return".into(), "/".into())), "{address:?}: {}", page.text);
        let page = browser.submit(&page, "/sign-in", &[("token", READER), ("return", address)]);
        assert_eq!((page.status, page.url.as_str()), (200, server.url("/").as_str()), "{address:?}");
        assert!(browser.visited.iter().all(|url| !url.starts_with("https://evil")), "{:?}", browser.visited);
    }
    // A host that is not ours gets no answer that could lead there.
    let refused = server.get("/sign-in", &[("host", "evil.example")]);
    assert_eq!(told(&refused), (403, String::new()));
}

#[test]
fn a_token_in_an_address_is_none() {
    let server = guarded();
    for name in ["token", "access_token", "id_token", "session", "csrf", "authorization"] {
        for path in ["/", "/sign-in", "/registry.json"] {
            let mut browser = Browser::default();
            let page = browser.open(&server.url(&format!("{path}?{name}={ADMIN}")));
            assert_eq!(page.status, if path == "/sign-in" { 200 } else { 401 }, "{path} {name}");
            assert!(!is_in(&server, &browser), "{path} {name}");
        }
    }
    let form = client().post(server.url(&format!("/sign-in?token={ADMIN}&csrf=a"))).body("");
    let form = form.header("content-type", "application/x-www-form-urlencoded").send().unwrap();
    assert_eq!(form.status(), 403);
}

#[test]
fn other_sites_can_neither_frame_nor_load_what_a_person_sees() {
    let server = guarded();
    let mut amy = signed_in(&server, READER);
    for path in
        ["/", "/search-index.js", "/registry.json", "/tools/list_items.md", "/payloads/list_items.json"]
    {
        assert_eq!(
            amy.open(&server.url(path)).header("cross-origin-resource-policy"),
            "same-origin",
            "{path}"
        );
    }
    for page in [amy.open(&server.url("/")), Browser::default().open(&server.url("/"))] {
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"),
            "{policy}"
        );
        assert_eq!(
            page.header("referrer-policy"),
            "same-origin",
            "else a browser hides the origin of its forms"
        );
    }
}

#[test]
fn nothing_that_signs_in_is_in_the_log_or_in_state() {
    let folder = tempfile::tempdir().unwrap();
    fixture::write(folder.path(), "tools.json", TOOLS);
    fixture::write(folder.path(), "toolcrib.toml", TOKENS);
    let state = folder.path().join("state.db");
    let more = ["--state", fixture::text(&state), "--log-level", "trace"];
    let server = Server::process(fixture::text(folder.path()), &more, &VARIABLES);
    let mut browser = signed_in(&server, READER);
    let mut secrets = vec![READER.to_string(), ADMIN.into()];
    secrets.extend(browser.cookie(&server.url(""), "toolcrib-session").map(|(_, value)| value));
    let page = browser.open(&server.url("/"));
    browser.submit(&page, "/sign-out", &[]);
    browser.open(&server.url("/"));
    secrets.extend(browser.cookie(&server.url(""), "toolcrib-form").map(|(_, value)| value));
    let mut places = vec![("log".to_string(), server.log.lock().unwrap().clone().into_bytes())];
    for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
        if file.file_name().to_string_lossy().starts_with("state.db") {
            places
                .push((file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).unwrap()));
        }
    }
    assert!(places.len() >= 2 && secrets.len() == 4, "{secrets:?}");
    for (place, bytes) in places {
        for secret in &secrets {
            assert!(
                !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
                "{secret} is in {place}"
            );
        }
    }
}
