//! `/.well-known/oauth-protected-resource/...`: the issuers and scopes for an endpoint (RFC 9728). It is open, and the same
//! for profiles that do not exist, so that nobody learns their names.

use super::{RequestContext, Response};
use crate::serve::auth::{METADATA, Resource};
use crate::serve::response::media::Media;
use crate::serve::response::no_store;
use crate::serve::response::problem::{Problem, ProblemCode};

/// `GET /.well-known/oauth-protected-resource/PATH`.
pub(super) async fn show(context: RequestContext) -> Result<Response, Problem> {
    let path = context.request.uri.path().strip_prefix(METADATA).unwrap_or_default();
    let resource = Resource::at(path);
    let metadata = resource.and_then(|resource| context.shared.authenticator.metadata(resource));
    let metadata = metadata.ok_or_else(|| {
        Problem::new(ProblemCode::NotFound, "there is no such resource with tokens of an issuer")
            .next("ask without a token of an issuer")
    })?;
    Ok(no_store(http::StatusCode::OK, Media::Json.content_type(), format!("{metadata:#}\n")))
}
