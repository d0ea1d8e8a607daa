//! `toolcrib serve`: the running server.

mod callers;
mod log;
mod refusals;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::catalog::{CatalogArgs, counted, remembering, waiting_for, word};
use super::progress::Spinner;
use super::reload::keep_current;
use super::signals::Signals;
use super::state::{StateArgs, delete_old_state};
use super::{CommandError, CommandResult, failed, print_note};
use crate::catalog::Catalog;
use crate::config::{self, ServeSurface, ToolList};
use crate::guard::MISTAKE;
use crate::serve::http::{Hosts, HttpService, Listener, SignIns};
use crate::serve::live::ServeOptions;
use crate::serve::{Authenticator, ListingOptions, LiveCatalog, mcp};
use crate::sources::mcp::{Connections, server_names};
use crate::state::{StateError, StateStore};
use crate::tool::{Effect, clean_line};
use crate::watch::{Change, Follow, Options};
use log::LogFormat;
use refusals::{refuse_broken_configuration, refuse_nothing};

/// Serve a catalog: docs, functions and pages over HTTP, and MCP over HTTP or stdio.
///
/// Listens on the loopback address unless told otherwise. The catalog is watched: an edit is served a moment after it
/// is written. An edit that breaks the catalog leaves the last good one in place. Stops on SIGINT and SIGTERM, after
/// the requests in progress are answered.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib serve --catalog examples/github              pages at http://127.0.0.1:7878, MCP at /mcp
  toolcrib serve --catalog examples/universal-agent     each profile below its own path, such as /p/creator/mcp
  toolcrib serve --catalog examples/github --stdio      MCP over stdin and stdout, for desktop clients
  toolcrib serve --catalog . --state state.db            sessions, approvals and traces outlive the server
  curl http://127.0.0.1:7878/tools/README.md
  curl http://127.0.0.1:7878/v1/read_tool_doc --json '{\"name\": \"create_issue\"}'")]
pub(super) struct ServeArgs {
    /// The catalog, as --catalog.
    #[arg(value_name = "CATALOG")]
    path: Option<PathBuf>,
    #[command(flatten)]
    catalog: CatalogArgs,
    /// Serve the tools of this profile, and no other, unless `[serve] profiles` names others. Without it, the whole
    /// catalog is served, and each profile below /p/NAME/, or with the header `X-Profile: NAME`.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    #[command(flatten)]
    state: StateArgs,
    /// Speak MCP over stdin and stdout instead of listening.
    #[arg(long, conflicts_with_all = ["listen", "public_host", "allow_unauthenticated"])]
    stdio: bool,
    /// Poll for changes every second, for file systems that do not report them.
    #[arg(long)]
    poll: bool,
    /// The address to listen on; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// A host name under which the server is reached, beside its address. Can be given several times.
    #[arg(long, value_name = "NAME")]
    public_host: Vec<String>,
    /// Listen on an address that other machines reach, although no token is configured.
    #[arg(long)]
    allow_unauthenticated: bool,
    /// The tools that an MCP client lists: gateway (functions that find, describe and run tools), core (these, and
    /// the full tools of the catalog), hybrid (the catalog's tools, with the deferred ones in short form, and
    /// tool_search and read_tool_doc), full (the catalog's tools in full), or auto (full, core or gateway, decided at the
    /// start). Every tool and function can be called, whether it is listed or not.
    #[arg(long, value_parser = word::<ServeSurface>(), value_name = "NAME", hide_possible_values = true)]
    surface: Option<ServeSurface>,
    /// The functions that the gateway lists: gateway (tool_search, tool_help, tool_exec and tool_batch), discovery
    /// (list, search_nodes, search_tool_by_category, expand_tool, call_tool and read_tool_doc), or all.
    #[arg(long, value_parser = word::<ToolList>(), value_name = "LIST", hide_possible_values = true)]
    tool_list: Option<ToolList>,
    /// List tool_exec_read and tool_exec_write in place of tool_exec and tool_batch, so that a client can ask a
    /// person before a change.
    #[arg(long)]
    split_exec: bool,
    /// Format of the log on stderr.
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    log: LogFormat,
    /// Level of the log: error, warn, info, debug (every request) or trace; or directives such as `toolcrib=debug`.
    #[arg(long, default_value = "info,rmcp=error", value_name = "LEVEL")]
    log_level: String,
}

