//! A real PostgreSQL server, started for these tests alone.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toolcrib::state::{Claim, ClaimOutcome, ClaimStatus, Event, EventQuery, StateStore, open};

use super::{contract, runtime};
use crate::skipped::skipped;

/// A server that ends with this.
pub struct Server {
    folder: TempDir,
    programs: PathBuf,
}

impl Server {
    /// Starts one; nothing where there is no PostgreSQL.
    pub fn start() -> Option<Self> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let programs = versions.map(|version| version.path().join("bin"));
        let Some(programs) = programs.filter(|programs| programs.join("initdb").exists()).max() else {
            skipped("state in PostgreSQL", "there is no PostgreSQL server in /usr/lib/postgresql");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        if is_root(folder.path()) {
            done(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let server = Self { folder, programs };
        let data = server.data();
        done(server.program("initdb").args(["-A", "trust", "-U", "postgres", "--no-sync", "-D"]).arg(&data));
        server.up();
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// One of its programs, which do not run as root.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = match is_root(self.programs.as_path()) && is_root(Path::new("/proc/self")) {
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        command.current_dir(self.folder.path()).stdout(Stdio::null());
        command
    }

    pub fn up(&self) {
        let folder = self.folder.path().display();
        let options = format!("-k {folder} -c listen_addresses= -c fsync=off -c max_connections=60");
        let log = self.folder.path().join("log");
        done(
            self.program("pg_ctl")
                .args(["-w", "-o", &options, "-l"])
                .arg(log)
                .arg("-D")
                .arg(self.data())
                .arg("start"),
        );
    }

    pub fn down(&self) {
        let stop = ["-m", "immediate", "-D"];
        done(self.program("pg_ctl").args(stop).arg(self.data()).arg("stop"));
    }

    /// Stops all of its processes where they are.
    pub fn freeze(&self) -> Frozen {
        let told = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let first = told.lines().next().unwrap().to_string();
        // First the one that starts others.
        signal("-STOP", std::slice::from_ref(&first));
        let children = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|process| {
            let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
            (parent == first).then(|| process.file_name().to_string_lossy().into_owned())
        });
        let frozen = Frozen(children.chain([first.clone()]).collect());
        signal("-STOP", &frozen.0);
        frozen
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join(".s.PGSQL.5432")
    }

    /// The address of a database of this server.
    pub fn url(&self, database: &str) -> String {
        let host = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres:hush-hush@{host}/{database}")
    }

    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = self.program("psql");
        psql.args(["-U", "postgres", "-At", "-d", database, "-c", sql, "-h"]).arg(self.folder.path());
        let output = psql.stdout(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    }
}

/// A server whose processes stand still, until this is dropped.
pub struct Frozen(Vec<String>);

fn signal(signal: &str, processes: &[String]) {
    let _ = Command::new("kill").arg(signal).args(processes).status();
}

impl Drop for Frozen {
    fn drop(&mut self) {
        signal("-CONT", &self.0);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let stop = ["-m", "immediate", "-D"];
        let _ = self.program("pg_ctl").args(stop).arg(self.data()).arg("stop").status();
    }
}

#[cfg(unix)]
fn is_root(path: &Path) -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(path).unwrap()) == 0
}

#[cfg(not(unix))]
fn is_root(_: &Path) -> bool {
    false
}

#[track_caller]
fn done(command: &mut Command) {
    let status = command.stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
}

#[test]
#[ignore = "slow"]
fn postgresql_keeps_what_it_promises() {
    let Some(server) = Server::start() else { return };
    let url = server.url("postgres");
    contract::all(&|| Arc::new(StateStore::postgres(&url, 8).unwrap()));
    let calls = "SELECT count(*) FROM tool_executions WHERE to_timestamp(at / 1000) > now() - interval '1 hour' AND outcome = 'ok'";
    assert_eq!(server.sql("postgres", calls), "0", "others can ask it");
    two_begin_at_the_same_moment(&server);
    a_newer_schema_is_refused(&server);
    a_clock_that_jumped_forgets_no_key_and_holds_no_lease_for_long(&server);
    it_recovers_when_the_server_does(&server);
    it_writes_again_when_the_server_does(&server);
    silent_connections_are_replaced(&server);
}

