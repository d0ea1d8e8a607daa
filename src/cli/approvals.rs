//! `toolcrib approvals`: the calls that wait for a person, and the person's decisions.

use std::collections::HashMap;

use clap::Subcommand;
use serde_json::{Value, json};

use super::catalog::CatalogArgs;
use super::state::{StateArgs, block_on};
use super::{CommandError, CommandResult, failed, print, print_note};
use crate::catalog::Catalog;
use crate::exec::binding;
use crate::finding::pointer_join;
use crate::state::{
    Approval, ApprovalStatus, Event, EventKind, HiddenValue, StateError, StateStore, now, random_id, utc,
};
use crate::tool::{clean_line, is_hidden};

/// Calls that wait for a person: list them, read one in full, approve or deny it.
///
/// A call of a tool with `approval = true` waits until somebody has approved it here; the agent then sends it again,
/// unchanged, and it runs once. An approval counts for an hour, and is void once the tool's definition or what
/// runs it has changed.
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
                        print(&format!("{}{}", current.approval_text(approval), whole_arguments(approval)))
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
        let arguments = argument_summary(approval);
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

// The arguments of a call, for the person who decides. All of them are printed, and none can pass for anything else:
// each line is short, so that no terminal wraps it, and begins with an indent that no text can remove.

/// The widest piece of a text on one line, in columns.
const WIDTH: usize = 44;

/// Most bytes of arguments in a list; longer ones are summarised.
const SHORT: usize = 48;

/// The widest label before a value, and the widest line of both, in columns.
const LABEL: usize = 24;
const LINE: usize = 56;

/// Deepest level that is indented further.
const DEEPEST: usize = 8;

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
            "({names} arguments, {bytes} bytes{hidden})\n  read all of it: toolcrib approvals show {}, with this catalog or --state",
            approval.id
        );
    };
    format!("({reason})")
}

/// All arguments, over as many lines as they need.
fn whole_arguments(approval: &Approval) -> String {
    if erased(approval).is_some() {
        return String::new();
    }
    let hidden = approval.hidden.iter().map(|hidden| (hidden.pointer.as_str(), hidden)).collect();
    let mut page = Page { hidden, text: String::new() };
    page.value(0, "", &approval.arguments, "", "");
    format!("{}end of {}\n", page.text, approval.id)
}

/// Why there are no arguments to show.
fn erased(approval: &Approval) -> Option<&'static str> {
    match approval.status {
        _ if !approval.arguments.is_null() || !approval.hidden.is_empty() => None,
        ApprovalStatus::Waiting | ApprovalStatus::Approved => {
            Some("its arguments were erased when it expired")
        }
        _ => Some("its arguments were erased"),
    }
}

struct Page<'a> {
    hidden: HashMap<&'a str, &'a HiddenValue>,
    text: String,
}

impl Page<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let indent = 2 * depth.min(DEEPEST);
        self.text.push_str(&format!("{:indent$}{text}\n", ""));
    }

    /// A value after its label, with its suffix.
    fn value(&mut self, depth: usize, label: &str, value: &Value, pointer: &str, end: &str) {
        let label = if label.len() > LABEL {
            self.line(depth, label.trim_end());
            ""
        } else {
            label
        };
        if let Some(hidden) = self.hidden.get(pointer) {
            let told = format!("{label}hidden: {} bytes, keyed BLAKE3", hidden.bytes);
            let hash = format!("{}{end}", hidden.hash);
            self.line(depth, &told);
            return self.line(depth + 2, &hash);
        }
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                self.line(depth, &format!("{label}{{"));
                for (index, (name, field)) in fields.iter().enumerate() {
                    let end = if index + 1 < fields.len() { "," } else { "" };
                    let label = self.name(depth + 1, name);
                    self.value(depth + 1, &label, field, &pointer_join(pointer, name), end);
                }
                self.line(depth, &format!("}}{end}"));
            }
            Value::Array(items) if !items.is_empty() => {
                self.line(depth, &format!("{label}["));
                for (index, item) in items.iter().enumerate() {
                    let end = if index + 1 < items.len() { "," } else { "" };
                    self.value(depth + 1, "", item, &pointer_join(pointer, index), end);
                }
                self.line(depth, &format!("]{end}"));
            }
            Value::String(text) => match pieces(text, false).as_slice() {
                [] => self.line(depth, &format!("{label}\"\"{end}")),
                [only] if only.len() + label.len() <= LINE => {
                    self.line(depth, &format!("{label}\"{only}\"{end}"));
                }
                pieces => {
                    let heading = format!("{label}text of {} bytes on {} lines:", text.len(), pieces.len());
                    self.lines(depth, &heading, pieces, "\"");
                }
            },
            plain => {
                let text = plain.to_string();
                // A number can be as long as a text.
                match text.len() + label.len() <= LINE {
                    true => self.line(depth, &format!("{label}{text}{end}")),
                    false => {
                        let heading = format!("{label}number of {} characters:", text.len());
                        self.lines(depth, &heading, &pieces(&text, false), "");
                    }
                }
            }
        }
    }

    /// The label of a field. Letters other than ASCII are escaped, since they can look like others.
    fn name(&mut self, depth: usize, name: &str) -> String {
        let pieces = pieces(name, false);
        let label = match pieces.as_slice() {
            [] => "\"\"".into(),
            [only] => format!("\"{only}\""),
            _ => {
                self.lines(depth, &format!("a name of {} bytes:", name.len()), &pieces, "\"");
                "that name".into()
            }
        };
        if !name.is_ascii() {
            self.lines(depth, &format!("{label} is spelled"), &self::pieces(name, true), "\"");
        }
        format!("{label}: ")
    }

    /// A heading, and the pieces of a text on lines of their own.
    fn lines(&mut self, depth: usize, heading: &str, pieces: &[String], quote: &str) {
        self.line(depth, heading);
        pieces.iter().for_each(|piece| self.line(depth + 1, &format!("| {quote}{piece}{quote}")));
    }
}

