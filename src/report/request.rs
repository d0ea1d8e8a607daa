//! The tokens that every request of a task has.

use std::collections::HashMap;

use super::meter::Meter;
use super::{AutoMode, Options, tool};
use crate::catalog::{Catalog, Profile};
use crate::config::{self, Mode, SearchBy};
use crate::provider::Provider;
use crate::render::Templates;

/// Counts the parts of a request that stay the same for a whole task.
pub struct RequestMeter<'a>(Meter<'a>);

impl<'a> RequestMeter<'a> {
    /// A meter for a catalog and a provider. Where a provider lets its client search, the client does.
    pub fn new(catalog: &'a Catalog, templates: &'a Templates, provider: Provider) -> Self {
        let payload = config::Payload { search: SearchBy::Client, ..catalog.config.payload };
        let options = Options { profile: None, provider, mode: None, payload, budget: None };
        Self(Meter::new(catalog, templates, options))
    }

    /// The mode that the provider has in place of this one, tokens of the bound tools, and tokens of the section of
    /// the prompt.
    pub fn request(&mut self, profile: &Profile<'_>, mode: Mode) -> Result<(Mode, usize, usize), String> {
        let counted = self.0.count(profile, mode).map_err(|error| error.to_string())?;
        let prompt = self.0.prompt(profile, counted.mode).map_err(|error| error.to_string())?;
        Ok((counted.mode, counted.bound.o200k, prompt.o200k))
    }

    /// The mode that `auto` stands for.
    pub fn auto(&self, profile: &Profile<'_>) -> AutoMode {
        self.0.auto(profile)
    }

    /// Tokens of each tool's definition in full, by canonical name.
    pub fn definitions(&mut self, profile: &Profile<'_>) -> HashMap<String, usize> {
        let counts = tool::whole(&mut self.0, profile);
        counts.into_iter().map(|(name, count)| (name, count.o200k)).collect()
    }

    /// Tokens of each tool in the context while all are deferred in a mode, by canonical name.
    pub fn deferred(&mut self, profile: &Profile<'_>, mode: Mode) -> HashMap<String, usize> {
        let schema = self.0.options.payload.deferred;
        let counts = tool::deferred(&mut self.0, profile, mode, schema);
        counts.into_iter().map(|(name, count)| (name, count.o200k)).collect()
    }
}
