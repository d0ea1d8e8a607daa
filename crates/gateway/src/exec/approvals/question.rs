//! Asks the person at the client. The question has the whole call; the answer counts for it alone, once, while its approval waits.

use std::sync::Arc;

use rmcp::model::{ElicitRequestParams, ElicitationSchema};
use serde_json::{Value, json};

use super::argument_page::whole_arguments;
use super::request::hash;
use crate::exec::backend::Backends;
use crate::exec::call::{Call, Checked};
use crate::state::Approval;
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::ApprovalPlace;
use toolcrib_definition::{Backend, Effect, clean_line};
use toolcrib_front::mcp::{Question, RequestOrigin, ask, bound};

/// The sender and the name of our question on the newer protocol.
const ASKING: &str = "toolcrib approvals";

const QUESTION: &str = "approval";

/// The longest question, in bytes. Longer calls are shown on the command line.
const MAX_QUESTION: usize = 20_000;

/// Whether a call that nobody has allowed or forbidden may run once its person agrees: the client has started this process for
/// its person, and can ask.
pub(crate) fn is_allowed_by_asking(call: &Call, tool: &Tool) -> bool {
    call.config().exec.allow.is_none()
        && tool.rules.effect != Effect::Read
        && call.context.caller.is_own_client
        && !runs_as_direct(call, tool)
        && client_to_ask(call).is_some_and(|origin| origin.takes_questions())
}

/// Whether a live server's tool runs as it would without us: nothing is configured, and the client has asked its person.
pub(crate) fn runs_as_direct(call: &Call, tool: &Tool) -> bool {
    call.context.caller.asks_its_person && may_run_as_direct(call, tool)
}

/// Whether it would do so, if the client had asked.
pub(crate) fn may_run_as_direct(call: &Call, tool: &Tool) -> bool {
    call.config().exec.allow.is_none()
        && call.request.step.is_none()
        && matches!(Backends::of(tool, call.config()).as_deref(), Some(Backend::Mcp { .. }))
}

/// The client whose person decides, where the client and not the command line is the place for it.
fn client_to_ask(call: &Call) -> Option<&Arc<RequestOrigin>> {
    let caller = &call.context.caller;
    let asks_client =
        call.config().exec.approve_in.map_or(caller.is_own_client, |place| place == ApprovalPlace::Client);
    caller.origin.as_ref().filter(|_| asks_client)
}

/// The note on a client that should ask its person, and cannot.
pub(super) fn note_on_client(call: &Call) -> &'static str {
    match client_to_ask(call) {
        Some(origin) if origin.is_first_without_questions() => {
            "this client shows no questions (it has no MCP elicitation); "
        }
        _ => "",
    }
}

/// Asks the person at the client. `None` where nobody decides now, or where the question is the answer to the client.
pub(super) async fn ask_client(call: &Checked, approval: &Approval, key: &str) -> Option<bool> {
    let origin = client_to_ask(call).filter(|origin| origin.takes_questions())?;
    let state = format!("{} {}", approval.id, hash(key, &json!(signed_part(approval)).to_string()));
    if let Some(given) = origin.take_own_input(ASKING, &state) {
        return decision(given.get(QUESTION)?);
    }
    let question = question(call, approval)?;
    if origin.session().is_none() {
        // The call is sent again from its beginning, so that nothing may have run before.
        if call.request.step.is_none() && origin.may_ask_first() {
            origin.require_input(question.required(QUESTION, bound(ASKING, Some(state))));
        }
        return None;
    }
    decision(&ask(origin, question).await.ok()?)
}

/// The decision in an answer of a person; `None` for one who has not decided.
fn decision(answer: &Value) -> Option<bool> {
    match answer.get("action")?.as_str()? {
        "accept" => Some(true),
        "decline" => Some(false),
        _ => None,
    }
}

/// All that an answer is bound to.
fn signed_part(approval: &Approval) -> [&str; 4] {
    [&approval.id, &approval.caller, &approval.fingerprint, &approval.bound]
}

/// The question whether to run a call; `None` for one too long to be read in a window.
fn question(call: &Checked, approval: &Approval) -> Option<Question> {
    let kind = if call.effect() == Effect::Destructive { "destructive" } else { "a change" };
    let name = clean_line(&call.tool.names.canonical);
    let message = format!("Run {name}, which is {kind}?\n\n{}", whole_arguments(approval));
    let requested_schema = ElicitationSchema::builder().build().ok()?;
    let is_short = message.len() <= MAX_QUESTION;
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    is_short.then(|| Question::elicitation(params))
}
