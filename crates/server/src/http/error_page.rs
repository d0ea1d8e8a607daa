//! The page with an error, for a person who reads pages in a browser.

use std::borrow::Cow;

use http::request::Parts;

use super::address;
use super::browser::Visitor;
use crate::RequestCatalog;
use crate::response::{Problem, ProblemCode, Response, negotiated, reads_pages};
use toolcrib_gateway::exec::Caller;

/// The reader of a page in a browser, who gets a page also where there is no answer.
pub(super) struct Reader {
    catalog: RequestCatalog,
    caller: Caller,
    visitor: Option<Visitor>,
    path: String,
}

impl Reader {
    pub(super) fn of(request: &Parts, catalog: &RequestCatalog, caller: &Caller) -> Option<Self> {
        reads_pages(&request.headers).then(|| Self {
            catalog: catalog.clone(),
            caller: caller.clone(),
            visitor: request.extensions.get().cloned(),
            path: request.uri.path().to_string(),
        })
    }

    /// The page with a problem. For a missing page, it lists the tools with a name like the one in the address.
    pub(super) fn page(&self, problem: &Problem) -> Option<Response> {
        let path = address::decoded_address(&self.path).unwrap_or(Cow::Borrowed(&self.path));
        let site = self.catalog.site(&self.caller, self.visitor.as_ref().map(Visitor::person));
        let page = match problem.code {
            ProblemCode::NotFound | ProblemCode::Ambiguous => {
                site.not_found(&path, &problem.message, &problem.nearest)
            }
            _ => site.refused(&path, &problem.message, problem.next_action()),
        };
        let page = page.ok()?;
        let mut response = negotiated(problem.status(), page.content_type, page.body);
        response.headers_mut().extend(problem.headers.clone());
        Some(response)
    }
}
