//! Pages that list: the home page with the tree of categories, categories, results of a search, and findings.

use serde_json::{Map, Value, json};
use tera::Context;

use super::frame::{
    AT_ROOT, Frame, IN_FOLDER, Link, MAX_NAME, Position, clipped, inline_html, shown_name, site_name,
};
use super::index::{Entry, MAX_QUERY, MAX_TOOLS, ProfileReports, ROOT};
use super::tool::title;
use super::{Page, Site, pages};
use toolcrib_catalog::CategoryNode;
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{Finding, Severity};
use toolcrib_docs::TemplateError;
use toolcrib_providers::report::{ModeReport, ProfileReport, Report, grouped};

/// Most lines of a tree. Levels that do not fit as a whole are on the pages of the categories above them.
const MAX_LINES: usize = 300;
/// Most findings on the page; `toolcrib check` lists all.
const MAX_FINDINGS: usize = 300;
/// Most characters of a message on the page.
const MAX_MESSAGE: usize = 1000;

/// The first page, or a part of it where there are many categories.
pub(super) fn home(site: &Site<'_>, part: usize) -> Result<Page, TemplateError> {
    let index = site.index;
    let pages = &index.categories[ROOT];
    let profiles = index.profiles.iter().map(|profile| {
        let configured = site.catalog.config.profiles.get(&profile.name);
        let about = configured.and_then(|profile| profile.description.as_deref()).unwrap_or_default();
        json!({
            "title": shown_name(&profile.name, &profile.file),
            "href": format!("profiles/{}.html", profile.file),
            "about": clipped(&clean_line(about), 300),
        })
    });
    let about = format!("{} tools in {} categories", index.tools.len(), pages.entries.len());
    let frame = Frame::new(site, "home", &site_name(site), about, AT_ROOT);
    let mut context = Context::new();
    context.insert("count", &pages.entries.len());
    context.insert("tree", &tree(site, pages.chunks().nth(part).unwrap_or_default(), ""));
    context.insert("parts", &parts(site, ROOT, part, ""));
    context.insert("profiles", &profiles.collect::<Vec<_>>());
    context.insert("connect", &site.connect);
    site.render("site/home.html", frame, context)
}

/// The page of one part of a category: the categories below it, and its tools.
pub(super) fn category(site: &Site<'_>, category: usize, part: usize) -> Result<Page, TemplateError> {
    let pages = &site.index.categories[category];
    let node = site.index.tree.node(category);
    let entries = pages.chunks().nth(part).unwrap_or_default();
    let tools = entries.iter().filter_map(Entry::tool);
    let tools: Vec<Value> = tools.map(|shown| entry(site, shown, "../")).collect();
    let position = Position { category: Some(category), ..IN_FOLDER };
    let lineage = site.index.path_from_root(category);
    let above = lineage.split_last().map_or(&[][..], |(_, above)| above);
    let frame = Frame::new(site, "category", &pages.title, node.summary.clone(), position)
        .with_crumbs(above.iter().map(|&above| link(site, above)));
    let mut context = Context::new();
    context.insert("title", &pages.title);
    context.insert("count", &node.descendant_tools.len());
    context.insert("purpose", &inline_html(&sentence(node)));
    context.insert("tree", &tree(site, entries, "../"));
    context.insert("tools", &tools);
    context.insert("parts", &parts(site, category, part, "../"));
    site.render("site/category.html", frame, context)
}

/// What is in a category, as a sentence: the words of its author, or the verbs of its tools.
fn sentence(node: &CategoryNode) -> String {
    let mut purpose = node.purpose.chars();
    let ending = if node.purpose.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    match purpose.next() {
        None => String::new(),
        Some(first) if is_counted(node) => {
            let count = node.descendant_tools.len();
            format!("{count} tools {}{}{ending}", first.to_lowercase(), purpose.as_str())
        }
        Some(_) => format!("{}{ending}", node.purpose),
    }
}

/// Whether the sentence of a category begins with the number of its tools.
fn is_counted(node: &CategoryNode) -> bool {
    !node.purpose.is_empty() && node.descendant_tools.len() > 1 && node.summary != node.purpose
}

/// Most categories to look into where no tool fits.
const MAX_HINTS: usize = 12;

/// The values of a search: the answer of `tool_search` with links. Where nothing fits and the answer names no category, the
/// first ones are linked.
pub(super) fn results(site: &Site<'_>, answer: &Map<String, Value>) -> Value {
    let list = |name: &str| answer.get(name).and_then(Value::as_array).into_iter().flatten();
    let tools = list("tools").chain(list("nearest")).filter_map(|hit| {
        let mut listed = entry(site, site.tool_named(hit["name"].as_str()?)?, "");
        listed["reason"] = clean_line(hit["reason"].as_str()?).into();
        Some(listed)
    });
    let nodes = site.index.tree.nodes();
    let named = list("categories")
        .filter_map(|hint| nodes.iter().position(|node| hint["path"] == json!(node.segments())));
    let mut hints: Vec<usize> = named.collect();
    if hints.is_empty() && answer.get("verdict").is_some_and(|verdict| verdict == "no_match") {
        hints.extend(site.index.tree.node(ROOT).children.iter().take(MAX_HINTS));
    }
    let category = |node: usize| {
        let pages = &site.index.categories[node];
        let about = inline_html(&sentence(site.index.tree.node(node)));
        json!({"title": site.index.titles(node), "href": pages.path(0), "about": about})
    };
    json!({
        "verdict": answer.get("verdict"),
        "unmet": answer.get("unmet"),
        "tools": tools.collect::<Vec<_>>(),
        "categories": hints.into_iter().map(category).collect::<Vec<_>>(),
    })
}

