//! The request for a payload.

use toolcrib_catalog::config::{self, Mode, Provider};
use toolcrib_catalog::{Catalog, Profile};

#[derive(Clone, Copy, Debug)]
pub struct PayloadRequest<'a> {
    pub catalog: &'a Catalog,
    /// The tools with their description modes.
    pub profile: &'a Profile<'a>,
    pub provider: Provider,
    /// The way the tools reach the model.
    pub mode: Mode,
    /// Settings of payloads.
    pub options: config::Payload,
}
