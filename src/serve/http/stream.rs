//! A body that is made while it is sent, since the whole of it would be large. Each part waits for its turn in the
//! pool, and a client that reads slowly takes no turn from others.

use std::io::{self, Write};

use axum::body::Body;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::{StreamExt, stream};
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::Response;
use super::blocking_pool::BlockingPool;
use crate::serve::response::build::with;
use crate::serve::response::cached_body::{precondition, tag};
use crate::serve::response::negotiate::{Media, takes_gzip};
use crate::serve::response::problem::Problem;

/// Bytes up to which pieces are sent together.
const CHUNK: usize = 32 * 1024;

/// The answer to a GET or HEAD of a body of these pieces. `version` changes with the body.
pub(super) async fn answer(
    request: &Parts,
    heavy: &BlockingPool,
    version: &str,
    media: Media,
    pieces: impl Iterator<Item = String> + Send + 'static,
) -> Result<Response, Problem> {
    let gzip = takes_gzip(&request.headers);
    let tag = if gzip { tag(&format!("{version}-gz")) } else { tag(version) };
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(ETAG, tag.clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(status) = precondition(&request.headers, &tag)? {
        return Ok(with(status, headers, Body::empty()));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    if gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    let encoder = gzip.then(|| GzEncoder::new(Vec::new(), Compression::default()));
    if request.method == Method::HEAD {
        // No length is declared, as for the body itself.
        let none = Body::from_stream(stream::empty::<io::Result<Bytes>>());
        return Ok(with(StatusCode::OK, headers, none));
    }
    let chunks = Chunks { pieces, encoder };
    let Some((first, rest)) = heavy.run(move || chunks.step()).await? else {
        return Ok(with(StatusCode::OK, headers, Body::empty()));
    };
    let heavy = heavy.clone();
    let rest = stream::try_unfold(rest, move |chunks| {
        let heavy = heavy.clone();
        async move {
            let step = heavy.run_next(move || chunks.step()).await;
            step.map_err(|_| io::Error::other("the rest of the body cannot be made"))
        }
    });
    let first = stream::iter([Ok(first)]);
    Ok(with(StatusCode::OK, headers, Body::from_stream(first.chain(rest))))
}

/// Pieces, gathered into chunks and compressed if need be.
struct Chunks<I> {
    pieces: I,
    /// Compresses the remaining bytes.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl<I: Iterator<Item = String>> Chunks<I> {
    /// The next chunk, and the state after it.
    fn step(mut self) -> Option<(Bytes, Self)> {
        self.next().map(|chunk| (chunk, self))
    }
}

impl<I: Iterator<Item = String>> Iterator for Chunks<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK {
            match (self.pieces.next(), &mut self.encoder) {
                (Some(piece), None) => chunk.extend_from_slice(piece.as_bytes()),
                (Some(piece), Some(encoder)) => {
                    // Writing into memory does not fail.
                    let _ = encoder.write_all(piece.as_bytes());
                    chunk.append(encoder.get_mut());
                }
                (None, _) => {
                    chunk.extend(
                        self.encoder.take().and_then(|encoder| encoder.finish().ok()).unwrap_or_default(),
                    );
                    break;
                }
            }
        }
        (!chunk.is_empty()).then(|| Bytes::from(chunk))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn chunks_are_the_pieces_in_order_compressed_or_not() {
        let pieces = || (0..5000).map(|number| format!("piece {number}\n"));
        let whole: String = pieces().collect();
        let plain: Vec<u8> = Chunks { pieces: pieces(), encoder: None }.flatten().collect();
        assert_eq!(plain, whole.as_bytes());
        let encoder = Some(GzEncoder::new(Vec::new(), Compression::default()));
        let small: Vec<u8> = Chunks { pieces: pieces(), encoder }.flatten().collect();
        let mut text = String::new();
        flate2::read::GzDecoder::new(small.as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text, whole);
        assert!(small.len() < whole.len() / 2);
    }
}
