//! Refuses a call whose page has to be read before it.

use crate::exec::call::Call;
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::corrected;
use toolcrib_render::help::{self, Format, HelpOptions, of_tool};

/// Refuses a call whose doc has to be read and was not. The error carries help, so that the next call can pass.
pub(super) async fn require_doc(call: &Call, index: usize, tool: &Tool) -> Result<(), ToolError> {
    // The arguments of a step are its author's.
    if call.request.step.is_some() || !call.config().exec.require_doc.covers(tool.rules.effect) {
        return Ok(());
    }
    let Some(Ok(doc)) = call.context.view.page(index) else { return Ok(()) };
    let is_stale = match call.request.receipt.as_deref() {
        Some(receipt) if receipt == doc.receipt => return Ok(()),
        other => other.is_some(),
    };
    let session = call.context.caller.session();
    if let Some(session) = &session {
        let given = call.state().doc_read_version(session, &tool.names.op).await.ok().flatten();
        if given.is_some_and(|version| version == doc.version) {
            return Ok(());
        }
    }
    let wanted = HelpOptions {
        format: Format::Short,
        examples: true,
        schemas: false,
        short_tokens: help::SHORT_TOKENS,
    };
    let mut help = of_tool(tool, wanted);
    help.insert("doc_version".into(), doc.version.as_str().into());
    help.insert("receipt".into(), doc.receipt.as_str().into());
    let given = match &session {
        Some(session) => call.state().record_doc_read(session, &tool.names.op, &doc.version).await.is_ok(),
        None => false,
    };
    let message = if is_stale {
        format!("`receipt` is not that of the current doc of `{}`, which has to be read first", tool.names.op)
    } else {
        format!("the doc of `{}` has to be read before it is called", tool.names.op)
    };
    let next = if given {
        "read `help` here, then send the call again"
    } else {
        "read `help` here, then send the call again with the `receipt` in it"
    };
    let mut failure = ToolError::new(ErrorCode::DocRequired, message, next);
    if let Some(again) = corrected(tool, call.secrets(), call.arguments()) {
        (failure.example, failure.fill_in) = (Some(again.args), again.fill_in);
    }
    failure.help = Some(help);
    Err(failure)
}
