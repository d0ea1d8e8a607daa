//! A folder of docs that is current is sealed beside the catalog, and no edit of it is ever missed.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::Kept;

/// A file that was changed so shortly before it is looked at may change again without a new time.
const SETTLES: Duration = Duration::from_millis(2100);

impl Kept {
    /// A cache for a catalog of so many tools that its docs are sealed.
    fn large() -> Self {
        let kept = Self::new();
        let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}});
        let tool = |number: usize| json!({"name": format!("read_{number}"), "description": "Reads a thing.", "parameters": schema});
        let tools: Vec<_> = (0..300).map(tool).collect();
        fs::write(kept.definitions(), serde_json::to_string(&tools).unwrap()).unwrap();
        kept
    }

    fn docs(&self) -> PathBuf {
        self.folder.path().join("docs")
    }

    /// Renders the docs, and returns the line that tells what was written.
    fn rendered(&self) -> String {
        let output = self.run(&["render", "--out", self.docs().to_str().unwrap()]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap().lines().last().unwrap_or_default().to_string()
    }

    fn assert_rendered(&self, counts: &str) {
        let line = self.rendered();
        assert!(line.ends_with(&format!("({counts})")), "{counts}: {line}");
    }

    /// The number of the file of the seal: another one for every seal.
    fn seal(&self) -> Vec<u64> {
        self.files("index").iter().map(|seal| fs::metadata(seal).unwrap().ino()).collect()
    }
}

#[test]
fn a_sealed_folder_is_current_until_a_file_changes() {
    let kept = Kept::large();
    let docs = kept.docs();
    assert!(kept.rendered().contains("created"));
    let count = super::written(&docs).len() - 1;
    let current = format!("{count} unchanged");
    kept.assert_rendered(&current);
    assert!(kept.seal().is_empty(), "the files may still change within the same time");

    sleep(SETTLES);
    kept.assert_rendered(&current);
    let seal = kept.seal();
    assert_eq!(seal.len(), 1);
    kept.assert_rendered(&current);
    assert_eq!(kept.seal(), seal, "it holds, so that no new one is made");

    let doc = docs.join("read_7.md");
    let (text, times) = (fs::read_to_string(&doc).unwrap(), fs::metadata(&doc).unwrap());
    let repaired = format!("1 updated, {} unchanged", count - 1);
    fs::write(&doc, text.replace("Reads", "Reeds")).unwrap();
    File::options().write(true).open(&doc).unwrap().set_modified(times.modified().unwrap()).unwrap();
    kept.assert_rendered(&repaired);
    assert_eq!(fs::read_to_string(&doc).unwrap(), text, "an edit of the same size and time is noticed");

    sleep(SETTLES);
    kept.assert_rendered(&current);
    fs::remove_file(&doc).unwrap();
    kept.assert_rendered(&format!("1 created, {} unchanged", count - 1));
    fs::remove_file(docs.join(".toolcrib.json")).unwrap();
    let output = kept.run(&["render", "--out", docs.to_str().unwrap()]);
    assert!(!output.status.success(), "files without a manifest are the user's");
}

#[test]
fn a_seal_is_of_one_folder_and_one_set_of_files() {
    let kept = Kept::large();
    let docs = kept.docs();
    kept.rendered();
    sleep(SETTLES);
    kept.rendered();
    assert_eq!(kept.seal().len(), 1);
    fs::rename(&docs, kept.folder.path().join("elsewhere")).unwrap();
    assert!(kept.rendered().contains("created"));
    fs::write(
        kept.definitions(),
        fs::read_to_string(kept.definitions()).unwrap().replacen("Reads", "Gets", 1),
    )
    .unwrap();
    assert!(kept.rendered().contains("updated"));
}

#[test]
fn a_torn_seal_is_made_again() {
    let kept = Kept::large();
    kept.rendered();
    sleep(SETTLES);
    let current = kept.rendered();
    let seal = kept.files("index").remove(0);
    let whole = fs::read(&seal).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    for torn in [&whole[..whole.len() / 2], b"", &changed] {
        fs::write(&seal, torn).unwrap();
        assert_eq!(kept.rendered(), current);
        assert!(fs::read(&seal).unwrap() == whole);
    }
}
