//! JSON of callers and of other programs, within limits.

use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

use super::any_value::{Meter, Node, TOO_MANY, read_json};
use super::json::MAX_LEVELS;
use super::mended_json::well_formed;

/// Reads a JSON text that is, or is part of, a call. An object with a repeated key is refused: readers differ on
/// which value counts, so the checked call could differ from the executed one.
pub fn from_json(text: &str) -> serde_json::Result<Value> {
    from_json_bytes(text.as_bytes())
}

/// Reads such a text from bytes.
pub fn from_json_bytes(bytes: &[u8]) -> serde_json::Result<Value> {
    check_size(bytes)?;
    read_json(serde_json::Deserializer::from_slice(bytes), Node::root(&Meter::new(MAX_LEVELS)))
}

/// Reads JSON of another program, an object or a list, though texts in it are cut within a character.
pub fn from_others<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    check_size(text)?;
    serde_json::from_slice(text).or_else(|error| match std::str::from_utf8(text) {
        Ok(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(&well_formed(text)).map_err(|_| error)
        }
        _ => Err(error),
    })
}

/// Most values that are read of a text from elsewhere.
pub const MAX_OTHERS_VALUES: usize = 500_000;

/// Whether a JSON text has more values than are read of others. A value of two bytes takes a hundred in memory, so values
/// are counted before they are read, as [`Meter`] counts them; only an empty list or object counts for more.
pub fn has_too_many_values(text: &[u8]) -> bool {
    let mut values = 0;
    let mut is_text = false;
    let mut bytes = if text.len() > MAX_OTHERS_VALUES { text.iter() } else { [].iter() };
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_text = !is_text,
            b'\\' if is_text => _ = bytes.next(),
            _ if is_text => {}
            b',' => values += 1,
            b'[' | b'{' => values += 2,
            _ => {}
        }
    }
    values > MAX_OTHERS_VALUES
}

fn check_size(text: &[u8]) -> serde_json::Result<()> {
    if has_too_many_values(text) {
        Err(Error::custom(format!("{TOO_MANY}: more than {MAX_OTHERS_VALUES}")))
    } else {
        Ok(())
    }
}
