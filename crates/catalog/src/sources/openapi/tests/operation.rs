//! Names, texts and malformed operations.

use serde_json::json;

use super::super::Operation;
use super::*;
use toolcrib_definition::Effect;
use toolcrib_definition::finding::Severity;

#[test]
fn an_operation_becomes_a_tool() {
    let item = json!({ "delete": {
        "operationId": "removeFile", "summary": "Remove a file", "description": "Removes a file for good.",
        "tags": ["Files / old", "admin"], "deprecated": true, "servers": [{ "url": "https://files.example" }],
        "responses": {
            "404": { "description": "Not there" },
            "200": { "$ref": "#/components/responses/Gone" }
        }
    } });
    let components = json!({ "responses": { "Gone": {
        "description": "What was removed.",
        "content": { "text/html": {}, "application/json": { "schema": { "$ref": "#/components/schemas/File" } } }
    } }, "schemas": { "File": { "type": "object", "properties": {
        "id": { "type": "string", "readOnly": true }, "secret": { "type": "string", "writeOnly": true },
        "parent": { "$ref": "#/components/schemas/File" }
    }, "required": ["id", "secret"] } } });
    let definition = tool("3.0.3", "/files/{id}", item, components);
    assert_eq!(definition.name, "removeFile");
    assert_eq!(definition.description, "Removes a file for good.");
    assert_eq!(definition.short_description.as_deref(), Some("Remove a file"));
    assert_eq!(definition.category[0].as_str(), "Files old");
    assert_eq!(definition.tags, ["admin"]);
    assert_eq!(definition.effect, Some(Effect::Destructive));
    assert_eq!(definition.deprecated, Some(true));
    assert_eq!(definition.returns.as_deref(), Some("What was removed."));
    assert_eq!(definition.notes, ["Served from `https://files.example`."]);
    assert_eq!(parameters(&definition)["required"], json!(["id"]));
    let file = json!({ "type": "object", "properties": {
        "id": { "type": "string", "readOnly": true }, "parent": { "$ref": "#/$defs/File" }
    }, "required": ["id"] });
    let result = definition.result_schema.unwrap();
    assert_eq!(result.value()["required"], json!(["id"]));
    assert_eq!(result.value()["$defs"], json!({ "File": file }));
}

#[test]
fn operations_keep_their_order_and_their_names_are_unique() {
    let mut document = json!({ "openapi": "3.1.0", "info": { "title": " The  API " }, "paths": {
        "/users/{user-id}/posts": { "post": { "operationId": "a b" }, "get": { "operationId": " " } },
        "/users/{user-id}/posts/": { "get": {} },
        "/x": { "put": { "operationId": "a b" }, "get": { "operationId": "a b_2" } },
        "/y": { "$ref": "#/components/pathItems/Y" }
    }, "components": { "pathItems": { "Y": { "head": { "operationId": "y" } } } } });
    let imported = import("api.json", &mut document);
    let names: Vec<&str> =
        imported.operations.iter().map(|operation| operation.definition.name.as_str()).collect();
    let derived = "get_users_by_user_id_posts";
    assert_eq!(names, ["a b", derived, &format!("{derived}_2"), "a b_3", "a b_2", "y"]);
    assert_eq!(imported.server.as_deref(), Some("The API"));
    assert_eq!(imported.operations[5].pointer, "/components/pathItems/Y/head");
    let codes: Vec<&str> = findings(&imported).iter().map(|finding| finding.0).collect();
    assert_eq!(codes.iter().filter(|code| **code == "operation-named").count(), 2);
    assert!(findings(&imported).contains(&("name-duplicate", "/paths/~1x/put/operationId", "a b_3")));
    assert_sound(&imported);
}