/// Longest wait for the end of a trace to be written when the server stops: state that hangs must not keep the
/// process.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

impl ServeArgs {
    pub(super) fn run(mut self) -> CommandResult {
        self.catalog = self.catalog.named(self.path.take()).or_found();
        log::start(&self.log_level, self.log)?;
        // One client asks one thing at a time; passing its calls between threads would cost more than the calls.
        let mut runtime = match self.stdio {
            true => tokio::runtime::Builder::new_current_thread(),
            false => tokio::runtime::Builder::new_multi_thread(),
        };
        let runtime =
            runtime.enable_all().build().map_err(|error| failed(format!("cannot start: {error}")))?;
        let connections = self.catalog.environment().map(|environment| {
            // Calls run on the threads of their connections.
            Arc::new(remembering(Connections::on(environment, runtime.handle().clone())))
        });
        let servers =
            if connections.is_some() { server_names(&self.catalog.workspace()?) } else { Vec::new() };
        let also = self.catalog.also().into_iter().chain(self.catalog.signature()).collect();
        let (reading, cache) = (self.catalog.reading(), self.catalog.cache());
        let options = Options { poll: self.poll, also, connections: connections.clone(), reading, cache };
        let follow = Follow::start(self.catalog.path()?, options);
        let progress = Spinner::start(waiting_for(&servers));
        let (first, follow) = runtime.block_on(first_of(follow))?;
        let Some(first) = first else {
            // A signal came before there was anything to serve.
            if let Some(connections) = &connections {
                runtime.block_on(connections.close());
            }
            return Ok(());
        };
        progress.finish();
        first.notices.iter().for_each(print_note);
        let checked = first.checked;
        match &checked.awaited {
            Some(awaited) => {
                let servers = clean_line(&awaited.servers.join(", "));
                print_note(format!("waiting for the first list of tools of {servers}"));
            }
            None => self.catalog.report_briefly(&checked),
        }
        refuse_broken_configuration(&checked)?;
        refuse_nothing(&checked)?;
        let templates = Arc::new(super::render::templates(&self.catalog, &checked, None)?);
        let configured = checked.catalog.config.serve.clone();
        let names_callers = !configured.tokens.is_empty() || !configured.issuers.is_empty();
        if !self.stdio && names_callers && self.catalog.workspace()?.is_found {
            let message =
                "toolcrib.toml was merely found, and names tokens or issuers, which use the environment";
            return Err(CommandError::Usage(format!("{message}; {}", super::catalog::HELP)));
        }
        let (callers, secret) = match self.stdio {
            true => Default::default(),
            false => callers::configured(&self.catalog, &configured)?,
        };
        let address = if self.stdio { None } else { Some(self.address(&configured, &callers)?) };
        let allow = checked.catalog.config.exec.allow();
        if self.allow_unauthenticated && callers.is_open() && !self.stdio && allow != Effect::Read {
            print_note(format!(
                "everybody who reaches this server may run tools up to `allow = \"{}\"`",
                allow.as_str()
            ));
        }
        let shown = ListingOptions {
            surface: self.surface.unwrap_or(configured.surface),
            tool_list: self.tool_list.or(configured.tool_list),
            split_exec: self.split_exec || configured.split_exec,
        };
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        if shown.surface == ServeSurface::Core && profile.full().next().is_none() {
            print_note("no tool is bound in full; the surface core is as gateway");
        }
        let setting = ServeOptions {
            profile: self.profile.clone(),
            // A client of stdio has one connection, and cannot choose.
            profiles: if self.stdio { Some(Vec::new()) } else { configured.profiles.clone() },
            callers: callers.callers().map_err(CommandError::Usage)?,
            listing: shown,
        };
        let state = self.state.open(&self.catalog, &checked.catalog.config.state)?;
        if state.health().is_volatile {
            warn_of_approvals(&checked.catalog);
        }
        let days = checked.catalog.config.state.days;
        let state_of_calls = Arc::clone(&state);
        let services =
            super::services::for_server(&self.catalog, &checked.catalog, state_of_calls, connections);
        let live = LiveCatalog::new(checked, setting, templates)?;
        let live = Arc::new(live.with_services(services));
        let (stop, serving) = (follow.stopper(), Arc::clone(&live));
        let following = {
            let (live, catalog) = (Arc::clone(&live), self.catalog.clone());
            std::thread::spawn(move || keep_current(&live, &catalog, follow))
        };
        let days = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
        runtime.block_on(begin(&*state, days))?;
        runtime.spawn(delete_old_state(Arc::clone(&state), days));
        let served = match address {
            None => runtime
                .block_on(serve_stdio(live, Duration::from_secs(configured.limits.stop_seconds)))
                .map_err(|error| format!("cannot serve: {error}")),
            Some(address) => runtime.block_on(self.listen(address, live, (callers, secret), configured)),
        };
        stop.stop();
        if let Ok(Err(error)) = runtime.block_on(async { timeout(SHUTDOWN_GRACE, state.flush()).await }) {
            tracing::warn!(%error, "the end of the trace is not written");
        }
        runtime.block_on(serving.services().backends.close());
        runtime.shutdown_background();
        // The servers that it has started end with it.
        let _ = following.join();
        served.map_err(failed)
    }

