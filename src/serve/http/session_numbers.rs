//! Numbers of events, as their caller sees them: made of the times of its own events. The numbers in the store also count the
//! events of other callers.

use crate::state::{Event, EventQuery, Session, StateError, StateStore};

/// Numbers within one millisecond.
const PER_MILLISECOND: i64 = 1_000;

/// The events of a session that its reader has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownEvents {
    /// The last one, as the store numbers it.
    last: i64,
    /// The time of the last one, and its place among the events of the session at that time.
    at: i64,
    place: i64,
}

impl KnownEvents {
    /// The events up to the one with this number; none where it is no longer stored, as those before it.
    pub(super) async fn until(
        state: &StateStore,
        session: &Session,
        number: i64,
    ) -> Result<Self, StateError> {
        let (at, place) = (number.div_euclid(PER_MILLISECOND), number.rem_euclid(PER_MILLISECOND));
        if at <= 0 {
            return Ok(Self::default());
        }
        let index = usize::try_from(place).unwrap_or_default();
        let wanted = EventQuery { at: Some(at), limit: index + 1, ..EventQuery::of(session) };
        let events = state.events(&wanted).await?;
        Ok(events.get(index).map_or_else(Self::default, |event| Self { last: event.id, at, place }))
    }

    /// The query for the events after these.
    pub(super) fn later(&self, session: &Session) -> EventQuery {
        EventQuery { after: self.last, ..EventQuery::of(session) }
    }

    /// Numbers the next events, which are known from now on.
    pub(super) fn number(&mut self, mut events: Vec<Event>) -> Vec<Event> {
        for event in &mut events {
            let is_same_time = event.at == self.at && self.last != 0;
            self.place = if is_same_time { (self.place + 1).min(PER_MILLISECOND - 1) } else { 0 };
            (self.last, self.at) = (event.id, event.at);
            event.id = event.at.saturating_mul(PER_MILLISECOND).saturating_add(self.place);
        }
        events
    }
}
