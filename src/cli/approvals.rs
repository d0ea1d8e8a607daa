//! `toolcrib approvals`: the calls that wait for a person, and what the person says.

use clap::Subcommand;
use serde_json::json;

use super::catalog::CatalogArgs;
use super::state::{StateArgs, block_on};
use super::{Failure, Outcome, note, print};
use crate::state::{Approval, ApprovalStatus, Event, EventKind, State, StateError, now, random_id, utc};
use crate::tool::clean_line;

/// Calls that wait for a person: list them, say yes, say no.
///
/// A call of a tool with `approval = true` waits until somebody has approved it here; the agent then sends it again,
/// unchanged, and it runs once. An approval counts for as long as `[exec] approval_minutes` says.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib approvals list --catalog .
  toolcrib approvals approve ap_7f3k9x2m4q5d --catalog .
  toolcrib approvals deny ap_7f3k9x2m4q5d --reason \"wrong project\" --state state.db
  toolcrib approvals list --all --json | jq .op")]
pub(super) struct Approvals {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    catalog: CatalogArgs,
    #[command(flatten)]
    state: StateArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The calls that wait, oldest first.
    List {
        /// Those that were decided, used, or have run out of time, too.
        #[arg(long)]
        all: bool,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Let a call run, once.
    Approve {
        /// The approval, as `list` and the agent's error have it.
        id: String,
        /// What to say about it.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Refuse a call.
    Deny {
        /// The approval, as `list` and the agent's error have it.
        id: String,
        /// Why; the agent is told.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

impl Approvals {
    pub(super) fn run(self) -> Outcome {
        let state = self.state.open_existing(&self.catalog)?;
        match self.what {
            What::List { all, json } => list(&*state, all, json),
            What::Approve { id, reason } => decide(&*state, &id, true, reason.as_deref()),
            What::Deny { id, reason } => decide(&*state, &id, false, reason.as_deref()),
        }
    }
}

fn list(state: &dyn State, all: bool, json: bool) -> Outcome {
    let approvals = block_on(state.approvals(!all))?;
    if json {
        let lines = approvals.iter().map(|approval| format!("{}\n", json!(approval)));
        return print(&lines.collect::<String>());
    }
    if approvals.is_empty() {
        note(if all { "no call has asked for a person" } else { "no call waits for a person" });
        return Ok(());
    }
    let now = now();
    print(&approvals.iter().map(|approval| told(approval, now)).collect::<Vec<_>>().join("\n"))
}

/// An approval in a few lines; whoever decides has to see all of the arguments.
fn told(approval: &Approval, now: i64) -> String {
    let standing = standing(approval, now);
    let reason =
        approval.reason.as_deref().map(|reason| format!(": {}", clean_line(reason))).unwrap_or_default();
    let who = match approval.caller.as_str() {
        "" => String::new(),
        caller => format!(" by {}", clean_line(caller)),
    };
    let session = approval.session.as_deref().map(|session| format!(", session {}", clean_line(session)));
    let (id, op) = (clean_line(&approval.id), clean_line(&approval.op));
    let arguments = clean_line(&approval.arguments.to_string());
    let (asked, until) = (utc(approval.asked_at), utc(approval.until));
    let session = session.unwrap_or_default();
    format!(
        "{id}  {standing}{reason}\n  {op} {arguments}\n  asked {asked}{who}{session}; counts until {until} UTC\n"
    )
}

fn standing(approval: &Approval, now: i64) -> &'static str {
    let is_past = approval.until <= now;
    match approval.status {
        ApprovalStatus::Waiting if is_past => "too late: nobody decided",
        ApprovalStatus::Approved if is_past => "too late: approved, and not used",
        status => status.as_str(),
    }
}

fn decide(state: &dyn State, id: &str, yes: bool, reason: Option<&str>) -> Outcome {
    let deciding = async {
        // Whoever decides second changes nothing, and is told so.
        let before = state.approvals(true).await?.into_iter().any(|waiting| waiting.id == id);
        let decided = state.decide(id, yes, reason).await?;
        if let Some(approval) = decided.as_ref().filter(|approval| before && is_as_wanted(approval, yes)) {
            state.record(event(approval));
            state.flush().await?;
        }
        Ok::<_, StateError>((before, decided))
    };
    let shown = clean_line(id);
    match block_on(deciding)? {
        (_, None) => Err(Failure::Findings(Some(format!(
            "there is no approval {shown}; `toolcrib approvals list` shows those that wait"
        )))),
        (true, Some(approval)) if is_as_wanted(&approval, yes) => {
            let (op, until) = (clean_line(&approval.op), utc(approval.until));
            note(match yes {
                true => {
                    format!("approved: {op} may run once, until {until} UTC, when the agent sends it again")
                }
                false => format!("denied: {op}"),
            });
            Ok(())
        }
        (_, Some(approval)) => {
            let message = format!("{shown} cannot be decided any more; it is {}", standing(&approval, now()));
            Err(Failure::Findings(Some(message)))
        }
    }
}

fn is_as_wanted(approval: &Approval, yes: bool) -> bool {
    approval.status == if yes { ApprovalStatus::Approved } else { ApprovalStatus::Denied }
}

/// The decision, for the trace of the session that asked.
fn event(approval: &Approval) -> Event {
    Event {
        trace_id: random_id("tr"),
        caller: approval.caller.clone(),
        session: approval.session.clone(),
        kind: EventKind::Approval,
        function: "approvals".into(),
        op: Some(approval.op.clone()),
        outcome: "ok".into(),
        detail: json!({ "approval": approval.id, "status": approval.status, "reason": approval.reason }),
        ..Event::default()
    }
}
