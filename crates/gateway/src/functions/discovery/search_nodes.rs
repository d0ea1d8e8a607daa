//! `search_nodes`: the categories that fit a query, for a caller who does not know where to start.

use serde::Deserialize;

use super::category_ranking::fitting_categories;
use super::entries::{CategoryEntry, CategoryHit, Listed, Listing, category_hints};
use super::scope::{Scope, UNREAD, blank, query, unmet};
use crate::context::FunctionContext;
use crate::functions::arguments::Arguments;
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_definition::quoted;

/// Arguments of `search_nodes`.
#[derive(Deserialize)]
pub(crate) struct SearchNodes {
    query: String,
    limit: Option<usize>,
}

impl Arguments for SearchNodes {
    type Reply = Listed;

    async fn answer(self, context: &FunctionContext) -> Result<Listed> {
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
        let result = |hit: &CategoryHit| CategoryEntry::hint(view.tree().node(hit.node)).ranked(Some(hit));
        let results = found.hits.iter().map(result).collect();
        Ok(Listed { listing: Listing::Categories { results }, semantic: Some(semantic) })
    }
}
