//! A bundle that is replaced while it is served: good ones are taken over, others leave the last good one.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Bundled, build};
use crate::fixture::{folder, text};
use crate::serve::{Server, TOOLS};

/// A bundle of one tool that says these words.
fn saying(words: &str) -> Bundled {
    let bundled = Bundled::of(catalog(words).path());
    assert!(bundled.file.exists());
    bundled
}

fn catalog(words: &str) -> tempfile::TempDir {
    let tool = format!(
        r#"[{{"name": "look_up", "description": "{words}", "parameters": {{"type": "object", "properties": {{}}}}}}]"#
    );
    folder(&[("tools.json", &tool)])
}

/// Puts another file in the place of a bundle, as a deployment does.
fn replace(file: &Path, bytes: &[u8]) {
    let beside = file.with_extension("new");
    fs::write(&beside, bytes).unwrap();
    fs::rename(beside, file).unwrap();
}

/// Waits until this is true of the state of a server.
#[track_caller]
pub fn wait(server: &Server, is_there: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let state = server.json("/readyz?verbose");
        if is_there(&state) {
            return state;
        }
        assert!(Instant::now() < end, "{state:#}\n{}", server.log.lock().unwrap());
        std::thread::sleep(Duration::from_millis(30));
    }
}

#[test]
fn another_bundle_is_taken_over_and_a_bad_one_is_not() {
    let bundled = saying("The first words.");
    let server = Server::start(text(&bundled.file), &[], &[]);
    let first = wait(&server, |state| state["current"] == true);
    assert_eq!(first["bundle"]["version"].as_str().unwrap().len(), 64);
    let second = saying("The second words.").bytes();

    replace(&bundled.file, &second);
    let taken = wait(&server, |state| state["registry_version"] != first["registry_version"]);
    assert!(server.text("/tools/look_up.md").contains("second words"));
    let info = format!(
        "toolcrib_catalog_info{{registry_version={},bundle_version={}}} 1",
        taken["registry_version"], taken["bundle"]["version"]
    );
    assert!(server.text("/metrics").contains(&info), "{}", server.text("/metrics"));

    let mut tampered = saying("The third words.").bytes();
    let place = tampered.windows(5).position(|window| window == b"third").unwrap();
    tampered[place] = b'T';
    for bad in [&second[..second.len() / 2], &tampered, b"", b"toolcrib"] {
        replace(&bundled.file, bad);
        let state = wait(&server, |state| state["current"] == false);
        assert_eq!(state["trouble"]["findings"][0]["code"], "bundle-unreadable", "{state:#}");
        assert_eq!(state["registry_version"], taken["registry_version"]);
        assert!(server.text("/tools/look_up.md").contains("second words"));
        assert!(server.text("/metrics").contains("toolcrib_catalog_current 0"));
        replace(&bundled.file, &second);
        wait(&server, |state| state["current"] == true);
    }
    assert!(server.log.lock().unwrap().contains("bundle-unreadable"));
}

#[test]
fn a_file_that_is_written_over_in_place_does_not_reach_the_server() {
    let github = crate::fixture::package().join("examples/github");
    let bundled = Bundled::of(&github);
    let server = Server::start(text(&bundled.file), &[], &[]);
    // Nothing of this tool was read yet.
    fs::write(&bundled.file, vec![0; bundled.bytes().len()]).unwrap();
    assert!(server.text("/tools/create_issue.md").contains("Create a new issue"));
    wait(&server, |state| state["current"] == false);
    assert!(server.text("/tools/list_issues.md").contains("# list_issues"));
}

#[test]
fn without_a_folder_of_the_user_a_server_keeps_its_copy_in_memory() {
    let bundled = saying("The first words.");
    let key = bundled.signed("key");
    let nowhere = [("XDG_CACHE_HOME", "/proc/none"), ("HOME", "/proc/none")];
    let server = Server::start(text(&bundled.file), &["--key", &key], &nowhere);
    fs::write(&bundled.file, vec![0; bundled.bytes().len()]).unwrap();
    wait(&server, |state| state["current"] == false);
    assert!(server.text("/tools/look_up.md").contains("first words"));
}

#[test]
fn with_a_key_an_unsigned_bundle_is_not_taken_over() {
    let bundled = saying("The first words.");
    let key = bundled.signed("key");
    let server = Server::start(text(&bundled.file), &["--key", &key], &[]);
    let first = wait(&server, |state| state["current"] == true);
    replace(&bundled.file, &saying("The second words.").bytes());
    let state = wait(&server, |state| state["current"] == false);
    assert_eq!(state["trouble"]["findings"][0]["code"], "bundle-untrusted");
    assert!(server.text("/tools/look_up.md").contains("first words"));
    bundled.sign("key");
    wait(&server, |state| state["registry_version"] != first["registry_version"]);
    replace(&bundled.file, br#"[{"name": "evil", "description": "Evil.", "parameters": {}}]"#);
    wait(&server, |state| state["current"] == false);
    assert!(server.text("/tools/look_up.md").contains("second words"));
}

#[test]
fn roles_hide_the_same_tools_as_those_of_a_folder() {
    let config = "[[serve.token]]\nenv = \"ADMIN\"\nroles = [\"admin\"]\n[[serve.token]]\nenv = \"PLAIN\"\n";
    let catalog = folder(&[("tools.json", TOOLS), ("toolcrib.toml", config)]);
    let bundle = catalog.path().join("tools.crib");
    build(catalog.path(), &bundle);
    let tokens = [("ADMIN", "admin-token-of-many-letters"), ("PLAIN", "plain-token-of-many-letters")];
    let served = [catalog.path(), &bundle].map(|catalog| Server::start(text(catalog), &[], &tokens));
    for (_, token) in tokens {
        let authorization = format!("Bearer {token}");
        let seen = |server: &Server, path: &str| {
            let response = server.get(path, &[("authorization", &authorization)]);
            (response.status().as_u16(), response.text().unwrap())
        };
        for path in ["/tools/README.md", "/registry.json", "/tools/wipe_disks.md", "/llms-full.txt"] {
            assert_eq!(seen(&served[1], path), seen(&served[0], path), "{path}");
        }
        let has_it = seen(&served[1], "/registry.json").1.contains("wipe_disks");
        assert_eq!(has_it, token.starts_with("admin"));
    }
}

#[test]
fn a_server_does_not_start_on_a_bad_bundle() {
    let bundled = saying("The first words.");
    let whole = bundled.bytes();
    fs::write(&bundled.file, &whole[..whole.len() - 1]).unwrap();
    for more in [&[][..], &["--offline"]] {
        let served = crate::fixture::run(&[&["serve", text(&bundled.file)], more].concat());
        assert_eq!(served.code, 1);
        assert!(served.stderr.contains("[bundle-unreadable]"), "{}", served.stderr);
    }
}
