//! Gemini interactions: short descriptions and deferral (formats.md, section 5).

use serde_json::{Map, Value, json};

use super::call::RawCall;
use super::chat;
use super::function::Function;
use super::gemini::KEYWORDS;
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules};
use super::wire::{Bound, Cache, Rules, Stub, Wire};
use crate::config::SearchBy;

/// The wire.
pub(super) struct GeminiInteractions;

/// Our function that answers searches.
const SEARCH: &str = "tool_search";

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(512),
    native: true,
    cache: Cache::Never,
    schema: SchemaRules {
        inline: false,
        root: Root::Properties,
        keywords: KEYWORDS,
        words: true,
        keys: Keys::Any,
        omit_empty: true,
        strict: None,
        max_strict: 0,
    },
    stub: Stub::Args,
};

impl Wire for GeminiInteractions {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &Function<'_>) -> Value {
        let mut fields = Map::new();
        fields.insert("type".into(), "function".into());
        fields.insert("name".into(), function.name.as_str().into());
        fields.insert("description".into(), function.description.as_str().into());
        if function.deferred {
            fields.insert("short_description".into(), function.tool.short.as_str().into());
        }
        if let Some(schema) = &function.schema {
            fields.insert("parameters".into(), schema.clone());
        }
        if function.deferred {
            fields.insert("defer_loading".into(), true.into());
        }
        Value::Object(fields)
    }

    fn body(&self, bound: &Bound<'_>) -> Value {
        let is_search = |function: &Function<'_>| function.ours && function.tool.name == SEARCH;
        let mut tools = Vec::new();
        match (bound.search, bound.functions.iter().find(|function| is_search(function))) {
            (Some(SearchBy::Client), Some(ours)) => tools.push(json!({
                "type": "tool_search", "execution": "client", "name": ours.name, "description": ours.description,
                "parameters": ours.schema
            })),
            (Some(_), _) => tools.push(json!({"type": "tool_search", "execution": "server"})),
            (None, _) => {}
        }
        let rest = bound.functions.iter().filter(|function| bound.search.is_none() || !is_search(function));
        tools.extend(rest.map(|function| self.function(function)));
        chat::tools(tools)
    }

    fn calls(&self, response: Value) -> Vec<RawCall> {
        chat::calls(response)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        chat::replies(replies)
    }
}
