//! The arguments of a call, told apart from the fields of the call, and as the schema of its tool wants them.

use serde_json::Value;

use crate::catalog::Tool;
use crate::exec::call::Call;
use crate::exec::{CallRequest, Failure, arguments, call_fields};
use crate::provider::call::Repair;

/// Reads the arguments of a call of `tool` as they fit, and says what was changed for that.
pub(super) fn read(call: &mut Call, tool: &Tool) -> Result<Vec<Repair>, Failure> {
    let separated = separate_call_fields(&mut call.request, tool);
    call.is_dry_run = call.request.dry_run.unwrap_or(tool.definition.dry_run == Some(true));
    separated?;
    call.validated = Some(tool.parameters.is_checked());
    let (secrets, request) = (call.context.catalog().secrets(), &mut call.request);
    let (given, beside) = (std::mem::take(&mut request.args), std::mem::take(&mut request.extra_fields));
    match arguments::coerce_and_validate(tool, secrets, given, beside, &mut request.warnings) {
        Ok(mut valid) => {
            // Text within text has shown its fields by now.
            call_fields::take_from_arguments(request, tool.parameters.schema(), &mut valid.arguments)?;
            call.is_dry_run = request.dry_run.unwrap_or(call.is_dry_run);
            request.args = valid.arguments;
            Ok(valid.repaired)
        }
        Err(invalid) => {
            let (given, failure) = *invalid;
            request.args = given;
            Err(failure)
        }
    }
}

/// Makes the arguments an object, without the fields of the call.
fn separate_call_fields(request: &mut CallRequest, tool: &Tool) -> Result<(), Failure> {
    let schema = tool.parameters.schema();
    let mut beside = Value::Object(std::mem::take(&mut request.extra_fields));
    let taken = call_fields::take_from_arguments(request, schema, &mut beside);
    if let Value::Object(rest) = beside {
        request.extra_fields = rest;
    }
    let (given, is_all) = (std::mem::take(&mut request.args), request.extra_fields.is_empty());
    match arguments::object(tool, given, is_all, &mut request.warnings) {
        Ok(object) => request.args = object,
        Err(invalid) => {
            let (mut given, failure) = *invalid;
            request.args = given.clone();
            call_fields::take_from_arguments(request, schema, &mut given)?;
            return Err(failure);
        }
    }
    taken?;
    let mut given = std::mem::take(&mut request.args);
    let taken = call_fields::take_from_arguments(request, schema, &mut given);
    request.args = given;
    taken
}
