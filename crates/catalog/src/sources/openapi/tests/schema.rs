//! Schemas of all dialects.

use serde_json::json;

use super::*;

/// Checks the schema that a property of a body becomes.
fn check(version: &str, schema: Value, expect: Value) {
    let body = json!({ "type": "object", "properties": { "it": schema } });
    let item =
        json!({ "post": { "requestBody": { "content": { "application/json": { "schema": body } } } } });
    let components = json!({ "schemas": { "S": { "type": "string" } } });
    let imported = imported(version, "/", item, components);
    assert_sound(&imported);
    assert_eq!(parameters(&only(imported))["properties"]["it"], expect);
}

#[test]
fn the_words_of_3_0_become_json_schema() {
    let s = json!({ "$ref": "#/components/schemas/S" });
    let or_null = json!({ "type": "null" });
    let d = json!({ "$ref": "#/$defs/S" });
    check("3.0.0", json!({ "type": "string", "nullable": true }), json!({ "type": ["string", "null"] }));
    check(
        "3.0.0",
        json!({ "type": "string", "nullable": true, "enum": ["a"] }),
        json!({ "type": ["string", "null"], "enum": ["a", null] }),
    );
    check("3.0.0", json!({ "nullable": true }), json!({}));
    check("3.0.0", json!({ "nullable": true, "anyOf": [s] }), json!({ "anyOf": [d, or_null] }));
    check(
        "3.0.0",
        json!({ "nullable": true, "allOf": [s], "description": "D" }),
        json!({ "description": "D", "anyOf": [{ "allOf": [d] }, or_null] }),
    );
    check(
        "3.0.0",
        json!({ "$ref": "#/components/schemas/S", "nullable": true, "description": "D", "maxLength": 1 }),
        json!({ "description": "D", "anyOf": [d, or_null] }),
    );
    check(
        "3.0.0",
        json!({ "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false }),
        json!({ "exclusiveMinimum": 1, "maximum": 9 }),
    );
    check(
        "3.0.0",
        json!({ "type": "object", "example": { "a": 1 }, "xml": {}, "externalDocs": {}, "discriminator": {}, "x-y": 1,
            "properties": { "x-kept": { "type": "string" }, "nullable": { "type": "boolean" } } }),
        json!({ "type": "object", "examples": [{ "a": 1 }],
            "properties": { "x-kept": { "type": "string" }, "nullable": { "type": "boolean" } } }),
    );
}

#[test]
fn json_schema_of_3_1_stays_as_it_is() {
    let same = json!({ "type": ["string", "null"], "exclusiveMinimum": 1, "const": "a", "if": {}, "then": { "minLength": 1 },
        "prefixItems": [{ "type": "integer" }], "contentMediaType": "image/png", "default": null, "unknown": [1] });
    check("3.1.0", same.clone(), same);
    check(
        "3.1.0",
        json!({ "$ref": "#/components/schemas/S", "description": "D", "maxLength": 1 }),
        json!({ "$ref": "#/$defs/S", "description": "D", "maxLength": 1 }),
    );
    check(
        "3.1.0",
        json!({ "items": [{ "type": "string" }] }),
        json!({ "prefixItems": [{ "type": "string" }] }),
    );
    check(
        "3.1.0",
        json!({ "properties": { "a": { "required": true } }, "required": ["b", "b"] }),
        json!({ "properties": { "a": {} }, "required": ["b", "a"] }),
    );
}

#[test]
fn only_what_is_reached_is_bundled_and_cycles_stay() {
    let schema = json!({ "type": "object", "properties": { "node": { "$ref": "#/components/schemas/Node" },
        "twin": { "$ref": "#/components/x-more/Node" }, "deep": { "$ref": "#/components/schemas/Node/properties/odd%20key~1" } } });
    let item =
        json!({ "post": { "requestBody": { "content": { "application/json": { "schema": schema } } } } });
    let components = json!({ "schemas": {
        "Node": { "properties": { "next": { "$ref": "#/components/schemas/Node" }, "odd key/": { "type": "integer" } } },
        "Unused": { "type": "string" }
    }, "x-more": { "Node": { "type": "boolean" } } });
    let imported = imported("3.1.0", "/", item, components);
    assert_eq!(findings(&imported)[1..], []);
    assert_sound(&imported);
    let definition = only(imported);
    assert_eq!(
        parameters(&definition)["$defs"],
        json!({
            "Node": { "properties": { "next": { "$ref": "#/$defs/Node" }, "odd key/": { "type": "integer" } } },
            "Node_2": { "type": "boolean" },
            "odd_key": { "type": "integer" }
        })
    );
}

#[test]
fn references_to_nowhere_accept_anything() {
    let query = |name: &str, reference: &str| json!({ "in": "query", "name": name, "schema": { "$ref": reference, "description": "D" } });
    let item = json!({ "get": { "operationId": "g", "parameters": [
        query("gone", "#/components/schemas/Gone"), query("remote", "https://example.com/a.json"), query("good", "api.json#/components/schemas/S"),
        query("anchor", "#here"), query("id", "https://example.com/s"), { "$ref": "#/components/parameters/Gone" }, { "$ref": "p.yaml" }
    ] } });
    let components = json!({ "schemas": { "S": { "type": "string", "$anchor": "here", "$id": "https://example.com/s" } } });
    let imported = imported("3.1.0", "/", item, components);
    let at = |path: &str| format!("/paths/~1/get/parameters/{path}/$ref");
    assert_eq!(
        findings(&imported),
        [
            ("schema-ref-broken", at("5").as_str(), "g"),
            ("schema-ref-remote", &at("6"), "g"),
            ("schema-ref-broken", &at("0/schema"), "g"),
            ("schema-ref-remote", &at("1/schema"), "g"),
        ]
    );
    assert!(imported.findings[1].help.as_ref().is_some_and(|help| help.contains("bundle")));
    let definition = only(imported);
    let s = json!({ "$ref": "#/$defs/S", "description": "D" });
    let open = json!({ "description": "D" });
    assert_eq!(
        parameters(&definition)["properties"],
        json!({ "gone": open, "remote": open, "good": s, "anchor": s, "id": s })
    );
    assert_eq!(parameters(&definition)["$defs"], json!({ "S": { "type": "string" } }));
}

#[test]
fn read_only_properties_leave_the_input_and_its_required_names() {
    let schema = json!({ "allOf": [
        { "$ref": "#/components/schemas/Base" },
        { "type": "object", "required": ["id", "name", "at"], "properties": { "name": { "type": "string" } } }
    ] });
    let item =
        json!({ "post": { "requestBody": { "content": { "application/json": { "schema": schema } } } } });
    let components = json!({ "schemas": {
        "Base": { "type": "object", "required": ["id"], "properties": {
            "id": { "type": "string", "readOnly": true }, "at": { "$ref": "#/components/schemas/At" }, "size": { "type": "integer" } } },
        "At": { "type": "string", "readOnly": true }
    } });
    let definition = tool("3.0.0", "/", item, components);
    assert_eq!(
        *parameters(&definition),
        json!({ "type": "object",
        "properties": { "size": { "type": "integer" }, "name": { "type": "string" } },
        "required": ["name"] })
    );
}

#[test]
fn a_discriminator_says_which_branch_is_meant() {
    let branch = |field: &str| {
        let properties = json!({"type": {"type": "string"}, field: {"type": "string"}});
        json!({"type": "object", "required": ["type"], "properties": properties})
    };
    let union = json!({
        "oneOf": [{"$ref": "#/components/schemas/Card"}, {"$ref": "#/components/schemas/Bank"}],
        "discriminator": {"propertyName": "type", "mapping": {"card": "#/components/schemas/Card"}},
    });
    let body = json!({"type": "object", "required": ["method"], "properties": {"method": union}});
    let item = json!({"post": {"operationId": "pay", "requestBody": {"content": {"application/json": {"schema": body}}}}});
    let components = json!({"schemas": {"Card": branch("number"), "Bank": branch("iban")}});
    let tool = tool("3.0.3", "/payments", item, components);
    let schema = parameters(&tool);
    assert!(
        schema["properties"]["method"].get("anyOf").is_some()
            && schema["properties"]["method"].get("oneOf").is_none()
    );
    assert_eq!(schema["$defs"]["Card"]["properties"]["type"]["enum"], json!(["card"]));
    assert_eq!(schema["$defs"]["Bank"]["properties"]["type"]["enum"], json!(["Bank"]));
}

#[test]
fn a_base_schema_takes_the_fields_of_what_extends_it() {
    let extending = |field: &str| {
        let own = json!({"type": "object", "required": [field], "properties": {field: {"type": "string"}}});
        json!({"allOf": [{"$ref": "#/components/schemas/Pet"}, own]})
    };
    let pet = json!({
        "type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}},
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "Cat"}},
    });
    let reference = json!({"$ref": "#/components/schemas/Pet"});
    let item = json!({"post": {"operationId": "add", "requestBody": {"content": {"application/json": {"schema": reference}}}}});
    let components = json!({"schemas": {"Pet": pet, "Cat": extending("lives"), "Dog": extending("bark")}});
    let tool = tool("3.0.3", "/pets", item, components);
    let schema = parameters(&tool);
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["kind", "lives", "bark"]);
    assert_eq!(schema["required"], json!(["kind"]));
    assert_eq!(schema["properties"]["kind"]["examples"], json!(["cat", "Dog"]));
}

