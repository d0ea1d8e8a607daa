//! Translation of arguments from the schema that a provider was given to the canonical schema.

use serde_json::{Map, Value};

use crate::catalog::Tool;
use crate::provider::function::stub_key;
use crate::provider::rules::{Rules, Stub};
use crate::provider::view::{Renaming, Strict};

/// The form of a tool's arguments on one provider.
pub(super) struct BoundTerms<'f> {
    pub(super) tool: &'f Tool,
    pub(super) rules: &'f Rules,
    /// Properties with another name on this provider.
    pub(super) renamed: Option<&'f Renaming>,
}

impl BoundTerms<'_> {
    /// Arguments by the canonical schema. The change is no repair: the model wrote what its schema asked for.
    pub(super) fn to_canonical(&self, value: Value) -> Value {
        let mut value = match value {
            Value::Object(fields) => Value::Object(self.out_of_stub(fields)),
            other => other,
        };
        if let Some(renamed) = self.renamed {
            renamed.undo(&mut value);
        }
        value
    }

    /// Takes arguments out of the key under which this provider's stub asks for them.
    fn out_of_stub(&self, mut fields: Map<String, Value>) -> Map<String, Value> {
        if self.rules.stub != Stub::Args || fields.len() != 1 {
            return fields;
        }
        match fields.get_mut(stub_key(self.tool)) {
            Some(Value::Object(inside)) => std::mem::take(inside),
            _ => fields,
        }
    }

    /// Whether the model had a strict schema that requires every property, so that only null can leave one out.
    pub(super) fn requires_nulls(&self) -> bool {
        self.rules.schema.strict == Some(Strict::OpenAi) && self.tool.definition.strict == Some(true)
    }
}
