//! People sign in to the pages.

use rusqlite::Connection;
use tempfile::TempDir;

use super::browser::{Browser, set_cookies};
use crate::fixture;
use crate::issuer::Issuer;
use crate::serve::{Server, TOOLS, client, header};

pub const READER: &str = "reader-token-0123456789";
pub const ADMIN: &str = "admin-token-0123456789";
pub const TOKENS: &str = "[[serve.token]]\nenv = \"T_READER\"\nname = \"amy\"\nroles = [\"reader\"]\n\n\
                          [[serve.token]]\nenv = \"T_ADMIN\"\nname = \"root\"\nroles = [\"*\"]\n";
pub const VARIABLES: [(&str, &str); 3] =
    [("T_READER", READER), ("T_ADMIN", ADMIN), ("CLIENT_SECRET", "client-secret-of-toolcrib")];

/// A server with tokens.
fn guarded() -> Server {
    Server::with(TOKENS, &VARIABLES)
}

/// The configuration of a server whose people sign in at this issuer.
pub fn with_provider(issuer: &Issuer, more: &str) -> String {
    let url = issuer.url();
    format!(
        "{more}\n[[serve.issuer]]\nissuer = \"{url}\"\n\n[[serve.issuer.grant]]\nclaim = \"groups\"\nvalue = \"engineers\"\n\
         roles = [\"reader\"]\n\n[[serve.issuer.grant]]\nclaim = \"groups\"\nvalue = \"operators\"\nroles = [\"*\"]\n\n\
         [serve.sign_in]\nissuer = \"{url}\"\nclient_id = \"toolcrib\"\nclient_secret = \"${{CLIENT_SECRET}}\"\n"
    )
}

/// A server at which people sign in with this issuer.
pub fn behind(issuer: &Issuer, more: &str) -> Server {
    let server = Server::with(&with_provider(issuer, more), &VARIABLES);
    issuer.register("toolcrib", "client-secret-of-toolcrib", &[&server.url("/sign-in/callback")]);
    server
}

/// A browser whose person has signed in with a token.
pub fn signed_in(server: &Server, token: &str) -> Browser {
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/"));
    let page = browser.submit(&page, "/sign-in", &[("token", token)]);
    assert_eq!((page.status, page.url.path()), (200, "/"), "{}", page.text);
    browser
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
    assert!(wrong.text.contains("This token is not known here."), "{}", wrong.text);
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
        assert!(!page.text.replace("q=wipe", "").contains("wipe_disks"), "{path}: {}", page.text);
    }
    assert!(admin.open(&server.url("/search-index.js")).text.contains("wipe_disks"));
    assert_eq!(admin.open(&server.url("/tools/wipe_disks.html")).status, 200);
}

#[test]
fn a_person_signs_in_at_the_identity_provider() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/tools/list_items.html"));
    let host = issuer.url().trim_start_matches("http://");
    assert!(page.text.contains(&format!("Sign in with {host}")), "{}", page.text);
    assert!(!page.text.contains("name=\"token\""), "there are no tokens to type");
    let page = browser.open(&server.url("/sign-in/start?return=%2Ftools%2Flist_items.html"));
    assert_eq!((page.status, page.url.path()), (200, "/tools/list_items.html"), "{}", page.text);
    assert!(page.text.contains("<b dir=\"auto\">Amy</b>"), "{}", page.text);
    assert_eq!(browser.open(&server.url("/tools/wipe_disks.html")).status, 404);
    let asked = issuer.received("/authorize").join("\n");
    for part in
        ["response_type=code", "code_challenge_method=S256", "nonce=", "state=", "scope=openid+profile"]
    {
        assert!(asked.contains(part), "{asked}");
    }
    assert!(!asked.contains("client-secret-of-toolcrib"));
    // The person signs out there too. No token is in the address.
    let out = browser.submit(&page, "/sign-out", &[]);
    let next =
        out.text.split("http-equiv=\"refresh\" content=\"0; url=").nth(1).unwrap().split('"').next().unwrap();
    let next = next.replace("&#x2F;", "/").replace("&amp;", "&");
    assert!(next.starts_with(&format!("{}/logout?client_id=toolcrib&", issuer.url())), "{next}");
    assert!(!next.contains("ey"), "{next}");
    assert_eq!(browser.open(&next).url.path(), "/sign-in");
    assert_eq!(browser.open(&server.url("/")).status, 401);
}

