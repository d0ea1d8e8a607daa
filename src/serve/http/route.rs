//! One route of the HTTP door: what matches it, what answers, how it is counted, and what `openapi.json` tells of it.

use std::sync::Arc;

use axum::routing::MethodRouter;

use super::Shared;
use crate::serve::Route;

/// JSON.
pub(super) const JSON: &str = "application/json";
/// Markdown.
pub(super) const MARKDOWN: &str = "text/markdown";
/// Text.
pub(super) const TEXT: &str = "text/plain";

/// What answers at a route, by method.
pub(super) type Handler = fn() -> MethodRouter<Arc<Shared>>;

/// One route.
pub(super) struct RouteEntry {
    /// As `openapi.json` and the docs write it.
    pub(super) path: &'static str,
    /// As the router writes it, with what answers; none where another entry matches the same addresses.
    pub(super) handler: Option<(&'static str, Handler)>,
    /// What it is counted as.
    pub(super) label: Route,
    /// What `openapi.json` tells of it.
    pub(super) operation: Operation,
    /// Whether a token is needed where there are any.
    pub(super) needs_token: bool,
}

/// What can be done at a route, for programs that read OpenAPI.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    /// Nothing that OpenAPI could tell.
    Untold,
    /// A function is called: each has a path of its own.
    CallFunction,
    /// A tool of the catalog is called.
    CallTool,
    /// Something is read: what, and its media types.
    Read(&'static str, &'static [&'static str]),
}

impl RouteEntry {
    /// A route that another entry answers, or a service of its own.
    pub(super) const fn new(path: &'static str, label: Route, operation: Operation) -> Self {
        Self { path, handler: None, label, operation, needs_token: true }
    }

    /// A route to something that is read.
    pub(super) const fn read(
        path: &'static str,
        label: Route,
        summary: &'static str,
        media: &'static [&'static str],
    ) -> Self {
        Self::new(path, label, Operation::Read(summary, media))
    }

    /// Answered by this handler.
    pub(super) const fn answered(self, handler: Handler) -> Self {
        let path = self.path;
        self.matched(path, handler)
    }

    /// Answered by this handler, at what the router writes otherwise.
    pub(super) const fn matched(mut self, pattern: &'static str, handler: Handler) -> Self {
        self.handler = Some((pattern, handler));
        self
    }

    /// Open to those who have no token.
    pub(super) const fn open(mut self) -> Self {
        self.needs_token = false;
        self
    }

    /// Whether an address is one of this route, as far as its fixed part tells.
    pub(super) fn holds(&self, address: &str) -> bool {
        match self.path.split_once('{') {
            Some((fixed, _)) => address.starts_with(fixed),
            None => address == self.path,
        }
    }
}
