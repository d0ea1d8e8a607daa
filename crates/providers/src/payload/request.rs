//! The request for a payload.

use toolcrib_catalog::config::{self, Mode, Provider};
use toolcrib_catalog::{Catalog, Profile};

/// Request for a payload.
#[derive(Clone, Copy, Debug)]
pub struct PayloadRequest<'a> {
    /// The catalog.
    pub catalog: &'a Catalog,
    /// The tools with their description modes.
    pub profile: &'a Profile<'a>,
    /// The provider.
    pub provider: Provider,
    /// The way the tools reach the model.
    pub mode: Mode,
    /// Settings of payloads.
    pub options: config::Payload,
}
