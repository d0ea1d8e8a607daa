//! Everything that a server needs before it answers: the catalog, its services, and the door.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::{ServeArgs, StopRequests, callers, refuse_broken_configuration, refuse_nothing};
use crate::catalog::{Catalog, Checked};
use crate::cli::catalog::{HELP, counted, remembering, waiting_for};
use crate::cli::reload::keep_current;
use crate::cli::screen::Spinner;
use crate::cli::state::delete_old_state;
use crate::cli::{CommandError, CommandResult, failed, print_note, render, services};
use crate::config;
use crate::guard::MISTAKE;
use crate::serve::live::ServeOptions;
use crate::serve::{Authenticator, ListingOptions, LiveCatalog};
use crate::sources::mcp::{Connections, server_names};
use crate::state::{StateError, StateStore};
use crate::tool::{Effect, clean_line};
use crate::watch::{Change, Follow, Options};

/// Longest wait for the end of a trace to be written when the server stops: state that hangs must not keep the
/// process.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// The address to listen on, with the callers there; `None` for the standard streams.
pub(super) type Door = Option<(SocketAddr, Authenticator)>;

/// The connections to live servers, their names, and the catalog that is followed.
type Followed = (Option<Arc<Connections>>, Vec<String>, Follow);

/// A server that may begin to answer.
pub(super) struct Prepared {
    args: Arc<ServeArgs>,
    live: Arc<LiveCatalog>,
    follow: Follow,
    state: Arc<StateStore>,
    configured: config::Serve,
    door: Door,
    /// The age at which state is deleted.
    days: Duration,
}

impl Prepared {
    /// Reads the catalog; `None` where a signal came before there was anything to serve. The work is done on other threads,
    /// so that this one serves the connections to live servers, and the client.
    pub(super) async fn of(args: &Arc<ServeArgs>, stop: &StopRequests) -> Result<Option<Self>, CommandError> {
        let of_args = Arc::clone(args);
        let (connections, servers, follow) = on_thread(move || of_args.follow()).await??;
        let progress = Spinner::start(waiting_for(&servers));
        let (first, follow) = first_of(follow, stop).await?;
        let Some(first) = first else {
            if let Some(connections) = &connections {
                connections.close().await;
            }
            return Ok(None);
        };
        progress.finish();
        first.notices.iter().for_each(print_note);
        let args = Arc::clone(args);
        on_thread(move || args.prepare(first.checked, follow, connections)).await?.map(Some)
    }

    /// Serves until `answering` ends, with the catalog kept current.
    pub(super) fn serve(
        self,
        runtime: Runtime,
        answering: impl AsyncFnOnce(Arc<LiveCatalog>, Door, config::Serve) -> Result<(), String>,
    ) -> CommandResult {
        let Self { args, live, follow, state, configured, door, days } = self;
        let (stop, serving) = (follow.stopper(), Arc::clone(&live));
        let following = {
            let (live, args) = (Arc::clone(&live), Arc::clone(&args));
            std::thread::spawn(move || keep_current(&live, &args.catalog, follow))
        };
        runtime.block_on(begin(&state, days))?;
        runtime.spawn(delete_old_state(Arc::clone(&state), days));
        let served = runtime.block_on(answering(live, door, configured));
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
}

impl ServeArgs {
    fn follow(&self) -> Result<Followed, CommandError> {
        let connections = self.catalog.environment().map(|environment| {
            // Calls run on the threads of their connections.
            Arc::new(remembering(Connections::on(environment, tokio::runtime::Handle::current())))
        });
        let servers =
            if connections.is_some() { server_names(&self.catalog.workspace()?) } else { Vec::new() };
        let (reading, addresses) = (self.catalog.reading(), self.catalog.addresses.clone());
        let options = Options {
            poll: self.poll,
            also: Vec::new(),
            addresses,
            connections: connections.clone(),
            reading,
        };
        Ok((connections, servers, Follow::start(self.catalog.path()?, options)))
    }

