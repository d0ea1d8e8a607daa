//! Where the arguments of calls that wait for a person lie, who may read them, and what is left of them.

use std::path::Path;

use serde_json::json;
use toolcrib::state::{Approval, StateStore};

use super::{contract, runtime};

/// Whether any file beside a database has this text in it.
fn is_in_files(folder: &Path, text: &str) -> bool {
    let mut files =
        std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
}

#[test]
fn what_was_erased_is_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    runtime().block_on(async {
        let state = StateStore::open(&file).unwrap();
        let long = "zebra-crossing ".repeat(20_000);
        let ask = async |note: &str| {
            let request = contract::request(note, toolcrib::state::now() + 60_000);
            let request = Approval { arguments: json!({ "note": format!("{note} {long}") }), ..request };
            state.request_approval(&request).await.unwrap().approval.id
        };
        let (used, denied) = (ask("used").await, ask("denied").await);
        assert!(is_in_files(folder.path(), "zebra-crossing"));
        #[cfg(unix)]
        for name in ["state.db", "state.db-wal", "state.db-shm"] {
            use std::os::unix::fs::PermissionsExt;
            let told = std::fs::metadata(folder.path().join(name)).unwrap();
            assert_eq!(told.permissions().mode() & 0o777, 0o600, "{name}");
        }
        state.decide_approval(&used, true, None).await.unwrap();
        assert_eq!(state.use_approval(&used).await, Ok(true));
        state.decide_approval(&denied, false, None).await.unwrap();
        assert!(!is_in_files(folder.path(), "zebra-crossing"));
    });
}
