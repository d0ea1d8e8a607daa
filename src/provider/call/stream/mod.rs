//! Streams in: the events of a response, joined into the body that the provider would have sent in one piece, so that
//! there is one way from a body to calls.
//!
//! 1. [`split`] cuts bytes into events, wherever the chunks end: server-sent events, JSON texts, and [`frames`] of AWS.
//! 2. Each wire reads an event ([`crate::provider::wire::Wire::stream_event`]) into an [`crate::provider::assembly`].
//! 3. The wire writes the body of the whole response, which [`response_stream`] gives.

mod event;
mod frames;
mod response_stream;
mod split;

pub use response_stream::ResponseStream;
