//! What became of one call of a response.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{CallError, ValidCall};
use crate::arguments::Repair;
use crate::catalog::Tool;

/// One call of a response: valid, or wrong in a way that can be told.
#[derive(Clone, Debug)]
pub struct CallEntry<'a> {
    /// The canonical name; what the model wrote where no tool goes by that; none where nothing was written.
    pub name: Option<Cow<'a, str>>,
    /// What the result refers to.
    pub call_id: Option<String>,
    /// The namespace that must be sent back with the call.
    pub namespace: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub signature: Option<String>,
    /// Whether it is the provider's own form of a search for tools.
    pub search: bool,
    /// The call, or what is wrong with it.
    pub outcome: Result<ValidCall<'a>, CallError>,
    /// What was read otherwise than it was written. Field errors refer to the arguments as they were read.
    pub repaired: Vec<Repair>,
    /// The tool, when the name means one.
    pub(super) tool: Option<&'a Tool>,
}

impl<'a> CallEntry<'a> {
    /// The tool that is called; none when no tool goes by the name.
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
