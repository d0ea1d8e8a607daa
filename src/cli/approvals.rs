//! `toolcrib approvals`: the calls that wait for a person, and the person's decisions.

mod arguments;

use clap::Subcommand;
use serde_json::json;

use super::catalog::CatalogArgs;
use super::state::{StateArgs, block_on};
use super::{CommandError, CommandResult, failed, print, print_note};
use crate::catalog::Catalog;
use crate::exec::binding;
use crate::state::{Approval, ApprovalStatus, Event, EventKind, StateError, StateStore, now, random_id, utc};
use crate::tool::clean_line;

/// Calls that wait for a person: list them, read one in full, approve or deny it.
///
/// A call of a tool with `approval = true` waits until somebody has approved it here; the agent then sends it again,
/// unchanged, and it runs once. An approval counts for as long as `[exec] approval_minutes` says, and is void once the
/// tool's definition or what runs it has changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib approvals list .
  toolcrib approvals show ap_7f3k9x2m4q5d .
  toolcrib approvals approve ap_7f3k9x2m4q5d .
  toolcrib approvals deny ap_7f3k9x2m4q5d --reason \"wrong project\" --state state.db
  toolcrib approvals list --all --json | jq .op")]
pub(super) struct ApprovalsArgs {
    #[command(subcommand)]
    what: ApprovalsCommand,
}

/// The place where approvals are kept.
#[derive(Debug, clap::Args)]
struct Place {
    #[command(flatten)]
    catalog: CatalogArgs,
    #[command(flatten)]
    state: StateArgs,
}

