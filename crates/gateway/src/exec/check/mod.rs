//! All checks of a call before it is run: the tool, its arguments, the effect that is allowed, the receipt of its page.

mod arguments;
mod call_fields;
mod find_tool;
mod gates;
mod required_page;

use std::sync::Arc;

use super::call::Call;
use super::select::check_select;
use crate::tool_error::Result;
use arguments::read_arguments;
use call_fields::separate;
use find_tool::find_tool;
use gates::{pass_first_gates, pass_gates};
use required_page::require_doc;
use toolcrib_catalog::Tool;
use toolcrib_catalog::results::shape_of_schema;

pub(super) use gates::{require_writable, unwritable};

/// Makes all checks, in order; the first error ends them. The call has valid arguments afterwards.
pub(super) async fn check(call: &mut Call) -> Result<Arc<Tool>> {
    let (index, tool) = find_tool(call).await?;
    call.request.op.clone_from(&tool.names.op);
    call.tool = Some(Arc::clone(&tool));
    separate(call, &tool)?;
    pass_first_gates(call, &tool)?;
    read_arguments(call, &tool).await?;
    if let Some(expression) = &call.request.select {
        let schema = tool.output.as_ref();
        check_select(expression, schema.map(shape_of_schema))?;
    }
    pass_gates(call, &tool)?;
    require_doc(call, index, &tool).await?;
    Ok(tool)
}
