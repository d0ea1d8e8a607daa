//! Pages for the people who run the server: servers, sessions, usage, approvals.
//!
//! An operator is a caller who sees everything (`roles = ["*"]`), as for `/v1/reload`; one with a tenant in the name sees
//! the callers of that tenant. Everybody else sees their own sessions, usage and approvals. A person who has signed in, and is
//! not the caller, decides about a call.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path;
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_DISPOSITION;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::health::findings_of;
use super::sign_in::{Browser, Visitor};
use super::sign_in::{see_other, take_field};
use super::{RequestContext, Response, Shared, query_value};
use crate::RequestCatalog;
use crate::response::{Problem, ProblemCode, no_store};
use crate::site::{ApprovalView, Filter, MAX_SKIPPED, Page, ServerView, Site};
use toolcrib_docs::TemplateError;
use toolcrib_gateway::exec::{Caller, Decided, Decision, decide, has_changed};
use toolcrib_gateway::state::{
    Approval, ApprovalStatus, CallQuery, Callers, Event, EventQuery, SessionSummary, StateError, StateStore,
    WaitBudget, now,
};

/// Most rows of a list.
const ROWS: usize = 100;
/// Longest reason, in bytes.
const MAX_REASON: usize = 500;
/// Events of a session on one page, and in one part of an export.
const EVENTS: usize = 200;
const EXPORTED: usize = 1_000;
/// Days of usage: by default, and at most.
const DAYS: (i64, i64) = (7, 90);

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

/// A request for one of these pages.
struct Visit {
    shared: Arc<Shared>,
    catalog: RequestCatalog,
    caller: Caller,
    request: Parts,
    callers: Callers,
}

impl Visit {
    fn new(context: RequestContext) -> Self {
        Self::with_body(context).0
    }

    fn with_body(RequestContext { shared, catalog, caller, request, body }: RequestContext) -> (Self, Body) {
        (Self { callers: visible_to(&caller), shared, catalog, caller, request }, body)
    }

    fn state(&self) -> &Arc<StateStore> {
        &self.catalog.services().state
    }

    fn browser(&self) -> Browser<'_> {
        Browser { shared: &self.shared, catalog: &self.catalog, request: &self.request }
    }

    fn is_operator(&self) -> bool {
        self.caller.sees_everything()
    }

    /// Refuses everybody but an operator, with this message.
    fn check_operator(&self, message: &str) -> Result<(), Problem> {
        let problem = || Problem::new(ProblemCode::NotAuthorized, message);
        self.is_operator().then_some(()).ok_or_else(|| problem().next("use a token with `roles = [\"*\"]`"))
    }

    fn visitor(&self) -> Option<&Visitor> {
        self.request.extensions.get()
    }

    fn query(&self, name: &str) -> Option<String> {
        query_value(&self.request, name).filter(|value| !value.is_empty())
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.query(name)?.parse().ok()
    }

    /// The callers of a list: those that may be seen, or the one that the address names.
    fn chosen(&self) -> Callers {
        match self.query("caller") {
            Some(name) if self.callers.have(&name) => Callers::Only(name),
            // A caller who may not be seen has nothing, like one who is not there.
            Some(_) => Callers::Nobody,
            None => self.callers.clone(),
        }
    }

    /// Renders a page when its turn comes.
    async fn page(
        self,
        make: impl FnOnce(&Site<'_>) -> Result<Page, TemplateError> + Send + 'static,
    ) -> Result<Response, Problem> {
        let Self { shared, catalog, caller, request, .. } = self;
        let making = move || {
            let notice = catalog.notice(&caller);
            let site = catalog.site(&caller, Visitor::person_of(&request)).with_notice(notice.as_deref());
            let page = make(&site);
            page.map(|page| no_store(StatusCode::OK, page.content_type, page.body))
        };
        let made = shared.slowly(making).await?;
        made.map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))
    }
}

fn unreadable(error: StateError) -> Problem {
    Problem::of_state(&error, "state cannot be read now")
}

fn missing(what: &str) -> Problem {
    Problem::new(ProblemCode::NotFound, format!("there is no such {what}, or not for you"))
        .next("open the list of the page above")
}

/// `GET /approvals.html`.
pub(super) async fn approvals(context: RequestContext) -> Result<Response, Problem> {
    let visit = Visit::new(context);
    let waiting = visit.state().listed_approvals(&visit.callers, true, ROWS).await.map_err(unreadable)?;
    let others = visit.state().listed_approvals(&visit.callers, false, ROWS).await.map_err(unreadable)?;
    visit.page(move |site| site.approvals(&waiting, &others, now())).await
}