#[derive(Debug, Subcommand)]
enum ApprovalsCommand {
    /// The calls that wait, oldest first.
    List {
        #[command(flatten)]
        place: Place,
        /// List decided, used and expired ones too.
        #[arg(long)]
        all: bool,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Print one call in full: every argument, however long. A hidden value is marked as hidden, with its length and
    /// a hash.
    Show {
        /// The approval, as `list` and the agent's error name it.
        id: String,
        #[command(flatten)]
        place: Place,
        /// Print it as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Approve a call: it runs once.
    Approve {
        /// The approval, as `list` and the agent's error name it.
        id: String,
        #[command(flatten)]
        place: Place,
        /// A note about the decision.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Deny a call.
    Deny {
        /// The approval, as `list` and the agent's error name it.
        id: String,
        #[command(flatten)]
        place: Place,
        /// The reason, which the agent is told.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

impl ApprovalsArgs {
    pub(super) fn run(self) -> CommandResult {
        let (ApprovalsCommand::List { place, .. }
        | ApprovalsCommand::Show { place, .. }
        | ApprovalsCommand::Approve { place, .. }
        | ApprovalsCommand::Deny { place, .. }) = &self.what;
        let Place { catalog, state } = place;
        let state = state.open_existing(catalog)?;
        let now = now();
        match &self.what {
            ApprovalsCommand::List { all, json, .. } => {
                let approvals = block_on(state.approvals(!*all))?;
                let current = Current::of(&approvals, &state, catalog, now)?;
                list(&approvals, &current, *all, *json)
            }
            ApprovalsCommand::Show { id, json, .. } => {
                let approvals = [known(&state, id)?];
                let current = Current::of(&approvals, &state, catalog, now)?;
                let [approval] = &approvals;
                match json {
                    true => print(&current.json(approval)),
                    false => {
                        print(&format!("{}{}", current.approval_text(approval), arguments::whole(approval)))
                    }
                }
            }
            ApprovalsCommand::Approve { id, reason, .. } => {
                let approvals = block_on(state.approvals(true))?;
                let waiting: Vec<Approval> =
                    approvals.into_iter().filter(|waiting| waiting.id == *id).collect();
                let current = Current::of(&waiting, &state, catalog, now)?;
                if let Some(why) = waiting.first().and_then(|waiting| current.void(waiting)) {
                    let message =
                        format!("{} is void: {why}; the agent has to send the call again", clean_line(id));
                    return Err(failed(message));
                }
                decide(&state, id, true, reason.as_deref())?;
                if waiting.first().is_some_and(|waiting| !current.has(waiting)) {
                    let why = current.why_not_compared();
                    print_note(format!(
                        "it was not compared with its tool ({why}): if that has changed, nothing runs"
                    ));
                }
                Ok(())
            }
            ApprovalsCommand::Deny { id, reason, .. } => decide(&state, id, false, reason.as_deref()),
        }
    }
}

/// The approval of this id.
fn known(state: &StateStore, id: &str) -> Result<Approval, CommandError> {
    let found = block_on(state.approvals(false))?.into_iter().find(|approval| approval.id == id);
    found.ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> CommandError {
    let id = clean_line(id);
    failed(format!("there is no approval {id}; `toolcrib approvals list` prints the waiting ones"))
}

/// The facts that approvals are checked against: the time, and the current tools.
struct Current {
    now: i64,
    catalog: Option<Catalog>,
    key: String,
}

impl Current {
    /// Reads the catalog, if it is named and an approval may still be given or used.
    fn of(
        approvals: &[Approval],
        state: &StateStore,
        args: &CatalogArgs,
        now: i64,
    ) -> Result<Self, CommandError> {
        let is_open = |approval: &Approval| {
            approval.until > now
                && matches!(approval.status, ApprovalStatus::Waiting | ApprovalStatus::Approved)
        };
        if !approvals.iter().any(is_open) || !args.is_named() {
            return Ok(Self { now, catalog: None, key: String::new() });
        }
        Ok(Self { now, catalog: Some(args.open()?.catalog), key: block_on(state.hash_key())? })
    }

    /// The reason why an approval is void, if something has changed.
    fn void(&self, approval: &Approval) -> Option<&'static str> {
        match approval.status {
            ApprovalStatus::Void => return Some(CHANGED),
            ApprovalStatus::Waiting | ApprovalStatus::Approved => {}
            ApprovalStatus::Denied | ApprovalStatus::Used => return None,
        }
        let tool = self.catalog.as_ref().and_then(|catalog| Some((catalog, catalog.find(&approval.op)?)));
        let is_other =
            tool.is_some_and(|(catalog, tool)| binding(tool, catalog, &self.key) != approval.bound);
        is_other.then_some(CHANGED)
    }

    /// Status of an approval, in words.
    fn status_text(&self, approval: &Approval) -> String {
        let is_past = approval.until <= self.now;
        match (approval.status, self.void(approval)) {
            (ApprovalStatus::Waiting, _) if is_past => "expired without a decision".into(),
            (ApprovalStatus::Approved, _) if is_past => "too late: approved, and not used".into(),
            (_, Some(why)) => format!("void: {why}"),
            (ApprovalStatus::Waiting | ApprovalStatus::Approved, None) if !self.has(approval) => {
                format!(
                    "{} (not compared with its tool: {})",
                    approval.status.as_str(),
                    self.why_not_compared()
                )
            }
            (status, None) => status.as_str().into(),
        }
    }

    /// Why an approval was not held against its tool.
    fn why_not_compared(&self) -> &'static str {
        match self.catalog {
            Some(_) => "the catalog has no tool of this op",
            None => "name its catalog",
        }
    }

    fn has(&self, approval: &Approval) -> bool {
        self.catalog.as_ref().is_some_and(|catalog| catalog.find(&approval.op).is_some())
    }

    fn json(&self, approval: &Approval) -> String {
        let mut line = json!(approval);
        if let Some(why) = self.void(approval) {
            line["void"] = why.into();
        }
        line["compared"] = self.has(approval).into();
        format!("{line}\n")
    }

    /// An approval in a few lines, with its arguments where they are short.
    fn approval_text(&self, approval: &Approval) -> String {
        let standing = self.status_text(approval);
        let reason =
            approval.reason.as_deref().map(|reason| format!(": {}", clean_line(reason))).unwrap_or_default();
        let who = match approval.caller.as_str() {
            "" => String::new(),
            caller => format!(" by {}", clean_line(caller)),
        };
        let session = approval.session.as_deref().map(|session| format!(", session {}", clean_line(session)));
        let (id, op) = (clean_line(&approval.id), clean_line(&approval.op));
        let arguments = arguments::summary(approval);
        let (asked, until) = (utc(approval.asked_at), utc(approval.until));
        let session = session.unwrap_or_default();
        format!(
            "{id}  {standing}{reason}\n  {op} {arguments}\n  asked {asked}{who}{session}; counts until {until} UTC\n"
        )
    }
}

/// Why an approval is void.
const CHANGED: &str = "the definition of its tool, or the backend, has changed since";

fn list(approvals: &[Approval], current: &Current, all: bool, json: bool) -> CommandResult {
    if json {
        return print(&approvals.iter().map(|approval| current.json(approval)).collect::<String>());
    }
    if approvals.is_empty() {
        print_note(if all { "no call has asked for a person" } else { "no call waits for a person" });
        return Ok(());
    }
    print(&approvals.iter().map(|approval| current.approval_text(approval)).collect::<Vec<_>>().join("\n"))
}

fn decide(state: &StateStore, id: &str, yes: bool, reason: Option<&str>) -> CommandResult {
    let deciding = async {
        // A second decision changes nothing, and the person is told so.
        let before = state.approvals(true).await?.into_iter().any(|waiting| waiting.id == id);
        let decided = state.decide_approval(id, yes, reason).await?;
        if let Some(approval) = decided.as_ref().filter(|approval| before && is_as_wanted(approval, yes)) {
            state.record(event(approval));
            state.flush().await?;
        }
        Ok::<_, StateError>((before, decided))
    };
    let shown = clean_line(id);
    match block_on(deciding)? {
        (_, None) => Err(unknown(id)),
        (true, Some(approval)) if is_as_wanted(&approval, yes) => {
            let (op, until) = (clean_line(&approval.op), utc(approval.until));
            print_note(match yes {
                true => {
                    format!("approved: {op} may run once, until {until} UTC, when the agent sends it again")
                }
                false => format!("denied: {op}"),
            });
            Ok(())
        }
        (_, Some(approval)) => {
            let current = Current { now: now(), catalog: None, key: String::new() };
            let standing = match current.void(&approval) {
                Some(why) => format!("void: {why}"),
                None if approval.until <= current.now => current.status_text(&approval),
                None => approval.status.as_str().into(),
            };
            let message = format!("{shown} cannot be decided any more; it is {standing}");
            Err(failed(message))
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
