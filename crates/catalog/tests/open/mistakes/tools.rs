//! Mistakes around the schema: in the fields of a tool, and in the list of tools.

use serde_json::{Value, json};

use super::edit::{object, remove, rename};
use super::schemas::Mistake;

fn mistake(name: impl Into<String>, change: impl Fn(&mut Value) + 'static) -> Mistake {
    (name.into(), Box::new(change))
}

/// Mistakes in the object with the fields of a tool, in which the schema has this key.
pub fn of_tool(schema: &str, is_wrapped: bool) -> Vec<Mistake> {
    let mut all = Vec::new();
    for word in [
        "nam", "Name", "title", "tool", "id", "function_name", "tool_name", "functionName", "operation",
        "label", "key", "NAME",
    ] {
        all.push(mistake(format!("{word} for name"), move |tool| rename(tool, "name", word)));
    }
    for value in [
        json!(""),
        json!(" "),
        json!(7),
        json!(null),
        json!(["get_forecast"]),
        json!({"en": "get_forecast"}),
        json!(true),
    ] {
        all.push(mistake(format!("name {value}"), move |tool| tool["name"] = value.clone()));
    }
    for word in ["descripton", "desc", "Description", "summary", "about", "help", "doc", "text", "docstring"]
    {
        all.push(mistake(format!("{word} for description"), move |tool| {
            let description =
                ["description", "modelDescription"].into_iter().find(|key| tool.get(*key).is_some());
            rename(tool, description.unwrap(), word);
        }));
    }
    let keys = [
        "parameter", "params", "param", "Parameters", "args", "arguments", "argument", "schema", "inputs",
        "input", "inputschema", "input_shema", "input_schema", "inputSchema", "inputSchemas", "InputSchema",
        "parameters", "paramters", "parameters_schema", "parametersSchema", "args_schema", "argsSchema",
        "json_schema", "jsonSchema", "function_parameters", "tool_parameters", "arg_schema", "fields",
        "options", "properties", "parametersJsonSchema", "signature", "body", "requestBody",
    ];
    for word in keys.into_iter().filter(|word| *word != schema) {
        let key = schema.to_string();
        all.push(mistake(format!("{word} for the schema's key"), move |tool| rename(tool, &key, word)));
    }
    if is_wrapped {
        return all;
    }
    let key = schema.to_string();
    all.push(mistake("the schema's keywords beside the name", move |tool| {
        let schema = remove(tool, &key);
        object(tool).extend(schema.as_object().unwrap().clone());
    }));
    let key = schema.to_string();
    all.push(mistake("properties and required beside the name", move |tool| {
        let mut schema = remove(tool, &key);
        remove(&mut schema, "type");
        object(tool).extend(schema.as_object().unwrap().clone());
    }));
    let key = schema.to_string();
    all.push(mistake("required beside the schema", move |tool| {
        let required = remove(&mut tool[&key], "required");
        tool["required"] = required;
    }));
    let key = schema.to_string();
    all.push(mistake("properties beside the schema", move |tool| {
        let properties = remove(&mut tool[&key], "properties");
        tool["properties"] = properties;
    }));
    let key = schema.to_string();
    all.push(mistake("properties as the schema, required beside it", move |tool| {
        let mut schema = remove(tool, &key);
        tool[&key] = remove(&mut schema, "properties");
        tool["required"] = remove(&mut schema, "required");
    }));
    all
}

/// Mistakes in an entry of a list of tools.
pub fn of_entry() -> Vec<Mistake> {
    let mut all = Vec::new();
    for value in [
        json!("get_forecast"),
        json!(5),
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!("get_forecast(city, unit)"),
        json!("{{\"name\": \"get_forecast\"}}"),
        json!({"$ref": "forecast.json"}),
        json!({"include": "forecast.json"}),
    ] {
        all.push(mistake(format!("{value} for a tool"), move |entry| *entry = value.clone()));
    }
    all.push(mistake("a tool as text", |entry| *entry = entry.to_string().into()));
    all.push(mistake("a tool in a list", |entry| *entry = json!([entry.take()])));
    all.push(mistake("a tool below its name", |entry| {
        let mut tool = entry.take();
        let name = if let Some(function) = tool.get_mut("function") {
            remove(function, "name")
        } else if let Some(spec) = tool.get_mut("toolSpec") {
            remove(spec, "name")
        } else {
            remove(&mut tool, "name")
        };
        *entry = json!({name.as_str().unwrap(): tool});
    }));
    for key in [
        "tool", "definition", "func", "fucntion", "function", "toolspec", "tool_spec", "spec", "declaration",
        "functionDeclaration",
    ] {
        all.push(mistake(format!("a tool below {key}"), move |entry| {
            let tool = match entry.as_object_mut() {
                Some(fields) if fields.contains_key("function") => fields.shift_remove("function").unwrap(),
                Some(fields) if fields.contains_key("toolSpec") => fields.shift_remove("toolSpec").unwrap(),
                _ => entry.take(),
            };
            *entry = json!({key: tool});
        }));
    }
    all
}

/// Mistakes in the key of the list of tools.
pub const CONTAINERS: [&str; 12] = [
    "tool", "tolls", "Tools", "TOOLS", "toolz", "tools_list", "toolList", "my_tools", "function", "funcs",
    "items", "definitions",
];
