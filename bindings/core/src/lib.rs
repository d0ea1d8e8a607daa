//! The core of toolcrib for other languages: names and JSON text go in, and JSON text comes out, of which each language makes
//! its own objects. An error has the name of its class there.

mod catalog;
mod error;
mod session;

pub use catalog::{Catalog, Made, Request};
pub use error::Failure;
pub use session::{Job, Session, Settings};
