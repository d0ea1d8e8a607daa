//! The surroundings that all connections share.

use std::sync::Arc;

use super::remembered::Remembered;
use super::request_origin::CurrentClient;
use crate::credentials::Credentials;

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
