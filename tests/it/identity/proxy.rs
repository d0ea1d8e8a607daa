//! A proxy in front names the person of a request, and nobody else does.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::browser::Browser;
use crate::fixture;
use crate::serve::Server;

const SECRET: &str = "secret-of-the-proxy-0123";
const TOKEN: &str = "agent-token-0123456789";
const VARIABLES: [(&str, &str); 2] = [("PROXY_SECRET", SECRET), ("T_AGENT", TOKEN)];

fn behind(proxy: &str, more: &str) -> Server {
    Server::with(&format!("{more}\n[serve.proxy]\nroles = [\"reader\", \"admin\"]\n{proxy}\n"), &VARIABLES)
}

/// Status and body of a page with these headers.
fn page(server: &Server, headers: &[(&str, &str)]) -> (u16, String) {
    let asking = headers
        .iter()
        .fold(server.asking("/tools/wipe_disks.html"), |asking, (name, value)| asking.header(*name, *value));
    let answer = asking.header("accept", "text/html").send().unwrap();
    (answer.status().as_u16(), answer.text().unwrap())
}

const AMY: (&str, &str) = ("x-forwarded-user", "amy@example.com");
const ADMIN: (&str, &str) = ("x-forwarded-groups", "staff, admin");

#[test]
fn the_proxy_names_the_person_and_the_roles() {
    let server = behind("addresses = [\"10.0.0.0/8\", \"127.0.0.1\"]", "");
    let (status, text) = page(&server, &[AMY, ADMIN]);
    assert!(status == 200 && text.contains("<b dir=\"auto\">amy@example.com</b>"), "{text}");
    assert!(!text.contains(">Sign out<"), "signing out is the proxy's");
    for roles in ["", "staff", "reader", "*", "administrator", "admin;staff"] {
        assert_eq!(page(&server, &[AMY, ("x-forwarded-groups", roles)]).0, 404, "{roles}");
    }
    assert_eq!(page(&server, &[AMY]).0, 404, "without roles");
    assert_eq!(page(&server, &[]).0, 401, "without a person");
    assert_eq!(page(&server, &[("x-forwarded-user", ""), ADMIN]).0, 401, "with an empty name");
    // The same person calls functions, and has sessions that are nobody else's.
    let call = |user: &str| {
        let asking =
            server.posting("/v1/tool_exec", json!({"op": "wipe_disks", "args": {}, "dry_run": true}));
        let asking = asking.header("x-forwarded-user", user).header("x-forwarded-groups", "admin");
        asking.header("x-session-id", "one").send().unwrap()
    };
    assert_ne!(call("amy").status(), 401);
    let seen = |user: &str| server.get("/sessions/one/events.jsonl", &[("x-forwarded-user", user)]).status();
    assert_eq!((seen("amy").as_u16(), seen("bob").as_u16()), (200, 404));
    // Answers for one person are kept by no shared cache, and pages of other sites call nothing.
    let answer = server.get("/", &[AMY, ("accept", "text/html")]);
    assert_eq!(answer.headers()["cache-control"], "private, no-cache");
    let evil = server.posting("/v1/tool_exec", "{}").header("origin", "https://evil.example");
    assert_eq!(evil.header(AMY.0, AMY.1).send().unwrap().status(), 403);
}

#[test]
fn headers_from_elsewhere_are_forged() {
    let server = behind("addresses = [\"10.0.0.0/8\", \"::1\"]", "[[serve.token]]\nenv = \"T_AGENT\"\n");
    let bearer = format!("Bearer {TOKEN}");
    let ways: [&[(&str, &str)]; 8] = [
        &[AMY, ADMIN],
        &[AMY],
        &[ADMIN],
        &[AMY, ("x-forwarded-for", "10.0.0.1")],
        &[AMY, ("x-forwarded-for", "127.0.0.1, 10.0.0.1"), ("x-real-ip", "10.0.0.1")],
        &[AMY, ("forwarded", "for=10.0.0.1")],
        &[AMY, ("x-proxy-secret", SECRET)],
        // A good token does not make a forged name better.
        &[AMY, ("authorization", &bearer)],
    ];
    for headers in ways {
        let (status, text) = page(&server, headers);
        assert!(status == 403 && text.contains("PROXY_REFUSED"), "{headers:?}: {text}");
    }
    for path in ["/healthz", "/readyz", "/metrics", "/sign-in", "/v1", "/mcp", "/registry.json", "/nothing"] {
        assert_eq!(server.get(path, &[AMY]).status(), 403, "{path}");
    }
    // Without these headers, callers with tokens come in as ever, and people with the form.
    assert_eq!(server.get("/v1", &[("authorization", &bearer)]).status(), 200);
    let mut browser = Browser::default();
    let form = browser.open(&server.url("/"));
    assert_eq!(browser.submit(&form, "/sign-in", &[("token", TOKEN)]).status, 200);
}

