//! Definitions in several files: a `$ref` to a file in the folder of the catalog is bundled, and nothing else is read.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::catalog::Checked;

use crate::fixture::{codes, folder, only, open, run, write};

const PET: &str = "Pet:\n  type: object\n  required: [name]\n  properties:\n    name: {type: string}\n    owner: {$ref: owner.json}\n    children: {type: array, items: {$ref: '#/Pet'}}\n";
const OWNER: &str = r##"{"$id":"https://example.com/owner.json","type":"object","properties":{"name":{"type":"string"},"pets":{"type":"array","items":{"$ref":"pet.yaml#/Pet"}},"boss":{"$ref":"#"}}}"##;

/// A tool with this schema of one argument.
fn tool(argument: &str) -> String {
    format!(
        r##"[{{"name":"save_pet","description":"Saves a pet in the shop.","inputSchema":{{"type":"object","properties":{{"pet":{argument}}}}}}}]"##
    )
}

fn shop(argument: &str) -> TempDir {
    folder(&[
        ("api/tools.json", &tool(argument)),
        ("api/parts/pet.yaml", PET),
        ("api/parts/owner.json", OWNER),
    ])
}

/// Findings about references: code and file.
fn references(checked: &Checked) -> Vec<(&'static str, String)> {
    let findings = checked.findings.iter().filter(|finding| finding.code.as_str().starts_with("schema-ref"));
    findings.map(|finding| (finding.code.as_str(), finding.place.clone().unwrap().file)).collect()
}

#[track_caller]
fn refused(root: &Path, code: &'static str) {
    let checked = open(root);
    assert_eq!(references(&checked), [(code, "api/tools.json".to_string())], "{:#?}", checked.findings);
    assert!(!only(&checked).input.parameters.is_checked());
}

