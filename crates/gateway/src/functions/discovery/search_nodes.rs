//! `search_nodes`: the categories that fit a query, for a caller who does not know where to start.

use serde::Deserialize;
use serde_json::{Map, json};

use super::category_ranking::fitting_categories;
use super::entries::{CategoryHit, category_hints, hundredths, segments};
use super::scope::{Scope, UNREAD, blank, query, unmet};
use crate::functions::function::{Answer, ErrorCode, FunctionContext, ToolError};
use crate::functions::function::{Arguments, Function};
use toolcrib_definition::quoted;

/// Arguments of `search_nodes`.
#[derive(Deserialize)]
pub(crate) struct SearchNodes {
    query: String,
    limit: Option<usize>,
}

impl Arguments for SearchNodes {
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let query = query(&self.query).ok_or_else(|| blank("query"))?;
        let view = &*context.view;
        let (found, semantic) = fitting_categories(context, query, self.limit.unwrap_or(5)).await;
        if !found.fits {
            let near: Vec<usize> = found.hits.iter().map(|hit| hit.node).take(3).collect();
            let near = if near.is_empty() { view.tree().node(0).children.clone() } else { near };
            let next = if context.lacks_sources() {
                UNREAD
            } else {
                "ask again in other words, or go down from the root with list; if `hints` are nothing like it, there is no such tool"
            };
            let message = format!("no category is about `{}`", quoted(query));
            return Err(ToolError::new(ErrorCode::NoMatchInCategory, message, next)
                .hint("unmet", unmet(view, query, Scope::default()))
                .hint("categories", category_hints(view, &near[..near.len().min(12)])));
        }
        let result = |hit: &CategoryHit| {
            let node = view.tree().node(hit.node);
            let confidence = hundredths(hit.confidence);
            let reason = &hit.reason;
            json!({ "path": segments(node), "summary": node.summary, "confidence": confidence, "reason": reason })
        };
        let results = found.hits.iter().map(result).collect();
        let fields = Map::from_iter([("results".to_string(), results)]);
        Ok(Answer::new(fields, None).with_semantic_status(&semantic))
    }
}
