//! The arguments of a tool, as the rows of a table.

use serde_json::{Value, json};

use super::text::line;
use toolcrib_render::arguments::{Given, Row, arguments};

/// The arguments of a tool with this schema, as the rows of a table.
pub(super) fn argument_list(schema: &Value) -> Value {
    let listed = arguments(schema);
    let (rows, types) = listed.rows.split_at(listed.types_from.unwrap_or(listed.rows.len()));
    let has_default = |row: &Row| {
        let given = row.facts.as_ref().and_then(|facts| facts.given.as_ref());
        matches!(given, Some(Given::Default(_)))
    };
    json!({
        "remark": line(&listed.remark),
        "rows": table(rows),
        // Types that rows name.
        "types": table(types),
        "folded": listed.folded,
        "has_defaults": listed.rows.iter().any(has_default),
    })
}

fn table(rows: &[Row]) -> Vec<Value> {
    let mut above: Vec<String> = Vec::new();
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        above.truncate(row.depth);
        let label = line(&row.label);
        // The row that it is a field of.
        let parent = above.last().filter(|parent| !parent.is_empty()).cloned();
        above.resize(row.depth, String::new());
        above.push(label.clone());
        let facts = row.facts.as_ref();
        let (default, example) = match facts.and_then(|facts| facts.given.as_ref()) {
            Some(Given::Default(value)) => (Some(line(value)), None),
            Some(Given::Example(value)) => (None, Some(line(value))),
            None => (None, None),
        };
        let limits = facts.iter().flat_map(|facts| &facts.limits).map(|limit| line(limit));
        out.push(json!({
            "depth": row.depth.min(6),
            "parent": parent,
            "label": label,
            "kinds": facts.map(|facts| alternatives(&facts.kind)).unwrap_or_default(),
            "required": facts.and_then(|facts| facts.is_required),
            "limits": limits.collect::<Vec<_>>(),
            "default": default,
            "example": example,
            "deprecated": facts.is_some_and(|facts| facts.is_deprecated),
            "about": line(&row.about),
        }));
    }
    out
}

/// The values of an enumeration, or the type, each on a line.
fn alternatives(kind: &str) -> Vec<String> {
    let parts = kind.split(" | `").enumerate();
    parts.map(|(place, part)| if place == 0 { line(part) } else { line(&format!("`{part}")) }).collect()
}
