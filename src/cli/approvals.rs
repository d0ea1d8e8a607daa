//! `toolcrib approvals`: the calls that wait for a person, and the person's decisions.

use std::collections::HashSet;
use std::sync::Arc;

use clap::Subcommand;
use serde_json::json;

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult, failed};
use super::io::Io;
use super::state::{StateArgs, block_on, noted_states};
use toolcrib_catalog::Catalog;
use toolcrib_definition::clean_line;
use toolcrib_gateway::exec::{self, Decided, Decision, erased, has_changed, whole_arguments};
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

/// One approval, and the place where it is kept.
#[derive(Debug, clap::Args)]
struct Chosen {
    /// The approval, as `list` and the agent's error name it.
    id: String,
    #[command(flatten)]
    place: Place,
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
        #[command(flatten)]
        chosen: Chosen,
        /// Print it as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Approve a call: it runs once.
    Approve {
        #[command(flatten)]
        chosen: Chosen,
        /// A note about the decision.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Deny a call.
    Deny {
        #[command(flatten)]
        chosen: Chosen,
        /// The reason, shown to the agent.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

impl ApprovalsArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let list = ApprovalsCommand::List { place: Place::default(), all: false, json: false };
        match self.what.unwrap_or(list) {
            ApprovalsCommand::List { place, all, json } => print_list(io, &place.opened(io)?, all, json),
            ApprovalsCommand::Show { chosen, json } => {
                let (approval, place) = chosen.find(io)?;
                let current = Current::of(io, std::slice::from_ref(&approval), &place)?;
                let text = current.listed(&approval, json);
                io.print(&if json { text } else { text + &whole_arguments(&approval) })
            }
            ApprovalsCommand::Approve { chosen, reason } => {
                let (approval, place) = chosen.find(io)?;
                let is_waiting = approval.status == ApprovalStatus::Waiting;
                let waiting = if is_waiting { std::slice::from_ref(&approval) } else { &[] };
                let current = Current::of(io, waiting, &place)?;
                let decision = Decision { id: &chosen.id, yes: true, reason: reason.as_deref(), by: None };
                decide(io, (&approval, &place.state), current.catalog.as_ref(), decision)?;
                if is_waiting && !current.has(&approval) && place.catalog.is_some() {
                    let why = current.why_not_compared();
                    io.note(format!(
                        "it was not compared with its tool ({why}): if that has changed, nothing runs"
                    ));
                }
                Ok(())
            }
            ApprovalsCommand::Deny { chosen, reason } => {
                let decision = Decision { id: &chosen.id, yes: false, reason: reason.as_deref(), by: None };
                let (approval, place) = chosen.find(io)?;
                decide(io, (&approval, &place.state), None, decision)
            }
        }
    }
}

/// Prints the approvals of all places, each once.
fn print_list(io: &Io, places: &[Opened], all: bool, json: bool) -> CommandResult {
    let mut text = Vec::new();
    let mut known = HashSet::new();
    for place in places {
        let mut approvals = block_on(place.state.approvals(!all))?;
        approvals.retain(|approval| known.insert(approval.id.clone()));
        let current = Current::of(io, &approvals, place)?;
        text.extend(approvals.iter().map(|approval| current.listed(approval, json)));
    }
    if text.is_empty() && !json {
        io.note(if all { "no call has asked for a person" } else { "no call waits for a person" });
    }
    io.print(&text.join(if json { "" } else { "\n" }))
}

/// A place where approvals are kept, opened.
struct Opened {
    /// The catalog that was named; `None` for a place that a server has noted.
    catalog: Option<CatalogArgs>,
    state: Arc<StateStore>,
}

impl Place {
    /// The place that was named, else each one that a server has noted.
    fn opened(&self, io: &Io) -> Result<Vec<Opened>, CommandError> {
        if !self.catalog.is_named() && !self.state.is_named() {
            let noted: Vec<Opened> = noted_states(io).map(|state| Opened { catalog: None, state }).collect();
            // Without any, and without a catalog here, nothing waits.
            if !noted.is_empty() || self.catalog.workspace(io)?.document.is_none() {
                return Ok(noted);
            }
        }
        let state = self.state.open_existing(io, &self.catalog)?;
        Ok(vec![Opened { catalog: Some(self.catalog.clone()), state }])
    }
}

impl Chosen {
    /// The approval, and the place that has it.
    fn find(&self, io: &Io) -> Result<(Approval, Opened), CommandError> {
        for place in self.place.opened(io)? {
            if let Some(approval) = block_on(place.state.approval(&self.id))? {
                return Ok((approval, place));
            }
        }
        Err(unknown(&self.id))
    }
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
    /// Whether a server has noted the place: its call is compared with the tool when it is sent again.
    is_noted: bool,
}

impl Current {
    /// Reads the catalog of a place, if it is named and an approval may still be given or used.
    fn of(io: &Io, approvals: &[Approval], place: &Opened) -> Result<Self, CommandError> {
        let mut current = Self { is_noted: place.catalog.is_none(), ..Self::unread() };
        let is_open = |approval: &Approval| {
            approval.until > current.now
                && matches!(approval.status, ApprovalStatus::Waiting | ApprovalStatus::Approved)
        };
        let named = place.catalog.as_ref().filter(|args| args.is_named());
        if let Some(args) = named
            && approvals.iter().any(is_open)
        {
            current.catalog = Some(args.open(io)?.catalog);
            current.key = block_on(place.state.hash_key())?;
        }
        Ok(current)
    }