fn two_begin_at_the_same_moment(server: &Server) {
    server.sql("postgres", "CREATE DATABASE fresh");
    let url = server.url("fresh");
    runtime().block_on(async {
        let beginning = (0..8).map(|_| {
            let state = StateStore::postgres(&url, 8).unwrap();
            tokio::spawn(async move { state.events(&EventQuery::default()).await })
        });
        for begun in beginning.collect::<Vec<_>>() {
            begun.await.unwrap().unwrap();
        }
    });
    assert_eq!(server.sql("fresh", "SELECT version FROM toolcrib_schema"), "3");
}

fn a_newer_schema_is_refused(server: &Server) {
    server.sql("fresh", "UPDATE toolcrib_schema SET version = 99");
    let told = runtime().block_on(async {
        let state = StateStore::postgres(&server.url("fresh"), 8).unwrap();
        state.approvals(true).await.unwrap_err().to_string()
    });
    assert!(told.contains("newer toolcrib") && told.contains("99"), "{told}");
}

fn a_clock_that_jumped_forgets_no_key_and_holds_no_lease_for_long(server: &Server) {
    let claim = |key: &str, owner: &str| Claim {
        caller: "".into(),
        key: key.into(),
        op: "op".into(),
        fingerprint: "f".into(),
        owner: owner.into(),
    };
    let shift = |by: i64| {
        let keys = "UPDATE tool_idempotency_keys SET changed_at = changed_at";
        server.sql("postgres", &format!("{keys} + {by}, lease_until = lease_until + {by}"));
        server.sql("postgres", &format!("UPDATE tool_state SET clock = clock + {by}, seen = seen + {by}"));
    };
    let (lease, month) = (Duration::from_secs(60), Duration::from_secs(30 * 86_400));
    runtime().block_on(async {
        let state = StateStore::postgres(&server.url("postgres"), 8).unwrap();
        let answered = ClaimStatus::Answered(serde_json::json!(1));
        assert_eq!(state.claim(&claim("jump", "o"), lease).await, Ok(ClaimStatus::Acquired));
        shift(3_600_000);
        assert_eq!(state.recall(&claim("jump", "p"), lease).await, Ok(Some(ClaimStatus::Unknown)));
        assert_eq!(state.claim(&claim("jump", "p"), lease).await, Ok(ClaimStatus::Unknown));
        state.settle(&claim("jump", "o"), ClaimOutcome::Answered(serde_json::json!(1))).await.unwrap();
        shift(-40 * 86_400_000);
        state.delete_older(month).await.unwrap();
        assert_eq!(state.recall(&claim("jump", "p"), lease).await, Ok(Some(answered)));
        assert_eq!(state.recall(&claim("free", "p"), lease).await, Ok(None));
    });
}

