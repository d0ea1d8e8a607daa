//! The result of a tool in short: the names of its fields.

use super::arguments::{fields, signed_name};
use super::brief::brief;
use toolcrib_catalog::Tool;
use toolcrib_definition::schema::{Node, Property};

/// Most fields of a result that are named, and of an object in it; and most bytes of the whole.
const MAX_RESULT_FIELDS: usize = 8;
const MAX_RESULT: usize = 160;

/// The names of the fields of a result: `{total, items: [{id, name}]}`. `None` where the schema names no fields, or has more
/// in `most` bytes than a few names.
pub(super) fn result(tool: &Tool, most: usize) -> Option<String> {
    let root = tool.output.as_ref()?.root();
    let forms = [2, 1].into_iter().map(|levels| shape(&root, levels));
    forms.into_iter().find(|form| form.contains('{') && form.len() <= most)
}

/// A value by the names of its fields, so many levels deep; empty without fields.
fn shape(node: &Node<'_>, levels: usize) -> String {
    let own = fields(node);
    if own.is_empty() {
        let items = if levels > 0 { node.items() } else { None };
        let items = items.map(|items| shape(&items, levels));
        return items.filter(|form| !form.is_empty()).map(|form| format!("[{form}]")).unwrap_or_default();
    }
    if levels == 0 {
        return String::new();
    }
    let named = |field: &Property<'_>| match shape(&field.node(), levels - 1) {
        form if form.is_empty() => signed_name(field.name),
        form => format!("{}: {form}", signed_name(field.name)),
    };
    let mut named: Vec<String> = own.iter().take(MAX_RESULT_FIELDS).map(named).collect();
    named.extend((own.len() > MAX_RESULT_FIELDS).then(|| "…".to_string()));
    format!("{{{}}}", named.join(", "))
}

/// The result in short: the names of its fields, else the beginning of what is said of it.
pub(super) fn returns(tool: &Tool) -> Option<String> {
    let said = || tool.texts.returns.as_deref().map(|text| brief(text, MAX_RESULT));
    result(tool, MAX_RESULT).or_else(said).filter(|text| !text.is_empty())
}
