//! Makes payloads and counts them.

use std::collections::HashSet;

use super::Options;
use super::auto_mode::{AutoMode, auto_mode};
use super::context::{TokenParts, in_context};
use super::whole_task::{TaskEstimate, searches_itself};
use crate::catalog::{Catalog, Profile, ProfileTool};
use crate::config::{self, Mode};
use crate::provider::{self, Payload, PayloadError, PayloadRequest};
use crate::render::{PromptSection, TemplateError, Templates};
use crate::tokens::{Count, Counter};
use crate::tool::DescriptionMode;

/// The folder of docs that sections of a prompt name.
const FOLDER: &str = "tools";

/// The catalog and options, and the counts so far.
pub(super) struct Meter<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) templates: &'a Templates,
    pub(super) options: Options<'a>,
    pub(super) counter: Counter,
}

/// A payload, counted.
pub(super) struct Counted {
    /// The mode of the payload.
    pub(super) mode: Mode,
    /// Tokens sent.
    pub(super) sent: Count,
    /// Tokens in the context.
    pub(super) bound: Count,
    /// Components of the tokens in the context.
    pub(super) parts: TokenParts,
    /// Most tools that the provider takes, if the payload has more.
    pub(super) limit: Option<usize>,
}

pub(super) fn is_deferred(entry: &ProfileTool<'_>) -> bool {
    entry.mode == DescriptionMode::Deferred
}

impl<'a> Meter<'a> {
    pub(super) fn new(catalog: &'a Catalog, templates: &'a Templates, options: Options<'a>) -> Self {
        Self { catalog, templates, options, counter: Counter::default() }
    }

    /// Tokens of a request with this mode.
    pub(super) fn count(&mut self, profile: &Profile<'_>, mode: Mode) -> Result<Counted, PayloadError> {
        let request = self.request(profile, mode);
        let payload = provider::payload_of_any_size(request)?;
        let limit = match payload.check_count(&request) {
            Err(PayloadError::TooMany { limit, .. }) => Some(limit),
            _ => None,
        };
        let Payload { mode, body, functions, .. } = payload;
        if functions.is_empty() {
            let nothing = Count::default();
            return Ok(Counted { mode, sent: nothing, bound: nothing, parts: TokenParts::default(), limit });
        }
        let ours: HashSet<&str> = functions
            .iter()
            .filter(|function| function.ours)
            .map(|function| function.name.as_str())
            .collect();
        let sent = self.counter.count(&body.to_string());
        let body = in_context(body);
        let bound = self.counter.count(&body.to_string());
        let parts = TokenParts::of(&body, &ours, &mut self.counter);
        Ok(Counted { mode, sent, bound, parts, limit })
    }

    /// Tokens in the context of a request with this mode.
    pub(super) fn bound(&mut self, profile: &Profile<'_>, mode: Mode) -> Result<usize, PayloadError> {
        let request = self.request(profile, mode);
        let payload = provider::payload_of_any_size(request)?;
        if payload.functions.is_empty() {
            return Ok(0);
        }
        Ok(self.counter.count(&in_context(payload.body).to_string()).o200k)
    }

    /// Tokens of the section of the system prompt.
    pub(super) fn prompt(&mut self, profile: &Profile<'_>, mode: Mode) -> Result<Count, TemplateError> {
        let config::Payload { deferred, discovery, prompt_tokens: tokens, .. } = self.options.payload;
        let section = PromptSection { mode, deferred, folder: FOLDER, discovery, tokens };
        Ok(self.counter.count(&section.render(self.catalog, profile, self.templates)?))
    }

    /// Tokens of a whole task with this mode, estimated, with these tokens of bound tools and prompt in each request.
    pub(super) fn task(&self, profile: &Profile<'_>, mode: Mode, request: usize) -> usize {
        let Options { provider, payload, .. } = &self.options;
        let has_core = profile.full().next().is_some();
        let estimate = TaskEstimate::of(mode, searches_itself(*provider, payload), has_core);
        estimate.tokens(request, payload.host_tokens)
    }

    /// The mode that the budget of a profile is for.
    pub(super) fn budgeted(&self, profile: &Profile<'_>) -> Mode {
        let Options { mode, payload, .. } = self.options;
        mode.or(payload.mode.named()).unwrap_or_else(|| self.auto(profile).mode)
    }

    /// The mode that `auto` stands for.
    pub(super) fn auto(&self, profile: &Profile<'_>) -> AutoMode {
        auto_mode(&self.request(profile, Mode::Full), Mode::ALL)
    }

    fn request<'r>(&self, profile: &'r Profile<'r>, mode: Mode) -> PayloadRequest<'r>
    where
        'a: 'r,
    {
        let Options { provider, payload: options, .. } = self.options;
        PayloadRequest { catalog: self.catalog, profile, provider, mode, options }
    }
}
