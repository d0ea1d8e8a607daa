//! Ops: the stable dotted names of the gateway.

use crate::finding::{Code, Finding};
use crate::tool::{Definition, slug};

/// The op of a tool: as written or given by an overlay, else `<server or first category>.<name>`.
pub(super) fn of(tool: &Definition, server: Option<&str>, report: &mut impl FnMut(Finding)) -> String {
    if let Some(written) = &tool.op {
        if is_op(written) {
            return written.clone();
        }
        let message = format!("`{written}` is no op");
        report(
            Finding::new(Code::OpInvalid, message)
                .help("write lower-case words joined by dots, such as `onto.task.list`"),
        );
    }
    let category =
        tool.category.first().map(|path| path.segments().map(segment).collect::<Vec<_>>().join("."));
    let group = server.map(segment).or(category).filter(|group| !group.is_empty());
    format!("{}.{}", group.as_deref().unwrap_or("tools"), segment(&tool.name))
}

/// At least two segments of lower-case letters (of any script), digits, `_` and `-`.
fn is_op(op: &str) -> bool {
    let segment = |segment: &str| {
        !segment.is_empty()
            && segment.chars().all(|c| (c.is_alphanumeric() && !c.is_uppercase()) || c == '_' || c == '-')
    };
    op.contains('.') && op.split('.').all(segment) && op.len() <= 128
}

fn segment(text: &str) -> String {
    let slug = slug(text);
    if slug.is_empty() { "x".into() } else { slug }
}

/// The parts of an op: group, entity and action. `onto.search` has no entity.
pub(super) fn parts(op: &str) -> (&str, Option<&str>, &str) {
    let segments: Vec<&str> = op.split('.').collect();
    match segments.as_slice() {
        [group, entity, .., action] => (group, Some(entity), action),
        [group, action] => (group, None, action),
        _ => (op, None, op),
    }
}
