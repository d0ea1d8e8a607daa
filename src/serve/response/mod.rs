//! Answers over HTTP: what a client takes, bodies ready to be sent, and the problem of a request without an answer.

pub(super) mod build;
pub(super) mod cached_body;
pub(super) mod negotiate;
pub(super) mod problem;
pub(super) mod response_cache;