/// The approval of this id, if the visitor may see it.
async fn visible_approval(visit: &Visit, id: &str) -> Result<Approval, Problem> {
    let approval = visit.state().approval(id).await.map_err(unreadable)?;
    approval.filter(|approval| visit.callers.have(&approval.caller)).ok_or_else(|| missing("approval"))
}

/// `GET /approvals/ID`: all of a call, and the form to decide about it.
pub(super) async fn approval(Path(id): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let visit = Visit::new(context);
    let approval = visible_approval(&visit, &id).await?;
    let view = approval_view(&visit, approval).await?;
    visit.page(move |site| site.approval(&view, now())).await
}

async fn approval_view(visit: &Visit, approval: Approval) -> Result<ApprovalView, Problem> {
    let read = async {
        let state = visit.state();
        let definition = state.approved_definition(&approval.bound).await?;
        let last = state.last_approved(&approval.op, &visit.callers, approval.asked_at).await?;
        let before = match &last {
            Some(last) => state.approved_definition(&last.bound).await?,
            None => None,
        };
        Ok((definition, last, before, state.hash_key().await?))
    };
    let (definition, last, before, key) = read.await.map_err(unreadable)?;
    let view = visit.catalog.unrestricted_view();
    let is_open = approval.status == ApprovalStatus::Waiting && approval.until > now();
    let obstacle = match visit.visitor() {
        _ if !is_open => None,
        _ if !visit.is_operator() => Some("An operator decides about this call."),
        None => Some("Nobody has signed in here, so this page cannot tell who decides."),
        Some(visitor) if *visitor.caller.name == approval.caller => {
            Some("This is your own call. Somebody else decides about it.")
        }
        Some(_) => None,
    };
    let csrf =
        if is_open && obstacle.is_none() { Some(visit.browser().csrf(&visit.caller).await?) } else { None };
    let has_changed = is_open && has_changed(&approval, Some(view.catalog()), &key);
    Ok(ApprovalView { has_changed, approval, definition, last, before, obstacle, csrf })
}

/// `POST /approvals/ID`: the decision of a person.
pub(super) async fn decision(Path(id): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let (visit, body) = Visit::with_body(context);
    let mut fields = visit.browser().form(&visit.caller, body).await?;
    let Some(visitor) = visit.visitor() else {
        let problem = Problem::new(ProblemCode::FormRefused, "only a person who has signed in can decide");
        return Err(problem.next("sign in, or run `toolcrib approvals`"));
    };
    let approval = visible_approval(&visit, &id).await?;
    visit.check_operator("only an operator decides about calls")?;
    let yes = match take_field(&mut fields, "decision").as_str() {
        "approve" => true,
        "deny" => false,
        _ => return Err(Problem::new(ProblemCode::BadRequest, "`decision` is `approve` or `deny`")),
    };
    let reason = take_field(&mut fields, "reason");
    let reason = &reason[..reason.floor_char_boundary(MAX_REASON)];
    let decision = Decision {
        id: &approval.id,
        yes,
        reason: Some(reason.trim()).filter(|reason| !reason.is_empty()),
        by: Some(&visitor.caller.name),
    };
    let view = visit.catalog.unrestricted_view();
    let decided = decide(visit.state(), Some(view.catalog()), decision).await.map_err(unreadable)?;
    let refused = |message: &str| {
        let problem = Problem::new(ProblemCode::FormRefused, message);
        Err(problem.next("open the page of the approval again"))
    };
    match decided {
        Decided::Unknown => Err(missing("approval")),
        Decided::OwnCall => refused("nobody decides about a call of their own"),
        Decided::Changed(_) => refused("the tool has changed since this call, so it cannot be approved"),
        Decided::Done(approval) | Decided::Late(approval) => {
            Ok(see_other(&format!("{}/approvals/{}", visit.catalog.root(), approval.id), []))
        }
    }
}

impl Visit {
    /// The number of rows to skip.
    fn skip(&self) -> usize {
        self.number("skip").unwrap_or(0).clamp(0, MAX_SKIPPED as i64) as usize
    }
}

/// `GET /sessions.html`: the sessions, newest first; with a tool or an outcome, the calls.
pub(super) async fn sessions(context: RequestContext) -> Result<Response, Problem> {
    let visit = Visit::new(context);
    let callers = visit.chosen();
    let skip = visit.skip();
    let tool = visit.query("tool");
    let outcome = visit.query("outcome");
    let filter = Filter {
        caller: visit.query("caller"),
        tool: tool.clone(),
        outcome: outcome.clone(),
        skip,
        rows: ROWS,
    };
    let state = visit.state();
    if tool.is_none() && outcome.is_none() {
        let sessions = state.sessions(&callers, skip, ROWS + 1).await.map_err(unreadable)?;
        return visit.page(move |site| site.sessions(&sessions, &filter)).await;
    }
    let wanted = CallQuery { callers, tool, outcome, skip, limit: ROWS + 1 };
    let (calls, is_cut) = state.calls(&wanted).await.map_err(unreadable)?;
    visit.page(move |site| site.calls(&calls, is_cut, &filter)).await
}

