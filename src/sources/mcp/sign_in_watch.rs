//! The sign-in of the operator to a server, compared with the one when the server was contacted last.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::time::sleep;

use super::backoff::SOON;
use super::endpoint::Endpoint;
use super::state::{State, Status};
use crate::config::Server;
use crate::credentials::{Credentials, SignInVersion};

/// The sign-in to one server.
pub(super) struct SignInWatch {
    credentials: Arc<Credentials>,
    name: String,
    server: Server,
    noted: Mutex<Option<SignInVersion>>,
}

impl SignInWatch {
    pub(super) fn new(endpoint: &Endpoint, credentials: &Arc<Credentials>) -> Self {
        let (name, server) = (endpoint.name.clone(), endpoint.server.clone());
        Self { credentials: Arc::clone(credentials), name, server, noted: Mutex::default() }
    }

    /// Notes the sign-in as it is now.
    pub(super) fn note(&self) {
        let now = self.now();
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Whether a server is away for want of a sign-in, and the operator has signed in since.
    pub(super) fn is_new(&self, status: &Status) -> bool {
        let has_changed = || self.now() != *self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(status, Status::Failed(problem) if problem.sign_in.is_some() && has_changed())
    }

    /// Waits until the operator signs in to a server that is away for want of that.
    pub(super) async fn until_new(&self, state: &watch::Sender<State>) {
        while !self.is_new(&state.borrow().status) {
            sleep(SOON).await;
        }
    }

    fn now(&self) -> Option<SignInVersion> {
        self.credentials.sign_in_version((&self.name, &self.server))
    }
}
