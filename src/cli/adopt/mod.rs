//! `toolcrib adopt`: moves the servers of a client's configuration behind toolcrib, and back.

mod client;
mod client_text;
mod cost;
mod file;
mod json_map;
mod moved;
mod program;
mod record;
mod target;
mod undo;

use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use serde_json::json;
use strum::VariantArray;
use toml_edit::DocumentMut;

use crate::cli::error::{CommandError, CommandResult, failed};
use crate::cli::folders::configuration_folder;
use crate::cli::io::Io;
use crate::cli::word::word;
use client::Client;
use client_text::{ClientText, OWN, OwnEntry, mistake_in, syntax_mistake};
use cost::Cost;
use file::{ATTEMPTS, being_edited, write_file};
use moved::Secrets;
use program::program;
use record::{Folder, Record, hash};
use target::{Target, undo_command};
use toolcrib_catalog::config::{self, ServeMode, Source, Workspace};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::{clean_line, private_file};
use toolcrib_docs::folder::lock;
use undo::{restored, undo};

/// Move the servers of an MCP client behind toolcrib.
///
/// toolcrib becomes the one entry in the client's file. Each server is started once, to count its tools.
///
/// The servers go to a toolcrib.toml of their own in your configuration folder, their secrets to a file there that only
/// you can read. Everything else in the client's file stays as it is, and a copy of the file is kept. Restart the
/// client afterwards.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib adopt cursor --dry-run\n  toolcrib adopt cursor\n  toolcrib adopt .mcp.json --mode full\n  toolcrib adopt --all\n  toolcrib adopt cursor --undo"
)]
pub(super) struct AdoptArgs {
    /// claude-desktop, cursor, vscode, claude-code, codex, gemini, windsurf, zed, opencode, copilot-cli, kiro, cline,
    /// goose, roo, or a client's file.
    #[arg(value_name = "CLIENT | FILE", required_unless_present = "all")]
    client: Option<String>,
    /// Every client of this list whose file has servers.
    #[arg(long, conflicts_with = "client")]
    all: bool,
    /// Change nothing, and print what would change.
    #[arg(long)]
    dry_run: bool,
    /// Move the servers back.
    #[arg(long, conflicts_with = "mode")]
    undo: bool,
    /// The tools that the client lists: gateway, hybrid, full, or auto; `serve` explains them. The default is the one
    /// that costs least now, and it stays.
    #[arg(long, value_parser = word::<ServeMode>(), value_name = "NAME", hide_possible_values = true)]
    mode: Option<ServeMode>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The changes of an adoption.
struct Plan {
    /// The text of the client's file as it was read.
    read: String,
    /// The text of the client's file after the adoption.
    after: String,
    /// What the tools cost, for people.
    cost: Cost,
    /// The text that `--undo` brings back.
    before: String,
    /// The servers that move now.
    moved: Vec<String>,
    /// Servers that stay in the client's file, with the reasons.
    left: Vec<(String, String)>,
    configuration: String,
    secrets: Secrets,
    record: Record,
}

impl AdoptArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let own = configuration_folder(io).ok_or_else(|| {
            failed("there is no folder for your configuration: set HOME or XDG_CONFIG_HOME")
        })?;
        // Two runs at once would overwrite each other's files.
        let _lock = if self.dry_run {
            None
        } else {
            private_file::create_folder(&own).map_err(failed)?;
            Some(lock(&own).map_err(failed)?)
        };
        let Some(name) = &self.client else { return self.run_all(io, &own) };
        self.run_for(io, self.target(io, &own, name)?)
    }

    /// Adopts every client with servers. A client that cannot be adopted does not stop the others.
    fn run_all(&self, io: &Io, own: &Path) -> CommandResult {
        let mut found = 0;
        let mut failures = Vec::new();
        for client in Client::VARIANTS {
            let Ok(target) = self.target(io, own, client.name()) else { continue };
            if self.undo && target.folder.record().is_none() {
                continue;
            }
            found += 1;
            if let Err(CommandError::Findings(Some(problem)) | CommandError::Usage(problem)) =
                self.run_for(io, target)
            {
                failures.push(problem);
            }
        }
        match (found, failures.is_empty()) {
            (0, _) => Err(failed("no client with servers was found; name the file: toolcrib adopt FILE")),
            (_, true) => Ok(()),
            _ => Err(failed(failures.join("\n"))),
        }
    }

    fn run_for(&self, io: &Io, target: Target) -> CommandResult {
        if !self.dry_run {
            target.folder.clean(&target.file);
        }
        if self.undo {
            return undo(io, &target, self.dry_run, self.json);
        }
        for _ in 0..ATTEMPTS {
            let Some(plan) = self.plan(io, &target)? else { return self.report_nothing(io, &target) };
            if self.dry_run || write(&target, &plan)? {
                return self.report(io, &target, &plan);
            }
        }
        Err(being_edited(&target.file))
    }

    fn target(&self, io: &Io, own: &Path, name: &str) -> Result<Target, CommandError> {
        let of_client = |client: Client, file: PathBuf| Target {
            called: client.name().to_string(),
            title: client.title().to_string(),
            is_of_project: false,
            folder: Folder::new(own.join(client.name()), &file),
            file,
        };
        if let Some(client) = Client::named(name) {
            let adopted = || Folder::new(own.join(client.name()), Path::new("")).record();
            let file = match self.undo.then(adopted).flatten() {
                Some(record) => record.file,
                None => file_of(io, client, own)?,
            };
            return Ok(of_client(client, file));
        }
        let Ok(file) = Path::new(name).canonicalize() else {
            let clients: Vec<&str> = Client::VARIANTS.iter().map(|client| client.name()).collect();
            let message = format!("there is no client or file {name}; clients are: {}", clients.join(", "));
            return Err(CommandError::Usage(message));
        };
        if let Some(client) = Client::of_file(io, &file) {
            return Ok(of_client(client, file));
        }
        let folder_of = config::read(&file).root;
        let is_hidden = folder_of.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let project = match folder_of.parent() {
            Some(around) if is_hidden => around,
            _ => &folder_of,
        };
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
        let folder = own.join(format!("{name}-{}", &hash(&file.to_string_lossy())[..8]));
        let title = file.to_string_lossy().into_owned();
        let folder = Folder::new(folder, &file);
        Ok(Target { called: title.clone(), title, is_of_project: true, folder, file })
    }

    /// Plans the changes; `None` if there is nothing to move.
    fn plan(&self, io: &Io, target: &Target) -> Result<Option<Plan>, CommandError> {
        let shown = target.file.display();
        let known = target.folder.record();
        if let Some(other) = known.as_ref().map(|known| &known.file).filter(|other| **other != target.file) {
            return Err(failed(format!(
                "{} is adopted already, and {} can have only one adopted file; nothing was changed. Run `toolcrib adopt {} --undo` to move its servers back, then adopt {shown}",
                other.display(),
                target.title,
                other.display()
            )));
        }
        let workspace = config::read(&target.file);
        if let Some(mistake) = syntax_mistake(&workspace).or_else(|| mistake_in(&target.file)) {
            return Err(failed(format!("{shown} cannot be read; nothing was changed: {mistake}")));
        }
        let Some(map) = map_of(&workspace).or_else(|| known.as_ref().map(|known| known.map.clone())) else {
            return Err(failed(format!(
                "{shown} has no servers in a table such as `mcpServers`; docs/sources.md has the tables of all clients"
            )));
        };
        let read =
            std::fs::read_to_string(&target.file).map_err(|error| failed(format!("{shown}: {error}")))?;
        let text = ClientText::new(&target.file, read.clone(), &map);
        let names =
            text.names().ok_or_else(|| failed(format!("{shown} cannot be read; nothing was changed")))?;
        let configuration = target.folder.configuration();
        let is_own = |name: &str| name == OWN && starts_us(&text, &configuration);
        let mut moving = Vec::new();
        let mut left = Vec::new();
        for name in names.iter().filter(|name| !is_own(name)) {
            match movable(&workspace, &text, name, target) {
                Ok(source) => moving.push(source),
                Err(reason) => left.push((name.clone(), reason)),
            }
        }
        let elsewhere = workspace.findings.iter().filter(|finding| {
            finding.place.as_ref().is_some_and(|place| place.pointer.starts_with("/projects/"))
        });
        let elsewhere = elsewhere.filter_map(|finding| {
            let name =
                finding.message.split('`').nth(1).filter(|name| !names.iter().any(|known| known == name))?;
            Some((name.to_string(), finding.message.clone()))
        });
        left.extend(elsewhere);
        let is_again = names.iter().any(|name| is_own(name));
        // If the copy equals the file, the file has all servers of the record.
        let has_all = || std::fs::read_to_string(target.folder.backup()).is_ok_and(|copy| copy == text.text);
        if let Some(known) = &known
            && !is_again
            && !has_all()
        {
            return Err(failed(format!(
                "{shown} no longer has an entry for toolcrib, but {} moved from it earlier: {}; nothing was changed. Run `{}` to put them back, then adopt the file again",
                counted(known.moved.len(), "server"),
                known.moved.join(", "),
                undo_command(target)
            )));
        }
        if moving.is_empty() && !(is_again && self.mode.is_some()) {
            return if is_again {
                Ok(None)
            } else {
                Err(failed(format!("{shown} has no server that can be moved: {}", reasons(&left))))
            };
        }
        // If servers moved earlier, the text to bring back is the present one without toolcrib.
        let earlier = known.map(|known| known.moved).unwrap_or_default();
        let before = if is_again {
            let absent: Vec<String> = earlier.iter().filter(|name| !names.contains(name)).cloned().collect();
            restored(&text, &target.folder, &absent)?
        } else {
            text.text.clone()
        };
        let mut secrets =
            Secrets::read(&std::fs::read_to_string(target.folder.secrets()).unwrap_or_default());
        let cost = Cost::of(io, target, &workspace, &moving)?;
        let mut document = match std::fs::read_to_string(&configuration) {
            Ok(text) => text
                .parse::<DocumentMut>()
                .map_err(|error| failed(format!("{} cannot be read: {error}", configuration.display())))?,
            Err(_) => moved::new_configuration(
                &target.title,
                &target.file.to_string_lossy(),
                &undo_command(target),
                self.mode.unwrap_or(cost.mode()),
            ),
        };
        if let Some(mode) = self.mode {
            document["serve"]["mode"] = toml_edit::value(Into::<&'static str>::into(mode));
        }
        let mut moved = Vec::new();
        for source in moving {
            let (Some(name), Some(mut server)) = (source.server, source.mcp) else { continue };
            secrets.take(&name, &mut server);
            moved::add(&mut document, &name, &server, &source.tools)?;
            moved.push(name);
        }
        let entry = OwnEntry {
            timeouts: text.timeouts(&names),
            program: program(io)?,
            arguments: ["serve", "--stdio", &configuration.to_string_lossy()].map(str::to_string).to_vec(),
        };
        let after = text
            .with_own(&moved, &entry)
            .ok_or_else(|| failed(format!("cannot edit {shown}: each server must begin on its own line")))?;
        let configuration = document.to_string();
        let mut all: IndexSet<String> =
            if is_again { earlier.into_iter().collect() } else { IndexSet::new() };
        all.extend(moved.iter().cloned());
        let record = Record {
            file: target.file.clone(),
            map,
            moved: all.into_iter().collect(),
            written: hash(&after),
            configured: hash(&configuration),
        };
        Ok(Some(Plan { read, after, cost, before, moved, left, configuration, secrets, record }))
    }

    fn report_nothing(&self, io: &Io, target: &Target) -> CommandResult {
        let folder = target.folder.path.display();
        if self.json {
            let report = json!({"client": target.called, "file": target.file, "folder": target.folder.path, "moved": []});
            return io.print(&format!("{report:#}\n"));
        }
        io.note(format!("{}: its servers are behind toolcrib already, in {folder}", target.title));
        Ok(())
    }

    fn report(&self, io: &Io, target: &Target, plan: &Plan) -> CommandResult {
        let Target { folder, file, .. } = target;
        if self.json {
            let left: Vec<_> =
                plan.left.iter().map(|(name, reason)| json!({"server": name, "reason": reason})).collect();
            let report = json!({
                "client": target.called, "file": file, "folder": folder.path, "configuration": folder.configuration(),
                "moved": plan.moved, "left": left, "secrets": plan.secrets.names().collect::<Vec<_>>(),
                "backup": folder.backup(), "dry_run": self.dry_run, "mode": plan.mode(), "request": plan.cost.tools,
                "allowed": moved::allowed_lines().collect::<Vec<_>>().join("\n"),
            });
            return io.print(&format!("{report:#}\n"));
        }
        let verb = if self.dry_run { "would move" } else { "moved" };
        let mut lines = vec![plan.cost.line()];
        if !plan.moved.is_empty() {
            lines.push(format!(
                "{}: {verb} {} from {} to {}: {}",
                target.title,
                counted(plan.moved.len(), "server"),
                file.display(),
                folder.configuration().display(),
                plan.moved.iter().map(|name| clean_line(name)).collect::<Vec<_>>().join(", ")
            ));
        }
        if !plan.left.is_empty() {
            lines.push(format!("left in the client's file: {}", reasons(&plan.left)));
        }
        if !plan.secrets.is_empty() {
            let names: Vec<&str> = plan.secrets.names().collect();
            lines.push(format!("secrets, in {}: {}", folder.secrets().display(), names.join(", ")));
        }
        lines.push(format!("the client's file as it was: {}", folder.backup().display()));
        lines.extend(plan.mode().map(|mode| {
            format!("[serve] mode = \"{mode}\", in {}; it stays", folder.configuration().display())
        }));
        lines.extend(moved::allowed_lines().map(str::to_string));
        io.print(&(lines.join("\n") + "\n"))?;
        if self.dry_run {
            io.note("nothing was changed; run it without --dry-run")
        } else {
            io.note(format!(
                "next: `toolcrib doctor {}` starts each server and says what is wrong; restart {}; `{}` moves everything back",
                folder.path.display(),
                if target.is_of_project { "the client" } else { &target.title },
                undo_command(target)
            ))
        }
        Ok(())
    }
}