/// The session of an address, if the visitor may see it.
async fn visible_session(visit: &Visit, id: &str) -> Result<SessionSummary, Problem> {
    let caller = query_value(&visit.request, "caller");
    let caller = caller.unwrap_or_else(|| visit.caller.name.to_string());
    let session = if visit.callers.have(&caller) {
        visit.state().session(&caller, id).await.map_err(unreadable)?
    } else {
        None
    };
    session.ok_or_else(|| missing("session"))
}

/// `GET /sessions/ID`: the events of a session, in order.
pub(super) async fn session(Path(id): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let visit = Visit::new(context);
    let session = visible_session(&visit, &id).await?;
    let skip = visit.skip();
    let wanted = EventQuery { skip: skip as i64, limit: EVENTS + 1, ..events_of(&session) };
    let events = visit.state().events(&wanted).await.map_err(unreadable)?;
    visit.page(move |site| site.session(&session, &events, skip, EVENTS)).await
}

fn events_of(session: &SessionSummary) -> EventQuery {
    let caller = Some(session.caller.clone());
    let session = Some(session.session.clone());
    EventQuery { session, caller, ..EventQuery::default() }
}

/// `GET /sessions/ID/events.jsonl`: all events of a session, each as one line of JSON.
pub(super) async fn export(Path(id): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let visit = Visit::new(context);
    let session = visible_session(&visit, &id).await?;
    let begin =
        (Arc::clone(visit.state()), EventQuery { limit: EXPORTED, ..events_of(&session) }, 1_i64, true);
    let parts = stream::try_unfold(begin, async |(state, mut wanted, number, has_more)| {
        if !has_more {
            return Ok::<_, StateError>(None);
        }
        let events = WaitBudget::default().with(state.events(&wanted)).await?;
        let count = events.len();
        wanted.after = events.last().map_or(wanted.after, |event| event.id);
        let lines = (number..).zip(events).map(|(number, event)| format!("{}\n", event_entry(number, event)));
        let lines = Bytes::from(lines.collect::<String>());
        Ok(Some((lines, (state, wanted, number + count as i64, count == EXPORTED))))
    });
    let mut response = no_store(StatusCode::OK, "application/jsonl", Body::from_stream(parts));
    let name = HeaderValue::try_from(format!("attachment; filename=\"{}.jsonl\"", session.session));
    response.headers_mut().extend(name.map(|name| (CONTENT_DISPOSITION, name)));
    Ok(response)
}

/// An event without its empty fields. Its number is that within the session: the store also counts other callers' events.
fn event_entry(number: i64, event: Event) -> Value {
    let fields = json!(Event { id: number, ..event });
    let is_said = |value: &Value| !value.is_null() && *value != json!([]) && *value != json!("");
    let fields = fields.as_object().into_iter().flatten().filter(|(_, value)| is_said(value));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

/// `GET /usage.html`: calls and searches, by day and by tool.
pub(super) async fn usage(context: RequestContext) -> Result<Response, Problem> {
    let visit = Visit::new(context);
    let days = visit.number("days").unwrap_or(DAYS.0).clamp(1, DAYS.1);
    let since = now() / 86_400_000 - days + 1;
    let sums = visit.state().usage(&visit.chosen(), since).await.map_err(unreadable)?;
    let caller = visit.query("caller");
    visit.page(move |site| site.usage(&sums, days, caller.as_deref())).await
}

/// `GET /servers.html`: the live servers, for operators; their definitions and errors may concern hidden tools.
pub(super) async fn servers(context: RequestContext) -> Result<Response, Problem> {
    let visit = Visit::new(context);
    visit.check_operator("only an operator sees the servers")?;
    let catalog = visit.catalog.clone();
    visit
        .page(move |site| {
            let connections = catalog.services().backends.connections();
            let servers = connections.map(|connections| connections.servers()).unwrap_or_default();
            let views = servers.into_iter().map(|state| ServerView {
                sign_in: connections.and_then(|connections| state.sign_in(connections.credentials())),
                findings: findings_of(&state, &catalog.generation().findings),
                state,
            });
            site.servers(&views.collect::<Vec<_>>())
        })
        .await
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
