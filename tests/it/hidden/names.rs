//! Names between tools that not everybody sees: a hidden one renames no visible one, and what both claim is an error.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::catalog::Checked;
use toolcrib::functions::CatalogView;
use toolcrib::render::Templates;

use crate::fixture::{self, folder, open, open_text, run, text};

fn tool(name: &str, roles: &[&str]) -> Value {
    json!({"name": name, "category": "People", "description": format!("About {name}."), "allowed_roles": roles, "parameters": {"type": "object"}})
}

fn catalog(tools: &[Value]) -> Checked {
    open_text("tools.json", &json!(tools).to_string())
}

/// Name, safe name, op and aliases of each tool that a caller with these roles has; `None` means all roles.
fn seen(checked: &Checked, roles: Option<&[&str]>) -> Vec<String> {
    let roles: Option<Vec<String>> = roles.map(|roles| roles.iter().map(ToString::to_string).collect());
    let templates = Arc::new(Templates::from(toolcrib::BUILT_IN));
    let view = CatalogView::new(&checked.catalog, None, roles.as_deref(), templates).unwrap();
    let names = view.catalog().tools.iter();
    names
        .map(|tool| {
            format!("{} {} {} {:?}", tool.names.canonical, tool.names.safe, tool.names.op, tool.names.aliases)
        })
        .collect()
}

fn collisions(checked: &Checked) -> Vec<&str> {
    let found = checked.findings.iter().filter(|finding| finding.code.as_str() == "name-collision");
    found.map(|finding| finding.message.as_str()).collect()
}

#[test]
fn a_hidden_tool_renames_no_visible_one_and_is_left_out_with_an_error() {
    let mut visible = tool("get_user", &[]);
    visible["aliases"] = json!(["whois"]);
    let alone = catalog(std::slice::from_ref(&visible));
    assert_eq!(seen(&alone, None), ["get_user get_user people.get_user [\"whois\"]"]);
    let mut with_alias = tool("other", &["admin"]);
    with_alias["aliases"] = json!(["WHOIS"]);
    let mut with_op = tool("third", &["admin"]);
    with_op["op"] = json!("people.get_user");
    for (claim, hidden) in [
        ("get_user", tool("Get_User", &["admin"])),
        ("get_user", tool("get_user", &["admin"])),
        ("get_user", tool("get.user", &["admin"])),
        ("people.get_user", tool("get-user", &["admin"])),
        ("whois", tool("whois", &["admin"])),
        ("whois", with_alias),
        ("people.get_user", with_op),
    ] {
        for tools in [[visible.clone(), hidden.clone()], [hidden.clone(), visible.clone()]] {
            let checked = catalog(&tools);
            for roles in [None, Some(&["guest"][..]), Some(&["admin"][..])] {
                assert_eq!(seen(&checked, roles), seen(&alone, None), "{hidden}");
            }
            assert_eq!(checked.catalog.version, alone.catalog.version, "{hidden}");
            let found = collisions(&checked);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(&format!("shares the name `{claim}`")), "{found:?}");
        }
    }
}

#[test]
fn check_fails_on_a_name_that_two_sets_of_roles_claim() {
    let folder =
        folder(&[("tools.json", &json!([tool("get_user", &[]), tool("Get_User", &["admin"])]).to_string())]);
    let checked = run(&["check", text(folder.path())]);
    assert_eq!(checked.code, 1, "{}", checked.stdout);
    for words in ["name-collision", "`Get_User`, for callers with the role `admin`", "tools.json:1"] {
        assert!(checked.stdout.contains(words), "{}", checked.stdout);
    }
}

#[test]
fn tools_of_the_same_roles_settle_their_names_among_themselves() {
    let tools = r#"{"a": [{"name": "find", "allowed_roles": ["x", "y"], "inputSchema": {"type": "object"}}],
                    "b": [{"name": "find", "allowed_roles": ["y", "x", "x"], "inputSchema": {"type": "object"}}]}"#;
    let checked = open_text("tools.json", tools);
    assert_eq!(seen(&checked, Some(&["x"])), ["a__find a__find a.find []", "b__find b__find b.find []"]);
    assert!(collisions(&checked).is_empty());
}

#[test]
fn of_two_sets_of_roles_each_sees_its_own_tool_and_who_has_both_sees_neither() {
    let (admin, ops) = (tool("get_key", &["admin"]), tool("Get_Key", &["ops"]));
    let other = tool("list_keys", &["admin", "ops"]);
    let checked = catalog(&[admin.clone(), ops.clone(), other.clone()]);
    for (role, tools) in [("admin", [admin, other.clone()]), ("ops", [ops, other.clone()])] {
        let alone = catalog(&tools);
        assert_eq!(seen(&checked, Some(&[role])), seen(&alone, Some(&[role])));
        assert_eq!(seen(&alone, Some(&[role])).len(), 2);
    }
    let both = catalog(&[other]);
    for roles in [None, Some(&["admin", "ops"][..])] {
        assert_eq!(seen(&checked, roles), seen(&both, roles));
    }
    assert_eq!(collisions(&checked).len(), 1);
}

#[test]
fn the_narrower_set_of_roles_loses_and_nobody_else_notices() {
    let (wide, narrow) = (tool("get_key", &["admin", "ops"]), tool("get_key", &["admin"]));
    let checked = catalog(&[narrow, wide.clone()]);
    for role in ["admin", "ops"] {
        assert_eq!(
            seen(&checked, Some(&[role])),
            seen(&catalog(std::slice::from_ref(&wide)), Some(&[role])),
            "{role}"
        );
    }
    assert_eq!(collisions(&checked).len(), 1);
}

#[test]
fn roles_that_an_overlay_gives_by_a_qualified_name_are_refused_and_open_nothing() {
    let tools = r#"{"a": [{"name": "find", "inputSchema": {"type": "object"}}],
                    "b": [{"name": "find", "inputSchema": {"type": "object"}}]}"#;
    let config = "[[overlay]]\nmatch = \"b__find\"\nallowed_roles = [\"admin\"]\n";
    let folder = folder(&[("tools.json", tools), ("toolcrib.toml", config)]);
    let checked = open(folder.path());
    for roles in [None, Some(&["guest"][..]), Some(&["admin"][..])] {
        assert_eq!(seen(&checked, roles), ["a__find a__find a.find []"]);
    }
    assert!(collisions(&checked)[0].contains("qualified name"), "{:?}", collisions(&checked));
}

#[test]
fn a_name_is_the_same_in_every_profile() {
    let tools = r#"{"a": [{"name": "find", "inputSchema": {"type": "object"}}],
                    "b": [{"name": "find", "inputSchema": {"type": "object"}}]}"#;
    let folder =
        folder(&[("tools.json", tools), ("toolcrib.toml", "[profile.only]\ninclude = [\"server:a\"]\n")]);
    let asked = r#"{"name": "a__find"}"#;
    for profile in [&[][..], &["--profile", "only"]] {
        let call = [&["call", "read_tool_doc", asked, text(folder.path())], profile].concat();
        let read = fixture::run(&call);
        assert!(read.code == 0 && read.stdout.contains("a__find"), "{}", read.stdout);
    }
}
