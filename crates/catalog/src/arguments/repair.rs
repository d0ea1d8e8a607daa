//! Repairs of the arguments of a call: each has a kind and a place, and is described in words.

use serde::Serialize;

use toolcrib_definition::clean_line;

/// One repair of arguments, at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// JSON pointer into the arguments as they were before this repair.
    pub pointer: String,
    pub repair: RepairKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepairKind {
    /// The arguments were JSON text within JSON text.
    DoubleEncoded,
    /// The arguments were not quite JSON: commas too many, single quotes, or the words of Python.
    Rewritten,
    /// The arguments were one object among empty objects, copies of itself, or words.
    Extracted,
    /// The arguments of several calls were in one call.
    Split,
    /// The arguments were below a key that is no property.
    Unwrapped,
    /// A list, an object, a number or a flag was given as text.
    Decoded,
    /// A text was given as a number or a flag.
    AsText,
    /// An optional property was given as null, which its schema refuses.
    NullDropped,
    /// A name, or a word of an enum, was misspelled.
    Respelled,
    /// The name of the tool was written with a prefix, a tail, or in another spelling.
    Name,
    /// A model wrote the arguments anew.
    Model,
}

/// Describes repairs in words.
pub(super) fn describe_repairs(repaired: &[Repair], notes: &mut Vec<String>) {
    for Repair { pointer, repair } in repaired {
        let at = clean_line(pointer.trim_start_matches('/'));
        notes.push(match repair {
            RepairKind::DoubleEncoded => "the arguments were JSON text within JSON text".into(),
            RepairKind::Rewritten => {
                "the arguments were not quite JSON, and were read as if they were".into()
            }
            RepairKind::Name => "the name of the tool was written in another way".into(),
            RepairKind::Extracted => {
                "the arguments were an object among other text, which is left out".into()
            }
            RepairKind::Split => "the arguments of several calls were in one call".into(),
            RepairKind::Unwrapped => format!("the arguments were one level too deep, below `{at}`"),
            RepairKind::Decoded => format!("`{at}` was text, read as the value in it"),
            RepairKind::AsText => {
                format!("`{at}` was not text, and was read as text with the same characters")
            }
            RepairKind::NullDropped => format!("`{at}` was null, and is left out"),
            RepairKind::Respelled => "misspelled names or words were corrected".into(),
            RepairKind::Model => "the arguments were rewritten by a model".into(),
        });
    }
}
