//! Attacks on people who sign in to the pages: each is refused with its status, and nobody is signed in by it.

use reqwest::Url;
use toolcrib::config::Serve;
use toolcrib::serve::Tokens;
use toolcrib::serve::auth::{Authenticator, IdTokenRules};

use super::browser::{Browser, told};
use super::people::{ADMIN, READER, TOKENS, VARIABLES, behind, signed_in, stored, with_provider};
use crate::issuer::Issuer;
use crate::serve::{Server, client};

/// Whether the person of a browser is signed in.
fn is_in(server: &Server, browser: &Browser) -> bool {
    browser.clone().open(&server.url("/")).status == 200
}

/// A sign-in at the provider as far as the address to which the browser is sent back, with a code.
fn begun(server: &Server, browser: &mut Browser) -> Url {
    let to_provider = browser.step(&server.url("/sign-in/start"));
    let back = browser.step(to_provider.header("location"));
    Url::parse(back.header("location")).unwrap()
}

/// An address with another value in its query; an empty one removes the field.
fn with_field(url: &Url, field: &str, value: &str) -> Url {
    let others = url.query_pairs().into_owned().filter(|(name, _)| name != field).collect::<Vec<_>>();
    let own = Some((field.to_string(), value.to_string())).filter(|(_, value)| !value.is_empty());
    let mut changed = url.clone();
    changed.query_pairs_mut().clear().extend_pairs(others.into_iter().chain(own));
    changed
}

#[test]
fn login_csrf_signs_nobody_in() {
    let server = Server::with(TOKENS, &VARIABLES);
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/"));
    let csrf = page.form("/sign-in").into_iter().find(|(name, _)| name == "csrf").unwrap().1;
    let (name, value) = browser.cookie(&server.url(""), "toolcrib-browser").unwrap();
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
fn the_answer_of_an_attackers_sign_in_signs_no_victim_in() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    let (mut attacker, mut victim) = (Browser::default(), Browser::default());
    let back = begun(&server, &mut attacker);
    for _ in 0..2 {
        let page = victim.open(back.as_str());
        assert!(matches!(page.status, 400 | 403), "{}", page.status);
        assert!(!is_in(&server, &victim));
        // The victim may be about to sign in.
        begun(&server, &mut victim);
    }
    assert_eq!(issuer.requests("/token"), 0, "the code was not sent");
    assert!(!is_in(&server, &attacker));
}

#[test]
fn a_code_of_another_sign_in_is_refused() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    let (mut attacker, mut victim) = (Browser::default(), Browser::default());
    let stolen = begun(&server, &mut victim);
    let own = begun(&server, &mut attacker);
    let code = stolen.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let page = attacker.open(with_field(&own, "code", &code).as_str());
    assert_eq!(page.status, 403, "{}", page.text);
    assert!(!is_in(&server, &attacker));
    let made_up = with_field(&begun(&server, &mut attacker), "code", "code-made-up");
    let page = attacker.open(made_up.as_str());
    assert_eq!(page.status, 403);
}

#[test]
fn an_answer_counts_once() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    let mut browser = Browser::default();
    let back = begun(&server, &mut browser);
    let before = browser.clone();
    assert_eq!(browser.open(back.as_str()).status, 200);
    for (mut again, status) in [(before.clone(), 403), (browser.clone(), 400), (Browser::default(), 400)] {
        let had = again.cookie(&server.url(""), "toolcrib-session");
        let page = again.open(back.as_str());
        assert_eq!(page.status, status, "{}", page.text);
        assert_eq!(again.cookie(&server.url(""), "toolcrib-session"), had);
    }
    // The same code with a sign-in of its own.
    let mut again = before;
    let own = begun(&server, &mut again);
    let code = back.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    assert_eq!(again.open(with_field(&own, "code", &code).as_str()).status, 403);
}

#[test]
fn attempts_of_strangers_are_stored_nowhere_and_push_out_no_other() {
    let (issuer, folder) = (Issuer::start(), tempfile::tempdir().unwrap());
    let server = stored(&folder, &with_provider(&issuer, ""), &VARIABLES);
    issuer.register("toolcrib", "client-secret-of-toolcrib", &[&server.url("/sign-in/callback")]);
    let mut browser = Browser::default();
    let back = begun(&server, &mut browser);
    for _ in 0..200 {
        assert_eq!(Browser::default().step(&server.url("/sign-in/start")).status, 303);
    }
    let db = rusqlite::Connection::open(folder.path().join("state.db")).unwrap();
    let stored = || db.query_row("SELECT count(*) FROM sign_ins", [], |row| row.get(0));
    assert_eq!(stored(), Ok(0));
    assert_eq!(browser.open(back.as_str()).status, 200);
    assert_eq!(stored(), Ok(1));
}

