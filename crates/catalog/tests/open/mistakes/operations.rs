//! Mistakes in the operations of OpenAPI documents.

use serde_json::{Value, json};

use super::edit::{object, remove, rename};
use super::schemas::Mistake;

fn mistake(name: impl Into<String>, change: impl Fn(&mut Value) + 'static) -> Mistake {
    (name.into(), Box::new(change))
}

/// Mistakes in an operation.
pub fn of_operation(version: &str) -> Vec<Mistake> {
    let is_old = version == "2.0";
    let mut all = Vec::new();
    for word in ["operationid", "operationID", "operation_id", "OperationId", "name", "id", "operation"] {
        all.push(mistake(format!("{word} for operationId"), move |operation| {
            rename(operation, "operationId", word)
        }));
    }
    for word in ["descripton", "desc", "Description"] {
        all.push(mistake(format!("{word} for description"), move |operation| {
            rename(operation, "description", word)
        }));
    }
    for word in
        ["params", "parameter", "Parameters", "paramters", "args", "arguments", "query", "queryParameters"]
    {
        all.push(mistake(format!("{word} for parameters"), move |operation| {
            rename(operation, "parameters", word)
        }));
    }
    for (key, words) in [
        ("in", vec!["In", "location", "where", "place"]),
        ("name", vec!["Name", "nam", "key", "title", "id"]),
        ("required", vec!["requried", "mandatory", "Required", "require"]),
        ("description", vec!["desc", "descripton"]),
    ] {
        for word in words {
            all.push(mistake(format!("{word} for {key} of a parameter"), move |operation| {
                rename(&mut operation["parameters"][0], key, word)
            }));
        }
    }
    for value in [
        json!("quer"),
        json!("Query"),
        json!("params"),
        json!("url"),
        json!("uri"),
        json!("headers"),
        json!("body"),
        json!("json"),
        json!("form"),
        json!("formData"),
        json!(""),
        json!(["query"]),
        json!(null),
    ] {
        if !(is_old && matches!(value.as_str(), Some("body" | "formData"))) {
            all.push(mistake(format!("in {value}"), move |operation| {
                operation["parameters"][0]["in"] = value.clone()
            }));
        }
    }
    for value in [json!("yes"), json!("true"), json!(1), json!("required"), json!(["level"])] {
        all.push(mistake(format!("required {value} of a parameter"), move |operation| {
            operation["parameters"][0]["required"] = value.clone()
        }));
    }
    all.push(mistake("optional of a parameter", |operation| {
        remove(&mut operation["parameters"][0], "required");
        operation["parameters"][0]["optional"] = false.into();
    }));
    all.push(mistake("parameters by name", |operation| {
        let list = operation["parameters"].as_array().unwrap().clone();
        let named = list
            .into_iter()
            .map(|mut parameter| (remove(&mut parameter, "name").as_str().unwrap().to_string(), parameter));
        operation["parameters"] = Value::Object(named.collect());
    }));
    all.push(mistake("one parameter for the list", |operation| {
        operation["parameters"] = operation["parameters"][0].take()
    }));
    all.push(mistake("a parameter as text", |operation| operation["parameters"][0] = "level".into()));
    all.push(mistake("a parameter as null", |operation| operation["parameters"][0] = Value::Null));
    all.push(mistake("a parameter below its name", |operation| {
        let mut parameter = operation["parameters"][0].take();
        remove(&mut parameter, "name");
        operation["parameters"][0] = json!({"level": parameter});
    }));
    all.push(mistake("parameters in a schema", |operation| {
        operation["parameters"] = json!({"type": "object", "properties": {"level": {"type": "string"}}});
    }));
    all.push(mistake("a reference to a missing parameter", |operation| {
        operation["parameters"][0] = json!({"$ref": "#/components/parameters/Level"});
    }));
    all.push(mistake("a reference by name", |operation| {
        operation["parameters"][0] = json!({"$ref": "Level"})
    }));
    all.push(mistake("an operation as a list", |operation| *operation = json!([operation.take()])));
    all.push(mistake("an operation as text", |operation| *operation = "getForecast".into()));
    if is_old {
        all.push(mistake("a requestBody in 2.0", |operation| {
            let body = operation["parameters"].as_array_mut().unwrap().pop().unwrap();
            operation["requestBody"] = json!({"content": {"application/json": {"schema": body["schema"]}}});
        }));
        all.push(mistake("a schema of a query parameter in 2.0", |operation| {
            let level = &mut operation["parameters"][0];
            let kind = remove(level, "type");
            let values = remove(level, "enum");
            level["schema"] = json!({"type": kind, "enum": values});
        }));
        for word in ["shema", "Schema", "type", "content"] {
            all.push(mistake(format!("{word} for the schema of the body"), move |operation| {
                rename(&mut operation["parameters"][2], "schema", word)
            }));
        }
        all.push(mistake("the schema of the body beside in", |operation| {
            let schema = remove(&mut operation["parameters"][2], "schema");
            object(&mut operation["parameters"][2]).extend(schema.as_object().unwrap().clone());
        }));
        return all;
    }
    for word in ["schem", "shema", "Schema", "type", "content"] {
        all.push(mistake(format!("{word} for the schema of a parameter"), move |operation| {
            rename(&mut operation["parameters"][0], "schema", word)
        }));
    }
    all.push(mistake("a type without a schema", |operation| {
        let schema = remove(&mut operation["parameters"][0], "schema");
        object(&mut operation["parameters"][0]).extend(schema.as_object().unwrap().clone());
    }));
    all.push(mistake("enum beside the schema", |operation| {
        let values = remove(&mut operation["parameters"][0]["schema"], "enum");
        operation["parameters"][0]["enum"] = values;
    }));
    for word in [
        "requestbody", "request_body", "body", "RequestBody", "request", "requestBodies", "payload",
        "requestBoby",
    ] {
        all.push(mistake(format!("{word} for requestBody"), move |operation| {
            rename(operation, "requestBody", word)
        }));
    }
    for word in ["contents", "Content", "contnet", "schema", "body", "mediaTypes"] {
        all.push(mistake(format!("{word} for content"), move |operation| {
            rename(&mut operation["requestBody"], "content", word)
        }));
    }
    for word in ["json", "application-json", "application", "JSON", "body", "schema", "application\\json"] {
        all.push(mistake(format!("{word} for application/json"), move |operation| {
            rename(&mut operation["requestBody"]["content"], "application/json", word)
        }));
    }
    for word in ["shema", "Schema", "schemas", "scheme", "properties", "type", "model"] {
        all.push(mistake(format!("{word} for the schema of the body"), move |operation| {
            rename(&mut operation["requestBody"]["content"]["application/json"], "schema", word);
        }));
    }
    all.push(mistake("a schema in place of the body", |operation| {
        operation["requestBody"] = operation["requestBody"]["content"]["application/json"]["schema"].take();
    }));
    all.push(mistake("a schema without content", |operation| {
        let schema = operation["requestBody"]["content"]["application/json"]["schema"].take();
        operation["requestBody"] = json!({"required": true, "schema": schema});
    }));
    all.push(mistake("a schema without its key", |operation| {
        let schema = operation["requestBody"]["content"]["application/json"]["schema"].take();
        operation["requestBody"]["content"]["application/json"] = schema;
    }));
    all.push(mistake("a schema without a media type", |operation| {
        let content = operation["requestBody"]["content"]["application/json"].take();
        operation["requestBody"]["content"] = content;
    }));
    all.push(mistake("content as a list", |operation| {
        let schema = operation["requestBody"]["content"]["application/json"]["schema"].take();
        operation["requestBody"]["content"] = json!([{"mediaType": "application/json", "schema": schema}]);
    }));
    all.push(mistake("content beside the operation", |operation| {
        let body = remove(operation, "requestBody");
        operation["content"] = body["content"].clone();
    }));
    all.push(mistake("a body in a list", |operation| {
        operation["requestBody"] = json!([operation["requestBody"].take()])
    }));
    all.push(mistake("a body among the parameters", |operation| {
        let body = remove(operation, "requestBody");
        let schema = body["content"]["application/json"]["schema"].clone();
        operation["parameters"]
            .as_array_mut()
            .unwrap()
            .push(json!({"name": "body", "in": "body", "schema": schema}));
    }));
    all.push(mistake("a body by a missing reference", |operation| {
        operation["requestBody"] = json!({"$ref": "#/components/requestBodies/Forecast"})
    }));
    all.push(mistake("a schema by a missing reference", |operation| {
        operation["requestBody"]["content"]["application/json"]["schema"] =
            json!({"$ref": "#/components/schemas/Forecast"});
    }));
    all.push(mistake("a body as null", |operation| operation["requestBody"] = Value::Null));
    all
}

