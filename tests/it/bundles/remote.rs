//! Bundles from an address: asked for, checked before use, kept, and asked for again.

use serde_json::{Value, json};

use super::host::Host;
use super::served::wait;
use super::{Bundled, build};
use crate::fixture::{Run, folder, program, text};
use crate::serve::Server;

/// A host, and a folder with bundles of one tool whose description has a number.
struct Published {
    host: Host,
    work: Bundled,
}

impl Published {
    fn new() -> Self {
        let work = Bundled::of(numbered(1).path());
        let published = Self { host: Host::start(), work };
        published.publish();
        published
    }

    fn build(&self, number: usize) {
        build(numbered(number).path(), &self.work.file);
    }

    /// Puts the bundle to the host, with its signature if it has one.
    fn publish(&self) {
        self.host.put("tools.crib", self.work.bytes());
        if let Ok(signature) = std::fs::read(self.work.beside("tools.crib.minisig")) {
            self.host.put("tools.crib.minisig", signature);
        }
    }

    fn url(&self) -> String {
        self.host.url("tools.crib")
    }

    fn cache(&self) -> String {
        text(&self.work.beside("cache")).to_string()
    }

    fn doc(&self, more: &[&str]) -> Run {
        let url = self.url();
        let call = ["call", "read_tool_doc", r#"{"name": "look_up"}"#, &url];
        let mut command = program(&[&call, more].concat());
        let output = command.env("XDG_CACHE_HOME", self.cache()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn serve(&self, more: &[&str]) -> Server {
        self.serve_with(&[&["--bundle-poll", "1"], more].concat(), &[])
    }

    fn serve_with(&self, more: &[&str], variables: &[(&str, &str)]) -> Server {
        let cache = self.cache();
        let variables = [&[("XDG_CACHE_HOME", &*cache)], variables].concat();
        Server::start(&self.url(), more, &variables)
    }
}

fn numbered(number: usize) -> tempfile::TempDir {
    let tool = json!([{"name": "look_up", "description": format!("Says number {number}."), "parameters": {"type": "object"}}]);
    folder(&[("tools.json", &tool.to_string())])
}

#[test]
fn commands_fetch_a_bundle_once_and_again_when_it_changes() {
    let published = Published::new();
    for _ in 0..3 {
        let doc = published.doc(&[]);
        assert!(doc.stdout.contains("number 1"), "{}", doc.stderr);
    }
    assert_eq!((published.host.sent(), published.host.asked()), (1, 3));
    published.build(2);
    published.publish();
    assert!(published.doc(&[]).stdout.contains("number 2"));
    let kept = walkdir::WalkDir::new(published.cache()).into_iter().map(Result::unwrap);
    let bundles = kept.filter(|entry| entry.path().extension().is_some_and(|end| end == "crib"));
    assert_eq!(bundles.count(), 1, "an older one is removed");
}

#[test]
fn the_last_good_one_is_used_while_the_address_is_away() {
    let published = Published::new();
    published.host.set_away(true);
    let none = published.doc(&[]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("cannot be fetched"), "{}", none.stderr);
    published.host.set_away(false);
    published.doc(&[]);
    published.host.set_away(true);
    for more in [&[][..], &["--offline"]] {
        let doc = published.doc(more);
        assert!(
            doc.stdout.contains("number 1") && doc.stderr.contains("as it was fetched last"),
            "{}",
            doc.stderr
        );
    }
}

#[test]
fn what_is_torn_tampered_with_or_unsigned_is_never_used() {
    let published = Published::new();
    let key = published.work.signed("key");
    let good = published.work.bytes();
    published.publish();
    let signed = ["--key", &key];
    assert!(published.doc(&signed).stdout.contains("number 1"));
    let mut tampered = good.clone();
    *tampered.last_mut().unwrap() ^= 1;
    for bad in [&good[..good.len() / 2], &tampered, b"<html>"] {
        published.host.put("tools.crib", bad);
        for more in [&signed[..], &[]] {
            let doc = published.doc(more);
            assert!(doc.stdout.contains("number 1") && doc.stderr.contains("fetched last"), "{}", doc.stderr);
        }
    }
    published.build(2);
    published.host.put("tools.crib", published.work.bytes());
    assert!(
        published.doc(&signed).stderr.contains("does not fit"),
        "the signature is that of another bundle"
    );
    published.work.signed("other");
    published.publish();
    assert!(published.doc(&signed).stdout.contains("number 1"), "the key is another one");
    let shorter = published.host.url("none.crib");
    let missing = crate::fixture::run(&["check", &shorter]);
    assert!(missing.stderr.contains("404"), "{}", missing.stderr);
}

#[test]
fn a_server_asks_again_and_tells_which_bundle_answers() {
    let published = Published::new();
    let server = published.serve(&[]);
    let first = wait(&server, |state| state["current"] == true);
    assert_eq!(first["bundle"]["from"], published.url());
    let call = || -> Value { server.post("read_tool_doc", r#"{"name": "look_up"}"#).json().unwrap() };
    assert_eq!(call()["meta"]["registry_version"], first["registry_version"]);

    published.build(2);
    published.publish();
    let second = wait(&server, |state| state["registry_version"] != first["registry_version"]);
    assert_ne!(second["bundle"]["version"], first["bundle"]["version"]);
    assert!(call()["docs"][0].to_string().contains("number 2"));

    published.host.set_away(true);
    let away = wait(&server, |state| state["current"] == false);
    assert_eq!(away["bundle"]["version"], second["bundle"]["version"]);
    assert!(away["bundle"]["problem"].is_string() && away["complete"] == true, "{away:#}");
    let metrics = server.text("/metrics");
    assert!(metrics.contains("toolcrib_bundle_downloads_total{outcome=\"taken\"}"), "{metrics}");
    assert!(metrics.contains("toolcrib_catalog_current 0"));
    assert!(call()["docs"][0].to_string().contains("number 2"));

    published.host.put("tools.crib", &b"toolcrib torn"[..]);
    published.host.set_away(false);
    wait(&server, |state| state["bundle"]["problem"].as_str().is_some_and(|why| why.contains("bundle")));
    published.build(3);
    published.publish();
    wait(&server, |state| {
        state["current"] == true && state["registry_version"] != second["registry_version"]
    });
}

#[test]
fn a_nudge_asks_at_once_and_is_for_operators() {
    let config = "[[serve.token]]\nenv = \"OPERATOR\"\nroles = [\"*\"]\n[[serve.token]]\nenv = \"AGENT\"\n";
    let published = Published::new();
    let catalog = |number: usize| {
        let catalog = numbered(number);
        crate::fixture::write(catalog.path(), "toolcrib.toml", config);
        build(catalog.path(), &published.work.file);
        published.publish();
    };
    catalog(1);
    let tokens = [("OPERATOR", "operator-token-of-many-letters"), ("AGENT", "agent-token-of-many-letters")];
    let server = published.serve_with(&["--bundle-poll", "86400"], &tokens);
    let reload = |token: &str| {
        let response = server
            .posting("/v1/reload", "")
            .header("authorization", format!("Bearer {token}"))
            .send()
            .unwrap();
        (response.status().as_u16(), response.json::<Value>().unwrap())
    };
    let operator = [("authorization", "Bearer operator-token-of-many-letters")];
    let first = server.json_of("/readyz?verbose", &operator);
    catalog(2);
    let (status, refused) = reload(tokens[1].1);
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("NOT_AUTHORIZED")));
    let (status, begun) = reload(tokens[0].1);
    assert_eq!((status, &begun["meta"]["bundle_version"]), (202, &first["bundle"]["version"]));
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while server.json_of("/readyz?verbose", &operator)["bundle"]["version"] == first["bundle"]["version"] {
        assert!(std::time::Instant::now() < end, "{}", server.log.lock().unwrap());
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    assert_eq!(server.posting("/v1/reload", "").send().unwrap().status(), 401);
}

/// The bundle as an object of a store at the host.
fn object(published: &Published, bucket: &str) -> Run {
    let call = ["call", "read_tool_doc", r#"{"name": "look_up"}"#, bucket];
    let mut command = program(&call);
    let endpoint = published.host.url("").trim_end_matches('/').to_string();
    command
        .env("XDG_CACHE_HOME", published.cache())
        .env("AWS_ENDPOINT", endpoint)
        .env("AWS_ALLOW_HTTP", "true");
    command
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_REGION", "eu-north-1");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[cfg(feature = "object-store")]
#[test]
fn an_object_of_a_store_is_fetched_once_with_credentials() {
    let published = Published::new();
    published.host.put("bucket/tools.crib", published.work.bytes());
    for _ in 0..2 {
        let doc = object(&published, "s3://bucket/tools.crib");
        assert!(doc.stdout.contains("number 1"), "{}", doc.stderr);
    }
    assert_eq!((published.host.sent(), published.host.asked()), (1, 2));
    let missing = object(&published, "s3://bucket/other.crib");
    assert!(missing.stderr.contains("no such object"), "{}", missing.stderr);
}

#[cfg(not(feature = "object-store"))]
#[test]
fn an_object_of_a_store_names_the_feature_that_it_needs() {
    let refused = object(&Published::new(), "s3://bucket/tools.crib");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("feature `object-store`"), "{}", refused.stderr);
}

#[test]
fn a_server_starts_from_the_last_good_one() {
    let published = Published::new();
    published.doc(&[]);
    published.host.set_away(true);
    let server = published.serve(&[]);
    assert!(server.text("/tools/look_up.md").contains("number 1"));
    wait(&server, |state| state["current"] == false);
    assert!(server.log.lock().unwrap().contains("as it was fetched last"));
}