#[test]
fn a_base_schema_with_an_open_tag_is_read() {
    let pet =
        json!({"type": "object", "properties": {"kind": true}, "discriminator": {"propertyName": "kind"}});
    let cat = json!({"allOf": [{"$ref": "#/components/schemas/Pet"}, {"type": "object", "properties": {"lives": {}}}]});
    let reference = json!({"$ref": "#/components/schemas/Pet"});
    let item = json!({"post": {"operationId": "add", "requestBody": {"content": {"application/json": {"schema": reference}}}}});
    let tool = tool("3.0.3", "/pets", item, json!({"schemas": {"Pet": pet, "Cat": cat}}));
    assert!(parameters(&tool)["properties"].get("lives").is_some());
}

#[test]
fn a_body_takes_other_fields_unless_its_schema_closes_it() {
    let email = json!({"email": {"type": "string"}});
    let with = |method: &str, more: Value| {
        let mut body = json!({"type": "object", "properties": email});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let item = json!({method: {"operationId": "add", "requestBody": {"content": {"application/json": {"schema": body}}}}});
        parameters(&tool("3.0.3", "/contacts", item, json!({}))).get("additionalProperties").cloned()
    };
    assert_eq!(with("post", json!({"additionalProperties": true})), Some(json!(true)));
    assert_eq!(with("post", json!({"additionalProperties": false})), Some(json!(false)));
    assert_eq!(with("post", json!({})), None);
    // An unknown argument of this method would go into the query.
    assert_eq!(with("delete", json!({})), Some(json!(false)));
    let nothing = tool("3.0.3", "/contacts", json!({"post": {"operationId": "add"}}), json!({}));
    assert_eq!(parameters(&nothing)["additionalProperties"], json!(false));
}

