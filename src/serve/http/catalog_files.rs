//! Files about the whole catalog: `/registry.json`, `/llms.txt`, `/llms-full.txt`.

use std::sync::Arc;

use super::{RequestContext, Response};
use crate::serve::response::Tagged;
use crate::serve::response::media::Media;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::serve::response::response_cache::ResponseCache;

/// `GET /registry.json`.
pub(super) async fn registry(context: RequestContext) -> Result<Response, Problem> {
    made(context, |cache| Ok(cache.registry())).await
}

/// `GET /llms.txt`.
pub(super) async fn llms(context: RequestContext) -> Result<Response, Problem> {
    made(context, |cache| {
        let llms = &cache.index()?.llms;
        Ok(Tagged::new(llms.brief(cache.view().catalog()), Media::Text).answer())
    })
    .await
}

/// `GET /llms-full.txt`.
pub(super) async fn llms_full(context: RequestContext) -> Result<Response, Problem> {
    made(context, |cache| {
        let llms = &cache.index()?.llms;
        Ok(Tagged::new(llms.full(|index| cache.view().markdown(index)), Media::Text).answer())
    })
    .await
}

async fn made(
    RequestContext { shared, catalog, caller, .. }: RequestContext,
    make: fn(&ResponseCache) -> Result<Response, &String>,
) -> Result<Response, Problem> {
    let cache = Arc::clone(catalog.cache(&caller));
    let making = move || make(&cache).map_err(|problem| Problem::new(ProblemCode::Internal, problem));
    shared.slowly(making).await?
}
