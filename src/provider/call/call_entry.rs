//! One call of a response, parsed.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{CallError, ValidCall};
use crate::arguments::Repair;
use crate::catalog::Tool;

/// One call of a response: valid, or with an error for the model.
#[derive(Clone, Debug)]
pub struct CallEntry<'a> {
    /// The canonical name; the model's own text where no tool has this name; `None` where there is no name.
    pub name: Option<Cow<'a, str>>,
    /// The id that the result refers to.
    pub call_id: Option<String>,
    /// The namespace that must be sent back with the call.
    pub namespace: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub signature: Option<String>,
    /// Whether this is the provider's own search for tools.
    pub search: bool,
    /// The call, or its error.
    pub outcome: Result<ValidCall<'a>, CallError>,
    /// Repairs of the arguments. Field errors refer to the repaired arguments.
    pub repaired: Vec<Repair>,
    /// The tool, if the name means one.
    pub(super) tool: Option<&'a Tool>,
}

impl<'a> CallEntry<'a> {
    /// The called tool; `None` when no tool has this name.
    pub fn tool(&self) -> Option<&'a Tool> {
        self.tool
    }
}

impl Serialize for CallEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("call_id", &self.call_id)?;
        match &self.outcome {
            Ok(call) => {
                match call.exact() {
                    Some(exact) => map.serialize_entry("args", exact)?,
                    None => map.serialize_entry("args", call.arguments())?,
                }
                if let Some(mode) = call.no_schema_mode() {
                    map.serialize_entry("validated", &false)?;
                    map.serialize_entry("no_schema_mode", &mode)?;
                }
            }
            Err(error) => map.serialize_entry("error", error)?,
        }
        if !self.repaired.is_empty() {
            map.serialize_entry("repaired", &self.repaired)?;
        }
        if let Some(namespace) = &self.namespace {
            map.serialize_entry("namespace", namespace)?;
        }
        if let Some(signature) = &self.signature {
            map.serialize_entry("thought_signature", signature)?;
        }
        if self.search {
            map.serialize_entry("search", &true)?;
        }
        map.end()
    }
}
