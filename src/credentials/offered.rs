//! Sign-ins that were offered to a person through its client, and go on while calls wait or give up.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use super::Credentials;
use super::token_store::Place;
use crate::config::Server;

/// Longest wait for a person.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// The sign-ins in progress, one for each server.
#[derive(Debug, Default)]
pub(super) struct Offered(Mutex<HashMap<Place, OfferedSignIn>>);

/// A sign-in in progress.
#[derive(Clone)]
pub(crate) struct OfferedSignIn {
    address: Arc<str>,
    /// Whether the person has signed in, once it is known.
    outcome: watch::Receiver<Option<bool>>,
}

impl fmt::Debug for OfferedSignIn {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("OfferedSignIn")
    }
}

impl Credentials {
    /// A sign-in to a server, for a person who opens its address: the one in progress, else a new one.
    pub(crate) async fn offer_sign_in(&self, server: (&str, &Server)) -> Result<OfferedSignIn, String> {
        let place = self.person.place(server).ok_or("there is no folder for sign-ins")?;
        let mut offered = self.offered.0.lock().await;
        if let Some(known) = offered.get(&place).filter(|known| known.outcome.borrow().is_none()) {
            return Ok(known.clone());
        }
        let pending = self.begin_sign_in(server).await?;
        let (sender, outcome) = watch::channel(None);
        let new = OfferedSignIn { address: pending.address().into(), outcome };
        tokio::spawn(async move {
            let ended = timeout(PATIENCE, pending.finish()).await;
            sender.send_replace(Some(matches!(ended, Ok(Ok(_)))));
        });
        offered.insert(place, new.clone());
        Ok(new)
    }

    /// Waits until a sign-in in progress has ended; whether the operator is signed in then.
    pub(crate) async fn offered_sign_in_ended(&self, server: (&str, &Server)) -> bool {
        let Some(place) = self.person.place(server) else { return false };
        let known = self.offered.0.lock().await.get(&place).cloned();
        match known {
            Some(known) => known.ended().await,
            None => self.is_signed_in(server),
        }
    }
}

impl OfferedSignIn {
    /// The address to open in a browser.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Waits until the person has signed in, or has given up; whether it has signed in.
    pub(crate) async fn ended(mut self) -> bool {
        self.outcome.wait_for(Option::is_some).await.is_ok_and(|outcome| *outcome == Some(true))
    }
}