#[test]
fn a_schema_in_another_file_is_bundled_and_stays_recursive() {
    let root = shop(r#"{"$ref":"parts/pet.yaml#/Pet"}"#);
    let checked = open(root.path());
    let tool = only(&checked);
    assert_eq!(references(&checked), []);
    let schema = tool.input.parameters.schema();
    assert_eq!(schema["properties"]["pet"], json!({ "$ref": "#/$defs/Pet" }));
    assert_eq!(schema["$defs"].as_object().unwrap().keys().collect::<Vec<_>>(), ["Pet", "owner"]);
    assert_eq!(schema["$defs"]["Pet"]["properties"]["children"]["items"], json!({ "$ref": "#/$defs/Pet" }));
    assert_eq!(schema["$defs"]["owner"]["properties"]["boss"], json!({ "$ref": "#/$defs/owner" }));
    let violations = |pet: Value| tool.input.parameters.violations(&json!({ "pet": pet })).len();
    assert_eq!(violations(json!({ "name": "a", "children": [{ "name": "b" }], "owner": { "boss": {} } })), 0);
    assert_eq!(violations(json!({ "name": "a", "children": [{}] })), 1);
    assert_eq!(violations(json!({ "name": "a", "owner": { "boss": { "pets": [{}] } } })), 1);
}

#[test]
fn a_schema_that_refers_to_no_file_stays_byte_for_byte() {
    let written =
        r##"{"type":"object", "properties":{"a":{"$ref":"#/$defs/A"}}, "$defs":{"A":{"type":"string"}}}"##;
    let near = r#"{"name":"near","description":"Near.","inputSchema":{"type":"object","properties":{"x":{"$ref":"x.yaml"}}}}"#;
    let text = format!(r#"[{{"name":"own","description":"Own.","inputSchema":{written}}},{near}]"#);
    let root = folder(&[("tools.json", &text), ("x.yaml", "type: string\n")]);
    let checked = open(root.path());
    let own = checked.catalog.named("own").unwrap();
    assert_eq!(own.input.schema.as_ref().unwrap().text(), written);
    assert_eq!(
        checked.catalog.named("near").unwrap().input.parameters.schema()["$defs"],
        json!({ "x": { "type": "string" } })
    );
}

#[test]
fn a_root_that_only_refers_to_a_file_is_the_schema_of_that_file() {
    let root = folder(&[
        (
            "t.json",
            r#"{"name":"a","description":"Does it.","inputSchema":{"$ref":"in.yaml"},"outputSchema":{"$ref":"in.yaml#/properties/x"}}"#,
        ),
        ("in.yaml", "type: object\nproperties: {x: {type: string}, next: {$ref: '#'}}\n"),
    ]);
    let checked = open(root.path());
    let tool = only(&checked);
    let next = json!({ "x": { "type": "string" }, "next": { "$ref": "#/$defs/in" } });
    assert_eq!(tool.input.parameters.schema()["properties"], next);
    assert_eq!(tool.output.as_ref().unwrap().value(), &json!({ "type": "string" }));
    assert!(tool.input.call.is_some());
}

#[test]
fn nothing_outside_the_folder_of_the_catalog_is_read() {
    let secret = r#"{"type":"string","const":"secret"}"#;
    for path in ["../../secret.json", "../api/../../secret.json", "/etc/hosts.json", "..%2f..%2fsecret.json"]
    {
        let outer = folder(&[("secret.json", secret)]);
        let root = outer.path().join("catalog");
        write(&root, "api/tools.json", &tool(&format!(r#"{{"$ref":"{path}"}}"#)));
        refused(&root, "schema-ref-remote");
    }
    for path in [
        ".hidden.json",
        "../toolcrib.toml",
        "https://example.com/x.json",
        "file:///etc/hosts.json",
        "//host/x.json",
    ] {
        let root = shop(&format!(r#"{{"$ref":"{path}"}}"#));
        write(root.path(), "api/.hidden.json", secret);
        write(root.path(), "toolcrib.toml", "title = \"t\"\n");
        refused(root.path(), "schema-ref-remote");
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let outer = folder(&[("secret.json", r#"{"const":"secret"}"#)]);
    let root = outer.path().join("catalog");
    write(&root, "api/tools.json", &tool(r#"{"$ref":"link.json"}"#));
    std::os::unix::fs::symlink(outer.path().join("secret.json"), root.join("api/link.json")).unwrap();
    refused(&root, "schema-ref-remote");
}

#[test]
fn a_file_that_cannot_be_read_costs_its_tool_and_no_other() {
    for (name, text) in [("gone", ""), ("bad", "{"), ("deep", &"[".repeat(200))] {
        let root = shop(r#"{"$ref":"parts/gone.json"}"#);
        if name != "gone" {
            write(root.path(), "api/parts/gone.json", text);
        }
        write(root.path(), "other.yaml", "name: other\ndescription: Other.\nparameters: {type: object}\n");
        let checked = open(root.path());
        assert_eq!(references(&checked), [("schema-ref-unreadable", "api/tools.json".to_string())]);
        assert!(checked.catalog.named("other").unwrap().input.parameters.is_checked());
        assert!(checked.lost_input());
    }
}

#[test]
fn findings_stand_in_the_file_with_the_mistake_once() {
    let root = folder(&[
        (
            "a.yaml",
            "- {name: a_pet, description: Does a., parameters: {properties: {x: {$ref: 'parts/x.yaml'}}}}\n- {name: b_pet, description: Does b., parameters: {properties: {x: {$ref: 'parts/x.yaml'}}}}\n",
        ),
        ("parts/x.yaml", "type: object\nproperties:\n  y: {type: dict}\n  z: {$ref: '#/gone'}\n"),
    ]);
    let checked = open(root.path());
    let found = |code: &str| {
        let all = checked.findings.iter().filter(|finding| finding.code.as_str() == code);
        all.map(|finding| finding.place.clone().unwrap())
            .map(|place| (place.file, place.line))
            .collect::<Vec<_>>()
    };
    assert_eq!(found("schema-repaired"), [("parts/x.yaml".to_string(), Some(3))]);
    assert_eq!(found("schema-ref-broken"), [("parts/x.yaml".to_string(), Some(4))]);
    assert_eq!(found("format-unknown"), []);
    assert!(checked.catalog.tools.iter().all(|tool| tool.input.parameters.is_checked()));
}

#[test]
fn an_openapi_document_is_read_with_its_files() {
    let root = folder(&[
        (
            "openapi.yaml",
            "openapi: 3.1.0\ninfo: {title: Shop, version: '1'}\npaths:\n  /pets: {$ref: paths/pets.yaml}\n  /pets/{id}:\n    get:\n      operationId: get_pet\n      description: Gets one pet.\n      parameters: [{$ref: 'parts/params.yaml#/id'}]\n      responses: {'200': {description: It.}}\ncomponents: {schemas: {Tag: {type: string, maxLength: 9}}}\n",
        ),
        (
            "paths/pets.yaml",
            "post:\n  operationId: add_pet\n  description: Adds a pet.\n  requestBody: {required: true, content: {application/json: {schema: {$ref: ../parts/pet.yaml}}}}\n  responses: {'200': {description: Added.}}\n",
        ),
        (
            "parts/pet.yaml",
            "type: object\nrequired: [name]\nproperties:\n  name: {type: string, minLength: many}\n  tag: {$ref: '../openapi.yaml#/components/schemas/Tag'}\n  twin: {$ref: '#/components/schemas/Tag'}\n  parent: {$ref: '#'}\n",
        ),
        ("parts/params.yaml", "id: {name: id, in: path, required: true, schema: {type: integer}}\n"),
        ("parts/sample.yaml", "name: Rex\ndescription: A good dog.\n"),
    ]);
    write(
        root.path(),
        "paths/pets.yaml",
        &fs::read_to_string(root.path().join("paths/pets.yaml"))
            .unwrap()
            .replace("{schema:", "{examples: {rex: {$ref: ../parts/sample.yaml}}, schema:"),
    );
    let checked = open(root.path());
    let names: Vec<&str> = checked.catalog.tools.iter().map(|tool| tool.names.canonical.as_str()).collect();
    assert_eq!(names, ["add_pet", "get_pet"]);
    let add = checked.catalog.named("add_pet").unwrap();
    assert_eq!(add.origin.place.file, "paths/pets.yaml");
    assert_eq!(add.input.parameters.schema()["properties"]["twin"], json!({ "$ref": "#/$defs/Tag" }));
    assert_eq!(add.input.parameters.violations(&json!({ "name": "a", "tag": "0123456789" })).len(), 1);
    assert_eq!(add.input.parameters.violations(&json!({ "name": "a", "parent": {} })).len(), 1);
    let get = checked.catalog.named("get_pet").unwrap();
    assert_eq!(get.input.parameters.schema()["properties"]["id"]["type"], "integer");
    let errors: Vec<_> = codes(&checked).into_iter().filter(|(code, ..)| *code == "field-invalid").collect();
    assert_eq!(errors, [("field-invalid", Some(4), "/properties/name/minLength".to_string())]);
    assert_eq!(references(&checked), []);
}

#[test]
fn operations_and_components_may_stand_in_files_of_their_own() {
    let root = folder(&[
        (
            "api.yaml",
            "openapi: 3.0.3\ninfo: {title: Harbour, version: '1'}\npaths: {$ref: paths.yaml}\ncomponents: {schemas: {$ref: parts/schemas.yaml}}\n",
        ),
        (
            "paths.yaml",
            "/boats:\n  post: {$ref: operations/create.yaml}\n  get: {$ref: operations/gone.yaml}\n",
        ),
        (
            "operations/create.yaml",
            "operationId: create\ndescription: Registers a boat.\nrequestBody: {$ref: '../parts/bodies.yaml#/Boat'}\nresponses: {$ref: ../parts/responses.yaml}\n",
        ),
        (
            "parts/bodies.yaml",
            "Boat: {required: true, content: {application/json: {schema: {$ref: '../api.yaml#/components/schemas/Boat'}}}}\n",
        ),
        (
            "parts/schemas.yaml",
            "Boat: {type: object, required: [name], properties: {name: {type: string, description: Its name.}}}\n",
        ),
        ("parts/responses.yaml", "'201': {description: The boat.}\n"),
    ]);
    let checked = open(&root.path().join("api.yaml"));
    let create = only(&checked);
    assert_eq!(
        (create.names.canonical.as_str(), create.texts.returns.as_deref()),
        ("create", Some("The boat."))
    );
    assert_eq!(create.input.parameters.schema()["properties"]["name"]["type"], "string");
    assert_eq!(references(&checked), [("schema-ref-unreadable", "paths.yaml".to_string())]);
    assert!(checked.lost_input());
}

#[test]
fn a_tool_that_lacks_arguments_cannot_be_called() {
    let root = folder(&[(
        "api.yaml",
        "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths:\n  /b:\n    post: {operationId: b, description: Does b., requestBody: {$ref: body.yaml}}\n",
    )]);
    let checked = open(&root.path().join("api.yaml"));
    assert_eq!(references(&checked), [("schema-ref-unreadable", "api.yaml".to_string())]);
    assert!(!only(&checked).input.parameters.is_checked());
}

#[test]
fn an_openapi_document_says_which_of_its_files_is_missing() {
    let root = folder(&[
        (
            "api.yaml",
            "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths:\n  /a: {$ref: paths/gone.yaml}\n  /b:\n    get: {operationId: b, description: Does b., parameters: [{$ref: 'p.yaml#/gone'}, {$ref: '../p.yaml'}]}\n",
        ),
        ("p.yaml", "id: {name: id, in: query}\n"),
    ]);
    let expect = ["schema-ref-unreadable", "schema-ref-broken", "schema-ref-remote"];
    let checked = open(root.path());
    assert_eq!(references(&checked), expect.map(|code| (code, "api.yaml".to_string())));
    assert_eq!(only(&checked).names.canonical, "b");
}

#[test]
fn a_change_of_a_referenced_file_is_another_version() {
    let root = shop(r#"{"$ref":"parts/pet.yaml#/Pet"}"#);
    let version = || open(&root.path().join("api/tools.json")).catalog.version;
    let before = version();
    assert_eq!(version(), before);
    write(root.path(), "api/parts/owner.json", r#"{"type":"string"}"#);
    assert_ne!(version(), before);
}

#[test]
fn a_tool_file_keeps_its_tools_when_another_refers_to_it() {
    let other = r#"[{"name":"own","description":"Own.","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}]"#;
    let root = shop(r#"{"$ref":"../other.json#/0/inputSchema"}"#);
    write(root.path(), "other.json", other);
    write(root.path(), "api/whole.json", &tool(r#"{"$ref":"../other.json"}"#).replace("save_pet", "whole"));
    let checked = open(root.path());
    assert!(checked.catalog.named("own").is_some() && checked.catalog.named("save_pet").is_some());
}

#[test]
fn every_wire_gets_the_bundle() {
    let root = shop(r#"{"$ref":"parts/pet.yaml#/Pet"}"#);
    for provider in ["openai", "anthropic", "gemini", "mcp", "cohere"] {
        let catalog = root.path().display().to_string();
        let run = run(&["payload", &catalog, "--provider", provider]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(!run.stdout.contains("pet.yaml"), "{}", run.stdout);
    }
}

#[test]
fn large_files_are_bundled_within_a_budget() {
    let text = "x".repeat(4096);
    let property = |index: usize| (format!("p{index}"), json!({ "type": "string", "description": text }));
    let properties: serde_json::Map<_, _> = (0..1200).map(property).collect();
    let large =
        json!({ "Large": { "type": "object", "properties": properties }, "Small": { "type": "string" } });
    let tool = |name: &str, at: &str| json!({ "name": name, "description": "Does it.", "parameters": { "type": "object", "properties": { "x": { "$ref": format!("large.json#/{at}") } } } });
    let tools = json!([tool("large", "Large"), tool("small", "Small")]).to_string();
    let root = folder(&[("tools.json", &tools), ("large.json", &large.to_string())]);
    let checked = open(root.path());
    assert_eq!(references(&checked), [("schema-ref-unreadable", "tools.json".to_string())]);
    assert!(!checked.catalog.named("large").unwrap().input.parameters.is_checked());
    assert!(checked.catalog.named("small").unwrap().input.parameters.is_checked());
}