#[test]
fn a_secret_proves_the_proxy_from_any_address() {
    let secret = "secret = \"${PROXY_SECRET}\"";
    let server = behind(secret, "");
    let own = ("x-proxy-secret", SECRET);
    assert_eq!(page(&server, &[AMY, ADMIN, own]).0, 200);
    for wrong in ["", "secret-of-the-proxy-0124", "secret-of-the-proxy-01234", &SECRET[..23]] {
        assert_eq!(page(&server, &[AMY, ADMIN, ("x-proxy-secret", wrong)]).0, 403, "{wrong}");
    }
    assert_eq!(page(&server, &[AMY, ADMIN]).0, 403);
    assert_eq!(page(&server, &[AMY, ADMIN, own, own]).0, 403, "twice");
    assert_eq!(page(&server, &[("x-proxy-secret", "wrong-secret-of-nobody")]).0, 403);
    // With both, both have to hold.
    let both = behind(&format!("{secret}\naddresses = [\"10.0.0.1\"]"), "");
    assert_eq!(page(&both, &[AMY, ADMIN, own]).0, 403);
    let log = format!("{}{}", server.log.lock().unwrap(), both.log.lock().unwrap());
    assert!(!log.contains(SECRET), "{log}");
}

#[test]
fn two_names_are_none() {
    let server = behind("addresses = [\"127.0.0.0/8\"]", "");
    let told = |headers: &str| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let head =
            format!("GET /tools/wipe_disks.md HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", server.address);
        stream.write_all(format!("{head}{headers}\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_string()
    };
    let good = "X-Forwarded-User: amy\r\nX-Forwarded-Groups: admin\r\n";
    assert_eq!(told(good), "200");
    // A proxy that adds its header to one of the client names two people.
    assert_eq!(told(&format!("{good}X-Forwarded-User: root\r\n")), "403");
    assert_eq!(told(&format!("{good}x-forwarded-user: amy\r\n")), "403");
    assert_eq!(
        told("X-Forwarded-User: bob\r\nX-Forwarded-Groups: reader\r\nX-Forwarded-Groups: admin\r\n"),
        "403"
    );
    assert_eq!(told("X_Forwarded_User: amy\r\nX_Forwarded_Groups: admin\r\n"), "401", "another header");
    assert_eq!(told(&format!("X-Forwarded-User: {}\r\n", "a".repeat(300))), "401", "too long a name");
}

#[test]
fn names_of_the_proxy_are_no_other_callers() {
    let refused = |config: &str| {
        let folder = fixture::folder(&[("tools.json", crate::serve::TOOLS), ("toolcrib.toml", config)]);
        let arguments = ["serve", fixture::text(folder.path()), "--listen", "127.0.0.1:0"];
        let run = fixture::run_with(&arguments, "", &VARIABLES);
        assert_ne!(run.code, 0, "{config}");
        run.stderr
    };
    let proxy = "[serve.proxy]\naddresses = [\"127.0.0.1\"]\n";
    for (config, said) in [
        ("[serve.proxy]\n".to_string(), "set `addresses` or `secret`"),
        ("[serve.proxy]\naddresses = [\"proxy.example\"]\n".into(), "IP address"),
        ("[serve.proxy]\naddresses = [\"10.0.0.0/33\"]\n".into(), "IP address"),
        (format!("{proxy}user_header = \"Authorization\"\n"), "only the proxy sends"),
        (format!("{proxy}user_header = \"not a header\"\n"), "no name of a header"),
        (
            format!("{proxy}roles = [\"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"]\n"),
            "eight roles",
        ),
        ("[serve.proxy]\nsecret = \"${T_NOT_SET}\"\n".into(), "T_NOT_SET"),
        (format!("{proxy}[[serve.token]]\nenv = \"T_AGENT\"\nname = \"amy@proxy\"\n"), "may have"),
    ] {
        let stderr = refused(&config);
        assert!(stderr.contains(said), "{config}: {stderr}");
    }
    // A proxy alone does not open the server.
    let server = behind("addresses = [\"127.0.0.1\"]", "");
    assert_eq!(server.get("/v1", &[]).status(), 401);
    let page = Browser::default().open(&server.url("/"));
    assert!(page.status == 401 && page.text.contains("through its proxy"), "{}", page.text);
}
