//! Failures on their way to the classes of `errors.ts`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::{Error, Status};
use toolcrib_bindings::{Failure, Made};

/// Does a job; its failure is thrown as JSON text, of which the package makes an error.
pub(crate) fn thrown<T>(job: impl FnOnce() -> Made<T>) -> napi::Result<T> {
    let made = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| Err(Failure::panic()));
    made.map_err(|failure| Error::new(Status::GenericFailure, failure.to_json()))
}
