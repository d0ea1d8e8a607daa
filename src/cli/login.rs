//! `toolcrib login`: the operator signs in to a server, in a browser here or on another machine.

use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::sync::mpsc;

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult, failed};
use super::io::Io;
use super::runtime::runtime;
use super::servers::credentials;
use toolcrib_catalog::config::{Environment, NAME_IT, Server, Workspace, live_server};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::nearest;
use toolcrib_front::credentials::{PendingSignIn, SignIn, SignInError};
use toolcrib_gateway::state::utc;

/// Longest wait for a person.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Most bytes of a pasted line.
const MAX_LINE: u64 = 64 << 10;

/// Sign in to a server that asks for it (OAuth).
///
/// Opens a browser (set `BROWSER` to choose it), or only prints the address. Over SSH, sign in on your own machine,
/// then paste the last address of the browser. The tokens stay in your state folder and are refreshed; `toolcrib
/// doctor` shows the sign-in.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib login github .\n  toolcrib login github . --no-browser\n  toolcrib login github --sign-out"
)]
pub(super) struct LoginArgs {
    /// The server, by its name in the configuration.
    server: String,
    #[command(flatten)]
    catalog: CatalogArgs,
    /// Print the address instead of opening a browser; you can paste your browser's last address.
    #[arg(long)]
    no_browser: bool,
    /// Sign out: revoke the tokens if possible, and remove them.
    ///
    /// Without a catalog, all sign-ins of this name end.
    #[arg(long, conflicts_with = "no_browser")]
    sign_out: bool,
}

impl LoginArgs {
    pub(super) fn run(mut self, io: &Io) -> CommandResult {
        self.catalog = self.catalog.or_adopted(io);
        if self.sign_out {
            return self.end_sign_in(io);
        }
        let credentials = self.catalog.credentials(io);
        let credentials =
            credentials.ok_or_else(|| CommandError::Usage("cannot log in with --offline".into()))?;
        let workspace = self.catalog.workspace(io)?;
        let server = named(&workspace, &self.server)?;
        let name = clean_line(&self.server);
        let runtime = runtime()?;
        runtime.block_on(async {
            let pending = credentials.begin_sign_in((&name, server)).await;
            let pending =
                pending.map_err(|problem| failed(format!("cannot sign in to `{name}`: {problem}")))?;
            self.show(io, pending.address());
            let ended = self.wait(io, pending).await;
            let signed_in =
                ended.map_err(|problem| failed(format!("not signed in to `{name}`: {problem}")))?;
            io.print(&format!("`{name}`: {}\n", standing(&signed_in)))
        })
    }

    fn end_sign_in(&self, io: &Io) -> CommandResult {
        let name = clean_line(&self.server);
        let credentials = credentials(io, Environment::default());
        let url = self.url(io)?;
        let ended = credentials.sign_out(&name, url.as_deref());
        let ended = runtime()?.block_on(ended).map_err(failed)?;
        if ended.is_empty() {
            let mut known: Vec<String> =
                credentials.sign_ins().into_iter().map(|sign_in| sign_in.server).collect();
            known.dedup();
            let hint = if known.is_empty() {
                String::new()
            } else {
                format!("; you are signed in to {}", known.join(", "))
            };
            return Err(failed(format!("you are not signed in to `{name}`{}", clean_line(&hint))));
        }
        for sign_out in ended {
            io.print(&format!("signed out of `{name}` at {}\n", clean_line(&sign_out.issuer)))?;
            if let Some(why) = sign_out.not_revoked {
                io.note(format!(
                    "its tokens are deleted here but could not be revoked, so they stay valid until they expire: {}",
                    clean_line(&why)
                ));
            }
        }
        Ok(())
    }

    /// The address of the server in the named catalog; `None` if the catalog has no such server any more.
    fn url(&self, io: &Io) -> Result<Option<String>, CommandError> {
        if !self.catalog.is_named() {
            return Ok(None);
        }
        let workspace = self.catalog.workspace(io)?;
        let found = servers(&workspace).into_iter().find(|(name, _)| *name == self.server);
        Ok(found.and_then(|(_, server)| server.url.clone()))
    }

    /// Opens the address in a browser, and prints it in case the browser does not open.
    fn show(&self, io: &Io, address: &str) {
        let address = clean_line(address);
        if !self.no_browser && open(io, &address) {
            io.note(format!("sign in with the browser; if no browser opens, use this address:\n{address}"))
        } else {
            io.note(format!(
                "open this address in a browser:\n{address}\nif the browser ends at a page that does not load, paste its \
                 address here:"
            ))
        }
    }

