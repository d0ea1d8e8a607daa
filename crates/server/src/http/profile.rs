//! The profile of a request. The path (`/p/NAME/...`) or the token chooses it. A path to a profile that the token is not
//! for is rejected, with an error that does not reveal whether the profile exists.

use std::sync::Arc;

use axum::extract::Request;
use http::Uri;
use http::uri::PathAndQuery;

use super::address::{decoded_address, encoded_address};
use crate::RequestCatalog;
use crate::response::{Problem, ProblemCode};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::quoted;
use toolcrib_gateway::exec::Caller;

/// The path before the name of a profile.
const PREFIX: &str = "/p/";

/// A profile in the path of a request.
#[derive(Clone)]
pub(super) struct PathProfile {
    name: String,
    /// Whether the path ends with the name. Relative links on a page would not work there.
    pub(super) is_bare: bool,
}

impl PathProfile {
    /// Moves the profile in the path of a request to its extensions.
    pub(super) fn taken(mut request: Request) -> Request {
        if let Some((profile, rest)) = Self::split(request.uri()) {
            *request.uri_mut() = rest;
            request.extensions_mut().insert(profile);
        }
        request
    }

    /// The profile in an address, and the address without it.
    fn split(uri: &Uri) -> Option<(Self, Uri)> {
        let below = uri.path().strip_prefix(PREFIX)?;
        let name = below.split('/').next().filter(|name| !name.is_empty())?;
        let rest = &below[name.len()..];
        let is_bare = rest.is_empty();
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let rest = format!("{}{query}", if is_bare { "/" } else { rest });
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
        let name = decoded_address(name).ok()?.into_owned();
        Some((Self { name, is_bare }, Uri::from_parts(parts).ok()?))
    }

    /// The path of the profile.
    pub(super) fn root(&self) -> Arc<str> {
        Arc::from(format!("{PREFIX}{}", encoded_address(&self.name)))
    }
}

/// The catalog with the profile that a request asks for.
pub(super) fn profile_of_request(
    catalog: RequestCatalog,
    path: Option<&PathProfile>,
) -> Result<RequestCatalog, Problem> {
    match path {
        Some(path) => Ok(chosen(catalog, &path.name)?.below(path.root())),
        None => of_token(catalog),
    }
}

/// The profile of this name. Only a caller who may use it learns whether it exists.
fn chosen(catalog: RequestCatalog, name: &str) -> Result<RequestCatalog, Problem> {
    let caller = &catalog.caller;
    if !caller.may_use(Some(name)) {
        let message =
            format!("the path asks for the profile `{}`, but {}", quoted(name), profiles_of_token(caller));
        return Err(Problem::new(ProblemCode::ProfileNotAllowed, message));
    }
    catalog.in_profile(Some(name)).ok_or_else(|| {
        let known = catalog.snapshot.choices().chain(catalog.profile_name());
        let near = nearest(name, known.filter(|known| caller.may_use(Some(known))));
        let message = format!("the path asks for the unknown profile `{}`", quoted(name));
        Problem::new(ProblemCode::UnknownProfile, message).nearest(near.iter().map(ToString::to_string))
    })
}

/// The profile of a request that does not choose a profile: the default profile if the token is for it, otherwise the
/// token's first profile.
fn of_token(catalog: RequestCatalog) -> Result<RequestCatalog, Problem> {
    let caller = &catalog.caller;
    if caller.may_use(catalog.profile_name()) {
        return Ok(catalog);
    }
    let mut own = caller.profiles.iter().flat_map(|own| own.iter());
    own.find_map(|name| catalog.in_profile(Some(name))).ok_or_else(|| {
        let message = format!("{}, which this server does not serve", profiles_of_token(caller));
        Problem::new(ProblemCode::ProfileNotAllowed, message).next("tell the operator of this server")
    })
}

/// The profiles of a token, in words.
fn profiles_of_token(caller: &Caller) -> String {
    let names = caller.profiles.iter().flat_map(|own| own.iter());
    let names: Vec<String> = names.map(|name| format!("`{}`", quoted(name))).collect();
    format!("the token is for {}", names.join(", "))
}
