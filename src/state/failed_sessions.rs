//! The sessions in which this process has counted failures: in all others there is nothing to reset.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::{FAILURE_WINDOW_MS, Session, now};

/// Most sessions that are kept; failures of others are reset by time alone.
const MAX_SESSIONS: usize = 10_000;

/// Sessions with the time of their last failure.
#[derive(Debug, Default)]
pub(super) struct FailedSessions(Mutex<HashMap<Session, i64>>);

impl FailedSessions {
    pub(super) fn add(&self, session: &Session) {
        let (mut known, now) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), now());
        if known.len() >= MAX_SESSIONS {
            known.retain(|_, at| *at > now - FAILURE_WINDOW_MS);
        }
        if known.len() < MAX_SESSIONS || known.contains_key(session) {
            known.insert(session.clone(), now);
        }
    }

    pub(super) fn has(&self, session: &Session) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(session).is_some_and(|at| *at > now() - FAILURE_WINDOW_MS)
    }
}
