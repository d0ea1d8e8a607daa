//! Any bytes as a source in each notation: loaded, built, reported and documented. The first byte chooses the notation;
//! from 128 on, all of it is done twice and must come out the same.

use serde_json::Value;
use toolcrib::catalog::Checked;
use toolcrib::{finding, render};

pub fn check(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    let name = ["a.json", "a.yaml", "a.toml"][usize::from(first % 3)];
    let checked = super::open(&[(name, text)]);
    let pages = documented(&checked);
    if *first >= 128 {
        let again = super::open(&[(name, text)]);
        assert_eq!(checked.catalog.version, again.catalog.version);
        assert_eq!(finding::json_report(&checked.findings), finding::json_report(&again.findings));
        assert_eq!(pages, documented(&again));
    }
}

fn documented(checked: &Checked) -> Vec<String> {
    finding::text_report(&checked.findings, &checked.documents, false, None);
    let profile = checked.catalog.profile(None).expect("the whole catalog");
    let templates = super::templates();
    let docs = render::Docs::new(&checked.catalog, profile, &templates);
    let mut pages = vec![docs.index().expect("an index")];
    for entry in docs.tools() {
        pages.push(docs.tool(*entry).expect("a doc"));
        if let (Some(call), Some(validator)) =
            (&entry.tool.input.call, entry.tool.input.parameters.validator())
        {
            assert!(validator.is_valid(&Value::Object(call.clone())), "a call that does not fit");
        }
    }
    pages
}
