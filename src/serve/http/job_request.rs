//! Requests of job starters, as `openapi.json` describes them: the options of `payload`, `prompt`, `parse` and `results`.

use bytes::Bytes;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::functions::checked_json;
use super::openapi;
use crate::config::{Deferred, ModeChoice, SearchBy};
use crate::finding::{Violation, violations};
use crate::provider::Provider;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::tool::quoted;

/// Most mistakes that one message names.
const MAX_MISTAKES: usize = 3;

/// `POST /v1/payload`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PayloadBody {
    #[serde(deserialize_with = "provider")]
    pub(super) provider: Provider,
    pub(super) mode: Option<ModeChoice>,
    pub(super) deferred: Option<Deferred>,
    pub(super) search: Option<SearchBy>,
    pub(super) discovery: Option<bool>,
    pub(super) cache: Option<bool>,
}

/// `POST /v1/prompt`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromptBody {
    #[serde(default, deserialize_with = "some_provider")]
    pub(super) provider: Option<Provider>,
    pub(super) mode: Option<ModeChoice>,
    pub(super) deferred: Option<Deferred>,
    pub(super) discovery: Option<bool>,
    pub(super) folder: Option<String>,
    pub(super) tokens: Option<usize>,
}

/// `POST /v1/parse`. The response is read as it came, with every digit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParseBody<'b> {
    #[serde(deserialize_with = "provider")]
    pub(super) provider: Provider,
    #[serde(borrow)]
    pub(super) response: &'b RawValue,
}

/// `POST /v1/results`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultsBody<'b> {
    #[serde(deserialize_with = "provider")]
    pub(super) provider: Provider,
    #[serde(borrow)]
    pub(super) results: &'b RawValue,
}

fn provider<'de, D: Deserializer<'de>>(field: D) -> Result<Provider, D::Error> {
    some_provider(field)?.ok_or_else(|| D::Error::custom("no provider"))
}

/// The schema of a body has checked the name.
fn some_provider<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Provider>, D::Error> {
    Ok(Option::<String>::deserialize(field)?.and_then(|name| Provider::parse(&name)))
}

/// The fields of a body, which is checked against the schema that `openapi.json` has for it. An optional field that is null is
/// left out.
pub(super) fn read<'b, T: Deserialize<'b>>(body: &'b Bytes, path: &str) -> Result<T, Problem> {
    let refused = |message: &str| Problem::new(ProblemCode::ValidationError, message);
    let mut value = checked_json(body)?;
    let Some(fields) = value.as_object_mut() else {
        return Err(refused("the body is no JSON object").next("send one object with the fields by name"));
    };
    let schema = openapi::body_schema(path);
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    fields.retain(|name, value| !value.is_null() || required.iter().any(|required| required == name));
    let told = |wrong: Violation| {
        let nearest = wrong.nearest.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        match wrong.pointer.trim_start_matches('/') {
            "" => format!("{}{nearest}", wrong.message),
            field => format!("`{}`: {}{nearest}", quoted(field), wrong.message),
        }
    };
    let validator = jsonschema::options().offline().build(schema);
    let validator = validator.map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))?;
    let mistakes: Vec<String> =
        violations(&validator, schema, &value).into_iter().take(MAX_MISTAKES).map(told).collect();
    if !mistakes.is_empty() {
        return Err(refused(&format!("in the body: {}", mistakes.join("; "))));
    }
    // A number that the schema allows may still be too large.
    serde_json::from_slice(body).map_err(|_| refused("the body is not as `/openapi.json` describes it"))
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    fn check<T: VariantArray + Copy + Into<&'static str>>(field: &str) {
        let words: Vec<&'static str> = T::VARIANTS.iter().map(|&word| word.into()).collect();
        assert_eq!(
            openapi::body_schema("/v1/payload")["properties"][field]["enum"],
            serde_json::json!(words)
        );
    }

    #[test]
    fn the_description_of_this_api_has_every_word_of_an_option() {
        check::<Provider>("provider");
        check::<ModeChoice>("mode");
        check::<Deferred>("deferred");
        check::<SearchBy>("search");
    }
}
