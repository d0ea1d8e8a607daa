//! Tests of the tree of categories.

use super::*;
use crate::assemble::assemble;
use crate::config::{Config, Workspace};
use crate::sources::RawTool;
use toolcrib_definition::Definition;

fn tool(name: &str, categories: &[&str], tags: &[&str]) -> RawTool {
    let category = categories.iter().filter_map(|path| CategoryPath::parse(path)).collect();
    let tags = tags.iter().map(ToString::to_string).collect();
    let definition = Definition { name: name.into(), category, tags, ..Definition::default() };
    RawTool { definition, ..RawTool::default() }
}

fn catalog(categories: Vec<Category>) -> (Catalog, Vec<Finding>) {
    let raw = vec![
        tool("put_object", &["Storage/Buckets", "Data"], &["storage", "upload"]),
        tool("list_buckets", &["Storage/Buckets"], &["storage"]),
        tool("disk_usage", &["Storage", "Storage"], &["disk"]),
    ];
    let config = Config { categories, ..Config::default() };
    let mut findings = Vec::new();
    let (catalog, _) = assemble(Workspace { config, ..Workspace::default() }, raw, Vec::new(), &mut findings);
    findings.retain(|finding| finding.code == Code::CategoryUnused);
    (catalog, findings)
}

#[test]
fn a_tool_hangs_in_several_places_and_counts_once_in_each() {
    let (catalog, _) = catalog(Vec::new());
    let tree = CategoryTree::of(&catalog);
    let node = |path: &str| tree.node(tree.find(path).unwrap());
    assert_eq!(node("").descendant_tools, [0, 1, 2]);
    let roots: Vec<&str> = node("").children.iter().map(|&child| tree.node(child).name.as_str()).collect();
    assert_eq!(roots, ["Data", "Storage"]);
    assert_eq!((&node("Storage").descendant_tools, &node("Storage").tools), (&vec![0, 1, 2], &vec![2]));
    assert_eq!(node("storage/BUCKETS").path, "Storage/Buckets");
    let places: Vec<&str> = tree.places(0).iter().map(|&place| tree.node(place).path.as_str()).collect();
    assert_eq!(places, ["Storage/Buckets", "Data"]);
    assert_eq!(tree.places(2).len(), 1);
    assert!(tree.holds(0, tree.find("Data").unwrap()) && tree.find("Storage/Buckets/x").is_none());
}

#[test]
fn summary_and_tags_follow_from_the_tools() {
    let (catalog, _) = catalog(Vec::new());
    let tree = CategoryTree::of(&catalog);
    let node = |path: &str| tree.node(tree.find(path).unwrap());
    assert_eq!(node("Storage").summary, "3 tools: Put and list object, buckets and disk");
    assert_eq!(node("Data").summary, "1 tool: Put object");
    assert_eq!(node("Storage").tags, ["storage", "upload", "disk"]);
}

#[test]
fn what_the_author_says_wins_and_what_is_about_nothing_is_told() {
    let say = |path: &str, summary: &str| Category {
        path: path.into(),
        summary: Some(summary.into()),
        tags: vec!["objects".into()],
    };
    let (catalog, findings) = catalog(vec![
        say("Storage/Buckets", "Buckets and objects"),
        say("Storag", "?"),
        say("Storage/Buckets", "!"),
    ]);
    let tree = CategoryTree::of(&catalog);
    let node = tree.node(tree.find("Storage/Buckets").unwrap());
    assert_eq!(
        (node.summary.as_str(), node.tags.as_slice()),
        ("Buckets and objects", &["objects".to_string()][..])
    );
    let told: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("Storag") && told[1].contains("described above"), "{told:?}");
    assert_eq!(findings[0].help.as_deref(), Some("did you mean \"Storage\"?"));
}

#[test]
fn a_path_without_end_has_one() {
    let deep = vec!["a"; 5_000].join("/");
    let raw = vec![tool("one", &[deep.as_str()], &[])];
    let (catalog, _) = assemble(Workspace::default(), raw, Vec::new(), &mut Vec::new());
    assert_eq!(CategoryTree::of(&catalog).nodes().len(), MAX_DEPTH + 1);
}
