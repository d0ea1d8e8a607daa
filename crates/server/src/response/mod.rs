//! Answers over HTTP: their headers, bodies with tags, the media type that a client prefers, and the problem of a
//! request without an answer.

mod headers;
mod media;
mod problem;

pub(crate) use headers::{
    Response, Tagged, add_to_vary, by_accept, negotiated, no_store, unless_known, with,
};
pub(crate) use media::{Media, preferred, reads_pages};
pub use problem::ProblemCode;
pub(crate) use problem::{Problem, with_problem};
