//! The first page: the tree of categories, and links.

use serde::Serialize;
use tera::Context;

use super::frame::{Frame, site_name};
use super::index::ROOT;
use super::name::{clipped, shown_name};
use super::{Page, Site, category, tree};
use crate::render::TemplateError;
use crate::tool::clean_line;

#[derive(Serialize)]
struct ProfileCard {
    title: String,
    href: String,
    about: String,
}

/// The page, or a part of it where there are many categories.
pub(super) fn page(site: &Site<'_>, part: usize) -> Result<Page, TemplateError> {
    let index = site.index;
    let pages = &index.categories()[ROOT];
    let profiles: Vec<ProfileCard> = index
        .profiles()
        .iter()
        .map(|profile| {
            let configured = site.catalog.config.profiles.get(&profile.name);
            let about = configured.and_then(|profile| profile.description.as_deref()).unwrap_or_default();
            ProfileCard {
                title: shown_name(&profile.name, &profile.file),
                href: format!("profiles/{}.html", profile.file),
                about: clipped(&clean_line(about), 300),
            }
        })
        .collect();
    let about = format!("{} tools in {} categories", index.tools().len(), pages.entries.len());
    let frame = Frame::at_root(site, "home", &site_name(site), about);
    let mut context = Context::new();
    context.insert("count", &pages.entries.len());
    context.insert("tree", &tree::lines(site, pages.chunks().nth(part).unwrap_or_default(), ""));
    context.insert("parts", &category::parts(site, ROOT, part, ""));
    context.insert("profiles", &profiles);
    site.render("site/home.html", frame, context)
}
