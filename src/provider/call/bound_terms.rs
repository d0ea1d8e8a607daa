//! Arguments in the terms of the schema that a provider was given, turned into those of the canonical one.

use serde_json::{Map, Value};

use crate::catalog::Tool;
use crate::provider::function::stub_key;
use crate::provider::rules::{Rules, Stub};
use crate::provider::view::{Renaming, Strict};

/// The terms in which a provider knows a tool's arguments.
pub(super) struct BoundTerms<'f> {
    pub(super) tool: &'f Tool,
    pub(super) rules: &'f Rules,
    /// The properties that the provider knows by other names.
    pub(super) renamed: Option<&'f Renaming>,
}

impl BoundTerms<'_> {
    /// The arguments in the terms of the canonical schema: that is no repair.
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

    /// Where no other stub lets arguments through, they were asked for below a key.
    fn out_of_stub(&self, mut fields: Map<String, Value>) -> Map<String, Value> {
        if self.rules.stub != Stub::Args || fields.len() != 1 {
            return fields;
        }
        match fields.get_mut(stub_key(self.tool)) {
            Some(Value::Object(inside)) => std::mem::take(inside),
            _ => fields,
        }
    }

    /// Whether the model was held to a schema that requires every property: only null can leave an optional one out.
    pub(super) fn requires_nulls(&self) -> bool {
        self.rules.schema.strict == Some(Strict::OpenAi) && self.tool.definition.strict == Some(true)
    }
}
