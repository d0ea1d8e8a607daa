//! `toolcrib search`: finds tools by their purpose, for people.

use serde_json::{Value, json};

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult};
use super::io::Io;
use toolcrib_gateway::functions::{Function, QueryHits, Reply, ToolError, ToolHit};
use toolcrib_search::Verdict;

/// Find the tools for a purpose, or learn that no tool fits.
///
/// Name the action and the object. Each line has a tool's op, its confidence (0 to 1), and when to use it; the line
/// below gives the reason for the hit. Agents get the same from `tool_search`. Exit code 1 when no tool fits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib search \"move a document under a folder\" examples/buildos
  toolcrib search \"merge a pull request\" examples/github --limit 3
  toolcrib search list --category Ontology/Tasks examples/buildos
  toolcrib search \"water the plants\" examples/github       no match, exit code 1")]
pub(super) struct SearchArgs {
    /// The purpose of the tool, in a few words.
    query: String,
    #[command(flatten)]
    catalog: CatalogArgs,
    /// Search below this category only, such as Storage/Buckets.
    #[arg(long, value_name = "PATH")]
    category: Option<String>,
    /// Most tools to print.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    limit: u32,
    /// Search the tools of this profile only.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// Print the answer of `tool_search` as JSON.
    #[arg(long)]
    json: bool,
}

impl SearchArgs {
    pub(super) fn run(mut self, io: &Io) -> CommandResult {
        self.catalog = self.catalog.or_adopted(io);
        let query = &self.query;
        if query.trim().is_empty() {
            return Err(CommandError::Usage(
                "say what the tool should do, such as: toolcrib search \"create an issue\"".into(),
            ));
        }
        let checked = self.catalog.open_at_turn(io)?;
        let view = self.catalog.view(io, &checked, self.profile.as_deref(), None)?;
        let mut arguments = json!({ "query": query, "limit": self.limit });
        if let Some(category) = self.category {
            arguments["category"] = category.into();
        }
        let function = Function::tool_search();
        let answer = super::call::answer(io, &self.catalog, function, &checked.catalog, view, arguments)?;
        let hits = match &answer.reply {
            Err(error) if !self.json => return Err(CommandError::Usage(refused(error))),
            Ok(Reply::Hits(hits)) => hits.results.first(),
            _ => None,
        };
        let text = match hits {
            Some(hits) if !self.json => lines(hits),
            _ => format!("{}\n", serde_json::to_string_pretty(&answer.body()).unwrap_or_default()),
        };
        io.print(&text)?;
        let is_none = hits.is_some_and(|hits| hits.hits.is_empty() || hits.verdict == Verdict::NoMatch);
        if is_none { Err(CommandError::Findings(None)) } else { Ok(()) }
    }
}

/// The error in words, with the categories that exist.
fn refused(error: &ToolError) -> String {
    let [categories, roots] = ["categories", "roots"].map(|hint| {
        let hints = error.hints.get(hint).and_then(Value::as_array);
        hints.into_iter().flatten().map(path).collect::<Vec<_>>().join(", ")
    });
    let message = &error.message;
    match (categories.is_empty(), roots.is_empty()) {
        (false, _) => format!("{message}\n  help: the nearest are: {categories}"),
        (true, false) => format!("{message}\n  help: there are: {roots}"),
        (true, true) => message.clone(),
    }
}

/// The path of a category.
fn path(category: &Value) -> String {
    let segments = category["path"].as_array().into_iter().flatten().filter_map(Value::as_str);
    segments.collect::<Vec<_>>().join("/")
}

/// The hits as lines.
fn lines(hits: &QueryHits) -> String {
    let unmet = match hits.unmet.as_slice() {
        [] => String::new(),
        unmet => format!(" (nothing has: {})", unmet.join(", ")),
    };
    match hits.verdict {
        Verdict::Match => return tools(hits),
        Verdict::Unsure => {
            let found = tools(hits);
            return format!(
                "unsure{unmet}: these come near; check that one does just what you want.\n{found}"
            );
        }
        Verdict::UnknownLanguage => {
            return "unsure: the language of this request is not known here. Ask in English.\n".into();
        }
        Verdict::NoMatch => {}
    }
    let none =
        if hits.lacks_sources { "no tool of what could be read does that" } else { "no tool here does that" };
    let mut out = format!("no match: {none}{unmet}. Try other words, an action and an object.\n");
    if hits.lacks_sources {
        out += "Not all sources could be read, and the tool may be in one of those; `toolcrib check` shows why.\n";
    }
    if !hits.hits.is_empty() {
        out += &format!("\nThe nearest, though none fits:\n{}", tools(hits));
    }
    if !hits.categories.is_empty() {
        out += "\nCategories to look into:\n";
    }
    for category in &hits.categories {
        out += &format!("  {}: {}\n", category.path.join("/"), category.summary);
    }
    out
}

/// Two lines a tool, by the confidence that they show; tools with the same one stay in the order of the search.
fn tools(hits: &QueryHits) -> String {
    let hits = hits.by_confidence();
    let width = hits.iter().map(|hit| hit.tool.shown_name().chars().count()).max().unwrap_or(0).min(48);
    let line = |hit: &ToolHit| {
        let name = hit.tool.shown_name();
        let confidence = hit.confidence();
        let ToolHit { tool, hit, .. } = hit;
        format!("{name:width$}  {confidence:.2}  {}\n{:width$}        {}\n", tool.texts.short, "", hit.reason)
    };
    hits.into_iter().map(line).collect()
}
