//! State: the same promises, kept by each database.

mod approvals;
mod contract;
mod failures;
#[cfg(feature = "postgres")]
pub mod postgres;

use std::sync::Arc;

use tokio::runtime::Runtime;
use toolcrib::state::StateStore;

/// Opens the same database once more, as another process would.
pub type Again<'a> = &'a dyn Fn() -> Arc<StateStore>;

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap()
}

#[test]
fn a_file_keeps_what_it_promises() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    contract::all(&|| Arc::new(StateStore::open(&file).unwrap()));
}

#[test]
fn memory_keeps_what_it_promises_until_the_process_ends() {
    let memory: Arc<StateStore> = Arc::new(StateStore::in_memory());
    assert!(memory.health().is_volatile);
    contract::all(&|| Arc::clone(&memory));
}