/// Mistakes in the path item `/forecast`.
pub fn of_item() -> Vec<Mistake> {
    let mut all = Vec::new();
    for word in ["Post", "POST", "psot", "create", "post ", "method", "operation"] {
        all.push(mistake(format!("{word} for post"), move |item| rename(item, "post", word)));
    }
    all.push(mistake("a path item as a list", |item| {
        *item = json!([{"method": "post", "operation": item["post"].take()}]);
    }));
    all.push(mistake("an operation without its method", |item| *item = item["post"].take()));
    all
}

/// Mistakes in the whole document.
pub fn of_document(version: &str) -> Vec<Mistake> {
    let is_old = version == "2.0";
    let key = if is_old { "swagger" } else { "openapi" };
    let mut all = Vec::new();
    for word in ["path", "Paths", "endpoints", "routes", "operations", "pathes"] {
        all.push(mistake(format!("{word} for paths"), move |document| rename(document, "paths", word)));
    }
    for word in ["openApi", "open_api", "OpenAPI", "swaggerVersion", "version", "oapi"] {
        all.push(mistake(format!("{word} for {key}"), move |document| rename(document, key, word)));
    }
    all.push(mistake("no version", move |document| drop(remove(document, key))));
    all.push(mistake("paths as a list", |document| {
        let list = document["paths"].as_object().unwrap().clone().into_iter();
        let list = list.map(|(path, mut item)| {
            item["path"] = path.into();
            item
        });
        document["paths"] = list.collect();
    }));
    all
}
