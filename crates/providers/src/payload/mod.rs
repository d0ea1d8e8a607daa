//! Payloads out: the functions that a mode binds, in the form of a provider.
//!
//! 1. [`selection`] decides which tools a mode binds, and to which extent.
//! 2. [`functions`] gives each a text and a schema that the provider takes, and [`names`] a name.
//! 3. The format writes them into the body of the request ([`mod@crate::format`]).
//! 4. [`limit`] compares their number with the most that the provider takes.

pub(crate) mod error;
pub(crate) mod functions;
mod limit;
pub(crate) mod names;
pub(crate) mod request;
pub(crate) mod selection;

use serde_json::Value;

use crate::format::{BoundFunction, BoundFunctions, Cache, RequestHeader};
use crate::provider::{ProviderFormat, format_of};
use error::PayloadError;
use limit::fits;
use request::PayloadRequest;
use toolcrib_catalog::config::{Mode, Provider, SearchBy};
use toolcrib_definition::finding::Finding;

/// A payload for a provider.
#[derive(Debug)]
pub struct Payload<'a> {
    /// The mode of the payload: another one than requested where the provider lacks that.
    pub mode: Mode,
    /// The fragment of the request body.
    pub body: Value,
    /// The functions in it, in order.
    pub functions: Vec<BoundFunction<'a>>,
    /// Parts of tools that this provider cannot take.
    pub findings: Vec<Finding>,
    /// Headers that the provider needs for what was bound.
    pub headers: Vec<RequestHeader>,
    /// Notes for a person, each on one line.
    pub notes: Vec<String>,
}

/// Makes a payload. The same input gives the same bytes; a tool that cannot be bound is left out with a finding.
pub fn payload<'a>(request: PayloadRequest<'a>) -> Result<Payload<'a>, PayloadError> {
    let payload = payload_of_any_size(request)?;
    payload.check_count(&request)?;
    Ok(payload)
}

/// Makes a payload even if the provider takes fewer tools: for counting, never for sending.
pub fn payload_of_any_size<'a>(request: PayloadRequest<'a>) -> Result<Payload<'a>, PayloadError> {
    let format = format_of(request.provider);
    let mode = request.provider.mode(request.mode);
    let chosen = selection::select_tools(&request, mode);
    let mut findings = Vec::new();
    let functions = functions::view(&chosen, &request, &mut findings)?;
    let cache = match format.cache {
        Cache::Never => false,
        Cache::OnByDefault => request.options.cache.unwrap_or(true),
        Cache::OffByDefault => request.options.cache.unwrap_or(false),
    };
    let defers = functions.iter().any(|function| function.deferred);
    let notes = notes(&request, mode, defers);
    let bound = BoundFunctions {
        functions: &functions,
        search: defers.then_some(request.options.search),
        cache,
        max_entries: format.max_entries,
    };
    // The provider's own search takes a name too.
    if let Some(own) = bound.search.and_then(|by| (format.own_search)(by))
        && let Some(function) = functions.iter().find(|function| function.name == own)
    {
        let provider = request.provider;
        let first = function.tool.names.canonical.clone();
        return Err(PayloadError::Clash {
            provider,
            name: own.into(),
            first,
            second: "its own search for tools".into(),
        });
    }
    let body = (format.body)(&bound);
    let headers = (format.header)(&bound).into_iter().collect();
    request.catalog.configure(&mut findings);
    Ok(Payload { mode, body, functions, findings, headers, notes })
}

/// Notes for a person: the mode is another one, a step is left to the caller, or a setting has no effect.
fn notes(request: &PayloadRequest<'_>, mode: Mode, defers: bool) -> Vec<String> {
    let provider = request.provider.as_str();
    let format = format_of(request.provider);
    let is_other = mode != request.mode;
    let lacks_regex =
        request.options.search == SearchBy::Regex && (format.own_search)(SearchBy::Regex).is_none();
    let notes = [
        is_other
            .then(|| format!("{provider} cannot defer tools by itself; this is the mode {}", mode.as_str())),
        if defers { format.deferral_note.map(str::to_string) } else { None },
        (defers && lacks_regex)
            .then(|| format!("{provider} has no search by regular expressions; this is its own")),
    ];
    notes.into_iter().flatten().collect()
}

impl Payload<'_> {
    /// Refuses more tools than the provider takes.
    pub fn check_count(&self, request: &PayloadRequest<'_>) -> Result<(), PayloadError> {
        let format = format_of(request.provider);
        let entries = self.body.pointer(format.entries).and_then(Value::as_array);
        let count = entries.map_or(0, Vec::len);
        match format.max_entries {
            Some(limit) if count > limit => {
                let fits = fits(request, limit);
                Err(PayloadError::TooMany { provider: request.provider, mode: self.mode, limit, count, fits })
            }
            _ => Ok(()),
        }
    }

    /// One function as it stands in the body; for counting.
    pub fn entry(&self, provider: Provider, function: &BoundFunction<'_>) -> Value {
        (format_of(provider).function)(function)
    }
}
