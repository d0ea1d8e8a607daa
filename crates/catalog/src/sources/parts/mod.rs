//! Files that definitions refer to by `$ref`, such as `schemas/pet.yaml#/Pet`.
//!
//! Only files in the folder of the catalog are read, within limits: nothing outside of it, nothing hidden, no
//! configuration. Nothing is ever fetched.
//!
//! [`referenced_files`] reads them, and [`places`] knows what came from which. [`mod@combine`] adds them to an OpenAPI document, and
//! [`bundle`] to the schemas of other tools.

mod bundle;
mod combine;
mod places;
mod referenced_files;

pub(super) use bundle::bundle_all;
pub(super) use combine::combine;
pub use places::PartPlaces;
pub(super) use referenced_files::{Parts, References};
