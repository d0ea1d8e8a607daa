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
        let found = catalog.search("delete a file", 5, profile).unwrap();
        found.hits.into_iter().map(|hit| hit.tool.name).collect()
    };
    assert_eq!(names(None)[0], "delete_file");
    assert!(names(reader).iter().all(|name| name == "read_file"));
    assert_eq!(catalog.doc("read_file", reader).unwrap(), catalog.doc("read_file", None).unwrap());
    for name in ["delete_file", "send_mail", "send_mial"] {
        for refused in
            [catalog.doc(name, reader).unwrap_err(), catalog.help(name, reader).map(drop).unwrap_err()]
        {
            assert_eq!(refused.code(), "unknown_tool", "{name}");
            assert!(!refused.to_string().contains("did you mean"), "{refused}");
        }
        assert!(catalog.doc(name, None).is_ok() || name == "send_mial");
    }
    let root = format!("{:?}", catalog.help("root", reader).unwrap());
    assert!(root.contains("files") && !root.contains("mail"), "{root}");
    assert!(catalog.help("mail", reader).is_err() && catalog.help("mail", None).is_ok());
    let unknown = catalog.search("x", 1, Some("raeder")).unwrap_err();
    assert_eq!(unknown.code(), "unknown_profile");
}