/// A text as JSON, in pieces that fit a line. Control and invisible characters are escaped, and all but ASCII where
/// `only_ascii` is set.
fn pieces(text: &str, only_ascii: bool) -> Vec<String> {
    let (mut pieces, mut piece, mut width) = (Vec::new(), String::new(), 0);
    for c in text.chars() {
        let begun = piece.len();
        match c {
            '"' | '\\' => piece.extend(['\\', c]),
            '\n' => piece.push_str("\\n"),
            '\r' => piece.push_str("\\r"),
            '\t' => piece.push_str("\\t"),
            ' '..='~' => piece.push(c),
            c if only_ascii || is_unseen(c) => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| piece.push_str(&format!("\\u{unit:04x}")));
            }
            c => piece.push(c),
        }
        // Letters other than ASCII may take two columns.
        width += if c.is_ascii() || only_ascii { piece.len() - begun } else { 2.max(piece.len() - begun) };
        if width >= WIDTH || c == '\n' {
            pieces.push(std::mem::take(&mut piece));
            width = 0;
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

fn is_unseen(c: char) -> bool {
    c.is_whitespace() || c.is_control() || is_hidden(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::tool::hidden_characters;

    fn approval(arguments: Value) -> Approval {
        Approval {
            id: "ap_1".into(),
            caller: String::new(),
            session: None,
            op: "util.pay".into(),
            arguments,
            hidden: Vec::new(),
            fingerprint: String::new(),
            bound: "x".into(),
            asked_at: 0,
            until: 0,
            status: ApprovalStatus::Waiting,
            reason: None,
        }
    }

    #[test]
    fn arguments_cannot_pass_for_the_frame_around_them() {
        let forged = "x\nend of ap_1\n\u{1b}[2J\u{202e}\u{9b}2Kap_2  approved\u{2028}\u{200b}\u{a0}";
        let padded = format!("{}end of ap_1", " ".repeat(200));
        let shown = whole_arguments(&approval(
            json!({ "note": forged, "pad": padded, forged: 1, "": {}, "\u{430}mount": 2 }),
        ));
        let framed = shown.lines().filter(|line| !line.starts_with("  ")).collect::<Vec<_>>();
        assert_eq!(framed, ["{", "}", "end of ap_1"]);
        assert!(shown.lines().all(|line| line.chars().count() < 80), "{shown}");
        assert!(hidden_characters(&shown).is_empty() && !shown.contains('\u{2028}'), "{shown:?}");
        assert!(shown.contains("\\u001b[2J\\u202e\\u009b2K") && shown.contains("\\u0430mount"), "{shown}");
    }

    #[test]
    fn nothing_is_cut() {
        let text: String = (0..1_000_000).map(|number| format!("{number},")).collect();
        let shown = whole_arguments(&approval(json!({ "deep": [[[{ "text": text }]]] })));
        let told: String = shown
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("| \"")?.strip_suffix('"'))
            .collect();
        assert_eq!(told, text);
        assert!(shown.contains(&format!("text of {} bytes", text.len())));
    }

    proptest! {
        #[test]
        fn every_line_is_short_and_plain(name in ".{0,80}", text in "(?s).{0,300}") {
            let shown = whole_arguments(&approval(json!({ name: [text] })));
            prop_assert!(hidden_characters(&shown).is_empty());
            prop_assert!(shown.lines().all(|line| line.chars().count() < 80));
            prop_assert_eq!(shown.lines().filter(|line| !line.starts_with("  ")).count(), 3);
        }
    }
}
