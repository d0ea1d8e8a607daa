//! `toolcrib serve`: the running server, and the catalog that it keeps equal to the one on disk.

mod follow;
mod refuse;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::cli::catalog::CatalogArgs;
use crate::cli::error::{CommandError, CommandResult, failed};
use crate::cli::io::Io;
use crate::cli::log::{LogFormat, start_log};
use crate::cli::progress::Spinner;
use crate::cli::seed::find_template;
use crate::cli::servers::{remembering, waiting_for};
use crate::cli::services::for_server;
use crate::cli::signals::{StopRequests, reload_at_hangup, tell_systemd};
use crate::cli::state::{StateArgs, delete_old_state};
use crate::cli::word::word;
use follow::{keep_current, log_cost, log_definitions};
use refuse::{refuse_broken_configuration, refuse_nothing};
use toolcrib_catalog::Catalog;
use toolcrib_catalog::config::{self, NAME_IT, ServeMode, ToolList};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::guard::MISTAKE;
use toolcrib_definition::{Effect, clean_line};
use toolcrib_front::mcp::{Connections, server_names};
use toolcrib_front::telemetry;
use toolcrib_front::watch::{Change, Follow, Options};
use toolcrib_gateway::state::{StateError, StateStore};
use toolcrib_render::WorkspaceTemplate;
use toolcrib_server::http::{Hosts, HttpService, Listener};
use toolcrib_server::live::ServeOptions;
use toolcrib_server::{Authenticator, ListingOptions, LiveCatalog, Tokens, mcp};

/// Longest wait for the end of a trace to be written when the server stops: state that hangs must not keep the
/// process.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Serve a catalog: docs, functions and pages over HTTP, and MCP over HTTP or stdio.
///
/// Listens on the loopback address by default. The catalog is watched: an edit is served a moment after it is written.
/// An edit that breaks the catalog leaves the last good one in place. Stops on SIGINT and SIGTERM, after the requests
/// in progress are answered.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib serve examples/github              pages at http://127.0.0.1:7878, MCP at /mcp
  toolcrib serve examples/universal-agent     each profile below its own path, such as /p/creator/mcp
  toolcrib serve examples/github --stdio      MCP over stdin and stdout, for desktop clients
  toolcrib serve . --state state.db            sessions, approvals and traces outlive the server
  curl http://127.0.0.1:7878/tools/README.md
  curl http://127.0.0.1:7878/v1/read_tool_doc --json '{\"name\": \"create_issue\"}'")]
pub(super) struct ServeArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// Serve the tools of this profile, and no other, unless `[serve] profiles` names others.
    ///
    /// Without it, the whole catalog is served, and each profile below /p/NAME/.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// The folder that the workspaces of jobs start from, as for `seed`.
    #[arg(long, value_name = "DIR")]
    template: Option<PathBuf>,
    #[command(flatten)]
    state: StateArgs,
    /// Speak MCP over stdin and stdout instead of listening.
    #[arg(long, conflicts_with_all = ["listen", "public_host", "allow_unauthenticated"])]
    stdio: bool,
    /// Poll for changes every second, for file systems that do not report them.
    ///
    /// Addresses are asked as often; without it, every 30 seconds.
    #[arg(long, hide_short_help = true)]
    poll: bool,
    /// The address to listen on; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// A host name under which the server is reached, beside its address.
    ///
    /// Can be given several times.
    #[arg(long, value_name = "NAME")]
    public_host: Vec<String>,
    /// Listen on an address that other machines reach, although no token is configured.
    #[arg(long)]
    allow_unauthenticated: bool,
    /// The tools that an MCP client lists: gateway (functions that find, describe and run tools, and the full tools of
    /// the catalog), hybrid (the catalog's tools, with the deferred ones in short form, and tool_search and
    /// read_tool_doc), full (the catalog's tools in full), or auto (the one that costs least, decided at the start).
    ///
    /// Every tool and function can be called, whether it is listed or not.
    #[arg(long, value_parser = word::<ServeMode>(), value_name = "NAME", hide_possible_values = true)]
    mode: Option<ServeMode>,
    /// The functions that the gateway lists: gateway (tool_search, tool_help, tool_exec and tool_batch), discovery
    /// (list, search_nodes, search_tool_by_category, expand_tool, call_tool and read_tool_doc), or all.
    #[arg(long, hide_short_help = true, value_parser = word::<ToolList>(), value_name = "LIST", hide_possible_values = true)]
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

