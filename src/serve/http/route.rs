//! A route of the HTTP door: its pattern, handler, label in metrics, and operation in `openapi.json`.

use std::sync::Arc;

use axum::routing::MethodRouter;
use serde_json::Value;

use super::Shared;
use crate::serve::Route;

/// Media type of JSON.
pub(super) const JSON: &str = "application/json";
/// Media type of markdown.
pub(super) const MARKDOWN: &str = "text/markdown";
/// Media type of text.
pub(super) const TEXT: &str = "text/plain";

/// Handlers of a route, by method.
pub(super) type Handler = fn() -> MethodRouter<Arc<Shared>>;

/// A route.
pub(super) struct RouteEntry {
    /// Path, as `openapi.json` and the docs write it.
    pub(super) path: &'static str,
    /// Pattern of the router, and the handlers; none where another entry matches the same addresses.
    pub(super) handler: Option<(&'static str, Handler)>,
    /// Label in metrics.
    pub(super) label: Route,
    /// Operation in `openapi.json`.
    pub(super) operation: Operation,
    /// Whether a token is needed where there are any.
    pub(super) needs_token: bool,
}

/// The operation of a route, for programs that read OpenAPI.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    /// An operation that OpenAPI cannot describe.
    Undescribed,
    /// Call of a function; each has a path of its own.
    CallFunction,
    /// Call of a tool of the catalog.
    CallTool,
    /// Request that something is done, with its summary.
    Ask(&'static str),
    /// Operation that describes itself, by its method.
    Described(&'static str, fn() -> Value),
    /// Read, with its summary and media types.
    Read(&'static str, &'static [&'static str]),
}

impl RouteEntry {
    /// A route that another entry answers, or a service of its own.
    pub(super) const fn new(path: &'static str, label: Route, operation: Operation) -> Self {
        Self { path, handler: None, label, operation, needs_token: true }
    }

    /// A route that is read.
    pub(super) const fn read(
        path: &'static str,
        label: Route,
        summary: &'static str,
        media: &'static [&'static str],
    ) -> Self {
        Self::new(path, label, Operation::Read(summary, media))
    }

    /// Adds the handlers.
    pub(super) const fn answered(self, handler: Handler) -> Self {
        let path = self.path;
        self.matched(path, handler)
    }

    /// Adds the handlers, with the pattern of the router.
    pub(super) const fn matched(mut self, pattern: &'static str, handler: Handler) -> Self {
        self.handler = Some((pattern, handler));
        self
    }

    /// Opens the route to callers without a token.
    pub(super) const fn open(mut self) -> Self {
        self.needs_token = false;
        self
    }

    /// Whether an address may be one of this route, by the fixed part of its path.
    pub(super) fn holds(&self, address: &str) -> bool {
        match self.path.split_once('{') {
            Some((fixed, _)) => address.starts_with(fixed),
            None => address == self.path,
        }
    }
}