#[test]
fn a_body_is_sent_whole_or_not_at_all() {
    let with = |required: Option<bool>, schema: Value| {
        let mut body = json!({"content": {"application/json": {"schema": schema}}});
        if let Some(required) = required {
            body["required"] = json!(required);
        }
        let id = json!([{"in": "path", "name": "id", "required": true, "schema": {"type": "string"}}]);
        tool("3.0.3", "/a/{id}", json!({"patch": {"parameters": id, "requestBody": body}}), json!({}))
    };
    let fields = json!({"a": {"type": "string"}, "b": {"type": "string"}});
    let needy = json!({"type": "object", "properties": fields, "required": ["a"]});
    let accepts = |tool: &Definition, call: Value| jsonschema::is_valid(parameters(tool), &call);
    let optional = with(Some(false), needy.clone());
    assert!(http(&optional).optional_body && accepts(&optional, json!({"id": "1"})));
    assert!(
        accepts(&optional, json!({"id": "1", "a": "x"})) && !accepts(&optional, json!({"id": "1", "b": "x"}))
    );
    let required = with(None, needy);
    assert!(!http(&required).optional_body && !accepts(&required, json!({"id": "1"})));
    let some = with(Some(true), json!({"type": "object", "properties": fields, "minProperties": 1}));
    assert!(accepts(&some, json!({"id": "1", "b": "x"})) && !accepts(&some, json!({"id": "1"})));
}

