//! `toolcrib doctor`: each live server, started and listed once, with what is wrong and what to do.

mod server;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::BUILT_IN;
use crate::cli::adopt::differences_at;
use crate::cli::catalog::CatalogArgs;
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::findings::in_one_line;
use crate::cli::io::Io;
use crate::cli::login;
use crate::cli::progress::Spinner;
use crate::cli::servers::{credentials, remembered_lists, waiting_for};
use server::ServerCheck;
use toolcrib_catalog as catalog;
use toolcrib_catalog::config::Workspace;
use toolcrib_definition::document::{Unread, locate, open};
use toolcrib_definition::finding::{Finding, Severity};
use toolcrib_definition::grammar::counted;
use toolcrib_front::mcp::{Examined, examine};
use toolcrib_providers::report::{RequestCost, grouped};
use toolcrib_render::Templates;

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
    pub(super) fn run(mut self, io: &Io) -> CommandResult {
        self.catalog = self.catalog.or_adopted(io);
        let workspace = self.catalog.workspace(io)?;
        let mistakes = mistakes(&self.catalog, &workspace);
        let (servers, cost) = self.examine(io, &workspace);
        let is_well = servers.iter().all(ServerCheck::is_ok) && mistakes.is_empty();
        let standing = self.standing(&workspace);
        if self.json {
            let report = json!({
                "ok": is_well, "configuration": configuration(&self.catalog, &workspace), "standing": standing,
                "mistakes": mistakes, "request": cost, "servers": servers.iter().map(as_json).collect::<Vec<_>>(),
            });
            io.print(&format!("{report:#}\n"))?;
        } else {
            io.print(&text(
                &configuration(&self.catalog, &workspace),
                &standing,
                &mistakes,
                &servers,
                cost.map(|cost| cost.line(self.catalog.cost_reader(&workspace.config))).as_deref(),
            ))?;
        }
        if is_well { Ok(()) } else { Err(CommandError::Findings(None)) }
    }

    /// Examines all servers, in the order of the configuration, and counts what the whole catalog costs.
    fn examine(&self, io: &Io, workspace: &Workspace) -> (Vec<ServerCheck>, Option<RequestCost>) {
        let Some(environment) = self.catalog.environment_of(io, workspace) else { return Default::default() };
        let credentials = credentials(io, environment);
        let differences = differences_at(&workspace.root);
        let sources = workspace.config.sources.iter().enumerate();
        let live = sources.filter_map(|(index, source)| Some((index, source.mcp.as_ref()?, source)));
        let live: Vec<(usize, ServerCheck)> = live
            .map(|(index, server, source)| {
                (index, ServerCheck::before(workspace, source, server, &differences, &credentials))
            })
            .collect();
        let mut asked = workspace.clone();
        for (index, _) in live.iter().filter(|(_, check)| !check.is_ok()) {
            asked.config.sources[*index].mcp = None;
        }
        let progress = Spinner::start(io, waiting_for(&[]));
        let waiting = |names: &[String]| progress.say(waiting_for(names));
        let (examined, listings) = examine(&asked, &credentials, remembered_lists(io).as_deref(), &waiting);
        progress.finish();
        let mut examined: BTreeMap<usize, Examined> =
            examined.into_iter().map(|examined| (examined.source, examined)).collect();
        let check = |(index, check): (usize, ServerCheck)| match examined.remove(&index) {
            Some(examined) => check.after(workspace, index, examined),
            None => check,
        };
        let servers = live.into_iter().map(check).collect();
        let catalog = catalog::open_with(workspace.clone(), &listings).catalog;
        (servers, RequestCost::of(&catalog, &Templates::from(BUILT_IN), None, catalog.config.payload).ok())
    }

    /// Whether the configuration was named, or only found.
    fn standing(&self, workspace: &Workspace) -> String {
        match (&workspace.document, &workspace.found) {
            (None, _) => "no configuration".into(),
            (_, Some(_)) => format!(
                "found and not named: nothing of it was run; to run it: toolcrib doctor {}",
                self.catalog.shown()
            ),
            (_, None) => "named".into(),
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
    open(file, &shown).err().filter(|unread| is_told(unread)).map(|unread| unread.finding)
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
        "notes": check.notes, "differences": check.differences,
        "identity": check.identity, "sign_in_problem": check.sign_in.as_ref().err().map(ToString::to_string),
        "sign_in": check.sign_in.as_ref().ok().and_then(Option::as_ref).map(|sign_in| json!({
            "issuer": sign_in.issuer, "scopes": sign_in.scopes, "ends": sign_in.ends_at().map(login::utc_of),
            "is_refreshed": sign_in.is_refreshable(), "is_active": sign_in.is_active(),
        })),
    })
}

/// The report for people.
fn text(
    configuration: &str,
    standing: &str,
    mistakes: &[String],
    servers: &[ServerCheck],
    cost: Option<&str>,
) -> String {
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
                "ok    {name:width$}  {}, {} tokens, {:.1} s\n",
                counted(check.tools.len(), "tool"),
                grouped(check.tokens),
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
        for difference in &check.differences {
            text.push_str(&format!("      otherwise than in the client: {difference}\n"));
        }
        for note in &check.notes {
            text.push_str(&format!("      note: {note}\n"));
        }
    }
    let well = servers.iter().filter(|check| check.is_ok()).count();
    let line = cost.unwrap_or_default();
    text.push_str(&format!("{well} of {} well\n{line}\n", counted(servers.len(), "server")));
    text
}
