//! Search by meaning: vectors of tools and of queries, where the configuration names a model for them.

mod state;

pub use state::State;
