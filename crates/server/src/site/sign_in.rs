//! The page on which a person signs in. It shows nothing of the catalog.

use serde::Serialize;
use tera::Context;

use super::context::{CONTENT_SECURITY_POLICY, HTML, Page};
use toolcrib_render::{TemplateError, Templates};

/// The page on which a person signs in. It shows nothing of the catalog.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SignInPage<'a> {
    /// The host that the browser has asked.
    pub host: &'a str,
    /// Whether a token can be typed.
    pub takes_token: bool,
    /// The address to return to.
    pub return_to: &'a str,
    /// The value that shows that the form comes from this page.
    pub csrf: &'a str,
    /// The reason why signing in has failed.
    pub problem: Option<&'a str>,
    /// Good news, such as that the person is signed out.
    pub notice: Option<&'a str>,
    /// The person who is signed in.
    pub person: Option<&'a str>,
}

impl SignInPage<'_> {
    /// The page. Its links are from the root of the server on.
    pub fn render(&self, templates: &Templates) -> Result<Page, TemplateError> {
        let mut context = Context::new();
        context.insert("page", self);
        context.insert("policy", CONTENT_SECURITY_POLICY);
        context.insert("product_version", env!("CARGO_PKG_VERSION"));
        let body = templates.render("site/sign_in.html", &context)?;
        Ok(Page { content_type: HTML, body })
    }
}
