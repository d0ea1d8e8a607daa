//! Fuzz targets: one module each, with a `check` of any bytes that panics where a promise is broken.
//!
//! `cargo fuzz` runs them on what it makes up, and `tests/it/fuzz.rs` on the inputs that were worth keeping.

pub mod arguments;
pub mod config;
pub mod load;
pub mod markdown;
pub mod openapi;
pub mod requests;
pub mod responses;
pub mod views;

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolcrib::catalog::{self, Checked};
use toolcrib::functions::{CatalogView, Function, FunctionContext, Services, Trace};
use toolcrib::render::Templates;

/// Real tools, with their licences beside them.
pub const GITHUB: &str = include_str!("../../examples/github/tools.json");
/// More of them, with docstrings.
pub const AGENT: &str = include_str!("../../examples/universal-agent/tools.json");

/// A catalog of these files, opened by the name of the first; the folder goes with it.
pub fn open(files: &[(&str, &[u8])]) -> Checked {
    thread_local! {
        static FOLDER: TempDir = tempfile::tempdir().expect("a temporary folder");
    }
    FOLDER.with(|folder| {
        let at = |name: &str| folder.path().join(name);
        files.iter().for_each(|(name, text)| std::fs::write(at(name), text).expect("a file"));
        let checked = catalog::open(toolcrib::config::read(&at(files[0].0)));
        files.iter().for_each(|(name, _)| std::fs::remove_file(at(name)).expect("a file"));
        checked
    })
}

/// Our templates, which are the same for all.
pub fn templates() -> Arc<Templates> {
    thread_local! {
        static TEMPLATES: Arc<Templates> = Templates::from(toolcrib::BUILT_IN).into();
    }
    TEMPLATES.with(Arc::clone)
}

/// The answer of `tool_exec` on a catalog. No input causes an internal error.
pub fn exec(view: &Arc<CatalogView>, input: &Value) -> Value {
    /// Calls after which the state is made anew, so that what it remembers does not fill the memory.
    const CALLS: usize = 2_000;
    thread_local! {
        static RUNTIME: Runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        static SERVICES: RefCell<(usize, Arc<Services>)> = RefCell::default();
    }
    let services = SERVICES.with_borrow_mut(|(calls, services)| {
        *calls += 1;
        if *calls % CALLS == 0 {
            *services = Arc::default();
        }
        Arc::clone(services)
    });
    let context =
        FunctionContext { view: Arc::clone(view), services, caller: Arc::default(), trace: Trace::default() };
    let function = Function::named("tool_exec").expect("a function");
    let answer = RUNTIME.with(|runtime| runtime.block_on(function.call(&context, input.clone())));
    let answer = Value::Object(answer.body());
    assert_ne!(answer["error"]["code"], "INTERNAL", "{input}: {answer}");
    answer
}

/// The byte that chooses what is done, and the text after it.
pub fn chosen(bytes: &[u8]) -> Option<(usize, &str)> {
    let (first, text) = bytes.split_first()?;
    Some((usize::from(*first), std::str::from_utf8(text).ok()?))
}