/// The file of a client: the first one with servers, otherwise an adopted one, otherwise a broken one.
fn file_of(io: &Io, client: Client, own: &Path) -> Result<PathBuf, CommandError> {
    let files = client.files(io);
    let there: Vec<PathBuf> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
    let has_servers = |file: &&PathBuf| map_of(&config::read(file)).is_some();
    let is_adopted = |file: &&PathBuf| {
        let record = Folder::new(own.join(client.name()), file).record();
        record.is_some_and(|record| record.file == **file)
    };
    let adopted = || files.iter().find(is_adopted).or_else(|| there.iter().find(is_adopted));
    // A broken file is not skipped, so that its mistake is reported.
    let is_broken = |file: &&PathBuf| syntax_mistake(&config::read(file)).is_some();
    let broken = || there.iter().find(is_broken);
    let found = there.iter().find(has_servers).or_else(adopted).or_else(broken);
    found.cloned().ok_or_else(|| {
        let looked: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        failed(format!(
            "no servers of {} were found in {}; name the file: toolcrib adopt FILE",
            client.title(),
            looked.join(", ")
        ))
    })
}

/// Pointer to the servers of a client's configuration.
fn map_of(workspace: &Workspace) -> Option<String> {
    let of_sources = workspace.config.sources.iter().filter_map(|source| source.pointer.as_deref());
    let places =
        workspace.findings.iter().filter_map(|finding| Some(finding.place.as_ref()?.pointer.as_str()));
    let pointer = of_sources.chain(places).next()?;
    Some(pointer.rsplit_once('/')?.0.to_string())
}

