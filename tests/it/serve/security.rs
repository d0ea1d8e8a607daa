//! Access: host names, pages of other origins, tokens and roles.

use serde_json::Value;

use super::{Server, TOOLS, client, header};
use crate::fixture::{self, run_with};

const READER: &str = "reader-token-0123456789";
const ADMIN: &str = "admin-token-0123456789";
const TOKENS: &str = "[[serve.token]]\nenv = \"T_READER\"\nroles = [\"reader\"]\n\n\
                      [[serve.token]]\nenv = \"T_ADMIN\"\nroles = [\"admin\", \"reader\"]\n";

fn guarded() -> Server {
    Server::with(TOKENS, &[("T_READER", READER), ("T_ADMIN", ADMIN)])
}

#[test]
fn only_names_of_this_server_are_answered() {
    let server = Server::with("serve.public_hosts = [\"tools.example.com\"]", &[]);
    let status = |host: &str| server.get("/tools/README.md", &[("host", host)]).status().as_u16();
    for good in ["localhost", "127.0.0.1:9", "[::1]:80", "tools.example.com", "TOOLS.example.com:443"] {
        assert_eq!(status(good), 200, "{good}");
    }
    for bad in ["evil.example", "tools.example.com.evil.example", "10.0.0.1", "localhost.evil.example"] {
        assert_eq!(status(bad), 403, "{bad}");
        assert_eq!(server.get("/healthz", &[("host", bad)]).status(), 403);
    }
    for wrong in ["GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n"]
    {
        let wrong = wrong.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        assert!(server.raw(wrong.as_bytes()).starts_with("HTTP/1.1 400 "), "{wrong}");
    }
}

#[test]
fn pages_of_other_sites_cannot_use_it() {
    let server = Server::with("serve.public_hosts = [\"tools.example.com\"]", &[]);
    let status = |path: &str, origin: &str| {
        let asking = client().post(server.url(path)).header("content-type", "application/json").body("{}");
        asking.header("origin", origin).send().unwrap().status().as_u16()
    };
    for origin in
        ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", "tools.example.com", ""]
    {
        for path in ["/v1/read_tool_doc", "/mcp", "/tools/list_items.md"] {
            assert_eq!(status(path, origin), 403, "{path} {origin}");
        }
    }
    assert_eq!(status("/v1/read_tool_doc", &server.url("")), 400);
    assert_eq!(status("/v1/read_tool_doc", "https://tools.example.com"), 400);
    assert_eq!(server.get("/mcp", &[("origin", "https://evil.example")]).status(), 403);
    // Reading is safe, and what a browser reads for another site it does not show it.
    let read = server.get("/tools/list_items.md", &[("origin", "https://evil.example")]);
    assert_eq!((read.status().as_u16(), header(&read, "access-control-allow-origin")), (200, ""));
}

#[test]
fn pages_say_what_a_browser_must_not_do_with_them() {
    let server = Server::with("", &[]);
    for path in ["/", "/tools/list_items.md", "/nothing", "/v1", "/metrics", "/tools/cat.md"] {
        let answer = server.get(path, &[]);
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff", "{path}");
    }
    for path in ["/", "/nothing", "/tools/list_items.html", "/tools/list_item", "/tools/list_item.md"] {
        let answer = server.get(path, &[("accept", "text/html")]);
        assert_eq!(header(&answer, "referrer-policy"), "same-origin", "{path}");
        let policy = header(&answer, "content-security-policy");
        for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}

#[test]
fn no_route_shows_the_catalog_without_a_token() {
    let server = guarded();
    let table = fixture::package().join("crates/server/src/http/routes.md");
    let table = std::fs::read_to_string(table).unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|line| line.starts_with("| `")).map(|row| row.split(" | ").collect()).collect();
    assert!(rows.len() > 25, "{rows:?}");
    for row in rows {
        let pattern = row[0].trim_matches(['|', ' ', '`']).replace("any other address", "/guess/{name}");
        let fixed = pattern.split('{').next().unwrap();
        let names = ["list_items", "list_item", "files_read.html", "cat", "", "a/list_items"];
        let filled = names.map(|name| format!("{fixed}{name}"));
        for path in [vec![fixed.to_string()], filled.to_vec()].concat() {
            for method in ["GET", "POST", "DELETE"] {
                let asking = client().request(method.parse().unwrap(), server.url(&path)).body("{}");
                let answer = asking.header("accept", "text/html").send().unwrap();
                let (status, text) = (answer.status().as_u16(), answer.text().unwrap());
                let is_open = row[2] == "everybody" && path.starts_with(&pattern[..fixed.len()]);
                assert!(is_open || status == 401, "{method} {path}: {status}");
                for word in
                    ["list_items", "files.read", "files_read", "List all items", "Read a file", "Items"]
                {
                    assert!(
                        path.contains(word) || !text.contains(word),
                        "{method} {path} shows {word}: {text}"
                    );
                }
                assert!(!text.contains("List all items"), "{method} {path}: {text}");
            }
        }
    }
}

