//! The first page: the categories with some of their tools, and links.

use serde::Serialize;
use tera::Context;

use super::frame::{Frame, clipped, shown_name, site_name};
use super::{Page, Site};
use crate::render::TemplateError;
use crate::tool::clean_line;

/// Most names of tools that a category shows.
const NAMES: usize = 5;

#[derive(Serialize)]
struct CategoryCard {
    title: String,
    href: String,
    count: usize,
    /// The first tools on it.
    names: Vec<String>,
    /// The categories below it, where it has no tools of its own.
    below: Vec<String>,
}

#[derive(Serialize)]
struct ProfileCard {
    title: String,
    href: String,
    about: String,
}

/// The page.
pub(super) fn page(site: &Site<'_>) -> Result<Page, TemplateError> {
    let index = site.index;
    let categories: Vec<CategoryCard> = index.roots().map(|category| card(site, category)).collect();
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
    let about = format!("{} tools in {} categories", index.tools().len(), categories.len());
    let frame = Frame::at_root(site, "home", &site_name(site), about);
    let mut context = Context::new();
    context.insert("categories", &categories);
    context.insert("profiles", &profiles);
    site.render("site/home.html", frame, context)
}

fn card(site: &Site<'_>, category: usize) -> CategoryCard {
    let node = &site.index.categories()[category];
    let name = |&shown: &usize| {
        let tool = site.tool(shown);
        clipped(&shown_name(&tool.name, &tool.safe_name), 40)
    };
    let child = |&child: &usize| clipped(&site.index.categories()[child].title, 40);
    CategoryCard {
        title: node.title.clone(),
        href: node.path(0),
        count: node.total,
        names: node.tools.iter().take(NAMES).map(name).collect(),
        below: node.children.iter().take(NAMES).map(child).collect(),
    }
}