impl ServeArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        start_log(io, &self.log_level, self.log)?;
        let _log = io.enter_log();
        self.check_template()?;
        // One client asks one thing at a time; passing its calls between threads would cost more than the calls.
        let mut runtime = if self.stdio {
            tokio::runtime::Builder::new_current_thread()
        } else {
            tokio::runtime::Builder::new_multi_thread()
        };
        let of_threads = io.clone();
        // Without optimisation, a call with the deepest arguments takes nearly the usual two megabytes.
        let runtime = runtime
            .enable_all()
            .on_thread_start(move || std::mem::forget(of_threads.enter_log()))
            .thread_stack_size(8 << 20)
            .build()
            .map_err(|error| failed(format!("cannot start: {error}")))?;
        let args = Arc::new(self);
        let stop = runtime.block_on(async { StopRequests::listen(io) });
        let Some(prepared) = runtime.block_on(Prepared::of(io, &args, &stop))? else {
            runtime.shutdown_background();
            return Ok(());
        };
        prepared.serve(io, runtime, &stop)
    }

    /// Reports a broken template at the start, before the first caller meets it.
    fn check_template(&self) -> CommandResult {
        let Some(folder) = &self.template else { return Ok(()) };
        find_template(folder)?;
        let template = WorkspaceTemplate { folder: Some(folder.clone()), ..WorkspaceTemplate::default() };
        Ok(template.check_files()?)
    }

    fn follow(&self, io: &Io) -> Result<Followed, CommandError> {
        let workspace = if self.catalog.offline { None } else { Some(self.catalog.workspace(io)?) };
        let environment = workspace.as_ref().and_then(|here| self.catalog.environment_of(io, here));
        let connections = environment.map(|environment| {
            // Calls run on the threads of their connections.
            let connections = Connections::on(environment, tokio::runtime::Handle::current());
            let connections = if self.stdio { connections.awaiting_client() } else { connections };
            Arc::new(remembering(io, connections))
        });
        let servers = workspace.as_ref().map(server_names).unwrap_or_default();
        let reading = self.catalog.reading(io);
        let addresses = self.catalog.addresses.clone();
        let mut options = Options {
            poll: self.poll,
            addresses,
            connections: connections.clone(),
            reading,
            ..Options::default()
        };
        if self.stdio {
            // Servers start when the one client has said what they may ask it, and its list waits for them.
            options.patience = Duration::ZERO;
        }
        Ok((connections, servers, Follow::start(self.catalog.path()?, options)))
    }

    /// Waits for the first catalog, and makes what its server needs; `None` where it was stopped before.
    fn prepare(
        self: Arc<Self>,
        io: &Io,
        servers: &[String],
        mut follow: Follow,
        connections: Option<Arc<Connections>>,
    ) -> Result<Option<Prepared>, CommandError> {
        let progress = Spinner::start(io, waiting_for(servers));
        let Some(Change { checked, notices, .. }) = follow.next() else { return Ok(None) };
        progress.finish();
        notices.iter().for_each(|note| io.note(note));
        match &checked.awaited {
            Some(awaited) => {
                let servers = clean_line(&awaited.servers.join(", "));
                io.note(format!("waiting for the first list of tools of {servers}"));
            }
            None => self.catalog.report_errors(io, &checked),
        }
        refuse_broken_configuration(io, &checked)?;
        refuse_nothing(&checked)?;
        let templates = Arc::new(self.catalog.templates(io, &checked, None)?);
        let configured = checked.catalog.config.serve.clone();
        let endpoint = self.endpoint(io, &configured, &checked.catalog)?;
        let shown = ListingOptions {
            mode: match (self.mode, configured.mode) {
                // Who asks for two functions wants functions.
                (None, ServeMode::Auto) if self.split_exec => ServeMode::Gateway,
                (named, configured) => named.unwrap_or(configured),
            },
            tool_list: self.tool_list.or(configured.tool_list),
            split_exec: self.split_exec || configured.split_exec,
        };
        checked.catalog.profile(self.profile.as_deref())?;
        let callers = endpoint.as_ref().map(|(_, callers)| callers.callers()).transpose();
        let setting = ServeOptions {
            profile: self.profile.clone(),
            // A client of stdio has one connection, and cannot choose.
            profiles: if self.stdio { Some(Vec::new()) } else { configured.profiles.clone() },
            callers: callers.map_err(CommandError::Usage)?.unwrap_or_default(),
            listing: shown,
            workspace_template: self.template.clone(),
        };
        self.catalog.note_backends(io);
        let state = self.state.open(io, &self.catalog, &checked.catalog.config.state)?;
        match (state.health().is_volatile, self.catalog.path()) {
            (true, _) => warn_of_approvals(&checked.catalog),
            (false, path) => path.into_iter().for_each(|path| self.state.note(io, path)),
        }
        let is_listed = checked.awaited.is_none();
        let days = Duration::from_secs(checked.catalog.config.state.days.saturating_mul(24 * 60 * 60));
        let of_calls = Arc::clone(&state);
        let services = for_server(io, &self.catalog, &checked.catalog, of_calls, connections);
        log_definitions(&checked.findings, None);
        let live = LiveCatalog::new(checked, setting, templates)?;
        let live = live.with_services(services).with_nudge(follow.nudge());
        let live = Arc::new(live.with_addresses(self.catalog.addresses.clone()));
        if is_listed {
            log_cost(io, &live, &self.catalog);
        }
        Ok(Some(Prepared { args: self, live, follow, state, configured, endpoint, days }))
    }

    fn endpoint(
        &self,
        io: &Io,
        configured: &config::Serve,
        catalog: &Catalog,
    ) -> Result<HttpEndpoint, CommandError> {
        if self.stdio {
            return Ok(None);
        }
        let names_callers =
            !configured.tokens.is_empty() || !configured.issuers.is_empty() || configured.proxy.is_some();
        if names_callers && self.catalog.workspace(io)?.found.is_some() {
            let message = "toolcrib.toml was found and not named, and names tokens or issuers, which use the environment";
            return Err(CommandError::Usage(format!("{message}; {NAME_IT}")));
        }
        let callers = self.callers(io, configured)?;
        let address = self.address(configured, &callers)?;
        let allow = catalog.config.exec.allow();
        if self.allow_unauthenticated && callers.is_open() && allow != Effect::Read {
            io.note(format!(
                "everybody who reaches this server may run tools up to `allow = \"{}\"`",
                allow.as_str()
            ));
        }
        Ok(Some((address, callers)))
    }

    /// The callers that the configuration names: tokens and secrets are in the environment.
    fn callers(&self, io: &Io, configured: &config::Serve) -> Result<Authenticator, CommandError> {
        let (root, environment) =
            (self.catalog.workspace(io)?.root, self.catalog.environment(io).unwrap_or_default());
        let secret = configured.proxy.as_ref().and_then(|proxy| proxy.secret.as_deref());
        let secret = secret.map(|text| environment.filled(text)).transpose();
        let secret = secret.map_err(|missing| CommandError::Usage(missing.to_string()))?;
        Authenticator::new(tokens(io, configured)?, configured, &root, secret.as_deref())
            .map_err(CommandError::Usage)
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
        let is_known = configured.public_url.is_some() || (is_local && !address.ip().is_unspecified());
        if !configured.issuers.is_empty() && !is_known {
            return Err(CommandError::Usage(format!(
                "tokens of an issuer are for one address, and {address} does not say under which one callers reach it; add \
                 `public_url = \"https://...\"` below `[serve]` in toolcrib.toml"
            )));
        }
        if is_local || !callers.is_open() || self.allow_unauthenticated {
            return Ok(address);
        }
        Err(CommandError::Usage(format!(
            "{address} can be reached from elsewhere, and no token is configured. Either listen on 127.0.0.1, or add a \
             `[[serve.token]]` with `env = \"NAME\"` to toolcrib.toml, or say that everybody may read this catalog, and run \
             what `[exec] allow` allows, with --allow-unauthenticated"
        )))
    }

    fn announce(&self, io: &Io, address: SocketAddr, live: &LiveCatalog) {
        let generation = live.current();
        let tools = counted(generation.unrestricted_view().catalog().tools.len(), "tool");
        let version = &generation.version;
        match self.log {
            LogFormat::Text => {
                io.note(format!("listening on http://{address}"));
                let choices: Vec<&str> = generation.choices().collect();
                if !choices.is_empty() {
                    io.note(format!("profiles, each below /p/NAME/: {}", choices.join(", ")));
                }
                io.note(format!("{tools}, registry {version}; stop with Ctrl-C"));
            }
            LogFormat::Json => tracing::info!("listening on http://{address}"),
        }
    }
}