    fn prepare(
        self: Arc<Self>,
        checked: Checked,
        follow: Follow,
        connections: Option<Arc<Connections>>,
    ) -> Result<Prepared, CommandError> {
        match &checked.awaited {
            Some(awaited) => {
                let servers = clean_line(&awaited.servers.join(", "));
                print_note(format!("waiting for the first list of tools of {servers}"));
            }
            None => self.catalog.report_errors(&checked),
        }
        refuse_broken_configuration(&checked)?;
        refuse_nothing(&checked)?;
        let templates = Arc::new(render::templates(&self.catalog, &checked, None)?);
        let configured = checked.catalog.config.serve.clone();
        let door = self.door(&configured, &checked.catalog)?;
        let shown = ListingOptions {
            mode: self.mode.unwrap_or(configured.mode),
            tool_list: self.tool_list.or(configured.tool_list),
            split_exec: self.split_exec || configured.split_exec,
        };
        checked.catalog.profile(self.profile.as_deref())?;
        let callers = door.as_ref().map(|(_, callers)| callers.callers()).transpose();
        let setting = ServeOptions {
            profile: self.profile.clone(),
            // A client of stdio has one connection, and cannot choose.
            profiles: if self.stdio { Some(Vec::new()) } else { configured.profiles.clone() },
            callers: callers.map_err(CommandError::Usage)?.unwrap_or_default(),
            listing: shown,
            workspace_template: self.template.clone(),
        };
        self.catalog.note_backends();
        let state = self.state.open(&self.catalog, &checked.catalog.config.state)?;
        if state.health().is_volatile {
            warn_of_approvals(&checked.catalog);
        }
        let days = Duration::from_secs(checked.catalog.config.state.days.saturating_mul(24 * 60 * 60));
        let of_calls = Arc::clone(&state);
        let services = services::for_server(&self.catalog, &checked.catalog, of_calls, connections);
        let live = LiveCatalog::new(checked, setting, templates)?;
        let live = live.with_services(services).with_nudge(follow.nudge());
        let live = Arc::new(live.with_addresses(self.catalog.addresses.clone()));
        Ok(Prepared { args: self, live, follow, state, configured, door, days })
    }

    fn door(&self, configured: &config::Serve, catalog: &Catalog) -> Result<Door, CommandError> {
        if self.stdio {
            return Ok(None);
        }
        let names_callers =
            !configured.tokens.is_empty() || !configured.issuers.is_empty() || configured.proxy.is_some();
        if names_callers && self.catalog.workspace()?.found.is_some() {
            let message = "toolcrib.toml was found and not named, and names tokens or issuers, which use the environment";
            return Err(CommandError::Usage(format!("{message}; {HELP}")));
        }
        let callers = callers::configured(&self.catalog, configured)?;
        let address = self.address(configured, &callers)?;
        let allow = catalog.config.exec.allow();
        if self.allow_unauthenticated && callers.is_open() && allow != Effect::Read {
            print_note(format!(
                "everybody who reaches this server may run tools up to `allow = \"{}\"`",
                allow.as_str()
            ));
        }
        Ok(Some((address, callers)))
    }
}

/// Work that may take a while, on a thread of its own.
async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, CommandError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| failed(format!("cannot read the catalog: {MISTAKE}")))
}

/// The first catalog.
async fn first_of(
    mut follow: Follow,
    requests: &StopRequests,
) -> Result<(Option<Change>, Follow), CommandError> {
    let stop = follow.stopper();
    let mut reading = std::pin::pin!(on_thread(move || (follow.next(), follow)));
    tokio::select! {
        read = &mut reading => read,
        () = requests.reach(1) => {
            stop.stop();
            reading.await
        }
    }
}

/// Checks that state exists and has our format. State that cannot be written now may recover later; the calls that
/// need it report it.
async fn begin(state: &StateStore, days: Duration) -> CommandResult {
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