/// The source of a server that can be moved, or the reason why it stays.
fn movable(workspace: &Workspace, text: &ClientText, name: &str, target: &Target) -> Result<Source, String> {
    let sources = &workspace.config.sources;
    let Some(source) = sources.iter().find(|source| source.server.as_deref() == Some(name)) else {
        let is_about = |message: &&String| message.contains(&format!("`{name}`"));
        let mut messages = workspace.findings.iter().map(|finding| &finding.message);
        let found = messages.find(is_about).map(|message| clean_line(message));
        return Err(found.unwrap_or_else(|| "no server that toolcrib can start".into()));
    };
    let entry = text.entry(name).unwrap_or_default();
    if !target.is_of_project && entry.contains("${workspaceFolder") {
        return Err("its ${workspaceFolder} differs in each window of the client".into());
    }
    let mut source = source.clone();
    if let Some(filter) = &source.filter {
        if let Some(place) = &filter.of_client {
            return Err(format!(
                "`{}` has a rule for its tools that only the client can apply: remove it, and adopt it again",
                clean_line(place)
            ));
        }
        source.tools = filter.as_list().ok_or_else(|| {
            format!(
                "its `{}` switches tools off in a way that `tools` of a [[source]] cannot: simplify it, and adopt the file again",
                filter.key
            )
        })?;
    }
    if let Some(server) = source.mcp.as_mut().filter(|server| target.is_of_project && server.url.is_none()) {
        server.cwd = Some(workspace.root.join(server.cwd.take().unwrap_or_default()));
    }
    Ok(source)
}