#[test]
fn what_is_malformed_costs_no_neighbour() {
    let mut document = json!({ "openapi": "3.0.0", "paths": {
        "/a": 5,
        "/b": { "get": [], "gett": {}, "x-note": 1, "post": {
            "operationId": "b", "summary": 7, "tags": "b", "parameters": [
                3, { "in": "query" }, { "name": "q", "in": "body?" }, { "name": "bare", "in": "query", "required": "yes" },
                { "name": "good", "in": "query", "schema": { "type": "integer", "minimum": "few", "enum": {} } }
            ],
            "requestBody": { "content": {} }
        } },
        "/c": { "parameters": {}, "get": { "operationId": "c" } }
    } });
    let imported = import("api.json", &mut document);
    assert_sound(&imported);
    assert_eq!(imported.operations.len(), 2);
    let good = &parameters(&imported.operations[0].definition)["properties"];
    assert_eq!(*good, json!({ "bare": {}, "good": { "type": "integer" } }));
    let b = "/paths/~1b/post";
    let at = |path: &str| format!("{b}{path}");
    assert_eq!(
        findings(&imported),
        [
            ("schema-doubtful", at("/parameters/4/schema/minimum").as_str(), ""),
            ("schema-doubtful", &at("/parameters/4/schema/enum"), ""),
            ("definition-invalid", "/paths/~1a", ""),
            ("definition-invalid", "/paths/~1b/get", ""),
            ("definition-invalid", "/paths/~1b/gett", ""),
            ("definition-invalid", &at("/parameters/0"), "b"),
            ("definition-invalid", &at("/parameters/1"), "b"),
            ("definition-invalid", &at("/parameters/2/in"), "b"),
            ("field-invalid", &at("/parameters/3/required"), "b"),
            ("schema-doubtful", &at("/parameters/3"), "b"),
            ("definition-invalid", &at("/requestBody/content"), "b"),
            ("field-invalid", &at("/summary"), "b"),
            ("field-invalid", &at("/tags"), "b"),
            ("definition-invalid", "/paths/~1c/parameters", "c"),
        ]
    );
}

#[test]
fn variables_of_the_path_are_written_as_the_document_says() {
    let check = |parameter: Value, expect: &str| {
        let mut parameter = parameter;
        parameter["in"] = "path".into();
        parameter["name"] = "id".into();
        let operation = json!({ "get": { "operationId": "get", "parameters": [parameter] } });
        let definition = only(imported("3.1.0", "/a/{id}/b", operation, json!({})));
        assert_eq!(http(&definition).path, expect);
    };
    let list = json!({ "type": "array", "items": {} });
    check(json!({ "schema": list }), "/a/{id}/b");
    check(json!({ "schema": list, "explode": true }), "/a/{id*}/b");
    check(json!({ "schema": { "type": "string" }, "explode": true }), "/a/{id}/b");
    check(json!({ "schema": { "type": ["array", "null"] }, "explode": true }), "/a/{id*}/b");
    check(json!({ "schema": list, "style": "label" }), "/a/{.id}/b");
    check(json!({ "schema": list, "style": "matrix", "explode": true }), "/a/{;id*}/b");
}

#[test]
fn swagger_2_is_read_too() {
    let mut document = json!({ "swagger": "2.0", "info": { "title": "Pets" }, "basePath": "/v1",
        "consumes": ["application/xml", "application/json"],
        "paths": {
            "/pets": {
                "post": { "operationId": "addPet", "parameters": [
                    { "in": "body", "name": "pet", "required": true, "schema": { "$ref": "#/definitions/Pet" } }
                ], "responses": { "201": { "description": "Made", "schema": { "type": "array", "items": { "$ref": "#/definitions/Pet" } } } } },
                "get": { "operationId": "findPets", "parameters": [
                    { "$ref": "#/parameters/status" },
                    { "in": "header", "name": "api_key", "type": "string" }
                ] }
            },
            "/pets/{id}/image": { "post": { "operationId": "upload", "consumes": ["multipart/form-data"], "parameters": [
                { "in": "path", "name": "id", "required": true, "type": "integer", "format": "int64" },
                { "in": "formData", "name": "note", "description": "A note", "type": "string", "required": true },
                { "in": "formData", "name": "file", "type": "file" }
            ] } }
        },
        "parameters": { "status": { "in": "query", "name": "status", "description": "By status", "type": "array",
            "collectionFormat": "csv", "items": { "type": "string", "enum": ["sold"] }, "x-nullable": true } },
        "securityDefinitions": { "key": { "type": "apiKey", "in": "header", "name": "api_key" } },
        "definitions": { "Pet": { "type": "object", "required": ["name"], "discriminator": "name", "properties": {
            "id": { "type": "integer", "readOnly": true }, "name": { "type": "string", "example": "Rex" },
            "mate": { "$ref": "#/definitions/Pet" }
        } } }
    });
    let imported = import("api.json", &mut document);
    assert_eq!(findings(&imported), []);
    assert_sound(&imported);
    let tools: Vec<&Definition> = imported.operations.iter().map(|operation| &operation.definition).collect();
    let pet = json!({ "name": { "type": "string", "examples": ["Rex"] }, "mate": { "$ref": "#/$defs/Pet" } });
    assert_eq!(
        *parameters(tools[0]),
        json!({ "type": "object", "properties": pet, "required": ["name"],
        "$defs": { "Pet": { "type": "object", "required": ["name"], "properties": pet } } })
    );
    assert_eq!(tools[0].result_schema.as_ref().unwrap().value()["type"], "array");
    assert_eq!(
        parameters(tools[1])["properties"],
        json!({ "status": {
        "description": "By status", "type": ["array", "null"], "items": { "type": "string", "enum": ["sold"] } } })
    );
    assert_eq!(
        parameters(tools[2])["properties"]["file"],
        json!({
        "format": "binary", "type": "string", "description": "The content of a file, as base64 or a `data:` URL." })
    );
    assert_eq!(parameters(tools[2])["required"], json!(["id", "note"]));
    assert_eq!(http(tools[2]).content_type.as_deref(), Some("multipart/form-data"));
    assert_eq!(places(tools[2]), json!({}));
}

