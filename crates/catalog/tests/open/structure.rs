//! Categories and ops that are derived from a bare dump.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use toolcrib_catalog::{Catalog, Checked, Tool};

use crate::fixture::{folder, open, open_text, package};

/// The categories of tools, by name.
type Labels = BTreeMap<String, String>;

fn labels(catalog: &Catalog) -> Labels {
    catalog.tools.iter().map(|tool| (tool.names.canonical.clone(), tool.category().to_string())).collect()
}

fn bare(names: &[&str]) -> Checked {
    let tools: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
    open_text("tools.json", &json!({ "tools": tools }).to_string())
}

/// Names and descriptions of a catalog, and nothing else.
fn dump(catalog: &Catalog) -> Checked {
    let tool = |tool: &std::sync::Arc<Tool>| json!({"name": tool.names.canonical, "description": tool.texts.description, "inputSchema": {"type": "object"}});
    let tools: Vec<Value> = catalog.tools.iter().map(tool).collect();
    open_text("tools.json", &json!({ "tools": tools }).to_string())
}

fn check(names: &[&str], expected: &[(&str, &str, &str)]) {
    let checked = bare(names);
    for (name, category, op) in expected {
        let tool = checked.catalog.named(name).unwrap();
        assert_eq!((tool.category(), tool.names.op.as_str()), (*category, *op), "{name}");
    }
}

#[test]
fn tools_of_one_object_are_one_category() {
    check(
        &["create_issue", "list_issues", "issue_write", "get_issue_comments", "add_sub_issue", "ping"],
        &[
            ("create_issue", "Issues", "issues.create"),
            ("issue_write", "Issues", "issues.write"),
            ("get_issue_comments", "Issues", "issues.comments.get"),
            ("add_sub_issue", "Issues", "issues.sub.add"),
            ("ping", "General", "general.ping"),
        ],
    );
}

#[test]
fn a_namespace_or_a_path_in_the_name_is_a_category() {
    let names = [
        "storage_account_get", "storage_blob_put", "storage_table_list", "keyvault_secret_list",
        "keyvault_key_get", "keyvault_key_create", "math.factorial", "math.gcd", "math.power",
    ];
    check(
        &names,
        &[
            ("storage_account_get", "Storage", "storage.account.get"),
            ("keyvault_secret_list", "Keyvault", "keyvault.secret.list"),
            ("math.factorial", "Math", "math.factorial"),
        ],
    );
}

#[test]
fn several_servers_in_one_dump_are_their_categories() {
    let list = |names: [&str; 3]| names.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
    let servers = json!({
        "alpha": {"tools": list(["create_issue", "list_issues", "get_issue"])},
        "beta": {"tools": list(["read_mail", "send_mail", "move_mail"])},
    });
    let checked = open_text("tools.json", &servers.to_string());
    let labels = labels(&checked.catalog);
    assert_eq!((labels["get_issue"].as_str(), labels["send_mail"].as_str()), ("alpha", "beta"));
    assert_eq!(checked.catalog.named("send_mail").unwrap().names.op, "beta.mail.send");
}

#[test]
fn what_an_author_or_an_overlay_says_stays() {
    let tools = r#"[{"name": "create_issue", "category": "Work", "parameters": {}}, {"name": "list_issues", "parameters": {}},
        {"name": "get_issue", "parameters": {}}, {"name": "close_issue", "parameters": {}}, {"name": "read_issue", "op": "my.op", "parameters": {}}]"#;
    let config = "[[overlay]]\nmatch = \"close_issue\"\ncategory = \"Done\"\n";
    let root = folder(&[("toolcrib.toml", config), ("tools.json", tools)]);
    let checked = open(root.path());
    let labels = labels(&checked.catalog);
    assert_eq!(
        ["Work", "Issues", "Done"],
        ["create_issue", "get_issue", "close_issue"].map(|name| labels[name].as_str())
    );
    assert_eq!(checked.catalog.named("read_issue").unwrap().names.op, "my.op");
}

