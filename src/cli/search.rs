//! `toolcrib search`: finds tools by their purpose, for people.

use serde_json::{Map, Value, json};

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult};
use super::io::Io;
use toolcrib_catalog::Catalog;
use toolcrib_gateway::functions::Function;

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
    pub(super) fn run(self, io: &Io) -> CommandResult {
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
        let body = answer.body();
        let text = match (self.json, answer.is_ok()) {
            (true, _) => format!("{}\n", serde_json::to_string_pretty(body).unwrap_or_default()),
            (false, true) => lines(&with_shown_names(body.clone(), &checked.catalog)),
            (false, false) => {
                return Err(CommandError::Usage(refused(&body["error"])));
            }
        };
        io.print(&text)?;
        let is_none = body.get("verdict").is_some_and(|verdict| verdict == "no_match");
        if is_none { Err(CommandError::Findings(None)) } else { Ok(()) }
    }
}

/// The answer with the names of tools that people know, in place of ops.
fn with_shown_names(mut body: Map<String, Value>, catalog: &Catalog) -> Map<String, Value> {
    for field in ["tools", "nearest"] {
        for hit in body.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
            let shown =
                hit["op"].as_str().and_then(|op| catalog.find(op)).map(|tool| tool.shown_name().into());
            hit["op"] = shown.unwrap_or_else(|| hit["op"].take());
        }
    }
    body
}

/// The error in words, with the categories that exist.
fn refused(error: &Value) -> String {
    let [categories, roots] = ["categories", "roots"].map(|hint| {
        let hints = error["hints"][hint].as_array().map(Vec::as_slice).unwrap_or_default();
        hints.iter().map(path).collect::<Vec<_>>().join(", ")
    });
    let near = if categories.is_empty() { roots } else { categories };
    let message = error["message"].as_str().unwrap_or_default();
    if near.is_empty() { message.to_string() } else { format!("{message}\n  help: there are: {near}") }
}

/// The path of a category.
fn path(category: &Value) -> String {
    let segments = category["path"].as_array().into_iter().flatten().filter_map(Value::as_str);
    segments.collect::<Vec<_>>().join("/")
}

/// The answer as lines.
fn lines(body: &Map<String, Value>) -> String {
    let list = |field: &str| body.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let unmet: Vec<&str> = list("unmet").iter().filter_map(Value::as_str).collect();
    let unmet =
        if unmet.is_empty() { String::new() } else { format!(" (nothing has: {})", unmet.join(", ")) };
    match body.get("verdict").and_then(Value::as_str) {
        Some("match") => return tools(list("tools")),
        Some("unsure") => {
            let found = tools(list("tools"));
            return format!(
                "unsure{unmet}: these come near; check that one does just what you want.\n{found}"
            );
        }
        _ => {}
    }
    let unread = body.get("complete").is_some_and(|complete| complete == false);
    let none = if unread { "no tool of what could be read does that" } else { "no tool here does that" };
    let mut out = format!("no match: {none}{unmet}. Try other words, an action and an object.\n");
    if unread {
        out += "Not all sources could be read, and the tool may be in one of those; `toolcrib check` shows why.\n";
    }
    if !list("nearest").is_empty() {
        out += &format!("\nThe nearest, though none fits:\n{}", tools(list("nearest")));
    }
    if !list("categories").is_empty() {
        out += "\nCategories to look into:\n";
    }
    for category in list("categories") {
        out += &format!("  {}: {}\n", path(category), category["summary"].as_str().unwrap_or_default());
    }
    out
}

/// Two lines a tool, by the confidence that they show; tools with the same one stay in the order of the search.
fn tools(tools: &[Value]) -> String {
    let printed = |tool: &Value| (tool["confidence"].as_f64().unwrap_or_default() * 100.0).round();
    let mut tools: Vec<&Value> = tools.iter().collect();
    tools.sort_by(|one, other| printed(other).total_cmp(&printed(one)));
    let text = |tool: &Value, field: &str| tool[field].as_str().unwrap_or_default().to_string();
    let width = tools.iter().map(|tool| text(tool, "op").chars().count()).max().unwrap_or(0).min(48);
    let line = |tool: &&Value| {
        let op = text(tool, "op");
        let summary = text(tool, "summary");
        let reason = text(tool, "reason");
        let confidence = tool["confidence"].as_f64().unwrap_or_default();
        format!("{op:width$}  {confidence:.2}  {summary}\n{:width$}        {reason}\n", "")
    };
    tools.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn hits_are_ordered_by_the_confidence_that_is_printed() {
        let hit = |op: &str, confidence: f64| json!({"op": op, "confidence": confidence, "summary": "", "reason": ""});
        let hits = [hit("a", 0.8), hit("b", 0.101), hit("c", 0.11), hit("d", 0.099)];
        let printed = super::tools(&hits);
        let ops: Vec<&str> =
            printed.lines().step_by(2).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(ops, ["a", "c", "b", "d"]);
    }
}
