//! `/v1/payload`, `/v1/prompt`, `/v1/parse` and `/v1/results`: what a job starter needs between a model and its tools.
//! Each answers what the command of the same name prints, for the profile of the request and the roles of its caller.

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolcrib_providers::ProviderFormat;

use super::functions::checked_json;
use super::{RequestContext, Response, functions, routes};
use crate::RequestCatalog;
use crate::response::{Media, Problem, ProblemCode, Tagged, no_store};
use toolcrib_catalog::config::{Deferred, Mode, ModeChoice, SearchBy};
use toolcrib_catalog::{Catalog, Profile};
use toolcrib_definition::finding::{Severity, Violation, violations};
use toolcrib_definition::quoted;
use toolcrib_docs::{
    DOCS, Docs, PromptSection, RenderError, TemplateError, Templates, WorkspaceTemplate, folder, seeded_files,
};
use toolcrib_gateway::exec::Caller;
use toolcrib_providers::call::Parser;
use toolcrib_providers::report;
use toolcrib_providers::{self as provider, AnsweredCalls, PayloadRequest, Provider};

/// The media type of the archive.
const TAR: &str = "application/x-tar";
/// Rights of each file: its owner writes, all others read.
const MODE: u32 = 0o644;

/// The tools that a job may bind.
struct Job<'c> {
    catalog: &'c Catalog,
    profile: Profile<'c>,
    templates: &'c Templates,
}

impl<'c> Job<'c> {
    /// The tools of the profile that the caller may use. A caller who sees everything gets the profile of the whole
    /// catalog, so that versions are those that the command line writes.
    fn of(catalog: &'c RequestCatalog, caller: &Caller) -> Self {
        let whole = catalog.whole_catalog().filter(|_| caller.sees_everything());
        let chosen =
            whole.and_then(|view| Some((view, view.catalog().profile(catalog.profile_name()).ok()?)));
        let (view, profile) = chosen.unwrap_or_else(|| {
            let own = catalog.view(caller);
            (own, own.usable_profile())
        });
        Self { catalog: view.catalog(), profile, templates: view.templates() }
    }
}

/// `POST /v1/payload`.
pub(super) async fn payload(context: RequestContext) -> Result<Response, Problem> {
    answer(context, "/v1/payload", |job, provider, body| {
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
pub(super) async fn prompt(context: RequestContext) -> Result<Response, Problem> {
    answer(context, "/v1/prompt", |job, provider, body| {
        let Job { catalog, profile, templates } = job;
        let options = catalog.config.payload;
        let request = PayloadRequest { catalog, profile: &profile, provider, mode: Mode::Full, options };
        let (wanted, _) =
            report::mode_of(&request, templates, Mode::named(body.mode.unwrap_or(options.mode)));
        let section = PromptSection {
            mode: provider.mode(wanted),
            deferred: body.deferred.unwrap_or(options.deferred),
            folder: body.folder.as_deref().unwrap_or(DOCS).trim_end_matches('/'),
            discovery: body.discovery.unwrap_or_default() || options.discovery,
            tokens: body.tokens.unwrap_or(options.prompt_tokens),
        };
        let text = section.render(catalog, &profile, templates);
        Ok((Media::Markdown, text.map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))?))
    })
    .await
}

/// `POST /v1/parse`.
pub(super) async fn parse(context: RequestContext) -> Result<Response, Problem> {
    answer(context, "/v1/parse", |job, provider, body| {
        let parser = Parser::of_profile(job.catalog, &job.profile, provider);
        let entries = parser.parse(body.response.map_or("null", RawValue::get));
        let entries = entries.map_err(|error| refused(error.to_string()))?;
        let text = serde_json::to_string(&entries).map_err(|error| refused(error.to_string()))?;
        Ok((Media::Json, text))
    })
    .await
}

/// `POST /v1/results`.
pub(super) async fn results(context: RequestContext) -> Result<Response, Problem> {
    answer(context, "/v1/results", |job, provider, body| {
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
    path: &'static str,
    make: impl FnOnce(Job<'_>, Provider, JobBody<'_>) -> Result<(Media, String), Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, body } = context;
    let body = functions::json_bytes(&shared, &request, body).await?;
    let making = move || {
        let job = Job::of(&catalog, &caller);
        let body = read(&body, path)?;
        let provider = body.provider.unwrap_or(job.catalog.config.payload.provider);
        make(job, provider, body)
    };
    let (media, text) = shared.slowly(making).await??;
    Ok(no_store(StatusCode::OK, media.content_type(), format!("{text}\n")))
}

fn refused(message: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::ValidationError, message)
}

/// `GET /v1/workspace.tar`: the workspace of a job, as `seed` writes it into a new folder. The query holds the values of the job.
pub(super) async fn workspace(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, .. } = context;
    let values = values(request.uri.query().unwrap_or_default())?;
    let folder = catalog.live.options.workspace_template.clone();
    let template = WorkspaceTemplate { folder, values, ..WorkspaceTemplate::default() };
    template.check_values().map_err(|error| Problem::new(ProblemCode::ValidationError, error.to_string()))?;
    let making = move || {
        let Job { catalog, profile, templates } = Job::of(&catalog, &caller);
        let files = seeded_files(Docs::new(catalog, profile, templates), &template)?;
        tar_of(files).map_err(|source| RenderError::Workspace { path: "the archive".into(), source })
    };
    let made: Result<Vec<u8>, RenderError> = shared.slowly(making).await?;
    let bytes = made.map_err(workspace_problem)?;
    Ok(Tagged::of_type(Bytes::from(bytes), TAR).answer())
}

/// Values of the job are the caller's; the template, and its place on this machine, are the operator's.
fn workspace_problem(error: RenderError) -> Problem {
    match &error {
        RenderError::Value(error) => Problem::new(ProblemCode::ValidationError, error.to_string()),
        RenderError::Template(TemplateError { name, missing: Some(value), .. }) => {
            let message = format!("{name} of the workspace names the value `{value}`, which the query lacks");
            Problem::new(ProblemCode::ValidationError, message)
                .next(format!("add `{value}=...` to the query"))
        }
        _ => {
            tracing::error!(%error, "a workspace cannot be made");
            let message = "the template of workspaces, or of docs, is broken, or cannot be read";
            Problem::new(ProblemCode::Internal, message)
        }
    }
}

fn values(query: &str) -> Result<Map<String, Value>, Problem> {
    let mut values = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if values.insert(name.to_string(), value.into()).is_some() {
            return Err(Problem::repeated(&name));
        }
    }
    Ok(values)
}

/// The files as a tar archive, without times and owners, so that the same files have the same bytes.
fn tar_of(files: Vec<folder::Content>) -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(MODE);
        header.set_mtime(0);
        archive.append_data(&mut header, path, content.as_slice())?;
    }
    archive.into_inner()
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
    let schema = routes::body_schema(path);
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
        assert_eq!(routes::body_schema("/v1/payload")["properties"][field]["enum"], serde_json::json!(words));
    }

    #[test]
    fn the_description_of_this_api_has_every_word_of_an_option() {
        check::<Provider>("provider");
        check::<ModeChoice>("mode");
        check::<Deferred>("deferred");
        check::<SearchBy>("search");
    }
}
