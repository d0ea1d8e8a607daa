//! The pages of approvals: the list, and one call with what a person needs to decide.

use serde_json::{Value, json};

use super::super::context::{Page, Site};
use super::super::text::inline_html;
use super::layout::{line, session_href};
use toolcrib_definition::finding::pointer_join;
use toolcrib_gateway::exec::{erased, whole_arguments};
use toolcrib_gateway::state::{Approval, ApprovalStatus, utc};
use toolcrib_render::TemplateError;

/// Most changes of a definition on the page.
const MAX_CHANGES: usize = 40;

/// One approval, with what a person needs to decide.
#[derive(Debug)]
pub struct ApprovalView {
    pub approval: Approval,
    /// The definition of its tool when the call was sent.
    pub definition: Option<Value>,
    /// The last approval of the tool before this one that was given.
    pub last: Option<Approval>,
    /// The definition at that time.
    pub before: Option<Value>,
    /// Whether the tool has changed since the call was sent.
    pub has_changed: bool,
    /// The reason why this visitor cannot decide.
    pub obstacle: Option<&'static str>,
    /// The value of the form, for a visitor who can decide.
    pub csrf: Option<String>,
}

impl Site<'_> {
    /// The waiting approvals, and the newest others.
    pub fn approvals(
        &self,
        waiting: &[Approval],
        others: &[Approval],
        now: i64,
    ) -> Result<Page, TemplateError> {
        let row = |approval: &Approval| approval_row(approval, now);
        let values = json!({
            "waiting": waiting.iter().map(row).collect::<Vec<_>>(),
            "others": others.iter().map(row).collect::<Vec<_>>(),
        });
        self.operate("approvals", ("approvals", "Approvals"), None, values)
    }

    /// One approval, with the form to decide.
    pub fn approval(&self, view: &ApprovalView, now: i64) -> Result<Page, TemplateError> {
        let approval = &view.approval;
        let mut values = approval_row(approval, now);
        let word = |name: &str| view.definition.as_ref().and_then(|known| known[name].as_str());
        let changes = match (&view.before, &view.definition) {
            (Some(before), Some(after)) => changes(before, after),
            _ => Vec::new(),
        };
        let more = json!({
            "effect": word("effect"),
            "description": word("description").map(inline_html),
            "tool": self.tool_link(&approval.op, "../"),
            "arguments": whole_arguments(approval),
            "erased": erased(approval),
            "last": view.last.as_ref().map(|last| json!({
                "at": utc(last.asked_at),
                "id": last.id,
                "is_same": last.bound == approval.bound,
            })),
            "changes": changes.iter().take(MAX_CHANGES).collect::<Vec<_>>(),
            "more_changes": changes.len().saturating_sub(MAX_CHANGES),
            "has_changed": view.has_changed,
            "obstacle": view.obstacle,
            "csrf": view.csrf,
        });
        if let (Some(values), Value::Object(more)) = (values.as_object_mut(), more) {
            values.extend(more);
        }
        let title = format!("Approval {}", approval.id);
        self.operate("approval", ("approvals", &title), Some(("Approvals", "../approvals.html")), values)
    }
}

fn approval_row(approval: &Approval, now: i64) -> Value {
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
        "id": line(&approval.id),
        "href": format!("approvals/{}", line(&approval.id)),
        "op": line(&approval.op),
        "caller": line(&approval.caller),
        "session": approval.session.as_deref().map(line),
        "session_href": approval.session.as_deref().map(|session| session_href(session, &approval.caller, "")),
        "asked": utc(approval.asked_at),
        "until": utc(approval.until),
        "state": state,
        "status": word,
        "reason": approval.reason.as_deref().map(line),
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
                    value.map(|value| line(&value.as_str().map_or_else(|| value.to_string(), str::to_string)))
                };
                found.push(json!({ "at": line(pointer), "before": text(old), "after": text(new) }));
            }
        }
    }
    let mut found = Vec::new();
    walk("", Some(before), Some(after), &mut found);
    found
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
