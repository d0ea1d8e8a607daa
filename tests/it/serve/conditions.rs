//! Tags and compression: a client that has the content gets 304.

use std::collections::HashMap;
use std::io::Read;

use serde_json::{Value, json};

use super::{Server, client, header};
use crate::fixture;
use crate::mcp::many;

/// All that an answer varies by.
fn vary(response: &reqwest::blocking::Response) -> String {
    let values = response.headers().get_all("vary").iter().map(|value| value.to_str().unwrap());
    values.collect::<Vec<_>>().join(", ")
}

/// The longest doc of GitHub's tools is well over what is worth compressing.
const DOC: &str = "/tools/issue_write.md";

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn what_a_client_has_is_not_sent_again() {
    let server = Server::github();
    for path in [
        DOC, "/tools/README.md", "/registry.json", "/llms.txt", "/openapi.json", "/tools/get_me", "/v1",
        "/assets/site.css", "/search-index.js",
    ] {
        for encoding in ["identity", "gzip"] {
            let ask = |tag: &str| server.get(path, &[("accept-encoding", encoding), ("if-none-match", tag)]);
            let first = ask("\"other\"");
            assert_eq!(first.status(), 200, "{path}");
            assert_eq!(header(&first, "cache-control"), "no-cache");
            assert!(vary(&first).contains("accept-encoding"), "{path}");
            let tag = header(&first, "etag").to_string();
            // The same tag stands for the plain and for the compressed body.
            assert!(tag.starts_with("W/\""), "{path}: {tag} is not weak");
            for list in [tag.clone(), format!("\"a\", {}", &tag[2..]), "*".into()] {
                let again = ask(&list);
                assert_eq!(
                    (again.status().as_u16(), header(&again, "etag")),
                    (304, tag.as_str()),
                    "{path} {list}"
                );
                assert!(again.bytes().unwrap().is_empty());
            }
        }
    }
}

#[test]
fn a_compressed_body_has_the_bytes_of_the_plain_one_and_each_content_its_tag() {
    let large = many(1200);
    for server in [Server::github(), Server::start(fixture::text(large.path()), &[], &[])] {
        let mut seen: HashMap<String, &str> = HashMap::new();
        for path in [DOC, "/tools/README.md", "/registry.json", "/llms.txt"] {
            let plain = server.get(path, &[("accept-encoding", "identity")]);
            if plain.status() == 404 {
                continue;
            }
            assert_eq!(header(&plain, "content-encoding"), "");
            let small = server.get(path, &[("accept-encoding", "br;q=1, gzip;q=0.8")]);
            assert_eq!(header(&small, "content-encoding"), "gzip", "{path}");
            let tag = header(&plain, "etag").to_string();
            assert_eq!(header(&small, "etag"), tag, "{path}");
            assert_eq!(unpacked(&small.bytes().unwrap()), plain.bytes().unwrap(), "{path}");
            assert!(seen.insert(tag.clone(), path).is_none(), "{path}: {tag} stands for two bodies");
        }
    }
}

#[test]
fn the_forms_of_one_address_have_tags_of_their_own() {
    let server = Server::github();
    let mut seen = std::collections::HashSet::new();
    for accept in ["text/markdown", "text/plain", "text/html", "application/json"] {
        let ask = |tag: &str| server.get("/tools/issue_write", &[("accept", accept), ("if-none-match", tag)]);
        let tag = header(&ask("\"other\""), "etag").to_string();
        assert_eq!(ask(&tag).status(), 304, "{accept}");
        assert!(seen.insert(tag.clone()), "{tag} stands for two forms");
    }
}

#[test]
fn head_says_what_get_would_without_the_body() {
    let server = Server::github();
    for path in [DOC, "/tools/README.md", "/registry.json", "/v1", "/readyz", "/", "/llms.txt", "/nothing"] {
        for encoding in ["identity", "gzip"] {
            let get = server.get(path, &[("accept-encoding", encoding)]);
            let head = client().head(server.url(path)).header("accept-encoding", encoding).send().unwrap();
            assert_eq!(head.status(), get.status(), "{path}");
            for name in
                ["etag", "content-type", "content-encoding", "cache-control", "vary", "content-length"]
            {
                assert_eq!(header(&head, name), header(&get, name), "{path} {encoding} {name}");
            }
            assert!(head.bytes().unwrap().is_empty());
        }
    }
}

#[test]
fn help_of_a_known_version_is_only_said_to_be_unchanged() {
    let server = Server::github();
    let help = |arguments: Value| server.post("tool_help", arguments).json::<Value>().unwrap();
    let ask = |path: &str, known: &str| help(json!({"path": path, "known_version": known}));
    let first = help(json!({"path": "create_issue"}));
    let version = |name: &str| first["meta"][name].as_str().or(first[name].as_str()).unwrap().to_string();
    for known in [version("doc_version"), version("registry_version")] {
        let again = ask("create_issue", &known);
        assert_eq!((&again["ok"], &again["unchanged"]), (&json!(true), &json!(true)), "{again}");
        assert!(again.get("usage").is_none() && again.get("receipt").is_none(), "{again}");
    }
    assert!(ask("create_issue", "0000000000")["usage"].is_string());
    let group = ask("root", &version("registry_version"));
    assert_eq!(group["unchanged"], true, "{group}");
    assert!(ask("root", &version("doc_version")).get("unchanged").is_none());
}