fn it_recovers_when_the_server_does(server: &Server) {
    let claim = |key: &str| Claim {
        caller: "".into(),
        key: key.into(),
        op: "op".into(),
        fingerprint: "f".into(),
        owner: "o".into(),
    };
    let url = server.url("postgres");
    let event = || Event { session: Some("away".into()), ..Event::default() };
    runtime().block_on(async {
        let state = StateStore::postgres(&url, 8).unwrap();
        state.record(event());
        state.flush().await.unwrap();
        server.down();
        let started = Instant::now();
        state.record(event());
        let told = state.claim(&claim("away"), Duration::from_secs(60)).await.unwrap_err().to_string();
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        assert!(!told.contains("hush") && !format!("{state:?}").contains("hush"), "{told}");
        let _ = state.flush().await;
        let health = state.health();
        assert!(health.problem.is_some() && health.lost == 0, "{health:?}");
        server.up();
        let started = Instant::now();
        while state.health().problem.is_some() {
            assert!(started.elapsed() < Duration::from_secs(40), "{:?}", state.health());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(state.claim(&claim("back"), Duration::from_secs(60)).await, Ok(ClaimStatus::Acquired));
        let wanted = EventQuery { session: Some("away".into()), ..EventQuery::default() };
        assert_eq!(state.events(&wanted).await.unwrap().len(), 2, "the one that was kept back, too");
    });
}

fn free(key: &str) -> Claim {
    let (op, fingerprint, owner) = ("op".into(), "f".into(), "o".into());
    Claim { caller: "".into(), key: key.into(), op, fingerprint, owner }
}

/// Has several connections in the pool.
async fn filled(state: &Arc<StateStore>) {
    let asking = (0..8).map(|number| {
        let state = Arc::clone(state);
        tokio::spawn(async move { state.claim(&free(&format!("fill{number}")), Duration::ZERO).await })
    });
    for asked in asking.collect::<Vec<_>>() {
        asked.await.unwrap().unwrap();
    }
}

/// Seconds until a write succeeds.
async fn until_written(state: &StateStore, key: &str) -> f32 {
    let started = Instant::now();
    while state.claim(&free(key), Duration::from_secs(60)).await != Ok(ClaimStatus::Acquired) {
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", state.health());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    started.elapsed().as_secs_f32()
}

fn it_writes_again_when_the_server_does(server: &Server) {
    let sessions = "SELECT pid FROM pg_stat_activity WHERE application_name = 'toolcrib'";
    runtime().block_on(async {
        let state = Arc::new(StateStore::postgres(&server.url("postgres"), 8).unwrap());
        filled(&state).await;
        let old = server.sql("postgres", sessions);
        // Only the sessions that are open stay read-only, as those of a server that another one has replaced.
        server.sql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
        server.sql("postgres", "SELECT pg_reload_conf()");
        let refused = loop {
            match state.claim(&free("readonly"), Duration::from_secs(60)).await {
                Ok(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                Err(refused) => break refused,
            }
        };
        assert!(refused.to_string().contains("25006"), "{refused}");
        assert!(state.recall(&free("fill1"), Duration::ZERO).await.unwrap().is_some(), "reads go on");
        let new = server.sql("postgres", sessions);
        assert!(old.lines().all(|pid| new.lines().all(|other| other != pid)), "{old} {new}");
        server.sql("postgres", "ALTER SYSTEM RESET ALL");
        server.sql("postgres", "SELECT pg_reload_conf()");
        assert!(until_written(&state, "writable").await < 10.0);
    });
}

fn silent_connections_are_replaced(server: &Server) {
    let proxy = Proxy::start(server.socket());
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.port);
    runtime().block_on(async {
        let state = Arc::new(StateStore::postgres(&url, 8).unwrap());
        filled(&state).await;
        proxy.silence();
        assert!(until_written(&state, "heard").await < 10.0);
        assert!(until_written(&state, "heard again").await < 1.0, "no other silent connection is left");
    });
}

/// Passes bytes on to a server, until its open connections go silent: nothing comes, and nothing is closed.
struct Proxy {
    port: u16,
    silenced: Arc<AtomicUsize>,
}

impl Proxy {
    fn start(to: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let silenced = Arc::new(AtomicUsize::new(0));
        let epoch = Arc::clone(&silenced);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = UnixStream::connect(&to).unwrap();
                let (back, answers) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let born = epoch.load(Relaxed);
                for (from, to) in [
                    (Box::new(client) as Box<dyn Read + Send>, Box::new(server) as Box<dyn Write + Send>),
                    (Box::new(answers), Box::new(back)),
                ] {
                    let epoch = Arc::clone(&epoch);
                    std::thread::spawn(move || pass_on(from, to, || epoch.load(Relaxed) == born));
                }
            }
        });
        Self { port, silenced }
    }

    fn silence(&self) {
        self.silenced.fetch_add(1, Relaxed);
    }
}

fn pass_on(mut from: impl Read, mut to: impl Write, is_heard: impl Fn() -> bool) {
    let mut bytes = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if is_heard() && to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

#[test]
fn a_url_that_cannot_be_read_is_not_told() {
    let url = "postgres://amy:hush-hush@host:port-of-hush/x";
    let told =
        open(Some("${URL}"), 8, Path::new("."), move |_| Some(url.into())).map(drop).unwrap_err().to_string();
    assert!(!told.contains("hush") && told.contains("postgres://user"), "{told}");
}

#[test]
fn a_server_that_is_not_there_is_told_without_the_password() {
    let told = runtime().block_on(async {
        let state = StateStore::postgres("postgres://amy:hush-hush@127.0.0.1:1/x", 8).unwrap();
        state.use_approval("x").await.unwrap_err().to_string()
    });
    assert!(!told.contains("hush"), "{told}");
}
