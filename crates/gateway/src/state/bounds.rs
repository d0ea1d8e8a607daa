//! Bounds on the bytes of each kind of state: the oldest go when there are too many.

use std::sync::atomic::Ordering::Relaxed;

use super::database::values;
use super::store::StateStore;

/// Most bytes of each kind of state of one caller: stored results, calls that wait for a person, answers of keys, and contexts
/// of sessions.
pub(crate) const MAX_BYTES_OF_CALLER: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };

/// Most bytes of each kind, of all callers.
const MAX_BYTES_IN_ALL: usize = 4 * MAX_BYTES_OF_CALLER;

impl StateStore {
    /// Counts stored bytes, and returns whether it is time to delete what is over the bounds: to sum up all rows at each
    /// write would take too long.
    pub(super) fn is_due_after(&self, bytes: usize) -> bool {
        let is_due = self.stored.fetch_add(bytes, Relaxed) + bytes > MAX_BYTES_OF_CALLER / 8;
        if is_due {
            self.stored.store(0, Relaxed);
        }
        is_due
    }
}

/// The condition for rows of a table that are over the [`bounds`], the oldest first. `id` names a row, and `time` is its age.
pub(super) fn over_bounds(id: &str, rows: &str, text: &str, time: &str) -> String {
    let newest = format!("ORDER BY (id = ?1) DESC, {time} DESC, id");
    format!(
        "{id} IN (WITH sized AS MATERIALIZED (SELECT {id} AS id, caller, {time}, OCTET_LENGTH({text}) AS bytes FROM {rows}) \
         SELECT id FROM (SELECT id, SUM(bytes) OVER (PARTITION BY caller {newest}) AS own, \
         SUM(bytes) OVER ({newest}) AS total FROM sized) AS summed WHERE id <> ?1 AND (own > ?2 OR total > ?3))"
    )
}

/// The values of [`over_bounds`]: the row that stays, and the most bytes of one caller and of all callers.
pub(super) fn bounds(stays: &str) -> [rusqlite::types::Value; 3] {
    values![*stays, MAX_BYTES_OF_CALLER as i64, MAX_BYTES_IN_ALL as i64]
}
