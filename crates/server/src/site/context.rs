//! What all pages of a site are made from: the catalog and its index, the findings, the reader, and the server.

use serde::Serialize;

use super::index::SiteIndex;
use super::try_it::Attempt;
use toolcrib_catalog::{Catalog, Tool};
use toolcrib_definition::finding::{Finding, Severity};
use toolcrib_render::Templates;

/// The content security policy of every page. A server adds `frame-ancestors 'none'`, which a page cannot set itself.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'";

pub(super) const HTML: &str = "text/html; charset=utf-8";

/// The pages of one catalog. Cheap to make, even for each request; slow work is in the [`SiteIndex`].
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub(crate) index: &'a SiteIndex,
    pub(crate) catalog: &'a Catalog,
    pub(crate) findings: &'a [Finding],
    pub(crate) templates: &'a Templates,
    pub(crate) notice: Option<&'a str>,
    pub(crate) person: Option<Person<'a>>,
    pub(crate) connect: Option<&'a Connect>,
    /// The value in the form of a tool, and the call that fills it.
    pub(crate) attempt: Option<(&'a str, &'a Attempt)>,
    pub(crate) is_operator: bool,
    pub(crate) is_served: bool,
}

/// The addresses by which clients connect to the server of a site.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Connect {
    /// The address of MCP.
    pub mcp: String,
    /// The address before `/v1`.
    pub http: String,
    /// Whether a client sends a token.
    pub needs_token: bool,
}

/// A page, or an asset of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its media type, with the charset.
    pub content_type: &'static str,
    /// The whole content.
    pub body: String,
}

impl<'a> Site<'a> {
    /// The site of a catalog, with its index and its findings.
    pub fn new(
        index: &'a SiteIndex,
        catalog: &'a Catalog,
        findings: &'a [Finding],
        templates: &'a Templates,
    ) -> Self {
        Self {
            index,
            catalog,
            findings,
            templates,
            notice: None,
            person: None,
            connect: None,
            attempt: None,
            is_operator: false,
            is_served: false,
        }
    }

    /// The same site with a notice at the top of every page, such as that the catalog on disk is broken.
    pub fn with_notice(self, notice: Option<&'a str>) -> Self {
        Self { notice, ..self }
    }

    /// The same site behind a server, which answers searches itself: `/search.html?q=` with [`Site::search`], and
    /// `/search.json?q=` with [`Site::results`].
    pub fn served(self) -> Self {
        Self { is_served: true, ..self }
    }

    /// Returns the findings for the shown tools. For a profile, these are the findings of its tools, and the findings
    /// that belong to no tool.
    pub(super) fn relevant_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| {
            let is_shown = |name| self.tool_named(name).is_some();
            self.index.scope.is_none() || finding.tool.as_deref().is_none_or(is_shown)
        })
    }

    /// The tool of this name, if it is shown.
    pub(super) fn tool_named(&self, name: &str) -> Option<usize> {
        self.index.tool_file(&self.catalog.named(name)?.names.safe)
    }

    /// Numbers of errors and warnings.
    pub(super) fn finding_counts(&self) -> (usize, usize) {
        self.relevant_findings().fold((0, 0), |(errors, warnings), finding| match finding.severity {
            Severity::Error => (errors + 1, warnings),
            Severity::Warning => (errors, warnings + 1),
            Severity::Info => (errors, warnings),
        })
    }

    /// A tool of the site.
    pub(super) fn tool(&self, shown: usize) -> &'a Tool {
        &self.catalog.tools[self.index.tools[shown]]
    }
}

/// The person who reads a page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Person<'a> {
    pub name: &'a str,
    /// The value that shows that the form to sign out comes from a page of this person.
    pub csrf: &'a str,
}
