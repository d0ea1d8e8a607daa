//! A database that cannot be written says so, keeps nobody waiting, and goes on when it can.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use toolcrib::state::{Claim, ClaimStatus, Event, EventQuery, Session, StateError, StateStore, open};

use super::runtime;

const LONG: Duration = Duration::from_secs(60);

fn claim(key: &str) -> Claim {
    Claim { caller: "".into(), key: key.into(), op: "op".into(), fingerprint: "f".into(), owner: "o".into() }
}

fn event() -> Event {
    Event {
        session: Some("s".into()),
        outcome: "ok".into(),
        detail: "x".repeat(20_000).into(),
        ..Event::default()
    }
}

async fn recovers(state: &StateStore) {
    let started = Instant::now();
    while state.health().problem.is_some() {
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", state.health());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(state.claim(&claim("after"), LONG).await, Ok(ClaimStatus::Acquired));
}

#[test]
#[ignore = "slow"]
fn a_locked_file_is_told_and_waited_for_no_longer_than_a_moment() {
    runtime().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.db");
        let state = StateStore::open(&file).unwrap();
        state.record(event());
        state.flush().await.unwrap();
        let other = Connection::open(&file).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let session = Session { caller: "".into(), id: "s".into() };
        let started = Instant::now();
        state.record(event());
        assert_eq!(state.session_context(&session).await, Ok(None));
        assert_eq!(state.doc_read_version(&session, "op").await, Ok(None));
        assert!(started.elapsed() < Duration::from_secs(4), "calls wait: {:?}", started.elapsed());
        let refused = state.claim(&claim("during"), LONG).await.unwrap_err();
        assert!(refused.to_string().contains("locked"), "{refused}");
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        assert!(state.flush().await.is_err());
        let health = state.health();
        assert!(health.problem.is_some() && health.lost == 0, "{health:?}");
        assert_eq!(state.events(&EventQuery::default()).await.unwrap().len(), 1, "what is there is read");
        other.execute_batch("ROLLBACK").unwrap();
        recovers(&state).await;
        assert_eq!(
            state.claim(&claim("during"), LONG).await,
            Ok(ClaimStatus::Acquired),
            "nothing was half done"
        );
    });
}

#[test]
fn what_cannot_be_opened_is_refused_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let at = |at: &str| open(Some(at), 8, folder.path(), |_| None).map(drop).unwrap_err().to_string();
    assert!(at("no/such/folder/state.db").contains("state.db"), "{}", at("no/such/folder/state.db"));
    std::fs::write(
        folder.path().join("text"),
        "not a database, and long enough to be seen as none".repeat(50),
    )
    .unwrap();
    assert!(at("text").contains("not a database"), "{}", at("text"));
    assert!(at("${NOBODY}/x").contains("NOBODY"));
    assert!(at("mysql://localhost/x").contains("mysql"));
    let newer = folder.path().join("newer.db");
    drop(StateStore::open(&newer).unwrap());
    Connection::open(&newer).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let told = at("newer.db");
    assert!(told.contains("newer toolcrib") && told.contains("99"), "{told}");
}

#[cfg(not(feature = "postgres"))]
#[test]
fn postgresql_is_refused_where_it_was_not_built_in() {
    let told = open(Some("postgres://localhost/x"), 8, std::path::Path::new("."), |_| None)
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(told.contains("built without PostgreSQL"), "{told}");
    crate::skipped::skipped("state in PostgreSQL", "the tests were built without `--features postgres`");
}

#[test]
fn a_file_is_for_its_owner_alone_and_beside_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(Some("${NAME}.db"), 8, folder.path(), |_| Some("here".into())).unwrap();
    drop(state);
    let file = folder.path().join("here.db");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(file.exists());
}

#[test]
fn what_was_recorded_is_there_when_the_process_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let state = StateStore::open(&file).unwrap();
    (0..1000).for_each(|_| state.record(Event { kind: Default::default(), ..Event::default() }));
    drop(state);
    let read = StateStore::open(&file).unwrap();
    let events: Result<_, StateError> =
        runtime().block_on(async { read.events(&EventQuery::default()).await });
    assert_eq!(events.unwrap().len(), 1000);
}
