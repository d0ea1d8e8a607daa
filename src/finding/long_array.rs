//! Reads a JSON text that is mostly one long array, as a dump of tools is: its elements are read on all processors.
//!
//! A text that is wrong in any way is left to the usual parser, which tells the mistake.

use std::ops::Range;
use std::sync::mpsc::channel;

use serde_json::Value;

use super::json_text::JsonText;
use super::value::{MAX_VALUES, Meter, Node, read_json};

/// Bytes of an array for which it is worth while.
const LONG: usize = 1 << 20;
/// Bytes of the elements that one piece of work has.
const PIECE: usize = 1 << 18;

/// The value of a text of at most so many levels; `None` where it has no long array, or is wrong.
pub(super) fn parse(text: &str, levels: usize) -> Option<Value> {
    if text.len() < LONG {
        return None;
    }
    let mut json = JsonText::new(text);
    json.blanks();
    match json.peek()? {
        b'[' => {
            let array = LongArray::read(text, &mut json, levels, 1)?;
            let (mut rest, values) = array.rest(text, levels)?;
            rest.is_array().then(|| rest = Value::Array(values))?;
            Some(rest)
        }
        b'{' => {
            let (member, array) = longest_member(text, &mut json, levels)?;
            let (mut rest, values) = array.rest(text, levels)?;
            let place = rest.as_object_mut()?.values_mut().nth(member)?;
            place.is_array().then(|| *place = Value::Array(values))?;
            Some(rest)
        }
        _ => None,
    }
}

/// The first member of an object that is a long array, with its position.
fn longest_member(text: &str, json: &mut JsonText<'_>, levels: usize) -> Option<(usize, LongArray)> {
    json.at += 1;
    for member in 0.. {
        json.blanks();
        (json.peek()? == b'"').then(|| json.string())?;
        json.blanks();
        (json.peek()? == b':').then(|| json.at += 1)?;
        json.blanks();
        let start = json.at;
        json.skip();
        if json.at - start >= LONG && text.as_bytes().get(start) == Some(&b'[') {
            json.at = start;
            return Some((member, LongArray::read(text, json, levels, 2)?));
        }
        json.blanks();
        (json.peek()? == b',').then(|| json.at += 1)?;
    }
    None
}

/// An array whose elements were read.
struct LongArray {
    /// Its place in the text.
    span: Range<usize>,
    values: Vec<Value>,
    /// Number of values in it.
    count: usize,
}

impl LongArray {
    /// Reads the array that begins here, so many containers deep. Elements are read while others are still looked for.
    fn read(text: &str, json: &mut JsonText<'_>, levels: usize, depth: usize) -> Option<Self> {
        let start = json.at;
        let (done, pieces) = channel();
        rayon::scope(|scope| {
            let mut piece = Vec::new();
            let (mut number, mut bytes) = (0, 0);
            let mut send = |piece: Vec<Range<usize>>| {
                let (done, at) = (done.clone(), number);
                number += 1;
                scope.spawn(move |_| {
                    let _ = done.send((at, read_all(text, &piece, levels, depth)));
                });
            };
            json.at += 1;
            loop {
                json.blanks();
                let from = json.at;
                json.skip();
                (json.at > from).then_some(())?;
                bytes += json.at - from;
                piece.push(from..json.at);
                json.blanks();
                let ends = json.peek()? == b']';
                (ends || json.peek()? == b',').then(|| json.at += 1)?;
                if ends || bytes >= PIECE {
                    send(std::mem::take(&mut piece));
                    bytes = 0;
                }
                if ends {
                    return Some(());
                }
            }
        })?;
        drop(done);
        let mut pieces: Vec<(usize, Option<Piece>)> = pieces.iter().collect();
        pieces.sort_by_key(|(number, _)| *number);
        let (mut values, mut count) = (Vec::new(), 0);
        for (_, piece) in pieces {
            let (elements, counted) = piece?;
            count += counted;
            values.push(elements);
        }
        let values: Vec<Value> = values.into_iter().flatten().collect();
        Some(Self { span: start..json.at, values, count })
    }

    /// The value of the text without the elements, and the elements.
    fn rest(self, text: &str, levels: usize) -> Option<(Value, Vec<Value>)> {
        let around = format!("{}[]{}", text.get(..self.span.start)?, text.get(self.span.end..)?);
        let meter = Meter::new(levels.saturating_sub(1));
        let rest = read_json(serde_json::Deserializer::from_str(&around), Node::root(&meter)).ok()?;
        (meter.used() + self.count <= MAX_VALUES).then_some((rest, self.values))
    }
}

/// Elements, and the number of values in them.
type Piece = (Vec<Value>, usize);

/// The elements at these places.
fn read_all(text: &str, places: &[Range<usize>], levels: usize, depth: usize) -> Option<Piece> {
    let meter = Meter::new(levels.saturating_sub(1));
    let read = |place: &Range<usize>| {
        let parser = serde_json::Deserializer::from_str(text.get(place.clone())?);
        read_json(parser, Node::inside_of(&meter, depth)).ok()
    };
    let values: Option<Vec<Value>> = places.iter().map(read).collect();
    Some((values?, meter.used() + places.len()))
}

#[cfg(test)]
#[path = "long_array_tests.rs"]
mod tests;
