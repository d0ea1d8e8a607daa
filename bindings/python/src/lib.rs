//! The core of toolcrib as a Python extension. A thin layer: JSON text goes in and out, and the Python package makes objects
//! of it. Rust works without the GIL.

mod catalog;
mod error;
mod session;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _toolcrib {
    #[pymodule_export]
    use super::catalog::Catalog;
    #[pymodule_export]
    use super::session::{Job, Session};
}
