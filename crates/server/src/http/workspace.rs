//! `GET /v1/workspace.tar`: the workspace of a job, as `seed` writes it into a new folder.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::jobs::Job;
use super::request_context::RequestContext;
use crate::response::{Problem, ProblemCode, Response, Tagged};
use toolcrib_render::{Docs, RenderError, TemplateError, WorkspaceTemplate, folder, seeded_files};

/// The media type of the archive.
const TAR: &str = "application/x-tar";

/// Rights of each file: its owner writes, all others read.
const MODE: u32 = 0o644;

/// `GET /v1/workspace.tar`: the workspace of a job, as `seed` writes it into a new folder. The query holds the values of the job.
pub(super) async fn workspace(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request } = context;
    let values = values(request.uri.query().unwrap_or_default())?;
    let folder = catalog.live.options.workspace_template.clone();
    let template = WorkspaceTemplate { folder, values, ..WorkspaceTemplate::default() };
    template.check_values().map_err(|error| Problem::new(ProblemCode::ValidationError, error.to_string()))?;
    let caller = Arc::clone(&catalog.caller.name);
    let making = move || {
        let Job { catalog, profile, templates } = Job::of(&catalog);
        let files = seeded_files(Docs::new(catalog, profile, templates), &template)?;
        tar_of(files).map_err(|source| RenderError::Workspace { path: "the archive".into(), source })
    };
    let made: Result<Vec<u8>, RenderError> = shared.slowly(&caller, making).await?;
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
