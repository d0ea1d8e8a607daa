//! Any bytes as a source in each notation: loaded, built, reported and documented. The first byte chooses the notation.
//!
//! `cargo +nightly fuzz run load`

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolcrib::{catalog, config, finding, render};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, text)) = bytes.split_first() else { return };
    let name = ["a.json", "a.yaml", "a.toml"][usize::from(first % 3)];
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(name), text).expect("a file");
    let checked = catalog::open(config::read(&folder.path().join(name)));
    finding::text_report(&checked.findings, &checked.documents, false, None);
    let templates = render::Templates::load(None).expect("our templates");
    let profile = checked.catalog.profile(None).expect("the whole catalog");
    let docs = render::Docs::new(&checked.catalog, profile, &templates);
    docs.index().expect("an index");
    for entry in docs.tools() {
        docs.tool(*entry).expect("a doc");
        if let (Some(call), Some(validator)) = (&entry.tool.call, entry.tool.parameters.validator()) {
            assert!(validator.is_valid(&serde_json::Value::Object(call.clone())), "a call that does not fit");
        }
    }
});
