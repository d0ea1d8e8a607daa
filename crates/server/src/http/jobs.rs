//! `/v1/payload`, `/v1/prompt`, `/v1/parse` and `/v1/results`: what a job starter needs between a model and its tools.
//! Each answers what the command of the same name prints, for the profile of the request and the roles of its caller.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::body::{self, checked_json};
use super::openapi;
use super::request_context::RequestContext;
use crate::RequestCatalog;
use crate::response::{Media, Problem, ProblemCode, Response, no_store};
use toolcrib_catalog::config::{Deferred, Mode, ModeChoice, SearchBy};
use toolcrib_catalog::{Catalog, Profile};
use toolcrib_definition::finding::{Severity, Violation, violations};
use toolcrib_definition::quoted;
use toolcrib_providers as provider;
use toolcrib_providers::call::Parser;
use toolcrib_providers::{AnsweredCalls, PayloadRequest, Provider, ProviderFormat, report};
use toolcrib_render::{DOCS, PromptSection, Templates};

/// The tools that a job may bind.
pub(super) struct Job<'c> {
    pub(super) catalog: &'c Catalog,
    pub(super) profile: Profile<'c>,
    pub(super) templates: &'c Templates,
}

impl<'c> Job<'c> {
    /// The tools of the profile that the caller may use. A caller who sees everything gets the profile of the whole
    /// catalog, so that versions are those that the command line writes.
    pub(super) fn of(catalog: &'c RequestCatalog) -> Self {
        let own = catalog.view();
        let (view, profile) = if catalog.caller.sees_everything()
            && let Some(whole) = catalog.whole_catalog()
            && let Ok(profile) = whole.catalog().profile(catalog.profile_name())
        {
            (whole, profile)
        } else {
            (own, own.usable_profile())
        };
        Self { catalog: view.catalog(), profile, templates: view.templates() }
    }
}

/// `POST /v1/payload`.
pub(super) async fn payload(context: RequestContext, body: Body) -> Result<Response, Problem> {
    answer(context, body, "/v1/payload", |job, provider, body| {
        let Job { catalog, profile, templates } = job;
        let mut options = catalog.config.payload;
        options.deferred = body.deferred.unwrap_or(options.deferred);
        options.search = body.search.unwrap_or(options.search);
        options.discovery |= body.discovery.unwrap_or_default();
        options.cache = body.cache.or(options.cache);
        let mut request = PayloadRequest { catalog, profile: &profile, provider, mode: Mode::Full, options };
        let (mode, reason) =
            report::mode_of(&request, templates, Mode::named(body.mode.unwrap_or(options.mode)));
        request.mode = mode;
        let mut payload =
            provider::payload(request).map_err(|error| refused(error.to_string()).next(error.hint()))?;
        payload.notes.extend(reason);
        if let Some(error) = payload.findings.iter().find(|finding| finding.severity == Severity::Error) {
            let tool = error.tool.as_deref().unwrap_or_default();
            return Err(refused(format!("{tool}: {}", error.message)));
        }
        let body = json!({
            "provider": provider.as_str(), "mode": payload.mode.as_str(),
            "headers": payload.headers, "notes": payload.notes, "body": payload.body
        });
        Ok((Media::Json, body.to_string()))
    })
    .await
}

/// `POST /v1/prompt`.
pub(super) async fn prompt(context: RequestContext, body: Body) -> Result<Response, Problem> {
    answer(context, body, "/v1/prompt", |job, provider, body| {
        let Job { catalog, profile, templates } = job;
        let options = catalog.config.payload;
        let request = PayloadRequest { catalog, profile: &profile, provider, mode: Mode::Full, options };
        let (wanted, _) =
            report::mode_of(&request, templates, Mode::named(body.mode.unwrap_or(options.mode)));
        let section = PromptSection {
            deferred: body.deferred.unwrap_or(options.deferred),
            folder: body.folder.as_deref().unwrap_or(DOCS).trim_end_matches('/'),
            discovery: body.discovery.unwrap_or_default() || options.discovery,
            tokens: body.tokens.unwrap_or(options.prompt_tokens),
            ..PromptSection::of(provider.mode(wanted), options)
        };
        let text = section.render(catalog, &profile, templates);
        Ok((Media::Markdown, text.map_err(Problem::internal)?))
    })
    .await
}

/// `POST /v1/parse`.
pub(super) async fn parse(context: RequestContext, body: Body) -> Result<Response, Problem> {
    answer(context, body, "/v1/parse", |job, provider, body| {
        let parser = Parser::of_profile(job.catalog, &job.profile, provider);
        let response = body.response.map_or("null", RawValue::get);
        let mut entries = parser.parse(response).map_err(|error| refused(error.to_string()))?;
        if body.from_text == Some(true) {
            entries.extend(parser.left_in_text(response, &entries));
        }
        let text = serde_json::to_string(&entries).map_err(|error| refused(error.to_string()))?;
        Ok((Media::Json, text))
    })
    .await
}

/// `POST /v1/results`.
pub(super) async fn results(context: RequestContext, body: Body) -> Result<Response, Problem> {
    answer(context, body, "/v1/results", |job, provider, body| {
        let answered = AnsweredCalls::read(body.results.map_or("null", RawValue::get), provider);
        let answered = answered.map_err(|error| refused(error.to_string()))?;
        let message = answered.messages(job.catalog, &job.profile);
        let message = message.map_err(|error| refused(error.to_string()).next(error.hint()))?;
        Ok((Media::Json, message.to_string()))
    })
    .await
}

/// The answer to a body for this path, made when its turn comes: its media type and text.
async fn answer(
    context: RequestContext,
    body: Body,
    path: &'static str,
    make: impl FnOnce(Job<'_>, Provider, JobBody<'_>) -> Result<(Media, String), Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request } = context;
    let body = body::json_bytes(&shared, &catalog.caller.name, &request, body).await?;
    let caller = Arc::clone(&catalog.caller.name);
    let making = move || {
        let job = Job::of(&catalog);
        let body = read(&body, path)?;
        let provider = body.provider.unwrap_or(job.catalog.config.payload.provider);
        make(job, provider, body)
    };
    let (media, text) = shared.slowly(&caller, making).await??;
    Ok(no_store(StatusCode::OK, media.content_type(), format!("{text}\n")))
}

fn refused(message: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::ValidationError, message)
}

/// Most mistakes that one message names.
const MAX_MISTAKES: usize = 3;

/// The request of a job starter: the options of `payload`, `prompt`, `parse` and `results`. The schema in `openapi.json` says
/// which of them a path takes.
#[derive(Debug, Deserialize)]
struct JobBody<'b> {
    provider: Option<Provider>,
    mode: Option<ModeChoice>,
    deferred: Option<Deferred>,
    search: Option<SearchBy>,
    discovery: Option<bool>,
    cache: Option<bool>,
    folder: Option<String>,
    tokens: Option<usize>,
    from_text: Option<bool>,
    /// Read as it was sent, with every digit.
    #[serde(borrow)]
    response: Option<&'b RawValue>,
    #[serde(borrow)]
    results: Option<&'b RawValue>,
}

/// The fields of a body, which is checked against the schema that `openapi.json` has for it. An optional field that is null is
/// left out.
fn read<'b>(body: &'b Bytes, path: &str) -> Result<JobBody<'b>, Problem> {
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
    let validator = validator.map_err(Problem::internal)?;
    let mistakes: Vec<String> =
        violations(&validator, schema, &value).into_iter().take(MAX_MISTAKES).map(told).collect();
    if !mistakes.is_empty() {
        return Err(refused(format!("in the body: {}", mistakes.join("; "))));
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