#[test]
fn rights_are_those_of_the_groups_and_without_any_nobody_comes_in() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    issuer.behave(|issuer| drop(issuer.user.insert("groups".into(), "operators".into())));
    let mut operator = Browser::default();
    assert_eq!(operator.open(&server.url("/sign-in/start?return=/tools/wipe_disks.html")).status, 200);
    issuer.behave(|issuer| {
        issuer.user.insert("groups".into(), "guests".into());
        issuer.user.insert("name".into(), "<script>alert(1)</script>".into());
    });
    let mut guest = Browser::default();
    let page = guest.open(&server.url("/sign-in/start"));
    assert_eq!(page.status, 403);
    assert!(
        page.text.contains("you have no rights here") && !page.text.contains("<script>alert"),
        "{}",
        page.text
    );
    assert_eq!(guest.cookie(&server.url(""), "toolcrib-session"), None);
    issuer.behave(|issuer| drop(issuer.user.insert("groups".into(), "engineers".into())));
    let page = guest.open(&server.url("/sign-in/start"));
    assert!(page.status == 200 && page.text.contains("&lt;script&gt;alert"), "{}", page.text);
    assert!(!page.text.contains("<script>alert"), "a name is text");
}

#[test]
fn a_provider_that_is_away_is_told_and_stops_nobody_else() {
    let issuer = Issuer::start();
    let server = behind(&issuer, TOKENS);
    issuer.behave(|issuer| issuer.is_dead = true);
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/"));
    assert!(page.text.contains("name=\"token\"") && page.text.contains("Sign in with "), "{}", page.text);
    let failed = browser.open(&server.url("/sign-in/start"));
    assert_eq!(failed.status, 502);
    assert!(failed.text.contains("does not answer as it should"), "{}", failed.text);
    let page = browser.submit(&failed, "/sign-in", &[("token", READER)]);
    assert_eq!(page.status, 200, "{}", page.text);
    let out = browser.submit(&page, "/sign-out", &[]);
    assert_eq!((out.status, out.url.path()), (200, "/sign-in"));
    issuer.behave(|issuer| issuer.is_dead = false);
    // Its keys are asked for again after a pause.
    let started = std::time::Instant::now();
    while browser.open(&server.url("/sign-in/start")).status != 200 {
        assert!(started.elapsed().as_secs() < 60, "the provider is back");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

#[test]
fn a_person_who_does_not_agree_is_asked_again() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    issuer.behave(|issuer| issuer.agrees = false);
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/sign-in/start?return=/findings.html"));
    assert_eq!(page.status, 403);
    assert!(
        page.text.contains("has not let you in") && page.text.contains("return=%2Ffindings.html"),
        "{}",
        page.text
    );
}

#[test]
fn another_name_of_the_server_leads_to_its_public_address() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let mut browser = Browser::default();
    let page = browser.open(&format!("http://localhost:{port}/sign-in/start?return=/findings.html"));
    assert_eq!(
        (page.status, page.url.as_str()),
        (200, server.url("/findings.html").as_str()),
        "{}",
        page.text
    );
}

/// A folder with a catalog, and a server on it with state in a file.
pub fn stored(folder: &TempDir, config: &str, variables: &[(&str, &str)]) -> Server {
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
fn replicas_share_sessions_and_a_restart_ends_none() {
    let folder = tempfile::tempdir().unwrap();
    let one = stored(&folder, TOKENS, &VARIABLES);
    let mut browser = signed_in(&one, READER);
    let two = stored(&folder, TOKENS, &VARIABLES);
    let mut there = at(&browser, &one.address, &two);
    let page = there.open(&two.url("/"));
    assert_eq!(page.status, 200);
    there.submit(&page, "/sign-out", &[]);
    assert_eq!(browser.open(&one.url("/")).status, 401, "signed out at the other replica");
    let (browser, before) = (signed_in(&one, READER), one.address.clone());
    drop((one, two));
    let again = stored(&folder, TOKENS, &VARIABLES);
    assert_eq!(at(&browser, &before, &again).open(&again.url("/")).status, 200);
}

#[test]
fn a_session_ends_with_its_time_and_with_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let server = stored(&folder, TOKENS, &VARIABLES);
    let mut browser = signed_in(&server, READER);
    let db = Connection::open(folder.path().join("state.db")).unwrap();
    db.execute("UPDATE sign_ins SET until = 1", []).unwrap();
    assert_eq!(browser.open(&server.url("/")).status, 401);
    let (browser, before) = (signed_in(&server, READER), server.address.clone());
    drop(server);
    let changed = [("T_READER", "another-token-0123456789"), ("T_ADMIN", ADMIN)];
    let again = stored(&folder, TOKENS, &changed);
    let mut there = at(&browser, &before, &again);
    assert_eq!(there.open(&again.url("/")).status, 401, "the token of the session is known no more");
}

