//! A provider is complete: each file that "Add a provider" of CONTRIBUTING.md names has it, and that section names each file.

use std::fs;

use toolcrib::Provider;

use super::{root, rust_files};

/// Files with a part for each provider, under its name.
const PLACES: [&str; 9] = [
    "bindings/node/tests/real-catalogs.test.mjs",
    "bindings/node/typescript/types.ts",
    "bindings/python/python/toolcrib/_catalog.py",
    "bindings/python/tests/test_real_catalogs.py",
    "conformance/baseline/responses.py",
    "conformance/sdks/payloads.py",
    "conformance/sdks/turns.py",
    "docs/payloads.md",
    "docs/reference/formats.md",
];

/// The folder with a golden payload of each provider.
const GOLDEN: &str = "tests/golden/payload";

/// The folder with a judge of each provider's rules.
const JUDGES: &str = "crates/providers/tests/formats/rules";

#[test]
fn every_provider_is_complete_and_its_places_are_documented() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let judges: String =
        rust_files().into_iter().filter(|(name, _)| name.starts_with(JUDGES)).map(|(_, text)| text).collect();
    let mut missing = Vec::new();
    for provider in Provider::ALL {
        let name = provider.as_str();
        let word = regex::Regex::new(&format!(r"(?:^|[^\w-]){name}(?:[^\w-]|$)")).unwrap();
        let lacking = PLACES.iter().filter(|place| !word.is_match(&read(place)));
        missing.extend(lacking.map(|place| format!("{place}: no `{name}`")));
        if !root().join(GOLDEN).join(format!("{name}.json")).exists() {
            missing.push(format!("{GOLDEN}/{name}.json"));
        }
        if !judges.contains(&format!("provider: Provider::{provider:?}")) {
            missing.push(format!("{JUDGES}: no judge of `Provider::{provider:?}`"));
        }
    }
    let contributing = read("CONTRIBUTING.md");
    let section =
        contributing.split("## Add a provider").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let unnamed = PLACES.iter().chain([&GOLDEN, &JUDGES]).filter(|place| !section.contains(**place));
    missing.extend(unnamed.map(|place| format!("CONTRIBUTING.md, \"Add a provider\": {place}")));
    assert!(missing.is_empty(), "a provider is incomplete: {missing:#?}");
}
