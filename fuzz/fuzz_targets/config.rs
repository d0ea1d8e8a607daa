//! Any text as a `toolcrib.toml` over one small source.
//!
//! `cargo +nightly fuzz run config`

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolcrib::{catalog, config, finding};

const TOOLS: &str =
    "name: read_file\ndescription: Reads text from disk.\ncategory: Files\nparameters: {type: object}\n";

fuzz_target!(|text: &str| {
    // Sources that lead out of the folder are the user's right, but not the fuzzer's.
    if text.contains("..") || text.contains("path = \"/") || text.contains("path = '/") || text.contains('\\')
    {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("toolcrib.toml"), text).expect("a file");
    std::fs::write(folder.path().join("a.yaml"), TOOLS).expect("a file");
    let checked = catalog::open(config::read(folder.path()));
    finding::json_report(&checked.findings);
    for name in checked.catalog.config.profiles.keys() {
        checked.catalog.profile(Some(name)).expect("a profile of the configuration");
    }
});
