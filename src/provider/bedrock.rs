//! Amazon Bedrock Converse (docs/reference/wires.md).

use serde_json::{Map, Value, json};

use super::bound_function::{BoundFunction, BoundFunctions};
use super::fields::{object, objects, take, take_list, take_object};
use super::raw_call::{Calls, RawCall};
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::{Keys, Root, SchemaRules, Strict};
use super::wire::Wire;

/// The wire.
pub(super) struct Bedrock;

/// The expected form of a response, for errors.
const EXPECTED: &str =
    "an object with `output.message`, a message whose `content` is a list of blocks, or a list of these";

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: None,
    native: Native::No,
    cache: Cache::OffByDefault,
    schema: SchemaRules {
        inline: true,
        root: Root::Bare,
        keys: Keys::Portable,
        strict: Some(Strict::Anthropic),
        ..JSON_SCHEMA
    },
    stub: Stub::Empty,
};

impl Wire for Bedrock {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &BoundFunction<'_>) -> Value {
        let mut spec = Map::new();
        spec.insert("name".into(), function.name.as_str().into());
        spec.insert("description".into(), function.description.as_str().into());
        spec.insert("inputSchema".into(), object([("json", function.schema.clone().unwrap_or_default())]));
        if function.strict {
            spec.insert("strict".into(), true.into());
        }
        object([("toolSpec", spec.into())])
    }

    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        let mut tools: Vec<Value> = bound.functions.iter().map(|function| self.function(function)).collect();
        if tools.is_empty() {
            return json!({});
        }
        if bound.cache {
            tools.push(json!({"cachePoint": {"type": "default"}}));
        }
        object([("toolConfig", object([("tools", tools.into())]))])
    }

    fn calls(&self, response: Value) -> Calls {
        let messages = match response {
            Value::Array(messages) => messages,
            Value::Object(mut fields) => match take_object(&mut fields, "output") {
                Some(mut output) => vec![take(&mut output, "message").ok_or(EXPECTED)?],
                None => vec![Value::Object(fields)],
            },
            _ => return Err(EXPECTED),
        };
        // Blocks have no `type`; their only key is their type.
        let is_block = |block: &Value| block.is_object() && block.get("type").is_none();
        let content = |message: Value| match message {
            Value::Object(mut message) => {
                take_list(&mut message, "content").filter(|blocks| blocks.iter().all(is_block))
            }
            _ => None,
        };
        let blocks: Option<Vec<Vec<Value>>> = messages.into_iter().map(content).collect();
        let call = |mut block: Map<String, Value>| {
            let mut call = take_object(&mut block, "toolUse")?;
            let is_ours = call.get("type").is_none_or(|kind| kind != "server_tool_use");
            is_ours.then(|| RawCall::of(&mut call, "toolUseId", "name", "input"))
        };
        Ok(objects(blocks.ok_or(EXPECTED)?.into_iter().flatten().collect()).filter_map(call).collect())
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let block = |tool_result: &ToolResult| {
            let content = match &tool_result.content {
                object @ Value::Object(_) => json!({"json": object}),
                _ => json!({"text": tool_result.text()}),
            };
            let status = if tool_result.is_error { "error" } else { "success" };
            json!({"toolResult": {"toolUseId": tool_result.call_id, "content": [content], "status": status}})
        };
        json!({"role": "user", "content": results.iter().map(block).collect::<Vec<Value>>()})
    }
}
