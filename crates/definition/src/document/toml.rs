//! TOML: reads it, and locates values in its text.

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use serde_json::{Map, Value};

use super::any_value::{Meter, TOO_DEEP, number};
use super::document_error::DocumentError;
use super::pointer_tree::{PointerTree, ROOT, Span};

/// Levels of nesting at which a text is refused, as the parser does.
const MAX_LEVELS: usize = 80;
/// Longest text, in bytes: the parser makes a table, which takes 1 KiB, for every part of every dotted key.
const MAX_TEXT: usize = 1 << 20;

/// Reads a TOML text; tables keep the order of the text.
pub(super) fn parse(text: &str) -> Result<Value, DocumentError> {
    if text.len() > MAX_TEXT {
        return Err(DocumentError::too_large(0, "larger than 1 MiB, the most for TOML".into()));
    }
    let root = DeTable::parse(text).map_err(|error| document_error(&error))?;
    table(root.get_ref(), 0, &Meter::new(MAX_LEVELS - 1)).map_err(|(offset, error)| match error {
        TOO_DEEP => DocumentError::too_deep(offset, MAX_LEVELS),
        _ => DocumentError::too_many(offset),
    })
}

fn document_error(error: &::toml::de::Error) -> DocumentError {
    let offset = error.span().map_or(0, |span| span.start);
    match error.message() {
        message if message.contains("recursion") => DocumentError::too_deep(offset, MAX_LEVELS),
        "duplicate key" => DocumentError::new(offset, "the key is there twice").help("remove one of the two"),
        message => DocumentError::new(offset, format!("not valid TOML: {}", message.replace('\n', "; "))),
    }
}

type Over = (usize, &'static str);

fn table(table: &DeTable<'_>, depth: usize, meter: &Meter) -> Result<Value, Over> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    let mut object = Map::new();
    for (key, member) in members {
        object.insert(key.get_ref().to_string(), value(member, depth + 1, meter)?);
    }
    Ok(Value::Object(object))
}

fn value(spanned: &Spanned<DeValue<'_>>, depth: usize, meter: &Meter) -> Result<Value, Over> {
    meter.count(depth).map_err(|error| (spanned.span().start, error))?;
    Ok(match spanned.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Integer(integer) => {
            let digits = integer.as_str();
            let radix = integer.radix();
            let small = i64::from_str_radix(digits, radix).map(Value::from);
            small
                .or_else(|_| u64::from_str_radix(digits, radix).map(Value::from))
                .unwrap_or_else(|_| integer.to_string().into())
        }
        DeValue::Float(float) => float.as_str().parse().map_or(Value::Null, number),
        DeValue::Datetime(time) => Value::String(time.to_string()),
        DeValue::Array(array) => Value::Array(
            array.iter().map(|element| value(element, depth + 1, meter)).collect::<Result<_, _>>()?,
        ),
        DeValue::Table(inner) => table(inner, depth, meter)?,
    })
}

/// Spans of the nodes of the tree.
pub(super) fn spans(text: &str, tree: &PointerTree<'_>) -> Vec<Option<Span>> {
    let mut spans: Vec<Option<Span>> = vec![None; tree.len()];
    let Ok(root) = DeTable::parse(text) else { return spans };
    let mut values: Vec<Option<&DeValue<'_>>> = vec![None; tree.len()];
    let outermost = DeValue::Table(root.into_inner());
    (spans[ROOT], values[ROOT]) = (Some(Span { key: None, value: 0..text.len() }), Some(&outermost));
    for (node, parent, segment) in tree.children() {
        let found = match values.get(parent).copied().flatten() {
            Some(DeValue::Table(table)) => {
                table.get_key_value(segment).map(|(key, value)| (Some(key.span().start), value))
            }
            Some(DeValue::Array(array)) => {
                element_index(segment).and_then(|index| Some((None, array.get(index)?)))
            }
            _ => None,
        };
        let Some((key, value)) = found else { continue };
        spans[node] = Some(Span { key, value: value.span() });
        values[node] = Some(value.get_ref());
    }
    spans
}

/// The index that a segment means in an array: digits without a sign or a leading zero.
fn element_index(segment: &str) -> Option<usize> {
    let canonical = segment == "0" || !segment.starts_with(['0', '+']);
    if canonical { segment.parse().ok() } else { None }
}

#[cfg(test)]
#[path = "tests/toml.rs"]
mod tests;