    /// The time alone.
    fn unread() -> Self {
        Self { now: now(), catalog: None, key: String::new(), is_noted: true }
    }

    /// The reason why an approval is void, if something has changed.
    fn void(&self, approval: &Approval) -> Option<&'static str> {
        match approval.status {
            ApprovalStatus::Void => return Some(CHANGED),
            ApprovalStatus::Waiting | ApprovalStatus::Approved => {}
            ApprovalStatus::Denied | ApprovalStatus::Used => return None,
        }
        has_changed(approval, self.catalog.as_ref(), &self.key).then_some(CHANGED)
    }

    /// Status of an approval, in words.
    fn status_text(&self, approval: &Approval) -> String {
        let is_past = approval.until <= self.now;
        match (approval.status, self.void(approval)) {
            (ApprovalStatus::Waiting, _) if is_past => "expired without a decision".into(),
            (ApprovalStatus::Approved, _) if is_past => "too late: approved, and not used".into(),
            (_, Some(why)) => format!("void: {why}"),
            (ApprovalStatus::Waiting | ApprovalStatus::Approved, None)
                if !self.has(approval) && !self.is_noted =>
            {
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

    /// An approval as a line of JSON, or in a few lines for people.
    fn listed(&self, approval: &Approval, as_json: bool) -> String {
        if !as_json {
            return self.approval_text(approval);
        }
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
        let id = clean_line(&approval.id);
        let op = clean_line(&approval.op);
        let arguments = argument_summary(approval);
        let asked = utc(approval.asked_at);
        let until = utc(approval.until);
        let session = session.unwrap_or_default();
        format!(
            "{id}  {standing}{reason}\n  {op} {arguments}\n  asked {asked}{who}{session}; counts until {until} UTC\n"
        )
    }
}

/// Why an approval is void.
const CHANGED: &str = "the definition of its tool, or the backend, has changed since";

/// Decides about a call that a person has read in full and confirmed at the terminal.
fn decide(
    io: &Io,
    (approval, state): (&Approval, &StateStore),
    catalog: Option<&Catalog>,
    decision: Decision<'_>,
) -> CommandResult {
    let shown = clean_line(decision.id);
    let verb = if decision.yes { "approve" } else { "deny" };
    let op = clean_line(&approval.op);
    match io.confirmed(&format!("{}{verb} {shown}, {op}?", whole_arguments(approval))) {
        Some(true) => {}
        Some(false) => return Err(failed("the word was not typed, and nothing is decided")),
        None => {
            return Err(failed(format!(
                "cannot {verb} {shown}: a person decides at a terminal, and this run has no terminal\n  help: run this in a terminal, or decide on the page of the approval"
            )));
        }
    }
    match block_on(exec::decide(state, catalog, decision))? {
        Decided::Unknown | Decided::OwnCall => Err(unknown(decision.id)),
        Decided::Changed(_) => {
            Err(failed(format!("{shown} is void: {CHANGED}; the agent has to send the call again")))
        }
        Decided::Done(approval) => {
            let op = clean_line(&approval.op);
            let until = utc(approval.until);
            io.note(if decision.yes {
                format!("approved: {op} may run once, until {until} UTC, when the agent sends it again")
            } else {
                format!("denied: {op}")
            });
            Ok(())
        }
        Decided::Late(approval) => {
            let standing = Current::unread().status_text(&approval);
            Err(failed(format!("{shown} cannot be decided any more; it is {standing}")))
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
        let bytes = text.len();
        let hidden = approval.hidden.len();
        let hidden = if hidden > 0 { format!(", {hidden} of its values hidden") } else { String::new() };
        return format!(
            "({names} arguments, {bytes} bytes{hidden})\n  read all of it: toolcrib approvals show {}",
            approval.id
        );
    };
    format!("({reason})")
}
