//! People who are signed in to the pages.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::state::SignIn;

pub(super) fn store(db: &Connection, sign_in: &SignIn, now: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM sign_ins WHERE until <= ?1")?.execute([now])?;
    db.prepare_cached("INSERT INTO sign_ins (id, data, until) VALUES (?1, ?2, ?3)")?
        .execute(params![sign_in.id, sign_in.data, sign_in.until])?;
    Ok(())
}

pub(super) fn find(db: &Connection, id: &str, now: i64) -> rusqlite::Result<Option<SignIn>> {
    db.prepare_cached("SELECT id, data, until FROM sign_ins WHERE id = ?1 AND until > ?2")?
        .query_row(params![id, now], sign_in)
        .optional()
}

pub(super) fn take(db: &Connection, id: &str, now: i64) -> rusqlite::Result<Option<SignIn>> {
    let taken: Option<SignIn> = db
        .prepare_cached("DELETE FROM sign_ins WHERE id = ?1 RETURNING id, data, until")?
        .query_row([id], sign_in)
        .optional()?;
    Ok(taken.filter(|taken| taken.until > now))
}

fn sign_in(row: &Row<'_>) -> rusqlite::Result<SignIn> {
    Ok(SignIn { id: row.get(0)?, data: row.get(1)?, until: row.get(2)? })
}
