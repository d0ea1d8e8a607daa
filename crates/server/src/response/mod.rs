//! Answers over HTTP: their headers, bodies with tags, the media type that a client prefers, and the problem of a
//! request without an answer.

mod etag;
mod headers;
mod media;
mod problem;

pub(crate) use etag::{Tagged, unless_known};
pub(crate) use headers::{Response, add_to_vary, by_accept, negotiated, no_store, with};
pub(crate) use media::{Media, preferred, reads_pages};
pub(crate) use problem::Problem;
pub use problem::ProblemCode;
