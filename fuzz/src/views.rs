//! Any JSON as the schema of a tool, in the payload of each provider: what is sent is a valid schema, and accepts the
//! ready-made call that the tool's own schema accepts. The first byte chooses the provider and how much is bound.

use serde_json::{Value, json};
use toolcrib::catalog::{Profile, ProfileTool};
use toolcrib::config::{self, Deferred, Mode};
use toolcrib::definition::DescriptionMode;
use toolcrib::providers::{self, PayloadRequest, Provider};

pub fn check(bytes: &[u8]) {
    let Some((first, text)) = super::chosen(bytes) else { return };
    let Ok(schema) = serde_json::from_str::<Value>(text) else { return };
    let (provider, way) = (Provider::ALL[first % 11], first / 11);
    let (compact, strict) = (way % 2 == 1, way / 2 % 2 == 1);
    let tool = json!({ "name": "t", "description": "Does it.", "parameters": schema, "strict": strict });
    let checked = super::open(&[("a.json", tool.to_string().as_bytes())]);
    let catalog = &checked.catalog;
    let mode = if compact { DescriptionMode::Deferred } else { DescriptionMode::Full };
    let tools = catalog.tools.iter().map(|tool| ProfileTool { tool, mode }).collect();
    let profile = &Profile { name: None, description: None, tools, picked: false };
    let options = config::Payload { deferred: Deferred::Compact, ..config::Payload::default() };
    let mode = Mode::Hybrid;
    let request = PayloadRequest { catalog, profile, provider, mode, options };
    let payload = providers::payload(request).expect("a payload");
    for function in &payload.functions {
        let Some(schema) = &function.schema else { continue };
        let validator = jsonschema::draft202012::options().offline().build(schema);
        let validator = validator.unwrap_or_else(|error| panic!("invalid: {error}\n{schema}"));
        let parameters = &function.tool.input.parameters;
        let Some(call) = function.tool.input.call.clone().map(Value::Object) else { continue };
        // A strict view wants every property; others rename those whose names a provider refuses, and take what one
        // branch at the root says of a property for what it means.
        let root = parameters.schema();
        let is_same = !function.strict && are_plain(root) && (provider == Provider::Mcp || !branches(root));
        if is_same && parameters.validator().is_some() && parameters.accepts(&call) {
            assert!(validator.is_valid(&call), "{call} is refused by\n{schema}\nof {}", parameters.schema());
        }
    }
}

/// Whether a schema has, or may have, branches at its root.
fn branches(root: &Value) -> bool {
    let has = |key: &str| root.get(key).is_some();
    ["anyOf", "oneOf", "then", "else", "dependentSchemas", "dependencies", "$ref", "$dynamicRef"]
        .into_iter()
        .any(has)
        || root["allOf"].as_array().is_some_and(|all| all.iter().any(branches))
}

/// Whether every provider takes the names in a schema, and whatever might be one.
fn are_plain(value: &Value) -> bool {
    const KEYWORDS: [&str; 4] = ["$ref", "$defs", "$schema", "$comment"];
    let is_plain = |name: &str| {
        let is_portable = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        (1..=64).contains(&name.len()) && name.bytes().all(is_portable)
    };
    let is_keyword = |name: &str| KEYWORDS.contains(&name);
    match value {
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            let has_keyword =
                || value.as_object().is_some_and(|inside| inside.keys().any(|key| is_keyword(key)));
            (is_plain(name) || is_keyword(name))
                && !(name == "properties" && has_keyword())
                && are_plain(value)
        }),
        Value::Array(items) => {
            items.iter().all(|item| item.as_str().map_or_else(|| are_plain(item), is_plain))
        }
        _ => true,
    }
}
