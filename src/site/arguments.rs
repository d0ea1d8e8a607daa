//! Arguments as the rows of a table.

use serde::Serialize;
use serde_json::Value;

use super::html;
use crate::render::arguments::{Given, Row, arguments};

/// Values for the template; all text is HTML.
#[derive(Debug, Serialize)]
pub(super) struct Arguments {
    remark: String,
    rows: Vec<Argument>,
    /// Types that rows name.
    types: Vec<Argument>,
    folded: bool,
    /// Whether any row has a default.
    has_defaults: bool,
}

#[derive(Debug, Serialize)]
struct Argument {
    depth: usize,
    /// The row that it is a field of.
    parent: Option<String>,
    label: String,
    kind: Option<String>,
    required: Option<bool>,
    limits: Vec<String>,
    default: Option<String>,
    example: Option<String>,
    deprecated: bool,
    about: String,
}

impl Arguments {
    /// The arguments of a tool with this schema.
    pub(super) fn of(schema: &Value) -> Self {
        let listed = arguments(schema);
        let (rows, types) = listed.rows.split_at(listed.types_from.unwrap_or(listed.rows.len()));
        Self {
            remark: html::line(&listed.remark),
            has_defaults: listed.rows.iter().any(|row| {
                let given = row.facts.as_ref().and_then(|facts| facts.given.as_ref());
                matches!(given, Some(Given::Default(_)))
            }),
            rows: table(rows),
            types: table(types),
            folded: listed.folded,
        }
    }
}

fn table(rows: &[Row]) -> Vec<Argument> {
    let mut above: Vec<String> = Vec::new();
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        above.truncate(row.depth);
        let label = html::line(&row.label);
        let parent = above.last().cloned();
        above.resize(row.depth, String::new());
        above.push(label.clone());
        out.push(Argument::of(row, label, parent.filter(|parent| !parent.is_empty())));
    }
    out
}

impl Argument {
    fn of(row: &Row, label: String, parent: Option<String>) -> Self {
        let facts = row.facts.as_ref();
        let (default, example) = match facts.and_then(|facts| facts.given.as_ref()) {
            Some(Given::Default(value)) => (Some(html::line(value)), None),
            Some(Given::Example(value)) => (None, Some(html::line(value))),
            None => (None, None),
        };
        Self {
            depth: row.depth.min(6),
            parent,
            label,
            kind: facts.map(|facts| html::line(&facts.kind)),
            required: facts.and_then(|facts| facts.is_required),
            limits: facts
                .map(|facts| facts.limits.iter().map(|limit| html::line(limit)).collect())
                .unwrap_or_default(),
            default,
            example,
            deprecated: facts.is_some_and(|facts| facts.is_deprecated),
            about: html::line(&row.about),
        }
    }
}
