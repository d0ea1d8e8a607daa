//! A request for a page about the server, and the callers that its visitor may see.

use std::sync::Arc;

use http::StatusCode;

use super::super::browser::Visitor;
use super::super::request_context::{RequestContext, query_value};
use crate::response::{Problem, ProblemCode, Response, no_store};
use crate::site::{Page, Site};
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::state::{Callers, StateError, StateStore};
use toolcrib_render::TemplateError;

/// Most rows of a list.
pub(super) const ROWS: usize = 100;

/// Most rows that a list skips, since a database reads what it skips. An export has everything.
pub(super) const MAX_SKIPPED: usize = 4_000;

/// The callers whose events this caller may see.
fn visible_to(caller: &Caller) -> Callers {
    // On a server without tokens, everybody is the same caller.
    if !caller.sees_everything() || caller.name.is_empty() {
        return Callers::Only(caller.name.to_string());
    }
    // `TENANT/NAME@ISSUER`, see `auth::grants`.
    let parts = caller.name.rsplit_once('@').and_then(|(own, place)| Some((own.split_once('/')?.0, place)));
    parts.map_or(Callers::All, |(tenant, place)| Callers::Tenant(format!("{tenant}/"), format!("@{place}")))
}

/// Fields as the query of an address; empty ones are left out.
pub(super) fn query_of(fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}

/// The address of a session, or of something of it, from the root of the site. Names of sessions need no escapes.
pub(super) fn session_href(session: &str, caller: &str, more: &str) -> String {
    let caller = form_urlencoded::byte_serialize(caller.as_bytes()).collect::<String>();
    format!("sessions/{session}{more}?caller={caller}")
}

impl RequestContext {
    /// The callers whose events the visitor may see.
    pub(super) fn callers(&self) -> Callers {
        visible_to(&self.catalog.caller)
    }

    pub(super) fn state(&self) -> &Arc<StateStore> {
        &self.catalog.services().state
    }

    pub(super) fn is_operator(&self) -> bool {
        self.catalog.caller.sees_everything()
    }

    /// Refuses everybody but an operator, with this message.
    pub(super) fn check_operator(&self, message: &str) -> Result<(), Problem> {
        let problem = || Problem::new(ProblemCode::NotAuthorized, message);
        self.is_operator().then_some(()).ok_or_else(|| problem().next("use a token with `roles = [\"*\"]`"))
    }

    pub(super) fn visitor(&self) -> Option<&Visitor> {
        self.request.extensions.get()
    }

    pub(super) fn query(&self, name: &str) -> Option<String> {
        query_value(&self.request, name).filter(|value| !value.is_empty())
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.query(name)?.parse().ok()
    }

    /// The number of rows to skip.
    pub(super) fn skip(&self) -> usize {
        self.number("skip").unwrap_or(0).clamp(0, MAX_SKIPPED as i64) as usize
    }

    /// The callers of a list: those that may be seen, or the one that the address names.
    pub(super) fn chosen(&self) -> Callers {
        match self.query("caller") {
            Some(name) if self.callers().have(&name) => Callers::Only(name),
            // A caller who may not be seen has nothing, like one who is not there.
            Some(_) => Callers::Nobody,
            None => self.callers(),
        }
    }

    /// Renders a page when its turn comes.
    pub(super) async fn page(
        self,
        make: impl FnOnce(&Site<'_>) -> Result<Page, TemplateError> + Send + 'static,
    ) -> Result<Response, Problem> {
        let Self { shared, catalog, request } = self;
        let caller = Arc::clone(&catalog.caller.name);
        let making = move || {
            let notice = catalog.notice();
            let site = catalog.site(Visitor::person_of(&request)).with_notice(notice.as_deref());
            let page = make(&site);
            page.map(|page| no_store(StatusCode::OK, page.content_type, page.body))
        };
        let made = shared.slowly(&caller, making).await?;
        made.map_err(Problem::internal)
    }
}

pub(super) fn unreadable(error: StateError) -> Problem {
    Problem::of_state(&error, "state cannot be read now")
}

pub(super) fn missing(what: &str) -> Problem {
    Problem::new(ProblemCode::NotFound, format!("there is no such {what}, or not for you"))
        .next("open the list of the page above")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_sees_the_callers_of_the_own_tenant_and_others_see_themselves() {
        let seen_by = |name: &str, role: &str| {
            visible_to(&Caller { name: name.into(), roles: Some(vec![role.into()]), ..Caller::default() })
        };
        let callers = [
            "", "root", "amy@a.example", "t/amy@a.example", "t/bob@a.example", "t/amy@b.example",
            "u/amy@a.example",
        ];
        let seen = |name: &str, role: &str| {
            let seen = seen_by(name, role);
            callers.into_iter().filter(|caller| seen.have(caller)).collect::<Vec<_>>()
        };
        assert_eq!(seen("root", "*"), callers);
        assert_eq!(seen("root", "reader"), ["root"]);
        assert_eq!(seen("t/boss@a.example", "*"), ["t/amy@a.example", "t/bob@a.example"]);
        assert_eq!(seen("t/amy@a.example", "reader"), ["t/amy@a.example"]);
        assert_eq!(seen("", "*"), [""]);
    }
}
