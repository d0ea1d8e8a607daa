//! Search, docs and help of the library for a profile: nothing outside of it is found, read or named.

use toolcrib::Catalog;

use crate::fixture;

const TOOLS: &str = r#"[
  {"name": "delete_file", "description": "Deletes a file.", "category": "Files", "parameters": {"type": "object", "properties": {}}},
  {"name": "read_file", "description": "Reads a file.", "category": "Files", "parameters": {"type": "object", "properties": {}}},
  {"name": "send_mail", "description": "Sends a mail.", "category": "Mail", "parameters": {"type": "object", "properties": {}}}
]"#;
const CONFIG: &str = "[[source]]\npath = \"tools.json\"\n[profile.reader]\ninclude = [\"read_file\"]\n";

#[test]
fn a_profile_is_all_that_there_is() {
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", CONFIG)]);
    let catalog = Catalog::open(folder.path()).unwrap();
    let reader = Some("reader");
    let names = |profile| -> Vec<String> {
        let found = catalog.search_in(profile, "delete a file", 5).unwrap();
        found.hits.into_iter().map(|hit| hit.tool.name).collect()
    };
    assert_eq!(names(None)[0], "delete_file");
    assert_eq!(catalog.search_in(None, "send a mail", 3).unwrap(), catalog.search("send a mail", 3));
    assert!(names(reader).iter().all(|name| name == "read_file"));
    assert_eq!(catalog.doc_in(reader, "read_file").unwrap(), catalog.doc("read_file").unwrap());
    for name in ["delete_file", "send_mail", "send_mial"] {
        for refused in
            [catalog.doc_in(reader, name).unwrap_err(), catalog.help_in(reader, name).map(drop).unwrap_err()]
        {
            assert_eq!(refused.code(), "unknown_tool", "{name}");
            assert!(!refused.to_string().contains("did you mean"), "{refused}");
        }
        assert!(catalog.doc(name).is_ok() || name == "send_mial");
    }
    let root = format!("{:?}", catalog.help_in(reader, "root").unwrap());
    assert!(root.contains("files") && !root.contains("mail"), "{root}");
    assert!(catalog.help_in(reader, "mail").is_err() && catalog.help("mail").is_ok());
    let unknown = catalog.search_in(Some("raeder"), "x", 1).unwrap_err();
    assert_eq!(unknown.code(), "unknown_profile");
}