#[test]
fn a_document_is_known_by_its_version_and_paths() {
    let check =
        |document: Value, expect: bool| assert_eq!(super::super::recognise(&document), expect, "{document}");
    check(json!({ "openapi": "3.2.0", "paths": {} }), true);
    check(json!({ "swagger": 2.0, "paths": {} }), true);
    check(json!({ "openapi": "3.1.0", "webhooks": {} }), false);
    check(json!({ "openapi": {}, "paths": {} }), false);
    check(json!([]), false);
}

#[test]
fn an_operation_of_which_nothing_can_be_named_has_a_name() {
    let item = json!({ "additionalOperations": { ".": {}, "": {} } });
    let imported = imported("3.2.0", "", item, json!({}));
    let names: Vec<&str> =
        imported.operations.iter().map(|operation| operation.definition.name.as_str()).collect();
    assert_eq!(names, ["operation", "operation_2"]);
}

#[test]
fn servers_of_an_operation_or_its_path_decide_its_address() {
    let own =
        |url: &str| json!([{ "url": url, "variables": { "region": { "default": "eu" } } }, { "url": "/" }]);
    let get = |servers: Value| json!({ "get": { "servers": servers } });
    let mut document = json!({ "openapi": "3.1.0", "info": { "title": "Box" }, "servers": own("https://a.example/v1"), "paths": {
        "/usual": { "get": {} }, "/same": get(own("https://a.example/v1/")), "/empty": get(json!([])),
        "/path": { "servers": own("https://up.example/x"), "get": {}, "put": { "servers": own("https://{region}.b.example/") } },
        "/behind": { "$ref": "#/paths/~1path", "servers": own("https://behind.example") },
        "/open": get(own("https://{tenant}.example")), "/beside": get(own("/v2")), "/relative": get(own("../v3/")),
        "/port": { "get": { "servers": [{ "url": "https://a.example:{port}", "variables": { "port": { "default": 8443 } } }] } }
    } });
    let imported = import("api.json", &mut document);
    let servers: Vec<_> =
        imported.operations.iter().map(|operation| http(&operation.definition).server.as_deref()).collect();
    let up = "https://up.example/x";
    let eu = "https://eu.b.example";
    let behind = "https://behind.example";
    let beside = "https://a.example/v2";
    let relative = "https://a.example/v3";
    let port = "https://a.example:8443";
    let expect = [
        None,
        None,
        None,
        Some(up),
        Some(eu),
        Some(behind),
        Some(eu),
        Some("https://{tenant}.example"),
        Some(beside),
        Some(relative),
        Some(port),
    ];
    assert_eq!(servers, expect);
    assert_eq!(imported.addresses.iter().collect::<Vec<_>>(), [up, eu, behind, beside, relative, port]);
    let mut nowhere =
        json!({ "openapi": "3.1.0", "info": { "title": "Box" }, "paths": { "/beside": get(own("/v2")) } });
    let imported = import("api.json", &mut nowhere);
    assert_eq!(http(&only(imported)).server.as_deref(), Some("Box/v2"));
}