/// The harmonic mean of homogeneity and completeness (Rosenberg and Hirschberg, 2007).
fn v_measure(truth: &Labels, derived: &Labels) -> f64 {
    let pairs: Vec<(&str, &str)> = truth
        .iter()
        .filter_map(|(name, label)| Some((label.as_str(), derived.get(name)?.as_str())))
        .collect();
    assert!(pairs.len() * 10 >= truth.len() * 9, "{} of {} tools were found", pairs.len(), truth.len());
    let total = pairs.len() as f64;
    fn count<T: Ord>(keys: impl Iterator<Item = T>) -> BTreeMap<T, f64> {
        keys.fold(BTreeMap::new(), |mut counts, key| {
            *counts.entry(key).or_default() += 1.0;
            counts
        })
    }
    let (classes, groups) = (count(pairs.iter().map(|pair| pair.0)), count(pairs.iter().map(|pair| pair.1)));
    let entropy = |counts: &BTreeMap<&str, f64>| -> f64 {
        counts.values().map(|count| -count / total * (count / total).ln()).sum()
    };
    let shared: f64 = count(pairs.iter().copied())
        .iter()
        .map(|((class, group), count)| {
            count / total * (count * total / (classes[class] * groups[group])).ln()
        })
        .sum();
    let (homogeneity, completeness) = (shared / entropy(&classes), shared / entropy(&groups));
    2.0 * homogeneity * completeness / (homogeneity + completeness)
}

/// An OpenAPI document, with its author's tags as the truth and without them as the input.
fn without_tags(file: &Path) -> (Labels, Labels) {
    let mut document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let truth = labels(&open(file).catalog);
    document.as_object_mut().unwrap().remove("tags");
    for path in document["paths"].as_object_mut().unwrap().values_mut() {
        for operation in path.as_object_mut().unwrap().values_mut().filter_map(Value::as_object_mut) {
            operation.remove("tags");
        }
    }
    (truth, labels(&open_text("openapi.json", &document.to_string()).catalog))
}

#[test]
fn derived_categories_are_near_those_of_authors() {
    let catalogs = package().join("tests/data/catalogs");
    let mut scores = BTreeMap::new();
    // Discord's document has no tags.
    for name in ["box", "notion"] {
        let (truth, derived) = without_tags(&catalogs.join(format!("{name}-openapi.json")));
        scores.insert(name.to_string(), v_measure(&truth, &derived));
    }
    for name in ["buildos", "github", "universal-agent"] {
        let written = open(&package().join("examples").join(name));
        scores.insert(
            name.into(),
            v_measure(&labels(&written.catalog), &labels(&dump(&written.catalog).catalog)),
        );
    }
    let servers: Value =
        serde_json::from_slice(&std::fs::read(catalogs.join("livemcpbench-servers.json")).unwrap()).unwrap();
    let mut truth = Labels::new();
    for server in servers.as_array().unwrap().iter().flat_map(|entry| entry["tools"].as_object().unwrap()) {
        for tool in server.1["tools"].as_array().unwrap() {
            truth.entry(tool["name"].as_str().unwrap().into()).or_insert(server.0.clone());
        }
    }
    let bare = open(&package().join("tests/data/retrieval/livemcpbench/catalog.json"));
    let derived = labels(&bare.catalog);
    truth.retain(|name, _| derived.contains_key(name));
    scores.insert("livemcpbench".into(), v_measure(&truth, &derived));
    let mean = scores.values().sum::<f64>() / scores.len() as f64;
    assert!(scores.values().all(|score| *score >= 0.75) && mean >= 0.8, "{mean:.3} {scores:.3?}");
}

/// Tools of an OpenAPI document by category, and the purpose of each category.
fn of_document(document: &Value) -> BTreeMap<String, (String, Vec<String>)> {
    let catalog = open_text("openapi.json", &document.to_string()).catalog;
    let mut categories: BTreeMap<String, Vec<&Tool>> = BTreeMap::new();
    for tool in &catalog.tools {
        categories.entry(tool.category().to_string()).or_default().push(tool);
    }
    let with_purpose = |(path, tools): (String, Vec<&Tool>)| {
        let purpose = catalog.purpose(&path, &tools);
        (path, (purpose, tools.iter().map(|tool| tool.names.canonical.clone()).collect()))
    };
    categories.into_iter().map(with_purpose).collect()
}

