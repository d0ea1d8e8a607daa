//! The format of every provider: payloads out, calls in, results out, and what they cost.

mod fixture;
mod rules;
