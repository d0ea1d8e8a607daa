//! `toolcrib doctor`: each live server, started and listed once, with what is wrong and what to do.

use serde_json::{Value, json};

use super::catalog::{CatalogArgs, counted, in_one_line};
use super::login;
use super::server_check::ServerCheck;
use super::{CommandError, CommandResult, print};
use crate::config::Workspace;
use crate::finding::{Finding, Limits, Severity, Unread, locate, open};

/// Start each server of a catalog once, and report how it is.
///
/// That is its tools, the time, the tokens, who is signed in until when, what is wrong and what to do.
/// Exits 1 when a server fails. The catalog is the one that `serve` would take.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib doctor\n  toolcrib doctor ~/.cursor/mcp.json\n  toolcrib doctor --json"
)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl DoctorArgs {
    pub(super) fn run(self) -> CommandResult {
        let workspace = self.catalog.workspace()?;
        let mistakes = mistakes(&self.catalog, &workspace);
        let servers = self.examine(&workspace);
        let is_well = servers.iter().all(ServerCheck::is_ok) && mistakes.is_empty();
        let standing = self.standing(&workspace);
        if self.json {
            let report = json!({
                "ok": is_well, "configuration": configuration(&self.catalog, &workspace), "standing": standing,
                "mistakes": mistakes, "servers": servers.iter().map(as_json).collect::<Vec<_>>(),
            });
            print(&format!("{report:#}\n"))?;
        } else {
            print(&text(&configuration(&self.catalog, &workspace), standing, &mistakes, &servers))?;
        }
        if is_well { Ok(()) } else { Err(CommandError::Findings(None)) }
    }

    /// Examines all servers at the same time, in the order of the configuration.
    fn examine(&self, workspace: &Workspace) -> Vec<ServerCheck> {
        let Some(credentials) = self.catalog.credentials() else { return Vec::new() };
        let sources = workspace.config.sources.iter().enumerate();
        let live: Vec<usize> =
            sources.filter(|(_, source)| source.mcp.is_some()).map(|(index, _)| index).collect();
        let progress = super::screen::Spinner::start(format!("asking {}", counted(live.len(), "server")));
        let checks = std::thread::scope(|scope| {
            let one = |index: usize| {
                let credentials = &credentials;
                scope.spawn(move || ServerCheck::run(workspace, index, credentials))
            };
            let running: Vec<_> = live.into_iter().map(one).collect();
            running.into_iter().filter_map(|check| check.join().ok()).collect()
        });
        progress.finish();
        checks
    }

    /// Whether the configuration was named, or only found.
    fn standing(&self, workspace: &Workspace) -> &'static str {
        match (&workspace.document, &workspace.found) {
            (None, _) => "no configuration",
            (_, Some(_)) => "found and not named: nothing of it was run; name it, as in `toolcrib doctor .`",
            (_, None) => "named",
        }
    }
}

/// The mistakes in the configuration, each with its place.
fn mistakes(catalog: &CatalogArgs, workspace: &Workspace) -> Vec<String> {
    let mut findings = workspace.findings.clone();
    if workspace.document.is_none() {
        findings.extend(unreadable(catalog, workspace));
    }
    locate(workspace.document.as_slice(), &mut findings);
    findings.iter().filter(|finding| finding.severity == Severity::Error).map(in_one_line).collect()
}

/// The mistake because of which a file cannot be read that has no configuration.
fn unreadable(catalog: &CatalogArgs, workspace: &Workspace) -> Option<Finding> {
    let file = catalog.path().ok().filter(|path| path.is_file())?;
    let shown = file.file_name()?.to_string_lossy();
    let is_told = |unread: &Unread| workspace.findings.iter().all(|told| told.code != unread.finding.code);
    open(file, &shown, &Limits::default()).err().filter(|unread| is_told(unread)).map(|unread| unread.finding)
}

/// The configuration, for people.
fn configuration(catalog: &CatalogArgs, workspace: &Workspace) -> String {
    match &workspace.document {
        Some(document) => catalog.folder().join(&document.file).display().to_string(),
        None => catalog.folder().display().to_string(),
    }
}

fn as_json(check: &ServerCheck) -> Value {
    json!({
        "server": check.name, "ok": check.is_ok(), "tools": check.tools.len(),
        "seconds": (check.took.as_secs_f64() * 100.0).round() / 100.0, "tokens": check.tokens,
        "problem": check.problem.as_ref().map(|problem| &problem.what),
        "help": check.problem.as_ref().map(|problem| &problem.help),
        "dropped": check.lost,
        "identity": check.identity, "sign_in_problem": check.sign_in.as_ref().err(),
        "sign_in": check.sign_in.as_ref().ok().and_then(Option::as_ref).map(|sign_in| json!({
            "issuer": sign_in.issuer, "scopes": sign_in.scopes, "ends": sign_in.ends_at().map(login::utc_of),
            "is_refreshed": sign_in.is_refreshable(), "is_active": sign_in.is_active(),
        })),
    })
}

/// The report for people.
fn text(configuration: &str, standing: &str, mistakes: &[String], servers: &[ServerCheck]) -> String {
    let mut text = format!("{configuration} ({standing})\n");
    mistakes.iter().for_each(|mistake| text.push_str(&format!("  mistake: {mistake}\n")));
    if servers.is_empty() {
        text.push_str("no server was asked\n");
        return text;
    }
    let width = servers.iter().map(|check| check.name.chars().count()).max().unwrap_or_default().min(40);
    for check in servers {
        let name = &check.name;
        match &check.problem {
            None => text.push_str(&format!(
                "ok    {name:width$}  {}, {} tokens in full, {:.1} s\n",
                counted(check.tools.len(), "tool"),
                check.tokens,
                check.took.as_secs_f64()
            )),
            Some(problem) => {
                text.push_str(&format!(
                    "fails {name:width$}  {}\n      help: {}\n",
                    problem.what, problem.help
                ));
            }
        }
        if let Some(identity) = &check.identity {
            text.push_str(&format!("      called as {identity}\n"));
        }
        match &check.sign_in {
            Ok(sign_in) => sign_in
                .iter()
                .for_each(|sign_in| text.push_str(&format!("      {}\n", login::standing(sign_in)))),
            Err(problem) => text.push_str(&format!("      the sign-in does not count: {problem}\n")),
        }
        for lost in &check.lost {
            text.push_str(&format!("      dropped: {lost}\n"));
        }
    }
    let well = servers.iter().filter(|check| check.is_ok());
    let (count, tools, tokens) = well.fold((0, 0, 0), |(count, tools, tokens), check| {
        (count + 1, tools + check.tools.len(), tokens + check.tokens)
    });
    text.push_str(&format!(
        "{count} of {} well: {}, {tokens} tokens in full\n",
        counted(servers.len(), "server"),
        counted(tools, "tool")
    ));
    text
}