#[test]
fn states_that_nobody_was_given_are_refused() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    let mut browser = Browser::default();
    let back = begun(&server, &mut browser);
    for state in ["", "0", &"0".repeat(64), &"A".repeat(64), &"0".repeat(7000), "../..", "\u{0}", "%00"] {
        let page = browser.open(with_field(&back, "state", state).as_str());
        assert_eq!(page.status, 400, "{state}");
    }
    assert_eq!(browser.open(&server.url("/sign-in/callback")).status, 400);
    assert_eq!(issuer.requests("/token"), 0);
}

#[test]
fn an_answer_of_another_provider_is_refused() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    for other in ["https://evil.example", "", &format!("{}/", issuer.url())] {
        let mut browser = Browser::default();
        let back = begun(&server, &mut browser);
        let page = browser.open(with_field(&back, "iss", other).as_str());
        assert_eq!(page.status, 403, "{other}: {}", page.text);
        assert!(page.text.contains("another identity provider"), "{}", page.text);
    }
    assert_eq!(issuer.requests("/token"), 0, "no code was sent");
}

#[test]
fn metadata_of_another_issuer_leads_nobody_away() {
    let issuer = Issuer::start();
    let server = behind(&issuer, "");
    issuer.behave(|issuer| issuer.claims_issuer = Some("https://evil.example".into()));
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/sign-in/start"));
    assert_eq!((page.status, page.url.path()), (502, "/sign-in/start"), "{}", page.text);
}

#[test]
fn codes_are_not_sent_on_to_another_address() {
    let (issuer, other) = (Issuer::start(), Issuer::start());
    let server = behind(&issuer, "");
    issuer.behave(|issuer| issuer.redirects_token_to = Some(format!("{}/token", other.url())));
    let mut browser = Browser::default();
    let page = browser.open(&server.url("/sign-in/start"));
    assert_eq!(page.status, 502, "{}", page.text);
    assert_eq!(other.requests("/token"), 0);
}

#[test]
fn id_tokens_are_for_this_client_and_this_sign_in() {
    let (issuer, other) = (Issuer::start(), Issuer::start());
    let serve: Serve = toml::from_str::<toml::Table>(&with_provider(&issuer, "")).unwrap()["serve"]
        .clone()
        .try_into()
        .unwrap();
    let root = std::path::Path::new(".");
    let callers = Authenticator::new(Tokens::default(), &serve, root).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let accepted = |token: &str| {
        let rules = IdTokenRules { issuer: issuer.url(), client_id: "toolcrib", nonce: "n-1" };
        runtime.block_on(callers.id_token(token, rules)).is_ok()
    };
    let good = || issuer.token().audience("toolcrib").claim("nonce", "n-1");
    assert!(accepted(&good().sign()));
    let two = serde_json::json!(["toolcrib", "another"]);
    assert!(accepted(&good().claim("aud", two.clone()).claim("azp", "toolcrib").sign()));
    let bad = [
        ("another audience", good().audience("another").sign()),
        ("no audience", good().claim("aud", serde_json::Value::Null).sign()),
        ("for several clients, without the one that asked", good().claim("aud", two.clone()).sign()),
        ("asked for by another client", good().claim("aud", two).claim("azp", "another").sign()),
        ("another nonce", good().claim("nonce", "n-2").sign()),
        ("no nonce", good().claim("nonce", serde_json::Value::Null).sign()),
        ("expired", good().seconds(-3600).sign()),
        ("no end", good().claim("exp", serde_json::Value::Null).sign()),
        ("another issuer", good().claim("iss", other.url()).sign()),
        (
            "keys of another issuer",
            other.token().claim("iss", issuer.url()).audience("toolcrib").claim("nonce", "n-1").sign(),
        ),
        ("no signature", good().unsigned()),
        ("a confused algorithm", good().confused()),
        ("a forged signature", good().forged()),
        ("no token", "no.token.at-all".into()),
        ("nothing", String::new()),
    ];
    for (what, token) in bad {
        assert!(!accepted(&token), "{what}");
    }
}