/// The address to listen on, with the callers there; `None` for the standard streams.
type HttpEndpoint = Option<(SocketAddr, Authenticator)>;

/// The connections to live servers, their names, and the catalog that is followed.
type Followed = (Option<Arc<Connections>>, Vec<String>, Follow);

/// A server that may begin to answer: the catalog, its services, and the endpoint.
struct Prepared {
    args: Arc<ServeArgs>,
    live: Arc<LiveCatalog>,
    follow: Follow,
    state: Arc<StateStore>,
    configured: config::Serve,
    endpoint: HttpEndpoint,
    /// The age at which state is deleted.
    days: Duration,
}

impl Prepared {
    /// Reads the catalog; `None` where a signal came before there was anything to serve. The work is done on other threads,
    /// so that this one serves the connections to live servers, and the client.
    async fn of(io: &Io, args: &Arc<ServeArgs>, stop: &StopRequests) -> Result<Option<Self>, CommandError> {
        let of_args = Arc::clone(args);
        let of_io = io.clone();
        let (connections, servers, follow) = on_thread(move || of_args.follow(&of_io)).await??;
        let stopper = follow.stopper();
        let args = Arc::clone(args);
        let of_calls = connections.clone();
        let io = io.clone();
        let mut preparing = std::pin::pin!(on_thread(move || args.prepare(&io, &servers, follow, of_calls)));
        let prepared = tokio::select! {
            prepared = &mut preparing => prepared,
            () = stop.reach(1) => {
                stopper.stop();
                preparing.await
            }
        }??;
        if let (None, Some(connections)) = (&prepared, &connections) {
            connections.close().await;
        }
        Ok(prepared)
    }