#[test]
fn rights_of_a_session_are_those_of_the_configuration_now() {
    let issuer = Issuer::start();
    let folder = tempfile::tempdir().unwrap();
    let config = with_provider(&issuer, "");
    let server = stored(&folder, &config, &VARIABLES);
    issuer.register("toolcrib", "client-secret-of-toolcrib", &[&server.url("/sign-in/callback")]);
    let mut browser = Browser::default();
    assert_eq!(browser.open(&server.url("/sign-in/start")).status, 200);
    let before = server.address.clone();
    drop(server);
    let without = config.replace("value = \"engineers\"", "value = \"others\"");
    let again = stored(&folder, &without, &VARIABLES);
    assert_eq!(at(&browser, &before, &again).open(&again.url("/")).status, 401);
    drop(again);
    let with = config.replace("roles = [\"reader\"]", "roles = [\"admin\"]");
    let again = stored(&folder, &with, &VARIABLES);
    assert_eq!(at(&browser, &before, &again).open(&again.url("/tools/wipe_disks.html")).status, 200);
}

#[test]
fn cookies_are_for_this_server_alone() {
    let config = format!("serve.public_url = \"https://tools.example.com\"\n{TOKENS}");
    let server = Server::with(&config, &VARIABLES);
    for host in ["tools.example.com", "127.0.0.1"] {
        let page = server.get("/", &[("accept", "text/html"), ("host", host)]);
        let [cookie] = set_cookies(&page).try_into().unwrap();
        assert!(cookie.starts_with("__Host-toolcrib-browser="), "{cookie}");
        for attribute in ["; HttpOnly", "; Secure", "; SameSite=Lax", "; Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        assert!(!cookie.contains("Domain"), "{cookie}");
    }
    let server = guarded();
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let page = server.get("/", &[("accept", "text/html")]);
    let [cookie] = set_cookies(&page).try_into().unwrap();
    assert!(cookie.starts_with(&format!("toolcrib-browser-{port}=")), "{cookie}");
    assert!(cookie.contains("; HttpOnly; SameSite=Lax; Path=/") && !cookie.contains("Secure"), "{cookie}");
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
    for path in ["/v1", "/v1/tool_help?path=list_items", "/v1/sessions/a", "/mcp"] {
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
    assert_eq!(browser.open(&server.url("/sign-in/start")).status, 404);
}

/// The worked configuration of the docs, with the issuer of the test in place of that of the page.
#[test]
fn a_team_behind_its_identity_provider_works_as_documented() {
    let issuer = Issuer::start();
    let page = std::fs::read_to_string(fixture::package().join("docs/identity.md")).unwrap();
    let (_, section) = page.split_once("\n## A team behind its identity provider\n").unwrap();
    let section = section.split("\n## ").next().unwrap().replace("https://login.example.com", issuer.url());
    let blocks = |language: &str| -> String {
        let begins = format!("```{language}\n");
        section.split(&begins).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
    };
    let tools = r#"[
      {"name": "deploy", "allowed_roles": ["engineer"], "description": "Deploy.", "parameters": {"type": "object", "properties": {}}},
      {"name": "wipe", "allowed_roles": ["admin"], "description": "Wipe.", "parameters": {"type": "object", "properties": {}}}
    ]"#;
    let folder = fixture::folder(&[("tools.json", tools), ("toolcrib.toml", &blocks("toml"))]);
    let secret = [("TOOLCRIB_CLIENT_SECRET", "client-secret-of-toolcrib")];
    let server = Server::start(fixture::text(folder.path()), &[], &secret);
    issuer.register("toolcrib", "client-secret-of-toolcrib", &[&server.url("/sign-in/callback")]);
    let commands = blocks("sh").replace("http://127.0.0.1:7878", &server.url(""));
    let ran = std::process::Command::new("sh").args(["-ec", &commands]).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    let to_issuer = format!("location: {}/authorize?", issuer.url());
    for part in ["HTTP/1.1 401", "<h1>Sign in</h1>", "HTTP/1.1 303", &to_issuer] {
        assert!(ran.status.success() && told.contains(part), "{part}: {told}");
    }
    let mut engineer = Browser::default();
    let page = engineer.open(&server.url("/sign-in/start?return=/tools/deploy.html"));
    assert_eq!((page.status, page.url.path()), (200, "/tools/deploy.html"), "{}", page.text);
    assert!(page.text.contains("Signed in as <b dir=\"auto\">Amy</b>"), "{}", page.text);
    assert_eq!(engineer.open(&server.url("/tools/wipe.html")).status, 404);
    issuer.behave(|issuer| drop(issuer.user.insert("groups".into(), "operators".into())));
    let mut operator = Browser::default();
    assert_eq!(
        operator.open(&server.url("/sign-in/start?return=/tools/wipe.html")).url.path(),
        "/tools/wipe.html"
    );
}