    async fn listen(
        &self,
        address: SocketAddr,
        live: Arc<LiveCatalog>,
        (callers, secret): (Authenticator, Option<String>),
        configured: config::Serve,
    ) -> Result<(), String> {
        let listener = Listener::bind(address);
        let listener = listener.await.map_err(|error| listen_error(address, &error))?;
        let address = listener.address();
        let named = configured.public_hosts.iter().chain(&self.public_host).cloned();
        let public: Vec<String> = named.chain(configured.public_url.as_deref().map(callers::host)).collect();
        let callers = callers.at(address);
        callers.warm_up();
        let hosts = Hosts::new(address, &public);
        // HTTP checks the caller and the origin before MCP sees a request.
        let max_body = configured.limits.body_bytes;
        let options = mcp::Options { hosts: Vec::new(), origins: Vec::new(), max_body };
        let mcp = mcp::service(Arc::clone(&live), options);
        let streams = mcp.config.cancellation_token.clone();
        let sign_ins = SignIns::new(&callers, configured.sign_in, secret);
        let door = HttpService::new(Arc::clone(&live), hosts, (callers, sign_ins), configured.limits);
        let door = door.with_mcp(mcp);
        self.announce(address, &live);
        let stop = async {
            wait_for_signal().await;
            streams.cancel();
        };
        listener.serve(Arc::new(door), stop).await.map_err(|error| format!("cannot start: {error}"))
    }

    /// The address to listen on, unless it would be open to everybody by mistake.
    fn address(
        &self,
        configured: &config::Serve,
        callers: &Authenticator,
    ) -> Result<SocketAddr, CommandError> {
        let listen = self.listen.as_deref().or(configured.listen.as_deref()).unwrap_or("127.0.0.1:7878");
        let named = listen.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address: SocketAddr = named.as_deref().unwrap_or(listen).parse().map_err(|_| {
            CommandError::Usage(format!("{listen} should be an address and a port, such as 127.0.0.1:7878"))
        })?;
        let is_local = match address.ip() {
            IpAddr::V4(ip) => ip.is_loopback(),
            IpAddr::V6(ip) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        };
        callers::have_an_address(configured, address, is_local)?;
        if is_local || !callers.is_open() || self.allow_unauthenticated {
            return Ok(address);
        }
        Err(CommandError::Usage(format!(
            "{address} can be reached from elsewhere, and no token is configured. Either listen on 127.0.0.1, or add a \
             `[[serve.token]]` with `env = \"NAME\"` to toolcrib.toml, or say that everybody may read this catalog, and run \
             what `[exec] allow` allows, with --allow-unauthenticated"
        )))
    }