/// Whether the client's entry `toolcrib` runs this configuration.
fn starts_us(text: &ClientText, configuration: &Path) -> bool {
    let path = configuration.to_string_lossy();
    let as_json = serde_json::Value::from(path.as_ref()).to_string();
    text.entry(OWN).is_some_and(|entry| entry.contains(path.as_ref()) || entry.contains(&as_json))
}

fn reasons(left: &[(String, String)]) -> String {
    let each = left.iter().map(|(name, reason)| format!("{} ({reason})", clean_line(name)));
    each.collect::<Vec<_>>().join(", ")
}

/// Writes the configuration, the secrets, the copy and the record, and then the client's file. Returns false, and
/// changes nothing, if the client's file was edited meanwhile.
fn write(target: &Target, plan: &Plan) -> Result<bool, CommandError> {
    let Target { folder, file, .. } = target;
    let fail = |error: std::io::Error| failed(format!("cannot write to {}: {error}", folder.path.display()));
    let earlier = folder.content();
    private_file::write(&folder.configuration(), plan.configuration.as_bytes()).map_err(fail)?;
    private_file::write(&folder.secrets(), plan.secrets.text().as_bytes()).map_err(fail)?;
    private_file::write(&folder.backup(), plan.before.as_bytes()).map_err(fail)?;
    folder.keep(&plan.record).map_err(fail)?;
    let written = write_file(file, &plan.after, &plan.read);
    if !matches!(written, Ok(true)) {
        for (file, content) in earlier {
            match content {
                Some(content) => private_file::write(&file, &content).map_err(fail)?,
                None => std::fs::remove_file(&file).map_err(fail)?,
            }
        }
    }
    written
}

impl Plan {
    /// The mode in the configuration.
    fn mode(&self) -> Option<String> {
        let document: DocumentMut = self.configuration.parse().ok()?;
        Some(document.get("serve")?.get("mode")?.as_str()?.to_string())
    }
}
