//! Profiles: the tools that each binds, and their cost in tokens.

use serde_json::{Value, json};
use tera::Context;

use super::frame::{Frame, Link, Position};
use super::frame::{inline_html, shown_name};
use super::index::{MAX_TOOLS, PROVIDER, ProfileReports};
use super::tool::title;
use super::{Page, Site, pages};
use crate::render::TemplateError;
use crate::report::{Measured, ModeReport, ProfileReport, Report, grouped};
use crate::tokens::Count;
use crate::tool::clean_line;

/// Most tools in the table of costs.
const MAX_COSTS: usize = 30;

/// A number, or a dash where there is none.
fn number(number: Option<usize>) -> String {
    number.map_or("–".into(), grouped)
}

/// The page of one profile.
pub(super) fn page(site: &Site<'_>, profile: usize) -> Result<Page, TemplateError> {
    let entry = &site.index.profiles[profile];
    let measured = entry.measured.get_or_init(|| ProfileReports::of(site, Some(&entry.name)));
    let report = measured.report()?;
    let name = shown_name(&entry.name, &entry.file);
    let configured = site.catalog.config.profiles.get(&entry.name);
    let about = clean_line(configured.and_then(|profile| profile.description.as_deref()).unwrap_or_default());
    let mut context = Context::new();
    context.insert("title", &name);
    context.insert("about", &about);
    insert(&mut context, site, report, "../");
    let entries =
        |tools: &[usize]| tools.iter().map(|&shown| pages::entry(site, shown, "../")).collect::<Vec<_>>();
    context.insert("full", &entries(&measured.full));
    context.insert("deferred", &entries(&measured.deferred));
    let crumb = Link { text: "Profiles".into(), href: "../profiles.html".into() };
    let frame = Frame::below(site, "profiles", &name, about, Position::default()).with_crumbs([crumb]);
    site.render("site/profile.html", frame, context)
}

/// The page that lists the profiles, with the report of all tools.
pub(super) fn overview(site: &Site<'_>) -> Result<Page, TemplateError> {
    let measured = site.index.overview.get_or_init(|| ProfileReports::of(site, site.index.scope.as_deref()));
    let report = measured.report()?;
    let rows: Vec<Value> = report.profiles.iter().filter_map(|profile| row(site, profile)).collect();
    let modes: Vec<&str> = report
        .profiles
        .first()
        .map(|profile| profile.modes.iter().map(|mode| mode.mode.as_str()).collect())
        .unwrap_or_default();
    let mut context = Context::new();
    context.insert("profiles", &rows);
    context.insert("mode_names", &modes);
    insert(&mut context, site, report, "");
    let about = "The tools that each profile binds, and their cost in tokens".to_string();
    let frame = Frame::at_root(site, "profiles", "Profiles", about);
    site.render("site/profiles.html", frame, context)
}

/// The values of a report, of its first profile.
fn insert(context: &mut Context, site: &Site<'_>, report: &Report, root: &str) {
    let counts = |count: fn(&ProfileReport) -> usize| report.profiles.first().map_or(0, count);
    context.insert("provider", title(PROVIDER));
    context.insert("tool_count", &counts(|profile| profile.tools));
    context.insert("full_count", &counts(|profile| profile.full));
    context.insert("deferred_count", &counts(|profile| profile.deferred));
    context.insert("modes", &report.profiles.first().map(modes).unwrap_or_default());
    let tools: Vec<Value> = report
        .tools
        .iter()
        .take(MAX_COSTS)
        .map(|tool| {
            let shown = site.index.tool_file(site.catalog, &tool.safe_name);
            json!({
                "name": shown_name(&tool.name, &tool.safe_name),
                "href": shown.map(|_| format!("{root}tools/{}.html", tool.safe_name)),
                "full": grouped(tool.full.o200k),
                "stub": number(tool.stub.map(|count| count.o200k)),
                "compact": number(tool.compact.map(|count| count.o200k)),
                "doc": grouped(tool.doc.o200k),
            })
        })
        .collect();
    context.insert("more_tools", &report.tools.len().saturating_sub(tools.len()));
    context.insert("costs", &tools);
    let left_out: Vec<String> = report.left_out.iter().take(MAX_TOOLS).map(|name| clean_line(name)).collect();
    context.insert("left_out", &left_out);
    context.insert("notes", &report.notes.iter().map(|note| inline_html(note)).collect::<Vec<_>>());
}

fn modes(profile: &ProfileReport) -> Vec<Value> {
    let most = profile.modes.iter().filter_map(bound).max().unwrap_or(0).max(1);
    let row = |mode: &ModeReport| {
        let tokens = mode.tokens.as_ref();
        let count = |part: fn(&Measured) -> Count| number(tokens.map(|tokens| part(tokens).o200k));
        let saving = tokens.and_then(|tokens| tokens.saving_percent);
        let remark = if mode.as_mode != mode.mode {
            Some(format!("as {}: this provider cannot defer tools by itself", mode.as_mode.as_str()))
        } else if let Some(limit) = mode.over_limit {
            Some(format!("over the limit of {limit} tools"))
        } else {
            mode.problem.as_deref().map(clean_line)
        };
        json!({
            "mode": mode.mode.as_str(),
            "bound": number(bound(mode)),
            "schemas": count(|tokens| tokens.schemas),
            "descriptions": count(|tokens| tokens.descriptions),
            "prompt": count(|tokens| tokens.prompt),
            "saving": saving.map_or("–".into(), |percent| format!("{percent:.1} %").replace('-', "−")),
            "remark": remark,
            // Tokens relative to the largest mode, in twentieths.
            "bar": (bound(mode).unwrap_or(0) * 20).div_ceil(most).min(20),
        })
    };
    profile.modes.iter().map(row).collect()
}

/// A profile that has a page.
fn row(site: &Site<'_>, profile: &ProfileReport) -> Option<Value> {
    let name = profile.profile.as_deref()?;
    let entry = site.index.profiles.iter().find(|entry| entry.name == name)?;
    Some(json!({
        "link": Link { text: shown_name(name, &entry.file), href: format!("profiles/{}.html", entry.file) },
        "tools": grouped(profile.tools),
        "full": grouped(profile.full),
        "deferred": grouped(profile.deferred),
        "bound": profile.modes.iter().map(|mode| number(bound(mode))).collect::<Vec<_>>(),
    }))
}

fn bound(mode: &ModeReport) -> Option<usize> {
    mode.tokens.as_ref().map(|tokens| tokens.bound.o200k)
}
