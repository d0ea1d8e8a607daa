//! Cookies of people who have signed out: no server that shares this state takes a copy of one.

use super::clock::now;
use super::database::{Access, Result, Sql, values};
use super::store::StateStore;

/// Most of them; those that end first are forgotten first.
const MAX_ENDED: i64 = 10_000;

impl StateStore {
    /// Ends a cookie, by its hash. It would end by itself at this time.
    pub async fn end_cookie(&self, cookie: &str, until: i64) -> Result<()> {
        let forget = "DELETE FROM ended_cookies WHERE until <= ?1 OR cookie IN \
            (SELECT cookie FROM ended_cookies ORDER BY until DESC LIMIT 1 OFFSET ?2)";
        let insert =
            "INSERT INTO ended_cookies (cookie, until) VALUES (?1, ?2) ON CONFLICT (cookie) DO NOTHING";
        let forgotten = values![now(), MAX_ENDED - 1].to_vec();
        let ended = values![*cookie, until].to_vec();
        let end = move |sql: &mut dyn Sql| {
            sql.rows(forget, &forgotten)?;
            sql.rows(insert, &ended).map(drop)
        };
        self.ask(Access::Write, end).await
    }

    /// Whether a cookie has been ended.
    pub async fn has_ended(&self, cookie: &str) -> Result<bool> {
        let select = "SELECT until FROM ended_cookies WHERE cookie = ?1";
        Ok(!self.rows(Access::Read, select, values![*cookie]).await?.is_empty())
    }
}
