//! The catalog and its jobs, as Node calls them.

use std::path::{Path, PathBuf};

use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;
use toolcrib_bindings as core;
use toolcrib_bindings::{Made, Request};

use crate::aside::{Aside, aside};
use crate::error::thrown;

/// A checked catalog of tools.
#[napi]
pub struct Catalog(pub(crate) core::Catalog);

/// A payload: the body, and the facts beside it.
#[napi(object)]
pub struct Payload {
    /// JSON text.
    pub body: String,
    /// JSON text.
    pub facts: String,
}

/// Whether the doc of a tool has to be read, and the receipt of who has read it.
#[napi(object)]
pub struct Receipt {
    /// Before a call.
    pub is_required: bool,
    /// What only its readers know.
    pub receipt: String,
}

fn opened(definitions: Option<String>, path: Option<String>) -> Made<Catalog> {
    let path = path.as_deref().map(Path::new);
    let catalog = match definitions {
        Some(definitions) => core::Catalog::from_json(&definitions, path),
        None => core::Catalog::open(path.unwrap_or(Path::new("."))),
    };
    catalog.map(Catalog)
}

/// Opens definitions as JSON text, with the settings of a path; without definitions, the path.
#[napi]
pub fn open(definitions: Option<String>, path: Option<String>) -> napi::Result<Catalog> {
    thrown(|| opened(definitions, path))
}

/// The same, beside the event loop.
#[napi]
pub fn open_async(definitions: Option<String>, path: Option<String>) -> AsyncTask<Aside<Catalog>> {
    aside(|| opened(definitions, path))
}

#[napi]
impl Catalog {
    /// The hash of all content.
    #[napi]
    pub fn version(&self) -> &str {
        self.0.version()
    }

    /// Whether all input could be read.
    #[napi]
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// The findings, as `check --json` prints them.
    #[napi]
    pub fn findings(&self) -> napi::Result<String> {
        thrown(|| Ok(self.0.findings()))
    }

    /// The tools, in the order of their sources.
    #[napi]
    pub fn tools(&self) -> napi::Result<String> {
        thrown(|| Ok(self.0.tools()))
    }

    /// The names of the profiles.
    #[napi]
    pub fn profiles(&self) -> Vec<String> {
        self.0.profiles()
    }

    /// The part of a request body with the tools.
    #[napi]
    pub fn payload(
        &self,
        provider: String,
        mode: Option<String>,
        profile: Option<String>,
    ) -> napi::Result<Payload> {
        let (body, facts) = thrown(|| self.0.payload(Request { provider, mode, profile }))?;
        Ok(Payload { body, facts })
    }

    /// The section of the system prompt that goes with a payload.
    #[napi]
    pub fn prompt(
        &self,
        provider: String,
        mode: Option<String>,
        profile: Option<String>,
    ) -> napi::Result<String> {
        thrown(|| self.0.prompt(Request { provider, mode, profile }))
    }

    /// The calls of a response, as `parse` prints them.
    #[napi]
    pub fn parse(
        &self,
        provider: String,
        response: String,
        profile: Option<String>,
        from_text: bool,
    ) -> napi::Result<String> {
        thrown(|| self.0.parse(&provider, &response, profile.as_deref(), from_text))
    }

    /// The number of calls left in the text of a response.
    #[napi]
    pub fn left_in_text(
        &self,
        provider: String,
        response: String,
        profile: Option<String>,
    ) -> napi::Result<u32> {
        thrown(|| self.0.left_in_text(&provider, &response, profile.as_deref()))
    }

    /// The messages that `results` prints.
    #[napi]
    pub fn results(
        &self,
        provider: String,
        answered: String,
        profile: Option<String>,
    ) -> napi::Result<String> {
        thrown(|| self.0.results(&provider, &answered, profile.as_deref()))
    }

    /// The tools of a profile that fit a query; without a profile, of all.
    #[napi]
    pub fn search(&self, query: String, limit: u32, profile: Option<String>) -> napi::Result<String> {
        thrown(|| self.0.search(&query, limit as usize, profile.as_deref()))
    }

    /// The doc of one tool of a profile, in markdown.
    #[napi]
    pub fn doc(&self, name: String, profile: Option<String>) -> napi::Result<String> {
        thrown(|| self.0.doc(&name, profile.as_deref()))
    }

    /// What a session asks before it runs a call.
    #[napi]
    pub fn receipt(&self, name: String) -> napi::Result<Receipt> {
        let (is_required, receipt) = thrown(|| self.0.receipt(&name))?;
        Ok(Receipt { is_required, receipt })
    }

    /// Help on one tool, or a group, of a profile.
    #[napi]
    pub fn help(&self, name: String, profile: Option<String>) -> napi::Result<String> {
        thrown(|| self.0.help(&name, profile.as_deref()))
    }

    /// The report that `tokens --json` prints.
    #[napi]
    pub fn tokens(
        &self,
        provider: String,
        profile: Option<String>,
        mode: Option<String>,
        budget: Option<u32>,
    ) -> AsyncTask<Aside<String>> {
        let catalog = self.0.clone();
        aside(move || {
            let budget = budget.map(|tokens| tokens as usize);
            catalog.tokens(&provider, profile.as_deref(), mode.as_deref(), budget)
        })
    }

    /// Writes docs into a folder.
    #[napi]
    pub fn render(&self, folder: String, profile: Option<String>) -> AsyncTask<Aside<String>> {
        let catalog = self.0.clone();
        aside(move || catalog.render(Path::new(&folder), profile.as_deref()))
    }

    /// Seeds a workspace; `values` is a JSON object.
    #[napi]
    pub fn seed(
        &self,
        workspace: String,
        profile: Option<String>,
        template: Option<String>,
        values: String,
    ) -> AsyncTask<Aside<String>> {
        let catalog = self.0.clone();
        let template = template.map(PathBuf::from);
        aside(move || catalog.seed(Path::new(&workspace), profile.as_deref(), template, &values))
    }
}
