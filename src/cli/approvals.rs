//! `toolcrib approvals`: the calls that wait for a person, and the person's decisions.

use std::collections::HashSet;
use std::sync::Arc;

use clap::Subcommand;
use serde_json::json;

use super::catalog::CatalogArgs;
use super::state::{StateArgs, block_on, noted_states};
use super::{CommandError, CommandResult, failed, print, print_note};
use toolcrib_definition::clean_line;
use toolcrib_gateway::exec::{self, Decided, Decision, erased, whole_arguments};
use toolcrib_gateway::state::{Approval, ApprovalStatus, StateStore, now, utc};

/// Calls that wait for a person: list them, read one in full, approve or deny it.
///
/// A call of a tool with `approval = true` waits until somebody has approved it in the client or here; the agent then sends it
/// again, unchanged, and it runs once. Without a catalog and --state, these are the calls of each server that has run here. An approval counts for an hour, and is void once the tool's definition or what
/// runs it has changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib approvals
  toolcrib approvals show ap_7f3k9x2m4q5d
  toolcrib approvals approve ap_7f3k9x2m4q5d
  toolcrib approvals deny ap_7f3k9x2m4q5d --reason \"wrong project\" --state state.db
  toolcrib approvals list --all --json | jq .op")]
pub(super) struct ApprovalsArgs {
    #[command(subcommand)]
    what: Option<ApprovalsCommand>,
}

/// The place where approvals are kept.
#[derive(Clone, Debug, Default, clap::Args)]
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
        /// The reason, shown to the agent.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

impl ApprovalsArgs {
    pub(super) fn run(self) -> CommandResult {
        let list = || ApprovalsCommand::List { place: Place::default(), all: false, json: false };
        let what = self.what.unwrap_or_else(list);
        let (ApprovalsCommand::List { place, .. }
        | ApprovalsCommand::Show { place, .. }
        | ApprovalsCommand::Approve { place, .. }
        | ApprovalsCommand::Deny { place, .. }) = &what;
        let states = place.opened()?;
        match &what {
            ApprovalsCommand::List { all, json, .. } => {
                let (mut text, mut known) = (Vec::new(), HashSet::new());
                for state in &states {
                    let mut approvals = block_on(state.approvals(!*all))?;
                    approvals.retain(|approval| known.insert(approval.id.clone()));
                    text.extend(approvals.iter().map(|approval| match json {
                        true => as_json(approval),
                        false => approval_text(approval),
                    }));
                }
                if text.is_empty() && !json {
                    print_note(if *all {
                        "no call has asked for a person"
                    } else {
                        "no call waits for a person"
                    });
                }
                print(&text.join(if *json { "" } else { "\n" }))
            }
            ApprovalsCommand::Show { id, json, .. } => {
                let (approval, _) = known(&states, id)?;
                match json {
                    true => print(&as_json(&approval)),
                    false => print(&format!("{}{}", approval_text(&approval), whole_arguments(&approval))),
                }
            }
            ApprovalsCommand::Approve { id, reason, .. } => {
                decide(known(&states, id)?.1, id, true, reason.as_deref())
            }
            ApprovalsCommand::Deny { id, reason, .. } => {
                decide(known(&states, id)?.1, id, false, reason.as_deref())
            }
        }
    }
}

impl Place {
    /// The state that was named, else that of each server that has noted its own.
    fn opened(&self) -> Result<Vec<Arc<StateStore>>, CommandError> {
        if !self.catalog.is_named() && !self.state.is_named() {
            let noted: Vec<Arc<StateStore>> = noted_states().collect();
            // Without any, and without a catalog here, nothing waits.
            if !noted.is_empty() || self.catalog.workspace()?.document.is_none() {
                return Ok(noted);
            }
        }
        Ok(vec![self.state.open_existing(&self.catalog)?])
    }
}

/// The approval of this id, and the state that has it.
fn known<'s>(states: &'s [Arc<StateStore>], id: &str) -> Result<(Approval, &'s StateStore), CommandError> {
    for state in states {
        if let Some(approval) = block_on(state.approval(id))? {
            return Ok((approval, state));
        }
    }
    Err(unknown(id))
}

fn unknown(id: &str) -> CommandError {
    let id = clean_line(id);
    failed(format!("there is no approval {id}; `toolcrib approvals list` prints the waiting ones"))
}

/// Status of an approval, in words.
fn status_text(approval: &Approval) -> &'static str {
    let is_past = approval.until <= now();
    match approval.status {
        ApprovalStatus::Waiting if is_past => "expired without a decision",
        ApprovalStatus::Approved if is_past => "too late: approved, and not used",
        ApprovalStatus::Void => "void: the definition of its tool, or the backend, has changed since",
        status => status.as_str(),
    }
}

fn as_json(approval: &Approval) -> String {
    format!("{}\n", json!(approval))
}

/// An approval in a few lines, with its arguments where they are short.
fn approval_text(approval: &Approval) -> String {
    let standing = status_text(approval);
    let reason =
        approval.reason.as_deref().map(|reason| format!(": {}", clean_line(reason))).unwrap_or_default();
    let who = match approval.caller.as_str() {
        "" => String::new(),
        caller => format!(" by {}", clean_line(caller)),
    };
    let session = approval.session.as_deref().map(|session| format!(", session {}", clean_line(session)));
    let (id, op) = (clean_line(&approval.id), clean_line(&approval.op));
    let arguments = argument_summary(approval);
    let (asked, until) = (utc(approval.asked_at), utc(approval.until));
    let session = session.unwrap_or_default();
    format!(
        "{id}  {standing}{reason}\n  {op} {arguments}\n  asked {asked}{who}{session}; counts until {until} UTC\n"
    )
}

/// Decides about a call. If its tool has changed, the server voids the approval when the call is sent again.
fn decide(state: &StateStore, id: &str, yes: bool, reason: Option<&str>) -> CommandResult {
    let decided = block_on(exec::decide(state, None, Decision { id, yes, reason, by: None }))?;
    match decided {
        Decided::Unknown | Decided::OwnCall | Decided::Changed(_) => Err(unknown(id)),
        Decided::Done(approval) => {
            let (op, until) = (clean_line(&approval.op), utc(approval.until));
            print_note(match yes {
                true => {
                    format!("approved: {op} may run once, until {until} UTC, when the agent sends it again")
                }
                false => format!("denied: {op}"),
            });
            Ok(())
        }
        Decided::Late(approval) => {
            let (id, standing) = (clean_line(id), status_text(&approval));
            Err(failed(format!("{id} cannot be decided any more; it is {standing}")))
        }
    }
}

/// Most bytes of arguments in a list; longer ones are summarised.
const SHORT: usize = 48;

/// The arguments in a list: the text where it is short, else its size.
fn argument_summary(approval: &Approval) -> String {
    let Some(reason) = erased(approval) else {
        let text = approval.arguments.to_string();
        let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if text.len() + approval.op.len() <= SHORT && is_plain && approval.hidden.is_empty() {
            return text;
        }
        let names = approval.arguments.as_object().map_or(0, serde_json::Map::len);
        let (bytes, hidden) = (text.len(), approval.hidden.len());
        let hidden = if hidden > 0 { format!(", {hidden} of its values hidden") } else { String::new() };
        return format!(
            "({names} arguments, {bytes} bytes{hidden})\n  read all of it: toolcrib approvals show {}",
            approval.id
        );
    };
    format!("({reason})")
}
