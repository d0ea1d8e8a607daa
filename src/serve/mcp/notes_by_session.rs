//! Notes that sessions have got, so that an answer does not repeat them.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;

use crate::functions::GivenNotes;
use crate::state::Session;

/// Most sessions that are remembered; a forgotten one gets its notes again.
const MAX_SESSIONS: usize = 1_024;

/// The notes of each session; without a session every note is new.
#[derive(Debug, Default)]
pub struct NotesBySession(Mutex<IndexMap<Session, Arc<Mutex<GivenNotes>>>>);

impl NotesBySession {
    /// The notes of a session.
    pub(super) fn of(&self, session: Option<Session>) -> Arc<Mutex<GivenNotes>> {
        let Some(session) = session else { return Arc::default() };
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MAX_SESSIONS && !sessions.contains_key(&session) {
            sessions.shift_remove_index(0);
        }
        Arc::clone(sessions.entry(session).or_default())
    }
}