    /// Serves until a signal or the client ends it, with the catalog kept current.
    fn serve(self, io: &Io, runtime: Runtime, stop: &StopRequests) -> CommandResult {
        let Self { args, live, follow, state, configured, endpoint, days } = self;
        let telemetry = live.current().unrestricted_view().catalog().config.telemetry.clone();
        // Sends the rest when it is dropped.
        let _exporting =
            telemetry.otlp.as_deref().map(telemetry::start).transpose().map_err(CommandError::Usage)?;
        let stopper = follow.stopper();
        let serving = Arc::clone(&live);
        let following = {
            let live = Arc::clone(&live);
            let args = Arc::clone(&args);
            let io = io.clone();
            std::thread::spawn(move || {
                let _log = io.enter_log();
                keep_current(&io, &live, &args.catalog, follow);
            })
        };
        runtime.block_on(begin(&state, days))?;
        runtime.spawn(delete_old_state(Arc::clone(&state), days));
        let served = runtime.block_on(async {
            match endpoint {
                Some((address, callers)) => listen(io, &args, address, live, callers, configured, stop).await,
                None => {
                    let patience = Duration::from_secs(configured.limits.stop_seconds);
                    let served = serve_stdio(live, stop, patience).await;
                    served.map_err(|error| failed(format!("cannot serve: {error}")))
                }
            }
        });
        stopper.stop();
        if let Ok(Err(error)) = runtime.block_on(async { timeout(SHUTDOWN_GRACE, state.flush()).await }) {
            tracing::warn!(%error, "the end of the trace is not written");
        }
        runtime.block_on(serving.services().backends.close());
        runtime.shutdown_background();
        // The servers that it has started end with it.
        let _ = following.join();
        served
    }
}

