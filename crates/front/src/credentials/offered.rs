//! Sign-ins in progress that a client has offered to its person. They go on while calls wait or give up.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{Mutex, watch};

use super::sign_in_file::Place;

/// The sign-ins in progress, one for each server.
#[derive(Default)]
pub(super) struct Offered(pub(super) Mutex<HashMap<Place, OfferedSignIn>>);

/// A sign-in in progress.
#[derive(Clone)]
pub struct OfferedSignIn {
    pub(super) address: Arc<str>,
    /// Whether the person has signed in, once it is known.
    pub(super) outcome: watch::Receiver<Option<bool>>,
}

impl OfferedSignIn {
    /// The address to open in a browser.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits until the person has signed in, or has given up; whether it has signed in.
    pub async fn ended(mut self) -> bool {
        self.outcome.wait_for(Option::is_some).await.is_ok_and(|outcome| *outcome == Some(true))
    }
}
