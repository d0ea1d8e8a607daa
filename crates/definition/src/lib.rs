//! The types that describe one tool, without I/O: definitions as authors write them, schemas kept verbatim,
//! names, effects, and the cleaning of untrusted text.

mod backend;
mod definition;
pub mod finding;
pub mod grammar;
pub mod markup;
mod name;
pub mod private_file;
pub mod schema;
pub mod secret;
pub mod tokens;

pub use backend::{
    ArgumentPlace, Backend, CommandBackend, HttpBackend, Location, REFERENCE_KEYS, RESERVED_HEADERS,
    Reference, ReferenceError, Stdin, Step, StepsBackend, Style, path_variables,
};
pub use definition::{
    CategoryPath, Definition, DefinitionKind, DescriptionMode, Effect, Example, NoSchemaMode, Policy, Schema,
    WhenForbidden, compact,
};
pub use name::{
    beginning, clean_line, clean_text, clipped, each_word, hashed_name, hidden_characters, is_hidden,
    is_reserved, is_respelled, matches_glob, quoted, safe_names, slug, words,
};

/// The named files of a folder of a crate, each as its path and its text. `tests/tidy.rs` checks that the list is complete.
#[macro_export]
macro_rules! embedded_files {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        [$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", $file)))),+]
    };
}

/// Catches panics, so that a panic ends only the call in which it happens.
pub mod guard {
    use std::future::poll_fn;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::task::Poll;

    /// The error of work that panicked. The panic hook logs the place and the message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Panicked;

    /// The message that a caller gets.
    pub const MISTAKE: &str = "this is a mistake in toolcrib";

    /// Runs some work, and returns its result, or an error if it panicked. After a panic, the state of the work is
    /// dropped.
    pub async fn guarded<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
        let mut work = pin!(work);
        let guarded =
            poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
                Ok(poll) => poll.map(Ok),
                Err(_) => Poll::Ready(Err(Panicked)),
            });
        guarded.await
    }

    /// Locks a mutex, even if another holder of the lock has panicked.
    pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`guarded`], for synchronous work.
    pub fn guarded_now<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
        catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
    }
}
