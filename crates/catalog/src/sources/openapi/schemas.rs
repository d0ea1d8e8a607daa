//! Repairs the schemas of a document where they stand, before anything reads them: each mistake is reported once, at its place,
//! however many operations have the schema.

use serde_json::{Map, Value};

use super::lower::PARAMETER_WORDS;
use crate::schema::{repair_in_document, report_mistakes, report_repairs};
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Finding, Place};

/// Deepest value below which schemas are looked for.
const MAX_DEPTH: usize = 32;

/// Repairs all schemas of a document. Returns what was repaired, and the other mistakes.
pub(super) fn repair_schemas(file: &str, document: &mut Value) -> (Vec<Finding>, Vec<Finding>) {
    let mut mending = Mending { file, repairs: Vec::new(), mistakes: Vec::new() };
    mending.object(document, "", 0);
    (mending.repairs, mending.mistakes)
}

struct Mending<'f> {
    file: &'f str,
    repairs: Vec<Finding>,
    mistakes: Vec<Finding>,
}

impl Mending<'_> {
    fn object(&mut self, value: &mut Value, pointer: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let is_parameter = value.get("in").is_some_and(Value::is_string) && value.get("type").is_some();
        if is_parameter && value.get("schema").is_none() {
            return self.parameter(value, pointer);
        }
        let children: Vec<(String, &mut Value)> = match value {
            Value::Object(fields) => fields.iter_mut().map(|(key, child)| (key.clone(), child)).collect(),
            Value::Array(items) => {
                items.iter_mut().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
            }
            _ => return,
        };
        for (key, child) in children {
            let at = pointer_join(pointer, &key);
            match key.as_str() {
                "schema" => self.schema(child, &at),
                "schemas" if pointer == "/components" => {
                    self.each(child, &at, |this, at, schema| this.schema(schema, at))
                }
                "definitions" if pointer.is_empty() => {
                    self.each(child, &at, |this, at, schema| this.schema(schema, at))
                }
                "securitySchemes" if pointer == "/components" => {}
                _ if pointer == "/components" => {
                    self.each(child, &at, |this, at, part| this.object(part, at, depth + 2))
                }
                "example" | "examples" | "default" | "enum" | "securityDefinitions" => {}
                key if key.starts_with("x-") => {}
                _ => self.object(child, &at, depth + 1),
            }
        }
    }

    fn each(&mut self, named: &mut Value, pointer: &str, mut mend: impl FnMut(&mut Self, &str, &mut Value)) {
        for (name, value) in named.as_object_mut().into_iter().flatten() {
            mend(self, &pointer_join(pointer, name), value);
        }
    }

    fn schema(&mut self, schema: &mut Value, pointer: &str) {
        let place = Place::new(self.file, pointer);
        report_mistakes(schema, &place, &mut |finding| self.mistakes.push(finding));
        let repairs = repair_in_document(schema);
        report_repairs(&repairs, &place, &mut |finding| self.repairs.push(finding));
    }

    /// A parameter of Swagger 2.0 is a schema with more keywords.
    fn parameter(&mut self, parameter: &mut Value, pointer: &str) {
        let Value::Object(fields) = parameter else { return };
        let (own, keywords): (Map<_, _>, Map<_, _>) =
            std::mem::take(fields).into_iter().partition(|(key, _)| PARAMETER_WORDS.contains(&key.as_str()));
        let mut schema = Value::Object(keywords);
        self.schema(&mut schema, pointer);
        let keywords = schema.as_object_mut().map(std::mem::take).unwrap_or_default();
        *fields = own.into_iter().chain(keywords).collect();
    }
}