    /// Waits for the browser to come back, or for a pasted address.
    async fn wait(&self, io: &Io, mut pending: PendingSignIn) -> Result<SignIn, SignInError> {
        let mut lines = lines(io, self.no_browser || io.is_typed());
        let late = tokio::time::sleep(PATIENCE);
        tokio::pin!(late);
        loop {
            let pasted = tokio::select! {
                ended = pending.next() => match ended {
                    Some(ended) => return ended,
                    None => continue,
                },
                Some(line) = lines.recv() => line,
                () = &mut late => return Err("nobody has signed in within 15 minutes".into()),
            };
            match pending.finish_with(&pasted).await {
                Some(ended) => return ended,
                None if pasted.trim().is_empty() => {}
                None => io.note("this address belongs to another sign-in: paste the whole address"),
            }
        }
    }
}

/// The lines of stdin, where a person may paste an address.
fn lines(io: &Io, may_come: bool) -> mpsc::Receiver<String> {
    use std::io::{BufRead, Read};
    let (sender, lines) = mpsc::channel(1);
    if may_come {
        let io = io.clone();
        std::thread::spawn(move || {
            let mut input = io.stdin();
            let mut line = String::new();
            while input.by_ref().take(MAX_LINE).read_line(&mut line).is_ok_and(|read| read > 0) {
                if sender.blocking_send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
    }
    lines
}

/// Opens an address in the browser that `BROWSER` names. Without `BROWSER`, uses the default browser, but not over
/// SSH.
fn open(io: &Io, address: &str) -> bool {
    let variable = |name: &str| io.variable(name).filter(|value| !value.is_empty());
    if let Some(browser) = variable("BROWSER") {
        let mut command = Command::new(&browser);
        let silent = || Stdio::null();
        return command.arg(address).stdin(silent()).stdout(silent()).stderr(silent()).spawn().is_ok();
    }
    let is_remote = variable("SSH_CONNECTION").is_some() || variable("SSH_TTY").is_some();
    let mut options = webbrowser::BrowserOptions::new();
    options.with_suppress_output(true);
    !is_remote
        && webbrowser::open_browser_with_options(webbrowser::Browser::Default, address, &options).is_ok()
}

/// Finds a server by name as calls do: first among the configured servers, then among the live sources.
fn named<'w>(workspace: &'w Workspace, name: &str) -> Result<&'w Server, CommandError> {
    let known = servers(workspace);
    let found = known.iter().find(|(called, _)| called == name);
    found.map(|(_, server)| *server).ok_or_else(|| {
        if workspace.found.is_some() {
            let message = "the servers of a toolcrib.toml that was found and not named are left out";
            return CommandError::Usage(format!("{message}: read it, and {NAME_IT}"));
        }
        let near = nearest(name, known.iter().map(|(called, _)| called.as_str()));
        let names: Vec<&str> = known.iter().map(|(called, _)| called.as_str()).collect();
        let hint = match (near.first(), names.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => {
                "the configuration has no server: add a `[[source]]`, or run `toolcrib adopt`".into()
            }
            (None, names) => format!("it has {}", clean_line(&names.join(", "))),
        };
        CommandError::Usage(format!("no server is called `{}`; {hint}", clean_line(name)))
    })
}

/// The servers, by the names with which calls find them: the configured ones, then the live sources.
pub(super) fn servers(workspace: &Workspace) -> Vec<(String, &Server)> {
    let config = &workspace.config;
    let live = config.live_sources().filter_map(|(called, source)| Some((called, source.mcp.as_ref()?)));
    let live: Vec<(String, &Server)> =
        live.map(|(called, server)| (live_server(&called).unwrap_or(&called).to_string(), server)).collect();
    let configured = config.servers.iter().map(|(called, server)| (called.clone(), server));
    configured.chain(live).collect()
}

/// A sign-in on one line: the issuer, the scopes, and its end.
pub(super) fn standing(sign_in: &SignIn) -> String {
    let scopes = match sign_in.scopes.as_slice() {
        [] => String::new(),
        scopes => format!(" for {}", scopes.join(" ")),
    };
    let until = match sign_in.ends_at().map(utc_of) {
        _ if !sign_in.is_active() => "; it has ended".into(),
        Some(end) if sign_in.is_refreshable() => format!(" until {end} UTC, and is prolonged by itself"),
        Some(end) => format!(" until {end} UTC"),
        None => String::new(),
    };
    clean_line(&format!("signed in at {}{scopes}{until}", sign_in.issuer))
}

/// Formats seconds since 1970 for people.
pub(super) fn utc_of(second: u64) -> String {
    utc(i64::try_from(second.saturating_mul(1000)).unwrap_or(i64::MAX))
}
