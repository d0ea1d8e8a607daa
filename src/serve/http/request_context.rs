//! A request that passed the router: its parts, its caller, and what is served.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use http::request::Parts;

use super::Shared;
use crate::exec::Caller;
use crate::guard::MISTAKE;
use crate::serve::RequestCatalog;
use crate::serve::response::problem::{Problem, ProblemCode};

/// A request with the state that every handler needs.
pub(super) struct RequestContext {
    pub(super) shared: Arc<Shared>,
    pub(super) catalog: RequestCatalog,
    pub(super) caller: Caller,
    pub(super) request: Parts,
    pub(super) body: Body,
}

impl FromRequest<Arc<Shared>> for RequestContext {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Problem> {
        let (mut request, body) = request.into_parts();
        match (request.extensions.remove(), request.extensions.remove()) {
            (Some(catalog), Some(caller)) => {
                Ok(Self { shared: Arc::clone(shared), catalog, caller, request, body })
            }
            _ => Err(Problem::new(ProblemCode::Internal, MISTAKE)),
        }
    }
}
