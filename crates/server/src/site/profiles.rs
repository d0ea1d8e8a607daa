//! Profiles: the tools that each binds, and their cost in tokens.

use serde_json::{Value, json};

use super::categories;
use super::context::{Page, Site};
use super::frame::{AT_ROOT, Frame, IN_FOLDER, Link};
use super::index::ProfileReports;
use super::text::{inline_html, shown_name};
use toolcrib_definition::{DescriptionMode, clean_line};
use toolcrib_providers::ProviderFormat;
use toolcrib_providers::report::{self, ModeReport, Options, ProfileReport, Report, ReportError, grouped};
use toolcrib_render::TemplateError;

/// Most tools of a profile on its page.
const MAX_TOOLS: usize = 200;
/// Most tools in the table of costs.
const MAX_COSTS: usize = 30;

/// The number, or a dash for `None`.
pub(super) fn number(number: Option<usize>) -> String {
    number.map_or("–".into(), grouped)
}

/// The page of one profile.
pub(super) fn profile_page(site: &Site<'_>, profile: usize) -> Result<Page, TemplateError> {
    let entry = &site.index.profiles[profile];
    let measured = entry.measured.get_or_init(|| measured(site, Some(&entry.name)));
    let ProfileReports { report, full, deferred } = measured.as_ref().map_err(Clone::clone)?;
    let name = shown_name(&entry.name, &entry.file);
    let configured = site.catalog.config.profiles.get(&entry.name);
    let about = clean_line(configured.and_then(|profile| profile.description.as_deref()).unwrap_or_default());
    let entries =
        |tools: &[usize]| tools.iter().map(|&shown| categories::entry(site, shown, "../")).collect::<Value>();
    let mut values = values(site, report, "../", false);
    values["title"] = name.as_str().into();
    values["about"] = about.as_str().into();
    values["full"] = entries(full);
    values["deferred"] = entries(deferred);
    let crumb = Link { text: "Profiles".into(), href: "../profiles.html".into() };
    let frame = Frame::new(site, "profiles", &name, about, IN_FOLDER).with_crumbs([crumb]);
    site.render("site/profile.html", frame, values)
}

/// The page that lists the profiles, with the report of all tools.
pub(super) fn profile_overview(site: &Site<'_>) -> Result<Page, TemplateError> {
    let measured = site.index.overview.get_or_init(|| measured(site, site.index.scope.as_deref()));
    let report = &measured.as_ref().map_err(Clone::clone)?.report;
    let about = "The tools that each profile binds, and their cost in tokens".to_string();
    let frame = Frame::new(site, "profiles", "Profiles", about, AT_ROOT);
    site.render("site/profiles.html", frame, values(site, report, "", true))
}

/// The report on a profile, or on all of them.
fn measured(site: &Site<'_>, profile: Option<&str>) -> Result<ProfileReports, TemplateError> {
    let options = Options { profile, mode: None, payload: site.catalog.config.payload, budget: None };
    let report = report::report(site.catalog, site.templates, options).map_err(|error| match error {
        ReportError::Template(error) => error,
        ReportError::Profile(error) => {
            TemplateError { name: "site/profile.html".into(), problem: error.to_string(), missing: None }
        }
    })?;
    let tools = site.catalog.profile(profile).map(|profile| profile.tools).unwrap_or_default();
    let of = |mode| {
        let chosen = tools.iter().filter(|entry| entry.mode == mode).take(MAX_TOOLS);
        chosen.filter_map(|entry| site.index.tool_file(&entry.tool.names.safe)).collect()
    };
    let full = of(DescriptionMode::Full);
    Ok(ProfileReports { report, full, deferred: of(DescriptionMode::Deferred) })
}

/// The values of a report, of its first profile.
fn values(site: &Site<'_>, report: &Report, root: &str, is_titled: bool) -> Value {
    let counts = |count: fn(&ProfileReport) -> usize| report.profiles.first().map_or(0, count);
    let tools: Vec<Value> = report
        .tools
        .iter()
        .take(MAX_COSTS)
        .map(|tool| {
            let shown = site.index.tool_file(&tool.safe_name);
            json!({
                "name": shown_name(&tool.name, &tool.safe_name),
                "href": shown.map(|_| format!("{root}tools/{}.html", tool.safe_name)),
                "full": grouped(tool.full),
                "stub": number(tool.stub),
                "compact": number(tool.compact),
                "doc": grouped(tool.doc),
            })
        })
        .collect();
    let left_out: Vec<String> = report.left_out.iter().take(MAX_TOOLS).map(|name| clean_line(name)).collect();
    json!({
        "provider": site.catalog.config.payload.provider.title(),
        "tool_count": counts(|profile| profile.tools),
        "full_count": counts(|profile| profile.full),
        "deferred_count": counts(|profile| profile.deferred),
        "more_tools": report.tools.len().saturating_sub(tools.len()),
        "costs": tools,
        "left_out": left_out,
        "notes": report.notes.iter().map(|note| inline_html(note)).collect::<Vec<_>>(),
        "reports": report.profiles.iter().map(|profile| rows_of(site, profile, is_titled)).collect::<Vec<_>>(),
    })
}

/// The rows of a profile in the table of modes, below its name if it `is_titled`.
fn rows_of(site: &Site<'_>, profile: &ProfileReport, is_titled: bool) -> Value {
    let most = profile.modes.iter().filter_map(bound).max().unwrap_or(0).max(1);
    let row = |mode: &ModeReport| {
        let tokens = mode.tokens.as_ref();
        let remark = if mode.as_mode != mode.mode {
            Some(format!("as {}: this provider cannot defer tools by itself", mode.as_mode.as_str()))
        } else if let Some(limit) = mode.over_limit {
            Some(format!("over the limit of {limit} tools"))
        } else {
            mode.problem.as_deref().map(clean_line)
        };
        json!({
            "mode": mode.mode.as_str(),
            "is_auto": mode.mode == profile.auto.mode,
            "task": number(tokens.map(|tokens| tokens.task)),
            "of_full": tokens.and_then(|tokens| tokens.task_percent).map_or("–".into(), |percent| format!("{percent:.0} %")),
            "bound": number(bound(mode)),
            "prompt": number(tokens.map(|tokens| tokens.prompt)),
            "remark": remark,
            // Tokens relative to the largest mode, in twentieths.
            "bar": (bound(mode).unwrap_or(0) * 20).div_ceil(most).min(20),
        })
    };
    let entry = profile
        .profile
        .as_deref()
        .and_then(|name| site.index.profiles.iter().find(|entry| entry.name == name));
    let title = entry.map_or("All tools".into(), |entry| shown_name(&entry.name, &entry.file));
    json!({
        "title": is_titled.then_some(title),
        "href": entry.map(|entry| format!("profiles/{}.html", entry.file)),
        "tools": grouped(profile.tools),
        "full": grouped(profile.full),
        "deferred": grouped(profile.deferred),
        "modes": profile.modes.iter().map(row).collect::<Vec<_>>(),
    })
}

pub fn bound(mode: &ModeReport) -> Option<usize> {
    mode.tokens.as_ref().map(|tokens| tokens.bound)
}
