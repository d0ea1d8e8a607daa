//! People who are signed in to the pages, or are about to be.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::state::{MAX_SIGN_IN_ATTEMPTS, SignIn};

pub(super) fn store(db: &Connection, sign_in: &SignIn, now: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM sign_ins WHERE until <= ?1")?.execute([now])?;
    // Strangers can begin attempts: the ones beyond the limit that end first make room.
    db.prepare_cached(
        "DELETE FROM sign_ins WHERE is_attempt AND until <= \
         (SELECT until FROM sign_ins WHERE is_attempt ORDER BY until DESC LIMIT 1 OFFSET ?1)",
    )?
    .execute([MAX_SIGN_IN_ATTEMPTS])?;
    db.prepare_cached("INSERT INTO sign_ins (id, is_attempt, data, until) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![sign_in.id, sign_in.is_attempt, sign_in.data, sign_in.until])?;
    Ok(())
}

pub(super) fn find(db: &Connection, id: &str, now: i64) -> rusqlite::Result<Option<SignIn>> {
    db.prepare_cached("SELECT id, is_attempt, data, until FROM sign_ins WHERE id = ?1 AND until > ?2")?
        .query_row(params![id, now], sign_in)
        .optional()
}

pub(super) fn take(db: &Connection, id: &str, now: i64) -> rusqlite::Result<Option<SignIn>> {
    let taken: Option<SignIn> = db
        .prepare_cached("DELETE FROM sign_ins WHERE id = ?1 RETURNING id, is_attempt, data, until")?
        .query_row([id], sign_in)
        .optional()?;
    Ok(taken.filter(|taken| taken.until > now))
}

fn sign_in(row: &Row<'_>) -> rusqlite::Result<SignIn> {
    Ok(SignIn { id: row.get(0)?, is_attempt: row.get(1)?, data: row.get(2)?, until: row.get(3)? })
}
