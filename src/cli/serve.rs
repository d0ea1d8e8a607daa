//! `toolcrib serve`: the running server.

mod callers;
mod preparation;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use preparation::Prepared;

use super::catalog::{CatalogArgs, counted, word};
use super::render::failure;
use super::screen::Screen;
use super::seed::find_template;
use super::state::StateArgs;
use super::watch::Signals;
use super::{CommandError, CommandResult, failed, print_note};
use crate::catalog::Checked;
use crate::config::{self, ServeMode, ToolList};
use crate::finding::{Code, Finding, text_report};
use crate::render::WorkspaceTemplate;
use crate::serve::http::{Hosts, HttpService, Listener};
use crate::serve::{Authenticator, LiveCatalog, mcp};

/// Serve a catalog: docs, functions and pages over HTTP, and MCP over HTTP or stdio.
///
/// Listens on the loopback address unless told otherwise. The catalog is watched: an edit is served a moment after it
/// is written. An edit that breaks the catalog leaves the last good one in place. Stops on SIGINT and SIGTERM, after
/// the requests in progress are answered.
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
    /// Serve the tools of this profile, and no other, unless `[serve] profiles` names others. Without it, the whole
    /// catalog is served, and each profile below /p/NAME/, or with the header `X-Profile: NAME`.
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
    /// Poll for changes every second, for file systems that do not report them. Addresses are asked as often; without it, every
    /// 30 seconds.
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
    /// The tools that an MCP client lists: gateway (functions that find, describe and run tools, and the full tools of
    /// the catalog), hybrid (the catalog's tools, with the deferred ones in short form, and tool_search and
    /// read_tool_doc), full (the catalog's tools in full), or auto (full or gateway, decided at the start). Every tool and function can be called, whether it is listed or not.
    #[arg(long, value_parser = word::<ServeMode>(), value_name = "NAME", hide_possible_values = true)]
    mode: Option<ServeMode>,
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

impl ServeArgs {
    /// A template with a mistake is told now, and not to the first caller.
    fn check_template(&self) -> CommandResult {
        let Some(folder) = &self.template else { return Ok(()) };
        find_template(folder)?;
        let template = WorkspaceTemplate { folder: Some(folder.clone()), ..WorkspaceTemplate::default() };
        template.check_files().map_err(failure)
    }

    pub(super) fn run(self) -> CommandResult {
        start_log(&self.log_level, self.log)?;
        self.check_template()?;
        // One client asks one thing at a time; passing its calls between threads would cost more than the calls.
        let mut runtime = match self.stdio {
            true => tokio::runtime::Builder::new_current_thread(),
            false => tokio::runtime::Builder::new_multi_thread(),
        };
        // Without optimisation, a call with the deepest arguments takes nearly the usual two megabytes.
        let runtime = runtime
            .enable_all()
            .thread_stack_size(8 << 20)
            .build()
            .map_err(|error| failed(format!("cannot start: {error}")))?;
        let args = Arc::new(self);
        let stop = runtime.block_on(async { StopRequests::listen() });
        if !args.stdio {
            let Some(prepared) = runtime.block_on(Prepared::of(&args, &stop))? else { return Ok(()) };
            return prepared.serve(runtime, async |live, door, configured| match door {
                Some((address, callers)) => args.listen(address, live, callers, configured, &stop).await,
                None => Ok(()),
            });
        }
        let Some(prepared) = runtime.block_on(Prepared::of(&args, &stop))? else {
            runtime.shutdown_background();
            return Ok(());
        };
        prepared.serve(runtime, async |live, _, configured| {
            let patience = Duration::from_secs(configured.limits.stop_seconds);
            let served = serve_stdio(live, &stop, patience).await;
            served.map_err(|error| format!("cannot serve: {error}"))
        })
    }

    async fn listen(
        &self,
        address: SocketAddr,
        live: Arc<LiveCatalog>,
        callers: Authenticator,
        configured: config::Serve,
        stop: &StopRequests,
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
        let door = HttpService::new(Arc::clone(&live), hosts, callers, configured.limits);
        let door = door.with_mcp(mcp);
        self.announce(address, &live);
        let stop = async {
            stop.reach(1).await;
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

// The log of a server on stderr.

/// The directive for the log of the SDK's authorization: at `debug` it writes codes of sign-ins.
const SIGN_INS: &str = "rmcp::transport::auth=info";

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts the log with this level or these directives.
fn start_log(level: &str, format: LogFormat) -> CommandResult {
    let filter = EnvFilter::try_new(level)
        .map_err(|error| CommandError::Usage(format!("--log-level {level}: {error}")))?;
    // The more exact directive wins, so that this one only ever lowers a level.
    let is_lower = level.contains("debug") || level.contains("trace");
    let filter = if is_lower { filter.add_directive(SIGN_INS.parse().map_err(failed)?) } else { filter };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Screen(std::io::stderr()));
    // In a process that calls this twice, the log exists already and serves as well.
    let _ = match format {
        LogFormat::Text => log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => log.json().flatten_event(true).with_ansi(false).try_init(),
    };
    Ok(())
}

// Catalogs that are not served: those without tools, and those whose configuration is broken.

/// A catalog without tools is a mistake, unless a live server may still list some.
fn refuse_nothing(checked: &Checked) -> CommandResult {
    let has_servers = checked.catalog.config.sources.iter().any(|source| source.mcp.is_some());
    if checked.catalog.tools.is_empty() && !has_servers {
        return Err(failed("there is no tool to serve; `toolcrib check` shows why"));
    }
    Ok(())
}

/// A `toolcrib.toml` that is read only in part may lack the tokens and roles that restrict access.
fn refuse_broken_configuration(checked: &Checked) -> CommandResult {
    // An unreachable source is no mistake in the file that names it.
    let is_away = |finding: &Finding| match finding.code {
        Code::SourceUnreachable => true,
        Code::FileUnreadable => {
            finding.place.as_ref().is_some_and(|place| place.pointer.starts_with("/source/"))
        }
        _ => false,
    };
    let is_of_configuration = |finding: &&Finding| {
        finding.place.as_ref().is_some_and(|place| place.file == "toolcrib.toml") && !is_away(finding)
    };
    let broken: Vec<Finding> = checked.findings.errors().filter(is_of_configuration).cloned().collect();
    if broken.is_empty() {
        return Ok(());
    }
    print_note(text_report(&broken, &checked.documents, true, Some(10)).trim_end());
    let message =
        "toolcrib.toml has errors, and without the parts in error the server could be too open; correct them";
    Err(failed(message))
}

// Requests to stop, by signals. They count from the start of the program, also those that come before it can end.

/// The number of signals so far.
#[derive(Clone)]
struct StopRequests(watch::Receiver<usize>);

impl StopRequests {
    /// Listens from now on; called in a runtime.
    fn listen() -> Self {
        let (count, requests) = watch::channel(0);
        // Without signals, the system ends the process in its own way.
        if let Ok(mut signals) = Signals::listen() {
            tokio::spawn(async move {
                loop {
                    signals.next().await;
                    count.send_modify(|count| *count += 1);
                }
            });
        }
        Self(requests)
    }

    /// Resolves after so many signals.
    async fn reach(&self, count: usize) {
        if self.0.clone().wait_for(|now| *now >= count).await.is_err() {
            std::future::pending().await
        }
    }
}
