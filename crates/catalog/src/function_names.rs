//! The names and definitions of toolcrib's own functions.

use toolcrib_definition::{embedded_files, safe_names};

/// Whether a function goes by this name, or by the safe name that is made of it.
pub(crate) fn is_function(name: &str) -> bool {
    safe_names(&[name]).iter().any(|safe| function_names().any(|function| function == safe))
}

/// The definition of each function, in the order in which lists show them.
pub(crate) const DEFINITIONS: [(&str, &str); 14] = embedded_files! { "src/functions":
    "read_tool_doc.json",
    "tool_search.json",
    "tool_help.json",
    "tool_exec.json",
    "tool_exec_read.json",
    "tool_exec_write.json",
    "tool_batch.json",
    "read_result.json",
    "list.json",
    "search_nodes.json",
    "search_tool_by_category.json",
    "expand_tool.json",
    "call_tool.json",
    "pick.json",
};

/// Their names.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    DEFINITIONS.iter().filter_map(|(file, _)| file.strip_suffix(".json"))
}