/// Answers over HTTP until a signal comes.
async fn listen(
    io: &Io,
    args: &ServeArgs,
    address: SocketAddr,
    live: Arc<LiveCatalog>,
    callers: Authenticator,
    configured: config::Serve,
    stop: &StopRequests,
) -> CommandResult {
    let listener = Listener::bind(address);
    let listener = listener.await.map_err(|error| failed(listen_error(address, &error)))?;
    let address = listener.address();
    let named = configured.public_hosts.iter().chain(&args.public_host).cloned();
    let public: Vec<String> = named.chain(configured.public_url.as_deref().map(host)).collect();
    let callers = callers.at(address);
    callers.warm_up();
    let hosts = Hosts::new(address, &public);
    // HTTP checks the caller and the origin before MCP sees a request.
    let mcp = mcp::service(Arc::clone(&live), configured.limits.body_bytes);
    let streams = mcp.config.cancellation_token.clone();
    let service = HttpService::new(Arc::clone(&live), hosts, callers, configured.limits);
    let service = service.with_mcp(mcp);
    args.announce(io, address, &live);
    let of_hangups = Arc::clone(&live);
    reload_at_hangup(io, move || _ = of_hangups.nudge());
    tell_systemd(io, true);
    let stopped = async {
        stop.reach(1).await;
        tell_systemd(io, false);
    };
    let served = listener.serve(Arc::new(service), stopped, || streams.cancel()).await;
    served.map_err(|error| failed(format!("cannot start: {error}")))
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
async fn serve_stdio(
    live: Arc<LiveCatalog>,
    requests: &StopRequests,
    patience: Duration,
) -> std::io::Result<()> {
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let late = async move {
        requests.reach(1).await;
        stop.send_replace(true);
        tokio::select! {
            () = tokio::time::sleep(patience) => {}
            () = requests.reach(2) => {}
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

/// The host of the public address.
fn host(public_url: &str) -> String {
    let rest = public_url.split_once("://").map_or(public_url, |(_, rest)| rest);
    rest.trim_end_matches('/').to_string()
}

/// The tokens that are configured, from the environment.
fn tokens(io: &Io, configured: &config::Serve) -> Result<Tokens, CommandError> {
    let mut tokens = Tokens::default();
    for token in &configured.tokens {
        let name = &token.env;
        let secret = io.variable(name).ok_or_else(|| {
            CommandError::Usage(format!(
                "the environment variable {name}, which toolcrib.toml names for a token, is not set"
            ))
        })?;
        tokens.add(&secret, token).map_err(|problem| CommandError::Usage(format!("{name}: {problem}")))?;
    }
    Ok(tokens)
}

/// Work that may take a while, on a thread of its own.
async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, CommandError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| failed(format!("cannot read the catalog: {MISTAKE}")))
}

/// Checks that state exists and has our format. State that cannot be written now may recover later; the calls that
/// need it report it.
async fn begin(state: &StateStore, days: Duration) -> CommandResult {
    if state.health().is_volatile {
        return Ok(());
    }
    match state.delete_older(days).await {
        Err(error @ StateError::Other(_)) => Err(error.into()),
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
            "{tools} may be called only after a person has approved, and nobody can: approvals are in memory; set \
             `url = \"state.db\"` below `[state]` in {}, or name a file with --state FILE",
            catalog.config.place(true)
        );
    }
}