#[test]
fn references_to_operations_and_within_paths_are_followed() {
    let mut document = json!({ "openapi": "3.0.3", "paths": { "$ref": "#/x-parts/paths" }, "components": { "$ref": "#/x-parts/components" }, "x-parts": {
        "paths": {
            "/a": { "parameters": { "$ref": "#/paths/~1b/post/parameters" }, "get": { "$ref": "#/x-parts/get" }, "put": { "$ref": "#/x-parts/get", "operationId": "lost" } },
            "/b": { "post": {
                "parameters": [{ "$ref": "#/components/parameters/Limit" }], "requestBody": { "$ref": "#/x-parts/body" },
                "responses": { "$ref": "#/x-parts/responses" }
            } },
            "/c": { "$ref": "#/paths/~1b", "parameters": [{ "in": "query", "name": "more", "schema": {} }] }
        },
        "get": { "operationId": "read", "parameters": [{ "$ref": "#/paths/~1b/post/parameters/0" }] },
        "body": { "content": { "application/json": { "$ref": "#/x-parts/media" } } },
        "media": { "schema": { "type": "object", "properties": { "name": { "$ref": "#/components/schemas/Name" } } } },
        "responses": { "200": { "description": "Done." } },
        "components": { "parameters": { "Limit": { "in": "query", "name": "limit", "schema": { "type": "integer" } } }, "schemas": { "$ref": "#/x-parts/schemas" } },
        "schemas": { "Name": { "type": "string" } }
    } });
    let imported = import("api.json", &mut document);
    let arguments = |operation: &Operation| {
        let properties = parameters(&operation.definition)["properties"].as_object().unwrap().clone();
        properties.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let all: Vec<String> = imported.operations.iter().map(arguments).collect();
    assert_eq!(all, ["limit", "limit", "limit name", "more limit name"]);
    assert_eq!(imported.operations[0].definition.name, "read");
    assert_eq!(imported.operations[2].definition.returns.as_deref(), Some("Done."));
    let errors: Vec<_> =
        findings(&imported).into_iter().filter(|(code, ..)| *code == "field-invalid").collect();
    assert_eq!(errors, [("field-invalid", "/x-parts/paths/~1a/put/operationId", "")]);
    assert_sound(&imported);
}

#[test]
fn an_operation_whose_arguments_cannot_be_read_is_an_error_and_no_tool_without_arguments() {
    let lost = |operation: Value| {
        let imported = imported("3.0.3", "/a", json!({ "post": operation }), json!({}));
        let error = imported.findings.iter().find(|finding| finding.severity == Severity::Error);
        let place = error.and_then(|error| Some(error.place.clone()?.pointer)).unwrap_or_default();
        (place, imported.operations.first().map(|operation| operation.lost_arguments))
    };
    let gone = json!({ "$ref": "#/gone" });
    let at = |path: &str| format!("/paths/~1a/post{path}");
    assert_eq!(lost(gone.clone()), (at("/$ref"), None));
    assert_eq!(lost(json!({ "$ref": "https://example.com/post.json" })), (at("/$ref"), None));
    assert_eq!(lost(json!({ "parameters": gone })), (at("/parameters/$ref"), Some(true)));
    assert_eq!(lost(json!({ "parameters": [gone] })), (at("/parameters/0/$ref"), Some(true)));
    assert_eq!(lost(json!({ "requestBody": gone })), (at("/requestBody/$ref"), Some(true)));
    assert_eq!(
        lost(json!({ "requestBody": { "content": gone } })),
        (at("/requestBody/content/$ref"), Some(true))
    );
    let body = json!({ "content": { "application/json": { "schema": gone } } });
    let place = at("/requestBody/content/application~1json/schema/$ref");
    assert_eq!(lost(json!({ "requestBody": body })), (place, Some(true)));
    assert_eq!(lost(json!({ "responses": { "200": gone } })), (String::new(), Some(false)));
}
