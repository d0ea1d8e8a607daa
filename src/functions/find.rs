//! The one search that all functions use: by words and, where that is configured and there in time, by meaning.

use super::Context;
use crate::search::semantic::State;
use crate::search::{Found, Request};

/// What is looked for among the tools of the caller.
#[derive(Clone, Copy)]
pub struct Wanted<'q> {
    /// In anybody's words.
    pub query: &'q str,
    /// Which tools count, by their place in the catalog; all when there is none.
    pub within: Option<&'q (dyn Fn(usize) -> bool + Sync)>,
    /// The most hits.
    pub limit: usize,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// What fits, for each thing wanted, in their order.
    pub found: Vec<Found>,
    /// Whether meaning had a part; for [`super::Answer::searched`].
    pub semantic: State,
}

impl Context {
    /// Searches for each of these. Waits for nobody longer than the configuration allows.
    pub async fn search(&self, wanted: &[Wanted<'_>]) -> Searched {
        let find = |wanted: &Wanted<'_>| {
            let within = wanted.within.map(|within| within as &dyn Fn(usize) -> bool);
            self.edition.search().find(Request { query: wanted.query, within, limit: wanted.limit })
        };
        Searched { found: wanted.iter().map(find).collect(), semantic: State::Off }
    }
}
