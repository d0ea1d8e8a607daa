//! Job values in a workspace: like any foreign text, they cannot forge toolcrib's markers, and the toolcrib block can
//! be renewed whatever they say.

use std::fs;

use serde_json::{Value, json};
use toolcrib::{Catalog, WorkspaceTemplate};

use crate::fixture::{self, text};

const EXAMPLE: &str = "examples/universal-agent";
const TEMPLATE: &str = "Job {{ job }}\n\n<!-- toolcrib:begin -->\n{{ tools }}\n<!-- toolcrib:end -->\n";

fn values(job: Value) -> serde_json::Map<String, Value> {
    serde_json::Map::from_iter([("job".to_string(), job)])
}

#[test]
fn a_value_with_our_markers_does_not_keep_the_block_from_being_renewed() {
    let template = fixture::folder(&[("AGENTS.md", TEMPLATE)]);
    for marker in [
        "<!-- toolcrib:end -->",
        "<!-- toolcrib:begin -->",
        "<!--TOOLCRIB:keep-->",
        "<!-- /toolcrib:keep -->",
    ] {
        let workspace = tempfile::tempdir().unwrap();
        let seed = |profile: &str| {
            let var = format!("job=a\n{marker}\nb");
            let arguments = ["seed", text(workspace.path()), EXAMPLE, "--profile", profile];
            let template = ["--template", text(template.path()), "--var", var.as_str()];
            let run = fixture::run(&[&arguments[..], &template].concat());
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(!run.stderr.contains("do not pair"), "{}", run.stderr);
            fs::read_to_string(workspace.path().join("AGENTS.md")).unwrap()
        };
        let first = seed("creator");
        assert!(first.contains("<! --") && !first.contains(&format!("\n{marker}\nb")), "{first}");
        fs::write(workspace.path().join("AGENTS.md"), format!("{first}\nMine.\n")).unwrap();
        let renewed = seed("validator");
        assert!(renewed.ends_with("\nMine.\n") && renewed.contains("40 tools"), "{renewed}");
    }
}

#[test]
fn the_library_treats_values_as_the_command_line_does() {
    let template = fixture::folder(&[("AGENTS.md", TEMPLATE)]);
    let catalog = Catalog::open(EXAMPLE).unwrap();
    let seed = |job: Value| {
        let workspace = tempfile::tempdir().unwrap();
        let template = WorkspaceTemplate {
            folder: Some(template.path().into()),
            values: values(job),
            ..WorkspaceTemplate::default()
        };
        catalog.seed_with(workspace.path(), None, &template)?;
        Ok::<_, toolcrib::Error>(fs::read_to_string(workspace.path().join("AGENTS.md")).unwrap())
    };
    let nested =
        seed(json!(["<!-- toolcrib:end -->", {"<!-- toolcrib:end -->": "<!-- toolcrib:begin -->"}])).unwrap();
    assert_eq!(nested.matches("<!-- toolcrib:").count(), 2, "{nested}");
    assert!(seed(json!("<!-- a comment -->\n```\ncode\n```\n")).unwrap().contains("<!-- a comment -->"));
    for hiding in ["\n```\nnever closed", "\n~~~~"] {
        let refused = seed(json!(hiding)).unwrap_err();
        assert_eq!(refused.code(), "template_invalid");
        assert!(refused.to_string().contains("AGENTS.md"), "{refused}");
    }
}
