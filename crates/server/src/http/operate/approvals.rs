//! Approvals: the lists, a call with all that a person needs to decide, and the decision.

use axum::body::Body;
use axum::extract::Path;

use super::super::address::see_other;
use super::super::csrf::take_field;
use super::super::request_context::RequestContext;
use super::visit::{ROWS, missing, unreadable};
use crate::response::{Problem, ProblemCode, Response};
use crate::site::ApprovalView;
use toolcrib_gateway::exec::{Decided, Decision, decide, has_changed};
use toolcrib_gateway::state::{Approval, ApprovalStatus, now};

/// Longest reason, in bytes.
const MAX_REASON: usize = 500;

/// `GET /approvals.html`.
pub(crate) async fn approvals(visit: RequestContext) -> Result<Response, Problem> {
    let waiting = visit.state().listed_approvals(&visit.callers(), true, ROWS).await.map_err(unreadable)?;
    let others = visit.state().listed_approvals(&visit.callers(), false, ROWS).await.map_err(unreadable)?;
    visit.page(move |site| site.approvals(&waiting, &others, now())).await
}

/// The approval of this id, if the visitor may see it.
async fn visible_approval(visit: &RequestContext, id: &str) -> Result<Approval, Problem> {
    let approval = visit.state().approval(id).await.map_err(unreadable)?;
    approval.filter(|approval| visit.callers().have(&approval.caller)).ok_or_else(|| missing("approval"))
}

/// `GET /approvals/ID`: all of a call, and the form to decide about it.
pub(crate) async fn approval(Path(id): Path<String>, visit: RequestContext) -> Result<Response, Problem> {
    let approval = visible_approval(&visit, &id).await?;
    let view = approval_view(&visit, approval).await?;
    visit.page(move |site| site.approval(&view, now())).await
}

async fn approval_view(visit: &RequestContext, approval: Approval) -> Result<ApprovalView, Problem> {
    let read = async {
        let state = visit.state();
        let definition = state.approved_definition(&approval.bound).await?;
        let last = state.last_approved(&approval.op, &visit.callers(), approval.asked_at).await?;
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
    let csrf = if is_open && obstacle.is_none() {
        Some(visit.browser().csrf(&visit.catalog.caller).await?)
    } else {
        None
    };
    let has_changed = is_open && has_changed(&approval, Some(view.catalog()), &key);
    Ok(ApprovalView { has_changed, approval, definition, last, before, obstacle, csrf })
}

/// `POST /approvals/ID`: the decision of a person.
pub(crate) async fn decision(
    Path(id): Path<String>,
    visit: RequestContext,
    body: Body,
) -> Result<Response, Problem> {
    let mut fields = visit.browser().form(&visit.catalog.caller, body).await?;
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
