//! The body of a job: one object, checked against the schema that `openapi.json` has for it, and read.

use std::sync::LazyLock;

use bytes::Bytes;
use jsonschema::Validator;
use serde::Deserialize;
use serde_json::Value;

use super::functions::checked_json;
use super::job_request::{self, ParseBody, PayloadBody, PromptBody, ResultsBody};
use super::routes::JSON;
use crate::finding::{Violation, violations};
use crate::serve::response::problem::{Problem, ProblemCode};

/// Most mistakes that one message tells.
const TOLD: usize = 3;

/// The schema of a body.
pub(super) struct BodySchema {
    schema: Value,
    validator: Option<Validator>,
}

/// A body with a schema.
pub(super) trait JobBody<'b>: Deserialize<'b> {
    fn schema() -> &'static BodySchema;
}

macro_rules! bodies {
    ($($body:ty, $operation:path;)*) => {
        $(impl<'b> JobBody<'b> for $body {
            fn schema() -> &'static BodySchema {
                static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::of(&$operation()));
                &SCHEMA
            }
        })*
    };
}

bodies! {
    PayloadBody, job_request::payload;
    PromptBody, job_request::prompt;
    ParseBody<'b>, job_request::parse;
    ResultsBody<'b>, job_request::results;
}

impl BodySchema {
    fn of(operation: &Value) -> Self {
        let schema = operation["requestBody"]["content"][JSON]["schema"].clone();
        Self { validator: jsonschema::options().offline().build(&schema).ok(), schema }
    }

    /// The mistakes in a body, each with its field.
    fn mistakes(&self, body: &Value) -> Vec<String> {
        let Some(validator) = &self.validator else { return Vec::new() };
        let told = |wrong: Violation| {
            let nearest = wrong.nearest.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            match wrong.pointer.trim_start_matches('/') {
                "" => format!("{}{nearest}", wrong.message),
                field => format!("`{}`: {}{nearest}", crate::tool::quoted(field), wrong.message),
            }
        };
        violations(validator, &self.schema, body).into_iter().take(TOLD).map(told).collect()
    }
}

/// The fields of a body. An optional field that is null is left out.
pub(super) fn read<'b, T: JobBody<'b>>(body: &'b Bytes) -> Result<T, Problem> {
    let mut value = checked_json(body)?;
    let Some(fields) = value.as_object_mut() else {
        return Err(refused("the body is no JSON object").next("send one object with the fields by name"));
    };
    let schema = T::schema();
    let required = schema.schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    fields.retain(|name, value| !value.is_null() || required.iter().any(|required| required == name));
    let mistakes = schema.mistakes(&value);
    if !mistakes.is_empty() {
        return Err(refused(format!("in the body: {}", mistakes.join("; "))));
    }
    // A number that the schema allows may still be too large.
    serde_json::from_slice(body).map_err(|_| refused("the body is not as `/openapi.json` describes it"))
}

fn refused(message: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::ValidationError, message)
}
