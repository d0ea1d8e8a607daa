//! Any self-describing format as a JSON value, within limits.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The error of a value that is nested too deeply.
pub(super) const TOO_DEEP: &str = "nested too deeply";
/// End of the error for a repeated key.
pub(super) const TWICE: &str = " is there twice";
/// Most such keys, and lines that cannot be read, that are named.
pub(super) const MOST_NAMED: usize = 20;
/// Most characters of such a key in the error.
const LONGEST_KEY: usize = 80;
/// The error of a document of too many values.
pub(super) const TOO_MANY: &str = "too many values";
/// Most values in one document; a real catalog of 64 MiB has about as many.
pub(super) const MAX_VALUES: usize = 4_000_000;

/// Most keys that are compared one by one; above that a set is faster.
const FEW: usize = 16;

/// Limits of one document, and the amounts used so far.
pub(super) struct Meter {
    max_depth: usize,
    values: Cell<usize>,
    /// The keys that are there twice, of which the last counts; `None` where such a key is a mistake.
    pub(super) twice: Option<RefCell<Vec<String>>>,
}

impl Meter {
    pub(super) fn new(max_depth: usize) -> Self {
        Self { max_depth, values: Cell::new(0), twice: None }
    }

    /// Counts one value at this depth; the error names the limit that is exceeded.
    pub(super) fn count(&self, depth: usize) -> Result<(), &'static str> {
        self.values.set(self.values.get() + 1);
        if depth > self.max_depth {
            Err(TOO_DEEP)
        } else if self.values.get() > MAX_VALUES {
            Err(TOO_MANY)
        } else {
            Ok(())
        }
    }
}

/// Reads one value, `depth` containers deep.
#[derive(Clone, Copy)]
pub(super) struct Node<'m> {
    meter: &'m Meter,
    depth: usize,
}

impl<'m> Node<'m> {
    pub(super) fn root(meter: &'m Meter) -> Self {
        Self { meter, depth: 0 }
    }

    /// Reads one value that is one container deeper.
    fn inside<E: Error>(self) -> Result<Self, E> {
        let inner = Node { depth: self.depth + 1, ..self };
        self.meter.count(inner.depth).map_err(E::custom)?;
        Ok(inner)
    }
}

/// The value of a whole JSON text.
pub(super) fn read_json<'t, R: serde_json::de::Read<'t>>(
    mut parser: serde_json::Deserializer<R>,
    node: Node<'_>,
) -> serde_json::Result<Value> {
    let value = node.deserialize(&mut parser)?;
    parser.end().map(|()| value)
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(number(value as f64))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(String::from_utf8_lossy(value).into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inner = self.inside()?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(inner)? {
            self.meter.count(0).map_err(A::Error::custom)?;
            array.push(element);
        }
        array.shrink_to_fit();
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.inside()?;
        let mut read: Vec<(String, Value)> = Vec::new();
        // With few keys, comparing each is fastest.
        let mut known = HashSet::new();
        while let Some(key) = members.next_key::<Option<String>>()? {
            let key = key.unwrap_or_else(|| "null".into());
            let is_twice = match read.len() {
                0..FEW => read.iter().any(|(known, _)| *known == key),
                FEW => {
                    known.extend(read.iter().map(|(key, _)| key.clone()));
                    !known.insert(key.clone())
                }
                _ => !known.insert(key.clone()),
            };
            if is_twice {
                let shown: String = key.chars().take(LONGEST_KEY).collect();
                match self.meter.twice.as_ref().map(RefCell::borrow_mut) {
                    None => return Err(A::Error::custom(format!("the key {shown:?}{TWICE}"))),
                    Some(mut twice) if twice.len() < MOST_NAMED => twice.push(shown),
                    Some(_) => {}
                }
            }
            let value = members.next_value_seed(inner)?;
            self.meter.count(0).map_err(A::Error::custom)?;
            read.push((key, value));
        }
        // A growing map reserves more than it needs, and most of a catalog is small maps.
        let mut object = Map::with_capacity(read.len());
        object.extend(read);
        Ok(Value::Object(object))
    }
}

/// A number, or the text of a number that JSON cannot hold.
pub(super) fn number(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| value.to_string().to_lowercase().into(), Value::Number)
}
