//! The estimate of a whole task in one mode.
//!
//! A task is many requests, and each carries the host's own context, the bound tools and the section of the prompt. A
//! mode that binds less takes more requests: a search, or a doc, before the first call of a tool. The assumptions
//! are means of `toolcrib-lab simulate` over 155 tasks of 4.5 calls: between an agent that searches for one step at a time, and
//! one that searches for all steps at once. With core tools about half of these requests are saved.

use crate::provider::ProviderFormat;
use toolcrib_catalog::config::{self, Mode, Provider, SearchBy};

/// Requests of a task in the mode `full`.
const REQUESTS: f64 = 5.5;

/// The estimate of a task in one mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskEstimate {
    requests: f64,
    /// Tokens of docs, hits or definitions that a request carries, on average.
    carried: usize,
}

impl TaskEstimate {
    /// The estimate for a mode. `has_core`: some tools of the profile are bound in full, and others deferred.
    pub(super) fn of(mode: Mode, searches_itself: bool, has_core: bool) -> Self {
        let (more, carried) = match mode {
            Mode::Full => (0.0, 0),
            Mode::Hybrid | Mode::Files => (2.5, 400),
            Mode::Native if searches_itself => (1.5, 1_500),
            Mode::Native => (2.5, 1_500),
            Mode::Gateway => (2.5, 500),
        };
        let uses_core = has_core && mode != Mode::Files;
        let share = if uses_core { 0.5 } else { 1.0 };
        Self { requests: REQUESTS + share * more, carried: (share * carried as f64) as usize }
    }

    /// Tokens of the task, with these tokens of bound tools and prompt, and of the host, in every request.
    pub(super) fn tokens(self, request: usize, host: usize) -> usize {
        let each = host.saturating_add(request).saturating_add(self.carried);
        (self.requests * each as f64).round() as usize
    }
}

/// Whether the provider answers searches for deferred tools itself.
pub(super) fn searches_itself(provider: Provider, options: &config::Payload) -> bool {
    provider.defers() && options.search != SearchBy::Client
}
