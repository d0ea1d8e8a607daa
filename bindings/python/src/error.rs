//! Failures as the exceptions of `toolcrib.errors`.

use pyo3::prelude::*;
use toolcrib_bindings::{Failure, Made};

/// The exception of a failure.
fn exception(failure: Failure) -> PyErr {
    Python::attach(|py| {
        let class = py.import("toolcrib.errors").and_then(|errors| errors.getattr(failure.class));
        match class.and_then(|class| class.call1((failure.message, failure.code, failure.nearest))) {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    })
}

/// Does a job without the GIL, and raises its failure.
pub(crate) fn detached<T: Send>(py: Python<'_>, job: impl FnOnce() -> Made<T> + Send) -> PyResult<T> {
    py.detach(job).map_err(exception)
}
