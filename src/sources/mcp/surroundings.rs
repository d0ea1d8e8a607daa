//! The surroundings that all connections share.

use std::sync::Arc;

use super::endpoint::Endpoint;
use super::remembered::Remembered;
use super::request_origin::CurrentClient;
use crate::credentials::Credentials;
use crate::sources::listings::Listing;

/// The surroundings of all connections.
#[derive(Clone)]
pub(super) struct Surroundings {
    pub(super) credentials: Arc<Credentials>,
    /// Called when the list of a server changes, or when one goes away or comes back.
    pub(super) changed: Arc<dyn Fn() + Send + Sync>,
    pub(super) remembered: Option<Remembered>,
    /// The client of the connection, once it is known, where it has one for itself.
    pub(super) client: CurrentClient,
}

impl Surroundings {
    /// Writes a list to the folder of remembered lists, unless it is the one that is known.
    pub(super) fn remember(&self, endpoint: &Endpoint, listing: &Listing, known: Option<Listing>) {
        let is_known =
            known.is_some_and(|known| (&known.tools, &known.server) == (&listing.tools, &listing.server));
        let Some(remembered) = self.remembered.clone().filter(|_| !is_known) else { return };
        let (endpoint, listing) = (endpoint.clone(), listing.clone());
        tokio::task::spawn_blocking(move || {
            if let Err(error) = remembered.write(&endpoint, &listing) {
                tracing::warn!(server = endpoint.name, %error, "its list of tools cannot be remembered");
            }
        });
    }
}