/// The page for a query with the answer of `tool_search`; without an answer, it asks for a query.
pub(super) fn search(
    site: &Site<'_>,
    query: &str,
    answer: Option<&Map<String, Value>>,
) -> Result<Page, TemplateError> {
    let query = clipped(&clean_line(query), MAX_QUERY);
    let mut context = Context::from_serialize(&answer.map_or(json!({}), |answer| results(site, answer)))
        .unwrap_or_default();
    context.insert("query", &query);
    let title = if query.is_empty() { "Search".to_string() } else { format!("Search: {query}") };
    let frame = Frame::new(site, "search", &title, String::new(), AT_ROOT).with_query(&query);
    site.render("site/search.html", frame, context)
}

/// The page of findings of the input, for the people who write it: by kind, the worst first.
pub(super) fn findings(site: &Site<'_>) -> Result<Page, TemplateError> {
    let mut found: Vec<&Finding> = site.relevant_findings().collect();
    found.sort_by_key(|finding| (finding.severity, finding.code, finding.place.as_ref()));
    let infos = found.iter().filter(|finding| finding.severity == Severity::Info).count();
    let mut left = MAX_FINDINGS;
    let kinds =
        found.chunk_by(|one, other| (one.severity, one.code) == (other.severity, other.code)).map(|kind| {
            let shown: Vec<Value> = kind.iter().take(left).map(|finding| row(site, finding)).collect();
            left -= shown.len();
            json!({
                "severity": kind[0].severity.as_str(),
                "code": kind[0].code.as_str(),
                "about": kind[0].code.about(),
                "count": kind.len(),
                "is_open": kind[0].severity != Severity::Info,
                "more": kind.len() - shown.len(),
                "findings": shown,
            })
        });
    let mut context = Context::new();
    context.insert("kinds", &kinds.collect::<Vec<_>>());
    context.insert("infos", &infos);
    let about = "Mistakes in the definitions, and how to fix them".to_string();
    site.render("site/findings.html", Frame::new(site, "findings", "Findings", about, AT_ROOT), context)
}

fn row(site: &Site<'_>, finding: &Finding) -> Value {
    // Text between backticks is code.
    let line = |text: &str| inline_html(&clipped(&clean_line(text), MAX_MESSAGE));
    let named = finding.tool.as_deref().map(|name| {
        let href = site.tool_named(name).map(|shown| format!("tools/{}.html", site.tool(shown).safe_name));
        Link { text: shown_name(name, "?"), href: href.unwrap_or_default() }
    });
    let place = finding.place.as_ref().filter(|place| !place.file.is_empty()).map(|place| {
        let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
        let column = place.column.map(|column| format!(":{column}")).unwrap_or_default();
        clean_line(&format!("{}{line}{column}", place.file))
    });
    json!({
        "message": line(&finding.message),
        "help": finding.help.as_deref().map(line),
        "tool": named,
        "place": place,
    })
}

/// The entry of a tool in a list, on a page from which the root of the site is `root`.
pub(super) fn entry(site: &Site<'_>, shown: usize, root: &str) -> Value {
    let tool = site.tool(shown);
    json!({
        "name": shown_name(&tool.name, &tool.safe_name),
        "href": format!("{root}tools/{}.html", tool.safe_name),
        "short": inline_html(&tool.short),
        "summary": clean_line(&tool.short),
        "effect": tool.effect.as_str(),
        "deprecated": tool.definition.deprecated == Some(true),
        "callable": tool.not_callable().is_none(),
    })
}

/// The parts of a category's list, for a page from which the root of the site is `root`.
fn parts(site: &Site<'_>, category: usize, current: usize, root: &str) -> Vec<Value> {
    let pages = &site.index.categories[category];
    let name = |entry: Option<&Entry>| match entry {
        Some(Entry::Category(node)) => clipped(&site.index.categories[*node].title, 30),
        Some(Entry::Tool(shown)) => {
            let tool = site.tool(*shown);
            clipped(&shown_name(&tool.name, &tool.safe_name), 30)
        }
        None => String::new(),
    };
    let part = |(number, entries): (usize, &[Entry])| {
        json!({
            "href": format!("{root}{}", pages.path(number)),
            "first": name(entries.first()),
            "last": name(entries.last()),
            "is_current": number == current,
        })
    };
    pages.chunks().enumerate().map(part).collect()
}

