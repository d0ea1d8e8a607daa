//! A catalog that is edited while it is served: good edits are served, broken ones are reported, and nobody notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Server, client};
use crate::fixture::{folder, text, write};

const DOC: &str = "/tools/look_up.md";

fn tools(words: &str) -> String {
    format!(
        r#"[{{"name": "look_up", "description": "{words}", "parameters": {{"type": "object", "properties": {{}}}}}}]"#
    )
}

/// A server, its catalog, and somebody who reads one doc all the time.
struct Edited {
    root: TempDir,
    server: Server,
    reader: Reader,
}

struct Reader {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Edited {
    fn start(words: &str) -> Self {
        let root = folder(&[("tools.json", &tools(words))]);
        let server = Server::start(text(root.path()), &[], &[]);
        let reader = Reader::start(server.url(DOC));
        Self { root, server, reader }
    }

    fn write(&self, text: &str) {
        write(self.root.path(), "tools.json", text);
    }

    /// Waits until a page has these words.
    #[track_caller]
    fn has(&self, path: &str, words: &str) -> String {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let text = self.server.text(path);
            if text.contains(words) {
                return text;
            }
            assert!(Instant::now() < end, "{path} never has {words:?}, but {text}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn breaks(&self) {
        self.write("[{\"name\": ");
        self.has("/readyz?verbose", "\"current\": false");
    }

    /// Checks that no request of the reader has failed, and that there were some.
    fn ends(self) {
        self.reader.stop.store(true, Ordering::Relaxed);
        assert!(self.reader.thread.join().unwrap() > 20);
    }
}

impl Reader {
    fn start(url: String) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&stop);
        let read = move || {
            let mut count = 0;
            while !own.load(Ordering::Relaxed) {
                let response = client().get(&url).send().unwrap();
                assert_eq!(response.status(), 200);
                let doc = response.text().unwrap();
                assert!(doc.contains("look_up"), "{doc}");
                count += 1;
                std::thread::sleep(Duration::from_millis(2));
            }
            count
        };
        Self { stop, thread: std::thread::spawn(read) }
    }
}

#[test]
fn edits_are_served_broken_ones_are_not_and_no_request_fails() {
    let edited = Edited::start("Look up the first thing.");
    edited.has(DOC, "the first thing");
    edited.write(&tools("Look up the second thing."));
    let good = edited.has(DOC, "the second thing");
    let before = edited.server.json("/readyz?verbose");
    assert_eq!((&before["current"], before.get("trouble")), (&true.into(), None), "{before}");

    edited.breaks();
    assert_eq!(edited.server.text(DOC), good, "the last good one is served");
    let ready = edited.server.json("/readyz?verbose");
    assert_eq!(ready["ready"], true, "{ready}");
    assert_eq!(ready["registry_version"], before["registry_version"], "{ready}");
    let finding = &ready["trouble"]["findings"][0];
    assert_eq!(finding["code"], "file-invalid", "{ready}");
    assert!(finding.to_string().contains("tools.json"), "{ready}");
    let home = edited.server.text("/");
    assert!(home.contains("The catalog has 1 error; this is the last valid one."), "{home}");

    edited.write(&tools("Look up the third thing."));
    edited.has(DOC, "the third thing");
    let after = edited.has("/readyz?verbose", "\"current\": true");
    assert!(!after.contains("trouble"), "{after}");
    assert!(!edited.server.text("/").contains("last good one"));
    edited.ends();
}

#[test]
fn the_findings_page_lists_what_keeps_an_edit_from_being_served() {
    let edited = Edited::start("Look up the first thing.");
    assert!(!edited.server.text("/findings.html").contains("file-invalid"));
    edited.breaks();
    edited.has("/findings.html", "file-invalid");
    edited.write(&tools("Look up the second thing."));
    edited.has(DOC, "the second thing");
    assert!(!edited.server.text("/findings.html").contains("file-invalid"));
    edited.ends();
}
