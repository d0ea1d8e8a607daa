//! A cached body: with a strong tag, compressed once when a client first accepts that.

use std::io::Write;
use std::sync::OnceLock;

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::build::{Response, with};
use super::negotiate::{Media, takes_gzip};
use super::problem::{Problem, ProblemCode};

/// Fewest bytes that are compressed: less saves no packet.
const MIN_COMPRESSED_BYTES: usize = 1024;

/// A cached body.
#[derive(Debug)]
pub(crate) struct CachedBody {
    body: Bytes,
    content_type: &'static str,
    tag: HeaderValue,
    gzip: OnceLock<Option<Box<(Bytes, HeaderValue)>>>,
}

/// The headers that choose a representation, for caches on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vary {
    Encoding,
    MediaAndEncoding,
}

impl Vary {
    fn header(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Vary::Encoding => "accept-encoding",
            Vary::MediaAndEncoding => "accept, accept-encoding",
        })
    }
}

impl CachedBody {
    /// Caches a body of text. Its tag is the hash of its bytes.
    pub(crate) fn new(body: impl Into<Bytes>, media: Media) -> Self {
        Self::of_type(body.into(), media.content_type())
    }

    /// Caches a body of any type.
    pub(crate) fn of_type(body: Bytes, content_type: &'static str) -> Self {
        let tag = tag(&blake3::hash(&body).to_hex()[..20]);
        Self { body, content_type, tag, gzip: OnceLock::new() }
    }

    /// The answer to a GET or HEAD.
    pub(crate) fn answer(&self, request: &Parts, varies: Vary) -> Result<Response, Problem> {
        self.answer_tagged(self.content_type, HeaderValue::clone, request, varies)
    }

    /// The same body with another media type; this is another representation, with its own tag.
    pub(crate) fn answer_as(&self, media: Media, request: &Parts, varies: Vary) -> Result<Response, Problem> {
        let own = |tag: &HeaderValue| also(tag, media.subtype());
        self.answer_tagged(media.content_type(), own, request, varies)
    }

    fn answer_tagged(
        &self,
        content_type: &'static str,
        named: impl FnOnce(&HeaderValue) -> HeaderValue,
        request: &Parts,
        varies: Vary,
    ) -> Result<Response, Problem> {
        let gzip = if takes_gzip(&request.headers) { self.compressed() } else { None };
        let (body, tag) = gzip.map_or((&self.body, &self.tag), |(body, tag)| (body, tag));
        let tag = &named(tag);
        let mut headers = HeaderMap::with_capacity(16);
        headers.insert(ETAG, tag.clone());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(VARY, varies.header());
        if let Some(answer) = precondition(&request.headers, tag)? {
            return Ok(with(answer, headers, Body::empty()));
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        if gzip.is_some() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Ok(with(StatusCode::OK, headers, Body::from(body.clone())))
    }

    fn compressed(&self) -> Option<(&Bytes, &HeaderValue)> {
        let made = self.gzip.get_or_init(|| {
            let body = Some(&self.body).filter(|body| body.len() >= MIN_COMPRESSED_BYTES)?;
            let small = gzip(body).filter(|small| small.len() < body.len() / 10 * 9)?;
            Some(Box::new((Bytes::from(small), also(&self.tag, "gz"))))
        });
        made.as_deref().map(|(body, tag)| (body, tag))
    }
}

/// The tag of another representation: a strong tag stands for exactly these bytes with this media type.
fn also(own: &HeaderValue, what: &str) -> HeaderValue {
    tag(&format!("{}-{what}", own.to_str().unwrap_or_default().trim_matches('"')))
}

/// A strong tag.
pub(crate) fn tag(text: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

/// The answer that the conditional headers alone decide: 304, or a problem.
pub(crate) fn precondition(headers: &HeaderMap, tag: &HeaderValue) -> Result<Option<StatusCode>, Problem> {
    if headers.contains_key(IF_MATCH) && !names(headers, IF_MATCH, tag, false) {
        let message = "the content is no longer the one that `If-Match` names";
        return Err(Problem::new(ProblemCode::PreconditionFailed, message));
    }
    Ok(names(headers, IF_NONE_MATCH, tag, true).then_some(StatusCode::NOT_MODIFIED))
}

/// Whether a list of tags has this one. Weak comparison ignores `W/`, strong comparison refuses it.
fn names(headers: &HeaderMap, name: HeaderName, tag: &HeaderValue, weakly: bool) -> bool {
    let lists = headers.get_all(name).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|listed| {
        let listed = if weakly { listed.strip_prefix("W/").unwrap_or(listed) } else { listed };
        listed == "*" || listed.as_bytes() == tag.as_bytes()
    })
}

fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}
