//! The definitions of toolcrib's own functions in the native format, and the names that they take. Assembled, they are the catalog of
//! `own_functions.rs`; names of other tools are checked against them before.

use toolcrib_definition::{embedded_files, safe_names};

/// Whether a function goes by this name, or by the safe name that is made of it.
pub(crate) fn is_function(name: &str) -> bool {
    let is_its_name =
        |safe: &String| DEFINITIONS.iter().any(|(file, _)| file.strip_suffix(".json") == Some(safe));
    safe_names(&[name]).iter().any(is_its_name)
}

/// The definition of each function, in the order in which lists show them.
pub(crate) const DEFINITIONS: [(&str, &str); 14] = embedded_files! { "src/functions":
    "read_tool_doc.json", "tool_search.json", "tool_help.json", "tool_exec.json", "tool_exec_read.json",
    "tool_exec_write.json", "tool_batch.json", "read_result.json", "list.json", "search_nodes.json",
    "search_tool_by_category.json", "expand_tool.json", "call_tool.json", "pick.json",
};