fn operation(id: &str, tag: &str) -> Value {
    let tags: &[&str] = if tag.is_empty() { &[] } else { &[tag] };
    json!({"get": {"operationId": id, "tags": tags, "responses": {}}})
}

#[test]
fn dotted_tags_nest_and_small_ones_join_their_parent() {
    let of = |id: &str| {
        (format!("/{id}"), operation(id, id.rsplit_once('_').unwrap().0.replace('_', ".").as_str()))
    };
    let ids = [
        "admin_apps_approve",
        "admin_apps_restrict",
        "admin_apps_approved_list",
        "admin_teams_create",
        "admin_teams_list",
        "admin_teams_rename",
        "node_js_run",
    ];
    let paths: serde_json::Map<String, Value> = ids.into_iter().map(of).collect();
    let found =
        of_document(&json!({"openapi": "3.1.0", "info": {"title": "Chat", "version": "1"}, "paths": paths}));
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["admin/apps", "admin/teams", "node.js"]);
    assert_eq!(found["admin/apps"].1.len(), 3, "the one tool of admin.apps.approved says so in its name");
}

#[test]
fn tags_of_a_document_describe_categories_and_take_operations_without_a_tag() {
    let paths = json!({
        "/v1/comments/{id}": operation("get_comment", ""),
        "/v1/search": operation("run_search", ""),
        "/v1/blocks/{id}": operation("get_block", "Blocks"),
        "/v1/blocks": operation("list_blocks", ""),
    });
    let tags = json!([
        {"name": "Comments", "description": "Comment endpoints"},
        {"name": "Blocks", "description": "Paragraphs, headings and tables of a page.\n\nA long story."},
        {"name": "Search"},
    ]);
    let found = of_document(
        &json!({"openapi": "3.1.0", "info": {"title": "N", "version": "1"}, "tags": tags, "paths": paths}),
    );
    assert_eq!(found["Blocks"].0, "Paragraphs, headings and tables of a page");
    assert_eq!(found["Comments"].0, "Get comments", "a description that repeats the title says nothing");
    let tools: Vec<&[String]> = found.values().map(|found| found.1.as_slice()).collect();
    assert_eq!(tools, [&["get_block", "list_blocks"][..], &["get_comment"], &["run_search"]]);
}

#[test]
fn a_large_category_of_an_author_has_categories_below_it() {
    let tool = |name: String| json!({"name": name, "category": "Chat", "parameters": {}});
    let names = ["message", "channel", "reaction"].into_iter().flat_map(|object| {
        ["create", "list", "get", "update", "delete"]
            .into_iter()
            .flat_map(move |verb| ["", "_draft", "_template"].map(|kind| format!("{verb}_{object}{kind}")))
    });
    let tools: Vec<Value> = names.map(tool).chain([tool("ping".into())]).collect();
    let divided = labels(&open_text("tools.json", &json!(tools).to_string()).catalog);
    assert_eq!(divided["create_channel_draft"], "Chat/Channel");
    assert_eq!(divided["ping"], "Chat");
    let few = labels(&open_text("tools.json", &json!(tools[..30]).to_string()).catalog);
    assert!(few.values().all(|category| category == "Chat"));
}

#[test]
fn a_tool_more_moves_hardly_another() {
    let whole = open(&package().join("examples/github")).catalog;
    let tools: Vec<&str> = whole.tools.iter().map(|tool| tool.names.canonical.as_str()).collect();
    let before = bare(&tools);
    let after = bare(&tools.iter().copied().chain(["frobnicate_widget"]).collect::<Vec<_>>());
    let ops = |checked: &Checked| -> BTreeSet<(String, String)> {
        checked
            .catalog
            .tools
            .iter()
            .map(|tool| (tool.names.op.clone(), tool.category().to_string()))
            .collect()
    };
    let moved: Vec<_> = ops(&before).difference(&ops(&after)).cloned().collect();
    assert!(moved.is_empty(), "{moved:?}");
}
