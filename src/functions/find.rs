//! The one search that all functions use: by words and, where that is configured and there in time, by meaning.

use std::collections::HashSet;

use super::{Context, Edition, Meaning};
use crate::search::semantic::{Nearness, POOL, State, fuse};
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
        self.edition.searchable().await;
        let queries: Vec<&str> = wanted.iter().map(|wanted| wanted.query).collect();
        let (near, semantic) = self.near(&queries).await;
        let weight = match &self.services.semantic {
            Meaning::On(semantic) => semantic.weight(),
            _ => 0.0,
        };
        let found = wanted.iter().enumerate().map(|(index, wanted)| {
            find(&self.edition, *wanted, near.as_ref().and_then(|near| near.get(index)), weight)
        });
        Searched { found: found.collect(), semantic }
    }

    /// How near each query is to each tool of the caller, where that can be said now.
    pub(super) async fn near(&self, queries: &[&str]) -> (Option<Vec<Nearness>>, State) {
        let semantic = match &self.services.semantic {
            Meaning::On(semantic) => semantic,
            Meaning::Off => return (None, State::Off),
            // Why is for the operator: a caller should not learn where the model is.
            Meaning::Broken(_) => {
                let reason = "the model cannot be used as it is configured";
                return (None, State::Unavailable(reason.into()));
            }
        };
        match semantic.near(self.edition.meaning(), queries).await {
            Ok(near) => (Some(near), State::On),
            Err(reason) => (None, State::Unavailable(reason)),
        }
    }
}

/// What fits, by words, and by meaning where that is known.
pub(super) fn find(edition: &Edition, wanted: Wanted<'_>, near: Option<&Nearness>, weight: f32) -> Found {
    let Wanted { query, within, limit } = wanted;
    let within_words = within.map(|within| within as &dyn Fn(usize) -> bool);
    let words = |limit| edition.search().find(Request { query, within: within_words, limit });
    let Some(near) = near else { return words(limit) };
    let named: HashSet<usize> = edition.search().named_in(query).collect();
    let counts = |place: usize| within.is_none_or(|within| within(place));
    fuse(words(limit.max(POOL)), near, weight, limit, &counts, &|place| named.contains(&place))
}
