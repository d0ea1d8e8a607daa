//! Errors with their next steps: as JSON for programs, as a page for people.

use std::collections::BTreeSet;

use serde_json::Value;
use toolcrib::functions::ErrorCode;
use toolcrib::server::http::ProblemCode;

use super::{Server, client, header};
use crate::fixture;

#[test]
fn each_mistake_has_its_code_and_its_status() {
    let server = Server::with("serve.limits.body_bytes = 2000", &[]);
    let code = |response: reqwest::blocking::Response| {
        let status = response.status().as_u16();
        let body: Value = response.json().unwrap();
        assert_eq!(body["ok"], false);
        for field in ["message", "help_path", "next_action"] {
            assert!(body["error"][field].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        }
        (status, body["error"]["code"].as_str().unwrap().to_string())
    };
    let expect = |response, status: u16, name: &str| assert_eq!(code(response), (status, name.to_string()));
    expect(server.get("/nothing", &[]), 404, "NOT_FOUND");
    expect(server.get("/tools/no_such_tool.md", &[]), 404, "NOT_FOUND");
    expect(server.get("/tools/categories/none.md", &[]), 404, "NOT_FOUND");
    expect(server.get("/tools/%ff.md", &[]), 400, "BAD_REQUEST");
    expect(server.get("/tools/list_items", &[("accept", "image/png")]), 406, "NOT_ACCEPTABLE");
    expect(server.get(&format!("/tools/{}", "a".repeat(9000)), &[]), 414, "URI_TOO_LONG");
    expect(server.post("no_such_function", "{}"), 404, "NOT_FOUND");
    expect(server.post("read_tool_doc", "{"), 400, "MALFORMED_JSON");
    expect(server.post("read_tool_doc", "[".repeat(1000)), 400, "MALFORMED_JSON");
    expect(
        server.post("read_tool_doc", format!("{}{}", "[".repeat(400), "]".repeat(400))),
        400,
        "MALFORMED_JSON",
    );
    expect(server.post("read_tool_doc", "{\"name\": 7, \"x\": 1}"), 400, "VALIDATION_ERROR");
    expect(server.post("read_tool_doc", ""), 400, "VALIDATION_ERROR");
    expect(server.post("read_tool_doc", r#"{"name": "no_such_tool"}"#), 404, "NOT_FOUND");
    expect(server.post("read_tool_doc", format!("\"{}\"", "a".repeat(3000))), 413, "CONTENT_TOO_LARGE");
    let form = client().post(server.url("/v1/read_tool_doc")).header("content-type", "text/plain").body("{}");
    expect(form.send().unwrap(), 415, "UNSUPPORTED_MEDIA_TYPE");
    let packed = client().post(server.url("/v1/read_tool_doc")).header("content-type", "application/json");
    expect(
        packed.header("content-encoding", "gzip").body("{}").send().unwrap(),
        415,
        "UNSUPPORTED_MEDIA_TYPE",
    );
    for (method, path, allow) in [
        ("DELETE", "/tools/list_items.md", "GET,HEAD,POST"),
        ("GET", "/v1/tool_exec", "POST"),
        ("GET", "/v1/tool_help", "POST"),
        ("POST", "/registry.json", "GET,HEAD"),
        ("PUT", "/index.html", "GET,HEAD"),
    ] {
        let refused = client().request(method.parse().unwrap(), server.url(path)).send().unwrap();
        assert_eq!(header(&refused, "allow"), allow, "{method} {path}");
        expect(refused, 405, "METHOD_NOT_ALLOWED");
    }
}

#[test]
fn a_name_that_is_nearly_right_gets_the_right_one_and_a_way_on() {
    let server = Server::with("", &[]);
    let error: Value = server.get("/tools/list_item.md", &[]).json().unwrap();
    assert_eq!(error["error"]["nearest"][0], "list_items");
    assert!(error["error"]["next_action"].as_str().unwrap().contains("/tools/list_items.md"));
    for link in error["links"].as_object().unwrap().values() {
        assert_eq!(server.get(link.as_str().unwrap(), &[]).status(), 200, "{link}");
    }
}

#[test]
fn people_get_a_page_and_no_name_becomes_markup() {
    let server = Server::with("", &[]);
    let page = server.get("/tools/%3Cscript%3Ealert(1)%3C%2Fscript%3E.md", &[("accept", "text/html")]);
    assert_eq!((page.status().as_u16(), header(&page, "content-type")), (404, "text/html; charset=utf-8"));
    let text = page.text().unwrap();
    assert!(!text.contains("<script>") && text.contains("Not found"), "{text}");
}

#[test]
fn people_who_mistype_a_tool_get_the_page_of_the_site_with_links() {
    let server = Server::with("", &[]);
    for path in ["/tools/list_item", "/tools/list_item.md", "/tools/list_item.html", "/list_item"] {
        let page = server.get(path, &[("accept", "text/html,*/*;q=0.8")]);
        assert_eq!(page.status(), 404, "{path}");
        let text = page.text().unwrap();
        assert!(text.contains("list_items.html\""), "{path}: {text}");
        assert!(
            text.contains(if path.starts_with("/tools/") { "\"../" } else { "\"assets/" }),
            "{path}: {text}"
        );
    }
    for (path, status) in [("/sessions/none", 404), ("/approvals/none", 404), ("/sessions/%ff", 400)] {
        let page = server.get(path, &[("accept", "text/html")]);
        assert_eq!(
            (page.status().as_u16(), header(&page, "content-type")),
            (status, "text/html; charset=utf-8")
        );
        assert!(page.text().unwrap().contains("\"../index.html\""), "{path}");
    }
    let categories = server.get("/tools/categories/none.md", &[("accept", "text/html")]);
    assert!(categories.text().unwrap().contains("Not found"));
}

#[test]
fn every_code_has_a_section_and_every_section_a_code() {
    let page = std::fs::read_to_string(fixture::package().join("docs/errors.md")).unwrap();
    let documented: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|code| code.trim_matches('`'))
        .collect();
    let functions = ErrorCode::ALL.iter().map(|code| code.as_str());
    let known: BTreeSet<&str> = functions.chain(ProblemCode::ALL.iter().map(|code| code.as_str())).collect();
    assert_eq!(documented, known);
    // A code that both have means the same, with the same status.
    for problem in ProblemCode::ALL {
        for code in ErrorCode::ALL.iter().filter(|code| code.as_str() == problem.as_str()) {
            assert_eq!(code.http_status(), problem.http_status(), "{code:?}");
        }
    }
}
