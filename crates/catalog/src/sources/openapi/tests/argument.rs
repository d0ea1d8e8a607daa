//! Names and locations of arguments.

use serde_json::json;

use super::*;

/// The names of the arguments, the records of their locations and the codes of the findings.
fn check(method: &str, path: &str, operation: Value, names: &[&str], expect: Value) {
    let imported = imported("3.1.0", path, json!({ method: operation }), json!({}));
    assert_sound(&imported);
    let definition = only(imported);
    let properties = parameters(&definition)["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), names);
    assert_eq!(places(&definition), expect);
}

fn parameter(place: &str, name: &str) -> Value {
    json!({ "in": place, "name": name, "schema": { "type": "string" } })
}

fn body(schema: Value) -> Value {
    json!({ "content": { "application/json": { "schema": schema } } })
}

#[test]
fn fields_of_a_form_are_written_as_the_document_says() {
    let fields = json!({ "type": "object", "properties": { "a": { "type": "object" }, "b": { "type": "array" }, "c": {}, "d": {} } });
    let encoding = json!({
        "a": { "style": "deepObject", "explode": true },
        "b": { "style": "form", "explode": false },
        "c": { "contentType": "application/json" },
        "d": { "headers": {} },
    });
    let form = json!({ "application/x-www-form-urlencoded": { "schema": fields, "encoding": encoding } });
    let expect = json!({
        "a": { "in": "body", "style": "deepObject" },
        "b": { "in": "body", "style": "form", "explode": false },
        "c": { "in": "body", "style": "json" },
    });
    check("post", "/", json!({ "requestBody": { "content": form } }), &["a", "b", "c", "d"], expect);
    let json_body = json!({ "application/json": { "schema": fields, "encoding": encoding } });
    check("post", "/", json!({ "requestBody": { "content": json_body } }), &["a", "b", "c", "d"], json!({}));
}

#[test]
fn arguments_are_placed_only_where_the_method_does_not_place_them() {
    let all = json!([
        parameter("path", "p"),
        parameter("query", "q"),
        parameter("header", "H"),
        parameter("cookie", "c")
    ]);
    let elsewhere = json!({ "H": { "in": "header" }, "c": { "in": "cookie" } });
    check("get", "/{p}", json!({ "parameters": all }), &["p", "q", "H", "c"], elsewhere);
    let elsewhere = json!({ "q": { "in": "query" }, "H": { "in": "header" }, "c": { "in": "cookie" } });
    let fields = body(json!({ "type": "object", "properties": { "b": {} } }));
    let operation = json!({ "parameters": all, "requestBody": fields });
    check("post", "/{p}", operation, &["p", "q", "H", "c", "b"], elsewhere);
    check("delete", "/", json!({ "requestBody": fields }), &["b"], json!({ "b": { "in": "body" } }));
    let ignored = json!([
        parameter("header", "accept"),
        parameter("header", "Content-Type"),
        parameter("header", "AUTHORIZATION")
    ]);
    check("get", "/", json!({ "parameters": ignored }), &[], json!({}));
}

#[test]
fn names_that_meet_get_their_place_and_odd_names_a_portable_one() {
    let operation = json!({
        "parameters": [
            parameter("path", "id"), parameter("query", "id"), parameter("query", "filter[x]"), parameter("query", "$top"),
            parameter("query", "top"), parameter("query", "size"), parameter("query", "名"), parameter("query", &"n".repeat(70))
        ],
        "requestBody": body(json!({ "type": "object", "properties": { "id": {}, "size": {}, "@type": {}, "filter[x]": {} } }))
    });
    let long = "n".repeat(48);
    let query = |name: &str| json!({ "in": "query", "name": name });
    let body = |name: &str| json!({ "in": "body", "name": name });
    check(
        "post",
        "/{id}",
        operation,
        &[
            "id", "id_query", "filter_x", "top_query", "top", "size_query", "query", &long, "id_body",
            "size_body", "type", "filter_x_body",
        ],
        json!({
            "id_query": query("id"), "filter_x": query("filter[x]"), "top_query": query("$top"), "top": { "in": "query" },
            "size_query": query("size"), "query": query("名"), (long.clone()): query(&"n".repeat(70)),
            "id_body": body("id"), "size_body": body("size"), "type": body("@type"), "filter_x_body": body("filter[x]"),
        }),
    );
}

#[test]
fn renaming_is_reported_and_a_path_variable_is_mapped() {
    let item = json!({ "get": { "operationId": "g", "parameters": [parameter("path", "a b")] } });
    let imported = imported("3.1.0", "/x/{a b}", item, json!({}));
    assert_eq!(findings(&imported), [("argument-renamed", "/paths/~1x~1{a b}/get/parameters/0", "g")]);
    let definition = only(imported);
    assert_eq!(places(&definition), json!({ "a_b": { "in": "path", "name": "a b" } }));
    assert_eq!(http(&definition).path, "/x/{a b}");
}

#[test]
fn a_body_that_is_no_plain_object_is_one_argument() {
    let whole = |schema: Value, names: &[&str]| {
        let operation = json!({ "requestBody": body(schema) });
        check(
            "post",
            "/",
            operation,
            names,
            match names {
                ["body"] => json!({ "body": { "in": "whole-body" } }),
                _ => json!({}),
            },
        );
    };
    whole(json!({ "type": "array", "items": {} }), &["body"]);
    whole(json!({ "type": "object" }), &["body"]);
    whole(
        json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": { "type": "string" } }),
        &["body"],
    );
    whole(
        json!({ "type": "object", "properties": { "a": {} }, "anyOf": [{ "required": ["a"] }, {}] }),
        &["body"],
    );
    whole(
        json!({ "allOf": [{ "properties": { "a": { "type": "string" } } }, { "properties": { "a": { "type": "integer" } } }] }),
        &["body"],
    );
    whole(json!({ "type": "object", "additionalProperties": false }), &[]);
    whole(json!({ "type": "object", "properties": { "a": {} }, "required": ["b"] }), &["a", "b"]);
    whole(
        json!({ "allOf": [{ "type": "object", "properties": { "a": {} } }, { "properties": { "b": {} }, "required": ["a"] }] }),
        &["a", "b"],
    );
}

#[test]
fn a_body_that_cannot_be_made_of_arguments_is_text_or_no_call() {
    let with = |media: Value| {
        let item = json!({ "post": { "requestBody": { "content": media } } });
        imported("3.1.0", "/", item, json!({})).operations.remove(0)
    };
    let object = json!({ "schema": { "type": "object", "properties": { "a": {} } }, "example": { "a": 1 } });
    for media in ["application/xml", "text/csv"] {
        let text = json!({ "type": "string", "description": format!("The whole body of the type `{media}`, as text.") });
        let operation = with(json!({ media: object }));
        assert_eq!(parameters(&operation.definition)["properties"]["body"], text);
        assert!(!operation.lost_arguments && operation.definition.examples.is_empty());
        let names =
            parameters(&with(json!({ media: object, "application/json": object })).definition).clone();
        assert_eq!(names["properties"], json!({ "a": {} }));
    }
    for media in ["multipart/mixed", "image/*"] {
        assert!(with(json!({ media: object })).lost_arguments, "{media}");
    }
}

#[test]
fn an_example_in_the_schema_of_a_body_gives_its_arguments_their_values() {
    let example = json!({ "type": "object", "example": { "a": "x", "old": 1 }, "properties": { "a": { "type": "string" }, "b": {} } });
    let item = json!({ "put": { "requestBody": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/E" } } } } } });
    let tool = tool("3.0.3", "/", item, json!({ "schemas": { "E": example } }));
    assert_eq!(
        parameters(&tool)["properties"],
        json!({ "a": { "type": "string", "examples": ["x"] }, "b": {} })
    );
}

#[test]
fn a_header_that_no_argument_may_set_is_a_warning() {
    let headers = [parameter("header", "Cookie"), parameter("header", "X-A")];
    let item = json!({ "get": { "operationId": "g", "parameters": headers } });
    let imported = imported("3.1.0", "/", item, json!({}));
    assert_eq!(findings(&imported).iter().map(|(code, ..)| *code).collect::<Vec<_>>(), ["field-invalid"]);
    assert_eq!(imported.findings[0].severity, toolcrib_definition::finding::Severity::Warning);
    assert_eq!(parameters(&only(imported))["properties"], json!({ "X-A": { "type": "string" } }));
}

#[test]
fn a_whole_body_steps_aside_for_an_argument_called_body() {
    let operation = json!({ "parameters": [parameter("query", "body")], "requestBody": body(json!({ "type": "string" })) });
    let expect = json!({ "body": { "in": "query" }, "request_body": { "in": "whole-body" } });
    check("post", "/", operation, &["body", "request_body"], expect);
}

#[test]
fn parameters_of_the_path_are_shared_and_replaced() {
    let item = json!({
        "parameters": [{ "$ref": "#/components/parameters/Id" }, parameter("query", "page")],
        "get": { "operationId": "g", "parameters": [
            { "in": "query", "name": "page", "schema": { "type": "integer" }, "example": 2 },
            { "in": "query", "name": "where", "content": { "application/json": { "schema": { "type": "object" } } } }
        ] }
    });
    let id = json!({ "in": "path", "name": "id", "description": "Which one.", "schema": { "$ref": "#/components/schemas/Id" } });
    let components = json!({ "parameters": { "Id": id }, "schemas": { "Id": { "type": "string", "description": "An id." } } });
    let definition = tool("3.1.0", "/{id}", item, components);
    assert_eq!(
        *parameters(&definition),
        json!({ "type": "object", "properties": {
        "id": { "$ref": "#/$defs/Id", "description": "Which one." },
        "page": { "type": "integer", "examples": [2] },
        "where": { "type": "object" }
    }, "required": ["id"], "additionalProperties": false, "$defs": { "Id": { "type": "string", "description": "An id." } } })
    );
}

#[test]
fn a_body_example_becomes_a_call_when_it_is_complete() {
    let operation = |example: Value| {
        json!({ "post": {
        "parameters": [{ "in": "path", "name": "id", "schema": {}, "example": 7 }],
        "requestBody": { "content": { "application/json": { "examples": { "one": { "summary": "One", "value": example } },
            "schema": { "type": "object", "properties": { "id": {}, "b": {} }, "required": ["id"] } } } }
    } })
    };
    let examples = |example| {
        serde_json::to_value(tool("3.1.0", "/{id}", operation(example), json!({})).examples).unwrap()
    };
    assert_eq!(
        examples(json!({ "id": 1 })),
        json!([{ "title": "One", "arguments": { "id": 7, "id_body": 1 } }])
    );
    assert_eq!(examples(json!({ "b": 1 })), json!([]));
    assert_eq!(examples(json!({ "id": 1, "unknown": 1 })), json!([]));
}