#[test]
fn the_fields_of_mapped_kinds_are_known_wherever_the_mapping_is() {
    let kind = |field: &str| json!({"type": "object", "properties": {"kind": {"type": "string"}, field: {"type": "number"}}});
    let told = json!({"propertyName": "kind", "mapping": {"cat": "Cat", "dog": "#/components/schemas/Dog"}});
    let inline = json!({"type": "object", "description": "A pet.", "properties": {"kind": {"type": "string"}}, "discriminator": told});
    let union = json!({"oneOf": [{"$ref": "#/components/schemas/Cat"}], "discriminator": told});
    let pet = json!({"type": "object", "properties": {"kind": {"type": "string"}}, "discriminator": {"propertyName": "kind"}});
    let mammal = json!({"allOf": [{"$ref": "#/components/schemas/Pet"}]});
    let heir = |name: &str| json!({"allOf": [{"$ref": "#/components/schemas/Mammal"}, kind(name)]});
    let named = json!({"Cat": kind("lives"), "Dog": kind("bark"), "Pet": pet, "Mammal": mammal, "Ape": heir("lives"), "Seal": heir("bark")});
    for (schema, name) in [
        (&inline, "dog"),
        (&union, "dog"),
        (&json!({"type": "array", "items": inline}), "dog"),
        (&json!({"$ref": "#/components/schemas/Mammal"}), "Seal"),
        (&json!({"allOf": [{"$ref": "#/components/schemas/Mammal"}], "description": "One."}), "Seal"),
    ] {
        let body = json!({"type": "object", "properties": {"pet": schema}});
        let item = json!({"post": {"operationId": "add", "requestBody": {"content": {"application/json": {"schema": body}}}}});
        let imported = imported("3.1.0", "/", item, json!({"schemas": named}));
        assert_sound(&imported);
        let definition = only(imported);
        let text = parameters(&definition).to_string();
        assert!(
            ["\"lives\":", "\"bark\":", &format!("\"{name}\"")].iter().all(|word| text.contains(word)),
            "{text}"
        );
        let pet = json!({"kind": name, "bark": 1});
        let call = if schema["type"] == "array" { json!({"pet": [pet]}) } else { json!({"pet": pet}) };
        assert!(jsonschema::is_valid(parameters(&definition), &call), "{text}");
    }
}