/// A link to a category from a page in a folder.
pub(super) fn link(site: &Site<'_>, category: usize) -> Link {
    let pages = &site.index.categories[category];
    Link { text: clipped(&pages.title, 60), href: format!("../{}", pages.path(0)) }
}

/// The lines of the categories among these entries, and of all below them; the root of the site is `root` from their
/// page. The lines of the categories below one follow it; a template nests them as lists.
fn tree(site: &Site<'_>, entries: &[Entry], root: &str) -> Vec<Value> {
    let tree = &site.index.tree;
    let mut level: Vec<usize> = entries.iter().filter_map(Entry::category).collect();
    let mut depth = 0;
    let mut count = 0;
    while !level.is_empty() && (depth == 0 || count + level.len() <= MAX_LINES) {
        count += level.len();
        depth += 1;
        level = level.iter().flat_map(|&node| &tree.node(node).children).copied().collect();
    }
    let mut lines = Vec::with_capacity(count);
    for category in entries.iter().filter_map(Entry::category) {
        branch(site, category, (root, depth - 1, 0), &mut lines);
    }
    lines
}

/// Adds the line of a category, and those of the categories at most `depth` levels below it. `closes`: the lists that
/// end with the last of them.
fn branch(
    site: &Site<'_>,
    category: usize,
    (root, depth, closes): (&str, usize, usize),
    lines: &mut Vec<Value>,
) {
    let node = site.index.tree.node(category);
    let pages = &site.index.categories[category];
    let below = if depth == 0 { &[][..] } else { &node.children[..] };
    lines.push(json!({
        "title": clipped(&pages.title, MAX_NAME),
        "href": format!("{root}{}", pages.path(0)),
        // The sentence of a category without an author's says it.
        "count": Some(node.descendant_tools.len()).filter(|_| !is_counted(node)),
        "purpose": inline_html(&sentence(node)),
        "opens": !below.is_empty(),
        "closes": if below.is_empty() { closes } else { 0 },
    }));
    for (index, &child) in below.iter().enumerate() {
        let closes = if index + 1 == below.len() { closes + 1 } else { 0 };
        branch(site, child, (root, depth - 1, closes), lines);
    }
}

// Profiles: the tools that each binds, and their cost in tokens.

/// Most tools in the table of costs.
const MAX_COSTS: usize = 30;

/// The number, or a dash for `None`.
fn number(number: Option<usize>) -> String {
    number.map_or("–".into(), grouped)
}

/// The page of one profile.
pub(super) fn profile_page(site: &Site<'_>, profile: usize) -> Result<Page, TemplateError> {
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
    context.insert(
        "reports",
        &report.profiles.iter().map(|profile| rows_of(site, profile, false)).collect::<Vec<_>>(),
    );
    let entries =
        |tools: &[usize]| tools.iter().map(|&shown| pages::entry(site, shown, "../")).collect::<Vec<_>>();
    context.insert("full", &entries(&measured.full));
    context.insert("deferred", &entries(&measured.deferred));
    let crumb = Link { text: "Profiles".into(), href: "../profiles.html".into() };
    let frame = Frame::new(site, "profiles", &name, about, IN_FOLDER).with_crumbs([crumb]);
    site.render("site/profile.html", frame, context)
}

/// The page that lists the profiles, with the report of all tools.
pub(super) fn profile_overview(site: &Site<'_>) -> Result<Page, TemplateError> {
    let measured = site.index.overview.get_or_init(|| ProfileReports::of(site, site.index.scope.as_deref()));
    let report = measured.report()?;
    let mut context = Context::new();
    insert(&mut context, site, report, "");
    context.insert(
        "reports",
        &report.profiles.iter().map(|profile| rows_of(site, profile, true)).collect::<Vec<_>>(),
    );
    let about = "The tools that each profile binds, and their cost in tokens".to_string();
    let frame = Frame::new(site, "profiles", "Profiles", about, AT_ROOT);
    site.render("site/profiles.html", frame, context)
}

/// The values of a report, of its first profile.
fn insert(context: &mut Context, site: &Site<'_>, report: &Report, root: &str) {
    let counts = |count: fn(&ProfileReport) -> usize| report.profiles.first().map_or(0, count);
    context.insert("provider", title(site.catalog.config.payload.provider));
    context.insert("tool_count", &counts(|profile| profile.tools));
    context.insert("full_count", &counts(|profile| profile.full));
    context.insert("deferred_count", &counts(|profile| profile.deferred));
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
    context.insert("more_tools", &report.tools.len().saturating_sub(tools.len()));
    context.insert("costs", &tools);
    let left_out: Vec<String> = report.left_out.iter().take(MAX_TOOLS).map(|name| clean_line(name)).collect();
    context.insert("left_out", &left_out);
    context.insert("notes", &report.notes.iter().map(|note| inline_html(note)).collect::<Vec<_>>());
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
