//! The format of every provider: payloads out, calls in, results out, and what they cost.

mod calls;
mod fixture;
mod payload;
mod rules;
mod tokens;
