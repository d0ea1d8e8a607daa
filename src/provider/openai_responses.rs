//! OpenAI responses: flat functions, namespaces and search for tools (formats.md, section 3).

use serde_json::{Map, Value, json};

use super::call::{Calls, RawCall, objects, take_list, take_text};
use super::chat;
use super::function::Function;
use super::group::{Namespace, namespaces};
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules, Strict};
use super::wire::{Bound, Cache, Rules, Stub, Wire};
use crate::config::SearchBy;

/// The wire.
pub(super) struct OpenAiResponses;

/// Our function that answers searches.
const SEARCH: &str = "tool_search";

/// What a response is.
const EXPECTED: &str = "an object with the list `output`, or that list";

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(128),
    native: true,
    cache: Cache::Never,
    schema: SchemaRules {
        inline: false,
        root: Root::Properties,
        keywords: &[],
        words: false,
        keys: Keys::Any,
        omit_empty: false,
        strict: Some(Strict::OpenAi),
    },
    stub: Stub::Empty,
};

impl Wire for OpenAiResponses {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &Function<'_>) -> Value {
        let schema = function.schema.clone().unwrap_or(Value::Null);
        let mut fields = Map::new();
        fields.insert("type".into(), "function".into());
        fields.insert("name".into(), function.name.as_str().into());
        fields.insert("description".into(), function.description.as_str().into());
        fields.insert("parameters".into(), schema);
        // Left out, it is tried, and a stub that is held to its schema takes no arguments at all.
        fields.insert("strict".into(), function.strict.into());
        if function.deferred {
            fields.insert("defer_loading".into(), true.into());
        }
        Value::Object(fields)
    }

    fn body(&self, bound: &Bound<'_>) -> Value {
        let is_search = |function: &&Function<'_>| function.ours && function.tool.name == SEARCH;
        let mut tools = Vec::new();
        match (bound.search, bound.functions.iter().find(is_search)) {
            (Some(SearchBy::Client), Some(ours)) => tools.push(json!({
                "type": "tool_search", "execution": "client", "description": ours.description, "parameters": ours.schema
            })),
            (Some(_), _) => tools.push(json!({"type": "tool_search"})),
            (None, _) => {}
        }
        let rest = bound.functions.iter().filter(|function| bound.search.is_none() || !is_search(function));
        let (deferred, whole): (Vec<_>, Vec<_>) = rest.clone().partition(|function| function.deferred);
        let room = bound.max_entries.unwrap_or(usize::MAX).saturating_sub(tools.len() + whole.len());
        let taken = bound.functions.iter().map(|function| function.name.as_str());
        // Each namespace stands where its first function would, so that one function more only adds to the end.
        let namespaces = namespaces(&deferred, room, taken);
        let mut opened = namespaces.iter().peekable();
        for function in rest {
            let opens = |namespace: &&Namespace<'_>| {
                namespace.functions.first().is_some_and(|first| first.name == function.name)
            };
            if !function.deferred {
                tools.push(self.function(function));
            } else if let Some(namespace) = opened.next_if(opens) {
                tools.push(self.namespace(namespace));
            }
        }
        chat::tools(tools)
    }

    fn calls(&self, response: Value) -> Calls {
        let items = match response {
            Value::Object(mut fields) => take_list(&mut fields, "output").ok_or(EXPECTED)?,
            Value::Array(items)
                if items.iter().all(|item| item.get("type").is_some_and(Value::is_string)) =>
            {
                items
            }
            _ => return Err(EXPECTED),
        };
        let call = |mut item: Map<String, Value>| match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let call = RawCall::of(&mut item, "call_id", "name", "arguments");
                Some(RawCall { namespace: take_text(&mut item, "namespace"), ..call })
            }
            Some("tool_search_call") if item.get("execution").is_some_and(|by| by == "client") => {
                let call = RawCall::of(&mut item, "call_id", "name", "arguments");
                Some(RawCall { name: Some(SEARCH.into()), search: true, ..call })
            }
            _ => None,
        };
        Ok(objects(items).filter_map(call).collect())
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        let item = |reply: &Reply| {
            if reply.search {
                let tools: Vec<&Value> = reply.found.iter().map(|found| &found.definition).collect();
                let status = if reply.is_error { "incomplete" } else { "completed" };
                return json!({
                    "type": "tool_search_output", "call_id": reply.call_id, "execution": "client", "status": status,
                    "tools": tools
                });
            }
            json!({"type": "function_call_output", "call_id": reply.call_id, "output": reply.text()})
        };
        replies.iter().map(item).collect()
    }
}

impl OpenAiResponses {
    fn namespace(&self, namespace: &Namespace<'_>) -> Value {
        let functions: Vec<Value> =
            namespace.functions.iter().map(|function| self.function(function)).collect();
        json!({
            "type": "namespace", "name": namespace.name, "description": namespace.description, "tools": functions
        })
    }
}