#[test]
fn a_session_that_somebody_has_planted_is_never_signed_in() {
    let issuer = Issuer::start();
    let server = behind(&issuer, TOKENS);
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let planted = (format!("toolcrib-session-{port}"), "ab".repeat(32));
    let by_token = |browser: &mut Browser| {
        let page = browser.open(&server.url("/"));
        browser.submit(&page, "/sign-in", &[("token", READER)]).status
    };
    let by_provider = |browser: &mut Browser| browser.open(&server.url("/sign-in/start")).status;
    let ways: [&dyn Fn(&mut Browser) -> u16; 2] = [&by_token, &by_provider];
    for sign_in in ways {
        let mut victim = Browser::default();
        victim.plant(&server.url(""), planted.clone());
        assert_eq!(sign_in(&mut victim), 200);
        let (_, first) = victim.cookie(&server.url(""), "toolcrib-session").unwrap();
        assert_ne!(first, planted.1, "a sign-in has a new session");
        let mut attacker = Browser::default();
        attacker.plant(&server.url(""), planted.clone());
        assert!(!is_in(&server, &attacker));
    }
    // Signing in again ends the session that the browser had, also one that an attacker has planted there.
    let attacker = signed_in(&server, READER);
    let mut victim = Browser::default();
    victim.plant(&server.url(""), attacker.cookie(&server.url(""), "toolcrib-session").unwrap());
    let page = victim.open(&server.url("/sign-in/start"));
    assert!(page.text.contains("Amy"), "{}", page.text);
    assert!(!is_in(&server, &attacker));
}

#[test]
fn signing_out_takes_a_form_of_the_same_session() {
    let server = Server::with(TOKENS, &VARIABLES);
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
    let issuer = Issuer::start();
    let server = behind(&issuer, TOKENS);
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
        let mut browser = Browser::default();
        let page = browser.open(&server.url(&format!("/sign-in/start?return={encoded}")));
        assert_eq!((page.status, page.url.as_str()), (200, server.url("/").as_str()), "{address:?}");
        assert!(browser.visited.iter().all(|url| !url.starts_with("https://evil")), "{:?}", browser.visited);
    }
    // A host that is not ours gets no answer that could lead there.
    let refused = server.get("/sign-in/start", &[("host", "evil.example")]);
    assert_eq!(told(&refused), (403, String::new()));
}

#[test]
fn a_token_in_an_address_is_none() {
    let server = Server::with(TOKENS, &VARIABLES);
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
    let server = Server::with(TOKENS, &VARIABLES);
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
    let issuer = Issuer::start();
    let folder = crate::fixture::folder(&[
        ("tools.json", crate::serve::TOOLS),
        ("toolcrib.toml", &with_provider(&issuer, TOKENS)),
    ]);
    let (root, state) = (crate::fixture::text(folder.path()), folder.path().join("state.db"));
    let more = ["--state", crate::fixture::text(&state), "--log-level", "trace"];
    let server = Server::start(root, &more, &VARIABLES);
    issuer.register("toolcrib", "client-secret-of-toolcrib", &[&server.url("/sign-in/callback")]);
    let mut browser = Browser::default();
    let mut secrets = vec![READER.to_string(), ADMIN.into(), "client-secret-of-toolcrib".into()];
    for _ in 0..2 {
        let back = begun(&server, &mut browser);
        secrets.extend(
            back.query_pairs().filter(|(name, _)| name != "iss").map(|(_, value)| value.into_owned()),
        );
        secrets.extend(browser.cookie(&server.url(""), "toolcrib-browser").map(|(_, value)| value));
        assert_eq!(browser.open(back.as_str()).status, 200);
        secrets.extend(browser.cookie(&server.url(""), "toolcrib-session").map(|(_, value)| value));
    }
    let wrong = begun(&server, &mut browser).as_str().replace("code-", "wrong-code-");
    let wrong = browser.open(&wrong);
    assert_eq!(wrong.status, 403);
    let by_token = signed_in(&server, READER);
    secrets.extend(by_token.cookie(&server.url(""), "toolcrib-session").map(|(_, value)| value));
    let metrics = server.get("/metrics", &[("authorization", &format!("Bearer {ADMIN}"))]).text().unwrap();
    let mut places = vec![("metrics".to_string(), metrics.into_bytes())];
    places.push(("log".into(), server.log.lock().unwrap().clone().into_bytes()));
    for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
        if file.file_name().to_string_lossy().starts_with("state.db") {
            places
                .push((file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).unwrap()));
        }
    }
    assert!(places.len() >= 3 && secrets.len() >= 10, "{secrets:?}");
    for (place, bytes) in places {
        for secret in &secrets {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {place}");
        }
    }
}