    fn announce(&self, address: SocketAddr, live: &LiveCatalog) {
        let generation = live.current();
        let tools = counted(generation.unrestricted_view().catalog().tools.len(), "tool");
        let version = &generation.version;
        match self.log {
            LogFormat::Text => {
                print_note(format!("listening on http://{address}"));
                let choices: Vec<&str> = generation.choices().collect();
                if !choices.is_empty() {
                    print_note(format!("profiles, each below /p/NAME/: {}", choices.join(", ")));
                }
                print_note(format!("{tools}, registry {version}; stop with Ctrl-C"));
            }
            LogFormat::Json => tracing::info!("listening on http://{address}"),
        }
    }
}

/// The first catalog. It is read on a thread of its own, so that this one serves the connections to live servers.
async fn first_of(mut follow: Follow) -> Result<(Option<Change>, Follow), CommandError> {
    let stop = follow.stopper();
    let mut reading = tokio::task::spawn_blocking(move || (follow.next(), follow));
    let read = tokio::select! {
        read = &mut reading => read,
        () = wait_for_signal() => {
            stop.stop();
            reading.await
        }
    };
    read.map_err(|_| failed(format!("cannot read the catalog: {MISTAKE}")))
}

/// Checks that state exists and has our format. State that cannot be written now may recover later; the calls that
/// need it report it.
async fn begin(state: &dyn StateStore, days: Duration) -> CommandResult {
    if state.health().is_volatile {
        return Ok(());
    }
    match state.delete_older(days).await {
        Err(error @ StateError::Newer(_)) => Err(failed(format!("state: {error}"))),
        Err(error) => {
            tracing::warn!(%error, "state cannot be used now");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// A person approves calls through state that other processes reach; without it, nobody can.
fn warn_of_approvals(catalog: &Catalog) {
    let tools = catalog.tools.iter().filter(|tool| tool.wants_approval()).count();
    if tools > 0 {
        let tools = counted(tools, "tool");
        tracing::warn!(
            "{tools} may be called only after a person has approved, and nobody can: approvals are in memory; name a file \
             with --state FILE, or with `url` below `[state]`"
        );
    }
}

/// Reason why the server cannot listen on an address, and the next step.
fn listen_error(address: SocketAddr, error: &std::io::Error) -> String {
    use std::io::ErrorKind::{AddrInUse, PermissionDenied};
    let help = match error.kind() {
        AddrInUse => {
            "another program listens there; choose another with --listen 127.0.0.1:PORT, or any free one with port 0"
        }
        PermissionDenied => "ports below 1024 need rights; choose a higher one with --listen",
        _ => "choose another with --listen",
    };
    format!("cannot listen on {address}: {error}\n  help: {help}")
}

/// Speaks MCP over the standard streams. A client that no longer reads does not keep the process alive.
async fn serve_stdio(live: Arc<LiveCatalog>, patience: Duration) -> std::io::Result<()> {
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let late = async move {
        wait_for_signal().await;
        stop.send_replace(true);
        tokio::select! {
            () = tokio::time::sleep(patience) => {}
            () = wait_for_signal() => {}
        }
    };
    let asked = async move {
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    tokio::select! {
        served = mcp::stdio(live, asked) => served,
        () = late => Ok(()),
    }
}

/// Resolves when a signal asks the server to stop.
async fn wait_for_signal() {
    match Signals::listen() {
        Ok(mut signals) => signals.next().await,
        // Without it the system ends the process in its own way.
        Err(_) => std::future::pending().await,
    }
}
