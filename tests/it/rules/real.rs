//! The real catalogs: two that are in the package, always, and what of the others is beside it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use toolcrib::catalog::Checked;

use crate::fixture;

/// All of them; the two of the package by their path in it.
pub const FILES: [&str; 9] = [
    "examples/universal-agent/tools.json",
    "examples/github/tools.json",
    "livemcpbench-servers.json",
    "bfcl-functions.json",
    "notion-openapi.json",
    "box-openapi.json",
    "discord-openapi.json",
    "docker-registry-tools.json",
    "toucan-nasty-servers.json",
];

/// Those of these catalogs that are there, each opened once for all tests.
pub fn catalogs(names: &[&'static str]) -> Vec<(&'static str, &'static Checked)> {
    let found: Vec<_> = names.iter().filter_map(|name| Some((*name, open(name)?))).collect();
    assert!(!found.is_empty(), "name one that is in the package");
    found
}

fn open(name: &'static str) -> Option<&'static Checked> {
    static PACKAGED: Mutex<BTreeMap<&str, &'static Checked>> = Mutex::new(BTreeMap::new());
    if !name.starts_with("examples/") {
        return fixture::catalog(name).map(|(_, checked)| checked);
    }
    let mut opened = PACKAGED.lock().unwrap();
    let open = || fixture::open(&fixture::package().join(name));
    Some(*opened.entry(name).or_insert_with(|| Box::leak(Box::new(open()))))
}
