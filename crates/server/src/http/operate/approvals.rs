//! Approvals: the lists, a call with all that a person needs to decide, and the decision.

use axum::body::Body;
use axum::extract::Path;
use serde_json::{Value, json};

use super::super::address::see_other;
use super::super::csrf::take_field;
use super::super::request_context::RequestContext;
use super::visit::{MAX_SKIPPED, ROWS, missing, session_href, unreadable};
use crate::response::{Problem, ProblemCode, Response};
use crate::site::{inline_html, short_line};
use toolcrib_definition::document::pointer_join;
use toolcrib_gateway::exec::{Decided, Decision, decide, erased, has_changed, whole_arguments};
use toolcrib_gateway::state::{Approval, ApprovalStatus, now, utc};

/// Most changes of a definition on the page.
const MAX_CHANGES: usize = 40;

/// Longest reason, in bytes.
const MAX_REASON: usize = 500;

/// `GET /approvals.html`: the waiting approvals, and the newest others, by pages.
pub(crate) async fn approvals(visit: RequestContext) -> Result<Response, Problem> {
    let skip = visit.skip();
    let list =
        async |is_waiting| visit.state().listed_approvals(&visit.callers(), is_waiting, skip, ROWS).await;
    let (waiting, waiting_count) = list(true).await.map_err(unreadable)?;
    let (others, other_count) = list(false).await.map_err(unreadable)?;
    visit
        .page(move |site| {
            let rows =
                |listed: &[Approval]| listed.iter().map(|approval| row(approval, now())).collect::<Value>();
            let next = skip + ROWS;
            let values = json!({
                "waiting": rows(&waiting),
                "waiting_count": waiting_count,
                "others": rows(&others),
                "before": (skip > 0).then(|| format!("approvals.html?skip={}", skip.saturating_sub(ROWS))),
                "after": (next < waiting_count.max(other_count) && next <= MAX_SKIPPED)
                    .then(|| format!("approvals.html?skip={next}")),
            });
            site.operate("approvals", ("approvals", "Approvals"), None, values)
        })
        .await
}

/// The approval of this id, if the visitor may see it.
async fn visible_approval(visit: &RequestContext, id: &str) -> Result<Approval, Problem> {
    let approval = visit.state().approval(id).await.map_err(unreadable)?;
    approval.filter(|approval| visit.callers().have(&approval.caller)).ok_or_else(|| missing("approval"))
}

/// `GET /approvals/ID`: all of a call, and the form to decide about it.
pub(crate) async fn approval(Path(id): Path<String>, visit: RequestContext) -> Result<Response, Problem> {
    let approval = visible_approval(&visit, &id).await?;
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
    visit
        .page(move |site| {
            let mut values = row(&approval, now());
            let word = |name: &str| definition.as_ref().and_then(|known| known[name].as_str());
            let changes = match (&before, &definition) {
                (Some(before), Some(after)) => changes(before, after),
                _ => Vec::new(),
            };
            let more = json!({
                "effect": word("effect"),
                "description": word("description").map(inline_html),
                "tool": site.tool_link(&approval.op, "../"),
                "arguments": whole_arguments(&approval),
                "erased": erased(&approval),
                "last": last.as_ref().map(|last| json!({
                    "at": utc(last.asked_at),
                    "id": last.id,
                    "is_same": last.bound == approval.bound,
                })),
                "changes": changes.iter().take(MAX_CHANGES).collect::<Vec<_>>(),
                "more_changes": changes.len().saturating_sub(MAX_CHANGES),
                "has_changed": has_changed,
                "obstacle": obstacle,
                "csrf": csrf,
            });
            if let (Some(values), Value::Object(more)) = (values.as_object_mut(), more) {
                values.extend(more);
            }
            let title = format!("Approval {}", approval.id);
            site.operate("approval", ("approvals", &title), Some(("Approvals", "../approvals.html")), values)
        })
        .await
}

fn row(approval: &Approval, now: i64) -> Value {
    let is_past = approval.until <= now;
    let (state, word) = match approval.status {
        ApprovalStatus::Waiting if is_past => ("expired", "expired without a decision"),
        ApprovalStatus::Waiting => ("waiting", "waiting"),
        ApprovalStatus::Approved if is_past => ("expired", "approved, and not used in time"),
        ApprovalStatus::Approved => ("approved", "approved, not used yet"),
        ApprovalStatus::Denied => ("denied", "denied"),
        ApprovalStatus::Used => ("approved", "approved, and run"),
        ApprovalStatus::Void => ("expired", "void"),
    };
    json!({
        "id": short_line(&approval.id),
        "href": format!("approvals/{}", short_line(&approval.id)),
        "op": short_line(&approval.op),
        "caller": short_line(&approval.caller),
        "session": approval.session.as_deref().map(short_line),
        "session_href": approval.session.as_deref().map(|session| session_href(session, &approval.caller, "")),
        "asked": utc(approval.asked_at),
        "until": utc(approval.until),
        "state": state,
        "status": word,
        "reason": approval.reason.as_deref().map(short_line),
    })
}

/// The differences of two values, by their pointers.
fn changes(before: &Value, after: &Value) -> Vec<Value> {
    fn walk(pointer: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<Value>) {
        match (before, after) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                let added = new.keys().filter(|name| !old.contains_key(*name));
                for name in old.keys().chain(added) {
                    walk(&pointer_join(pointer, name), old.get(name), new.get(name), found);
                }
            }
            (old, new) if old == new => {}
            (old, new) => {
                let text = |value: Option<&Value>| {
                    value.map(|value| {
                        short_line(&value.as_str().map_or_else(|| value.to_string(), str::to_string))
                    })
                };
                found.push(json!({ "at": short_line(pointer), "before": text(old), "after": text(new) }));
            }
        }
    }
    let mut found = Vec::new();
    walk("", Some(before), Some(after), &mut found);
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_a_definition_are_named_by_their_pointers() {
        let before =
            json!({"effect": "write", "parameters": {"a/b": {"maximum": 1}, "gone": true, "same": [1]}});
        let after =
            json!({"effect": "write", "parameters": {"a/b": {"maximum": 2}, "same": [1], "new": "x"}});
        let found: Vec<_> = changes(&before, &after).iter().map(Value::to_string).collect();
        assert_eq!(
            found,
            [
                r#"{"at":"/parameters/a~1b/maximum","before":"1","after":"2"}"#,
                r#"{"at":"/parameters/gone","before":"true","after":null}"#,
                r#"{"at":"/parameters/new","before":null,"after":"x"}"#,
            ]
        );
        assert_eq!(changes(&before, &before), Vec::<Value>::new());
    }
}