#[test]
fn without_a_token_nobody_gets_further_than_health() {
    let server = guarded();
    assert_eq!(server.get("/healthz", &[]).status(), 200);
    assert_eq!(server.get("/readyz", &[]).text().unwrap(), "ready\n");
    for path in [
        "/", "/tools/list_items.md", "/registry.json", "/v1", "/metrics", "/mcp", "/readyz?verbose",
        "/nothing",
    ] {
        for wrong in [
            None,
            Some("Bearer wrong-token-0123456789"),
            Some("Basic cmVhZGVy"),
            Some("Bearer "),
            Some(READER),
        ] {
            let headers: Vec<(&str, &str)> = wrong.iter().map(|value| ("authorization", *value)).collect();
            let refused = server.get(path, &headers);
            assert_eq!(refused.status(), 401, "{path} {wrong:?}");
            assert!(header(&refused, "www-authenticate").starts_with("Bearer"), "{path}");
        }
    }
    let bearer = format!("Bearer {READER}");
    assert_eq!(server.get("/tools/list_items.md", &[("authorization", &bearer)]).status(), 200);
    assert_eq!(server.get("/readyz?verbose", &[("authorization", &bearer)]).status(), 200);
}

#[test]
fn to_those_who_may_not_see_it_a_tool_does_not_exist() {
    let server = guarded();
    let (reader, admin) = (format!("Bearer {READER}"), format!("Bearer {ADMIN}"));
    // The state of the index is in an answer below.
    while server.json_of("/readyz?verbose", &[("authorization", &reader)])["search"] != "ready" {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let all = |token: &str, name: &str| {
        let mut seen = Vec::new();
        let listing =
            ["/tools/README.md", "/registry.json", "/llms.txt", "/", "/readyz?verbose", "/findings.html"];
        let named = ["", ".md", ".html"].map(|end| format!("/tools/{name}{end}"));
        let paths = listing.map(str::to_string).into_iter().chain(named);
        for path in paths {
            for accept in ["*/*", "text/html", "application/json"] {
                let got = server.get(&path, &[("authorization", token), ("accept", accept)]);
                let tag = header(&got, "etag").to_string();
                seen.push(format!("{path} {} {tag} {}", got.status(), got.text().unwrap()));
            }
        }
        for arguments in
            [format!(r#"{{"name": "{name}"}}"#), format!(r#"{{"names": ["list_items", "{name}"]}}"#)]
        {
            let asking = client().post(server.url("/v1/read_tool_doc")).header("authorization", token);
            let got = asking.header("content-type", "application/json").body(arguments).send().unwrap();
            seen.push(format!("{} {}", got.status(), got.text().unwrap()));
        }
        seen
    };
    for (hidden, unknown) in [("wipe_disks", "xqzw_vjkpt"), ("wipe", "xqzw")] {
        let seen = all(&reader, hidden);
        assert_eq!(
            seen,
            all(&reader, unknown).iter().map(|text| text.replace(unknown, hidden)).collect::<Vec<_>>()
        );
        assert!(!seen.iter().any(|text| text.contains("Wipe all disks")), "{seen:#?}");
    }
    let seen = all(&admin, "wipe_disks");
    assert!(seen.iter().filter(|text| text.contains("Wipe all disks")).count() > 5, "{seen:#?}");
}

#[test]
fn what_is_wrong_is_for_tokens_with_every_role_alone() {
    let tokens = TOKENS.replace("[\"admin\", \"reader\"]", "[\"*\"]");
    let broken = [("tools.json", TOOLS), ("broken.json", "[{\"name\": "), ("toolcrib.toml", &tokens)];
    let folder = fixture::folder(&broken);
    let catalog = fixture::text(folder.path());
    let server = Server::start(catalog, &[], &[("T_READER", READER), ("T_ADMIN", ADMIN)]);
    for (token, sees_all) in [(READER, false), (ADMIN, true)] {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        let detail: Value = server.get("/readyz?verbose", &headers).json().unwrap();
        assert_eq!(detail["ready"], true);
        for field in ["findings", "trouble", "current", "complete", "semantic"] {
            assert_eq!(detail.get(field).is_some(), sees_all, "{detail}");
        }
        let read = |path: &str| server.get(path, &headers).text().unwrap();
        assert_eq!(read("/").contains("The catalog has 1 error;"), sees_all);
        assert_eq!(read("/findings.html").contains("file-invalid"), sees_all);
        for family in ["toolcrib_reloads_total", "toolcrib_catalog_current", "toolcrib_semantic_configured"] {
            assert_eq!(read("/metrics").contains(family), sees_all, "{family}");
        }
        assert_eq!(server.get("/tools/wipe_disks.md", &headers).status() == 200, sees_all);
    }
}

#[test]
fn a_server_that_others_reach_wants_a_token_or_to_be_told() {
    let folder = fixture::folder(&[("tools.json", TOOLS)]);
    let catalog = fixture::text(folder.path());
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = run_with(&["serve", catalog, "--listen", address], "", &[]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(
            refused.stderr.contains("--allow-unauthenticated") && refused.stderr.contains("[[serve.token]]")
        );
    }
    let wrong = run_with(&["serve", catalog, "--listen", "everywhere"], "", &[]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    let server = Server::start(catalog, &["--allow-unauthenticated"], &[]);
    assert_eq!(server.get("/healthz", &[]).status(), 200);
}

#[test]
fn tokens_that_are_missing_or_short_are_refused_and_never_told() {
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", TOKENS)]);
    let catalog = fixture::text(folder.path());
    let start = |variables: &[(&str, &str)]| run_with(&["serve", catalog], "", variables);
    let missing = start(&[]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("T_READER"), "{}", missing.stderr);
    let short = start(&[("T_READER", "hunter2"), ("T_ADMIN", ADMIN)]);
    assert_eq!(short.code, 2);
    assert!(short.stderr.contains("16 characters") && !short.stderr.contains("hunter2"), "{}", short.stderr);
}

#[test]
fn the_log_tells_each_request_when_asked_to_and_no_secret() {
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", TOKENS)]);
    let catalog = fixture::text(folder.path());
    let more = ["--log", "json", "--log-level", "trace"];
    let server = Server::start(catalog, &more, &[("T_READER", READER), ("T_ADMIN", ADMIN)]);
    server.get("/tools/list_items.md?secret=no", &[("authorization", &format!("Bearer {READER}"))]);
    server.get("/tools/list_items.md", &[("authorization", "Bearer another-token-987654321")]);
    std::thread::sleep(std::time::Duration::from_millis(200));
    let log = server.log.lock().unwrap().clone();
    let lines = || log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    assert!(lines().any(|line| line["path"] == "/tools/list_items.md" && line["status"] == 200), "{log}");
    for secret in [READER, ADMIN, "another-token-987654321", "secret=no"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn a_request_says_once_and_plainly_whom_it_asks() {
    let server = Server::with("serve.public_hosts = [\"tools.example.com\"]", &[]);
    let status = |line: &str, headers: &str| {
        let answer = server.raw(format!("{line}\r\n{headers}connection: close\r\n\r\n").as_bytes());
        answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse::<u16>().ok())
            .unwrap_or_else(|| panic!("{line}: {answer}"))
    };
    let get = "GET /healthz HTTP/1.1";
    let host = |value: &str| status(get, &format!("host: {value}\r\n"));
    for good in ["localhost", "localhost:7878", "[::1]:9", "127.0.0.1", "TOOLS.example.com"] {
        assert_eq!(host(good), 200, "{good}");
    }
    for bad in [
        "",
        "user@localhost",
        "localhost:x",
        "localhost:99999",
        "localhost:1:2",
        "[::1",
        "::1",
        "[localhost]",
        "localhost/x",
        "localhost, evil.example",
        "http://localhost",
        "\u{e9}",
    ] {
        assert_eq!(host(bad), 400, "{bad}");
    }
    for line in [get, "GET /healthz HTTP/1.0"] {
        assert_eq!(status(line, ""), 400, "{line}");
        assert_eq!(status(line, "host: localhost\r\nhost: localhost\r\n"), 400, "{line}");
        assert_eq!(status(line, "host: localhost\r\n"), 200, "{line}");
    }
    let absolute =
        |target: &str, host: &str| status(&format!("GET {target} HTTP/1.1"), &format!("host: {host}\r\n"));
    assert_eq!(absolute("http://localhost:7/healthz", "localhost:7"), 200);
    for other in ["localhost", "localhost:8", "tools.example.com:7", "evil.example:7"] {
        assert_eq!(absolute("http://localhost:7/healthz", other), 400, "{other}");
    }
    assert_eq!(absolute("http://evil.example/healthz", "evil.example"), 403);
    assert_eq!(absolute("http://user@localhost/healthz", "localhost"), 400);
    assert_eq!(status("GET http://localhost/healthz HTTP/1.1", ""), 400);
}

#[test]
fn a_secret_may_be_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "of-a-file-0123456789abcdef\n").unwrap();
    let variables = [("T_AGENTS_FILE", file.to_str().unwrap())];
    let server = Server::of(TOOLS, "[[serve.token]]\nenv = \"T_AGENTS\"\n", &variables);
    assert_eq!(server.get("/v1", &[]).status(), 401);
    let token = [("authorization", "Bearer of-a-file-0123456789abcdef")];
    assert_eq!(server.get("/v1", &token).status(), 200);
}