/// A document with a body of `Plant` at the root, and nested in a field and in a list.
fn garden(schemas: Value) -> Imported {
    let plant = json!({"$ref": "#/components/schemas/Plant"});
    let bed = json!({"type": "object", "properties": {"plant": {"allOf": [plant], "description": "One."},
        "row": {"type": "array", "items": plant}}});
    let post = |schema: &Value| json!({"post": {"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}}});
    let paths = json!({"/plants": post(&plant), "/beds": post(&bed)});
    import(
        "api.json",
        &mut json!({"openapi": "3.1.0", "info": {}, "paths": paths, "components": {"schemas": schemas}}),
    )
}

fn plant(discriminator: Value) -> Value {
    json!({"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}, "label": {"type": "string"}},
        "discriminator": discriminator})
}

fn extending(base: &str, fields: Value) -> Value {
    json!({"allOf": [{"$ref": format!("#/components/schemas/{base}")}, {"type": "object", "properties": fields}]})
}

#[test]
fn the_fields_of_every_subtype_are_arguments_at_the_root_and_nested() {
    let number = json!({"type": "number"});
    let tree = extending("Plant", json!({"trunk": number}));
    let oak = extending("Tree", json!({"acorns": number}));
    let alone = json!({"type": "object", "properties": {"kind": {"type": "string"}, "smell": {}}});
    let implicit = json!({"propertyName": "kind"});
    let mapped = |name: &str, target: &str| json!({"propertyName": "kind", "mapping": {name: target}});
    let wrapped =
        |base: Value| json!({"allOf": [{"type": "object", "properties": {"id": {"type": "string"}}}, base]});
    let mut closed = plant(implicit.clone());
    closed["additionalProperties"] = json!(false);
    let redefined =
        extending("Plant", json!({"kind": {"type": "string", "enum": ["Tree"]}, "trunk": number}));
    let check = |schemas: Value, wanted: &[(&str, &str)]| {
        let imported = garden(schemas);
        assert_sound(&imported);
        for (at, operation) in imported.operations.iter().enumerate() {
            let schema = parameters(&operation.definition);
            let valid = jsonschema::validator_for(schema).unwrap();
            for (kind, field) in wanted {
                let text = schema.to_string();
                assert!(
                    text.contains(&format!("\"{field}\":")) && text.contains(&format!("\"{kind}\"")),
                    "{kind} {field}: {text}"
                );
                let given = json!({"kind": kind, "label": "Old", *field: 3});
                let whole = schema["properties"].get("body").is_some();
                let call = match at {
                    0 if whole => json!({"body": given}),
                    0 => given,
                    _ => json!({"plant": given, "row": [given]}),
                };
                assert!(valid.is_valid(&call), "{call}: {schema}");
            }
        }
    };
    check(
        json!({"Plant": plant(implicit.clone()), "Tree": tree, "Oak": oak}),
        &[("Tree", "trunk"), ("Oak", "acorns")],
    );
    check(
        json!({"Plant": plant(mapped("oak", "Oak")), "Tree": tree, "Oak": oak}),
        &[("Tree", "trunk"), ("oak", "acorns")],
    );
    for target in ["Herb", "#/components/schemas/Herb"] {
        check(json!({"Plant": plant(mapped("herb", target)), "Herb": alone}), &[("herb", "smell")]);
    }
    check(json!({"Plant": wrapped(plant(implicit)), "Tree": tree}), &[("Tree", "trunk")]);
    check(json!({"Plant": closed, "Tree": tree, "Oak": oak}), &[("Tree", "trunk"), ("Oak", "acorns")]);
    check(json!({"Plant": plant(mapped("oak", "Oak")), "Tree": redefined, "Oak": oak}), &[("Tree", "trunk")]);
}

#[test]
fn subtypes_with_one_name_for_two_fields_take_both() {
    let schemas = json!({"Plant": plant(json!({"propertyName": "kind"})),
        "Tree": extending("Plant", json!({"size": {"type": "number"}})), "Herb": extending("Plant", json!({"size": {"type": "string"}}))});
    let imported = garden(schemas);
    let schema = parameters(&imported.operations[0].definition);
    assert_eq!(schema["properties"]["size"], json!({"anyOf": [{"type": "number"}, {"type": "string"}]}));
}

#[test]
fn families_that_are_hostile_stay_small() {
    let start = std::time::Instant::now();
    let base = || plant(json!({"propertyName": "kind", "mapping": {"x": "Plant", "y": "Nothing", "z": "A"}}));
    let many = |of: &dyn Fn(usize) -> Value| -> Value {
        let all = (0..5_000).map(|n| (format!("S{n}"), of(n)));
        all.chain([("Plant".to_string(), base())]).collect::<serde_json::Map<_, _>>().into()
    };
    let itself = json!({"$ref": "#/components/schemas/Plant"});
    let told = json!({"propertyName": "kind"});
    for schemas in [
        many(&|n| extending("Plant", json!({format!("f{n}"): {"$ref": "#/components/schemas/Plant"}}))),
        many(&|n| {
            let next = extending(&format!("S{}", n + 1), json!({"a": {}}));
            json!({"allOf": [next, {"discriminator": told}], "properties": {"b": itself}})
        }),
        json!({"Plant": base(), "A": itself}),
        json!({"Plant": {"allOf": [{"$ref": "#/components/schemas/A"}], "discriminator": told}, "A": extending("Plant", json!({"a": {}}))}),
        json!({"Plant": base(), "A": {"oneOf": [itself, {"not": itself}]}}),
    ] {
        let imported = garden(schemas);
        assert_eq!(imported.operations.len(), 2);
        assert_sound(&imported);
    }
    // Work that grows with the square of the family takes an hour.
    assert!(start.elapsed().as_secs() < 300, "{:?}", start.elapsed());
}

#[test]
fn kinds_that_map_to_each_other_do_not_apply_themselves() {
    let union = |mapping: Value| json!({"oneOf": [{"type": "object"}], "discriminator": {"propertyName": "kind", "mapping": mapping}});
    let imported = garden(json!({
        "Plant": union(json!({"a": "A", "p": "Plant"})), "A": union(json!({"p": "Plant", "b": "B"})), "B": extending("Plant", json!({"b": {}})),
    }));
    for operation in &imported.operations {
        let kind = json!({"kind": "b"});
        let call = json!({"body": kind, "plant": kind, "row": [kind]});
        // A schema that applies itself to the same value would never end.
        assert!(!jsonschema::is_valid(parameters(&operation.definition), &json!(call.to_string())));
        let _ = jsonschema::is_valid(parameters(&operation.definition), &call);
    }
}
