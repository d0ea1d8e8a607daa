//! The profile of a request: its path (`/p/NAME/...`), `X-Profile`, or its token chooses it, and a request in which they
//! disagree is refused. A refusal tells a caller nothing of profiles that its token is not for.

use std::sync::Arc;

use http::header::VARY;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, Uri};

use super::address::{decoded, encoded};
use crate::exec::Caller;
use crate::finding::nearest;
use crate::serve::RequestCatalog;
use crate::serve::response::add_to_vary as vary_by;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::tool::quoted;

/// The path before the name of a profile.
const PREFIX: &str = "/p/";

/// The header that chooses a profile.
pub(super) const PROFILE: HeaderName = HeaderName::from_static("x-profile");

/// A profile in the path of a request.
pub(super) struct PathProfile {
    name: String,
    /// Whether the path ends with the name, so that relative links of a page there would not work.
    pub(super) is_bare: bool,
}

impl PathProfile {
    /// Takes the profile out of the path of a request; `None` where there is none.
    pub(super) fn take(request: &mut Parts) -> Option<Self> {
        let below = request.uri.path().strip_prefix(PREFIX)?;
        let name = below.split('/').next().filter(|name| !name.is_empty())?;
        let rest = &below[name.len()..];
        let is_bare = rest.is_empty();
        let query = request.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let rest = format!("{}{query}", if is_bare { "/" } else { rest });
        let name = decoded(name).ok()?.into_owned();
        let mut parts = request.uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
        request.uri = Uri::from_parts(parts).ok()?;
        Some(Self { name, is_bare })
    }

    /// The path of the profile.
    pub(super) fn root(&self) -> Arc<str> {
        Arc::from(format!("{PREFIX}{}", encoded(&self.name)))
    }
}

/// The catalog with the profile that a request of this caller asks for, in its path or its headers.
pub(super) fn of_request(
    catalog: RequestCatalog,
    caller: &Caller,
    path: Option<&PathProfile>,
    headers: &HeaderMap,
) -> Result<RequestCatalog, Problem> {
    let header = in_header(headers)?;
    if path.is_none() && header.is_none() && caller.profiles.is_none() {
        return Ok(catalog);
    }
    let in_path = path.map(|path| path.name.as_str());
    if let (Some(path), Some(header)) = (in_path, header)
        && path != header
    {
        let message = format!(
            "the path asks for the profile `{}`, and `X-Profile` for `{}`",
            quoted(path),
            quoted(header)
        );
        return Err(Problem::new(ProblemCode::ProfileMismatch, message));
    }
    let catalog = match in_path.or(header) {
        Some(name) => chosen(catalog, caller, name, if path.is_some() { "the path" } else { "`X-Profile`" })?,
        None => of_token(catalog, caller)?,
    };
    Ok(catalog.below(path.map(PathProfile::root), header.is_some()))
}

/// Tells caches that `X-Profile` chooses between answers of the same address.
pub(super) fn add_to_vary(headers: &mut HeaderMap) {
    if headers.contains_key(VARY) {
        vary_by(headers, "x-profile");
    }
}

fn in_header(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut given = headers.get_all(PROFILE).iter();
    let Some(name) = given.next() else { return Ok(None) };
    match (std::str::from_utf8(name.as_bytes()), given.next()) {
        (Ok(name), None) if !name.is_empty() => Ok(Some(name)),
        _ => Err(Problem::new(ProblemCode::ValidationError, "`X-Profile` is the name of one profile")
            .next("correct the header, or leave it out")),
    }
}

/// The profile of this name. Whether it exists is told only to a caller who may use it.
fn chosen(
    catalog: RequestCatalog,
    caller: &Caller,
    name: &str,
    place: &str,
) -> Result<RequestCatalog, Problem> {
    if !caller.may_use(Some(name)) {
        let message =
            format!("{place} asks for the profile `{}`, and {}", quoted(name), profiles_of_token(caller));
        return Err(Problem::new(ProblemCode::ProfileNotAllowed, message));
    }
    catalog.clone().in_profile(Some(name)).ok_or_else(|| {
        let known = catalog.generation().choices().chain(catalog.profile_name());
        let near = nearest(name, known.filter(|known| caller.may_use(Some(known))));
        let message = format!("{place} asks for the profile `{}`, and there is none", quoted(name));
        Problem::new(ProblemCode::UnknownProfile, message).nearest(near.iter().map(ToString::to_string))
    })
}

/// The profile of a request that chooses none: the usual one where the token is for it, else the first one of the
/// token.
fn of_token(catalog: RequestCatalog, caller: &Caller) -> Result<RequestCatalog, Problem> {
    if caller.may_use(catalog.profile_name()) {
        return Ok(catalog);
    }
    let mut own = caller.profiles.iter().flat_map(|own| own.iter()).map(String::as_str);
    match own.find(|name| catalog.generation().position(Some(name)).is_some()) {
        Some(name) => chosen(catalog, caller, name, "the token"),
        None => {
            let message = format!("{}, which this server does not serve", profiles_of_token(caller));
            Err(Problem::new(ProblemCode::ProfileNotAllowed, message)
                .next("tell the operator of this server"))
        }
    }
}

/// The profiles of a token, in words.
fn profiles_of_token(caller: &Caller) -> String {
    let names = caller.profiles.iter().flat_map(|own| own.iter());
    let names: Vec<String> = names.map(|name| format!("`{}`", quoted(name))).collect();
    format!("the token is for {}", names.join(", "))
}
