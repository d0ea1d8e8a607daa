//! All checks of a call before it is run: the tool, its arguments, the effect that is allowed, the receipt of its page.

mod find_tool;
mod gates;
mod required_page;
mod time_limit;

use std::sync::Arc;

use super::call::Call;
use super::call_fields::{separate_fields, take_from_own_arguments};
use super::select::check_select;
use super::shape::shape_of_schema;
use crate::tool_error::{ErrorCode, Result, ToolError};
use find_tool::find_tool;
use gates::{pass_first_gates, pass_gates};
use required_page::require_doc;
use time_limit::apart;
use toolcrib_catalog::arguments::{InvalidArguments, Repair, validate};
use toolcrib_catalog::{Callable, Tool};

/// Makes all checks, in order; the first error ends them. The call has valid arguments afterwards.
pub(super) async fn check(call: &mut Call) -> Result<Arc<Tool>> {
    let (index, tool) = find_tool(call).await?;
    call.request.op.clone_from(&tool.op);
    call.tool = Some(Arc::clone(&tool));
    separate(call, &tool)?;
    leave_out_hidden(call, &tool);
    pass_first_gates(call, &tool)?;
    call.repaired = read_arguments(call, &tool).await?;
    if let Some(expression) = &call.request.select {
        let schema = tool.definition.result_schema.as_ref();
        check_select(expression, schema.map(shape_of_schema))?;
    }
    leave_out_hidden(call, &tool);
    pass_gates(call, &tool)?;
    require_doc(call, index, &tool).await?;
    Ok(tool)
}

/// Leaves out arguments that the operator sets and hides: no caller can give them.
fn leave_out_hidden(call: &mut Call, tool: &Tool) {
    let request = &mut call.request;
    for argument in tool.set_arguments.iter().filter(|argument| argument.set.hidden) {
        let beside = request.extra_fields.shift_remove(&argument.name);
        let among = request.args.as_object_mut().and_then(|args| args.shift_remove(&argument.name));
        if beside.or(among).is_some() {
            request.warnings.push(format!("`{}` is set by the operator, and was left out", argument.name));
        }
    }
}

/// Separates the fields of the call from the arguments of a tool that can be called.
fn separate(call: &mut Call, tool: &Tool) -> Result<()> {
    let separated = separate_fields(&mut call.request, tool);
    call.is_dry_run = call.request.dry_run.unwrap_or(tool.definition.dry_run == Some(true));
    separated?;
    call.validated = Some(tool.parameters.is_checked());
    if let Callable::No(reason) = tool.parameters.callable() {
        let next = "choose another tool, or say that this one is broken";
        let message = format!("`{}` cannot be called: {reason}", tool.op);
        return Err(ToolError::new(ErrorCode::NoBackend, message, next));
    }
    Ok(())
}

/// Makes the arguments fit the schema of the tool, and returns the changes.
async fn read_arguments(call: &mut Call, tool: &Arc<Tool>) -> Result<Vec<Repair>> {
    let tool = Arc::clone(tool);
    let repaired = apart(call, move |context, request| {
        let beside = std::mem::take(&mut request.extra_fields);
        let secrets = context.view.catalog().secrets();
        let warnings = &mut request.warnings;
        let repaired = validate(&tool, secrets, &mut request.args, beside, warnings)
            .map_err(InvalidArguments::shortened)?;
        // Arguments that were JSON text are an object only now, so fields of the call may have come to light.
        take_from_own_arguments(request, tool.parameters.schema())?;
        Ok(repaired)
    });
    let repaired = repaired.await?;
    call.is_dry_run = call.request.dry_run.unwrap_or(call.is_dry_run);
    Ok(repaired)
}
