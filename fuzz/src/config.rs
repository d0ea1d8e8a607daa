//! Any text as a `toolcrib.toml` over one small source.

use toolcrib::finding;

const TOOLS: &[u8] =
    b"name: read_file\ndescription: Reads text from disk.\ncategory: Files\nparameters: {type: object}\n";

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Sources that lead out of the folder are the user's right, but not the fuzzer's.
    if ["..", "\"/", "'/", "\\", "~", "\"\"\"", "'''"].iter().any(|out| text.contains(out)) {
        return;
    }
    let checked = super::open(&[("toolcrib.toml", bytes), ("a.yaml", TOOLS)]);
    finding::json_report(&checked.findings);
    finding::text_report(&checked.findings, &checked.documents, false, None);
    for name in checked.catalog.config.profiles.keys() {
        checked.catalog.profile(Some(name)).expect("a profile of the configuration");
    }
}
