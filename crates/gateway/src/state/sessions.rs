//! Sessions of callers: the pages that each has read, and its context.

use std::sync::Arc;

use serde_json::Value;

use super::bounds::{bounds, over_bounds};
use super::database::{Access, Result, StateError, values};
use super::store::StateStore;

/// A session of one caller. Sessions of two callers are different, whatever their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// The caller; empty where everybody may come in.
    pub caller: Arc<str>,
    /// Name, chosen by the caller.
    pub id: Arc<str>,
}

/// Longest name of a session.
const MAX_SESSION_NAME: usize = 128;

impl Session {
    /// A valid name of a session.
    pub fn named(id: &str) -> Result<Arc<str>, InvalidSessionName> {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        if (1..=MAX_SESSION_NAME).contains(&id.len()) && id.bytes().all(is_sign) {
            Ok(Arc::from(id))
        } else {
            Err(InvalidSessionName)
        }
    }
}

/// Error of an invalid session name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session is called by 1 to 128 letters, digits and signs of `._:-`")]
pub struct InvalidSessionName;

const OF_SESSION: &str = "WHERE caller = ?1 AND session = ?2";

const SESSION: &str = "caller || ' ' || session";

/// Most bytes of the context of a session, which goes with each of its answers.
const MAX_CONTEXT: usize = 64 << 10;

impl StateStore {
    /// Records that a session was given the page of an op.
    pub async fn record_doc_read(&self, session: &Session, op: &str, doc_version: &str) -> Result<()> {
        let insert = "INSERT INTO session_docs (caller, session, op, doc_version, at) VALUES (?1, ?2, ?3, ?4, NOW_MS) \
                      ON CONFLICT (caller, session, op) DO UPDATE SET doc_version = excluded.doc_version, at = excluded.at";
        let values = values![*session.caller, *session.id, *op, *doc_version];
        self.rows(Access::Write, insert, values).await.map(drop)
    }

    /// The version of the page that the session was given last.
    pub async fn doc_read_version(&self, session: &Session, op: &str) -> Result<Option<String>> {
        let select = format!("SELECT doc_version FROM session_docs {OF_SESSION} AND op = ?3");
        let rows = self.rows(Access::Read, &select, values![*session.caller, *session.id, *op]).await?;
        Ok(rows.into_iter().next().and_then(|mut row| row.text()))
    }

    /// The context of a session, once a result has set it.
    pub async fn session_context(&self, session: &Session) -> Result<Option<Value>> {
        let select = format!("SELECT context FROM session_contexts {OF_SESSION}");
        let rows = self.rows(Access::Read, &select, values![*session.caller, *session.id]).await?;
        rows.into_iter().next().map(|mut row| row.json()).transpose()
    }

    /// Sets the context of a session. The oldest contexts go if those of the caller, or of all callers, have too many
    /// bytes.
    pub async fn set_session_context(&self, session: &Session, context: &Value) -> Result<()> {
        let context = context.to_string();
        if context.len() > MAX_CONTEXT {
            return Err(StateError::Failed(format!("it is over {} KiB", MAX_CONTEXT >> 10)));
        }
        let is_full = self.is_due_after(context.len());
        let bounds = bounds(&format!("{} {}", session.caller, session.id));
        let insert = "INSERT INTO session_contexts (caller, session, context, at) VALUES (?1, ?2, ?3, NOW_MS) \
                      ON CONFLICT (caller, session) DO UPDATE SET context = excluded.context, at = excluded.at";
        let values = values![*session.caller, *session.id, context];
        self.ask(Access::Write, move |sql| {
            sql.rows(insert, &values)?;
            if is_full {
                let over = over_bounds(SESSION, "session_contexts", "context", "at");
                sql.rows(&format!("DELETE FROM session_contexts WHERE {over}"), &bounds)?;
            }
            Ok(())
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::MAX_BYTES_OF_CALLER;

    #[tokio::test]
    async fn the_oldest_contexts_of_sessions_go_and_a_large_one_is_refused() {
        let state = StateStore::in_memory();
        let session = |number: usize| Session { caller: "amy".into(), id: format!("s{number}").into() };
        let context = Value::from("x".repeat(MAX_CONTEXT - 2));
        for number in 0..3 * MAX_BYTES_OF_CALLER / MAX_CONTEXT {
            state.set_session_context(&session(number), &context).await.unwrap();
        }
        assert_eq!(state.session_context(&session(0)).await.unwrap(), None);
        let newest = session(3 * MAX_BYTES_OF_CALLER / MAX_CONTEXT - 1);
        assert!(state.session_context(&newest).await.unwrap().is_some());
        let large = Value::from("x".repeat(MAX_CONTEXT));
        let refused = state.set_session_context(&newest, &large).await.unwrap_err();
        assert!(refused.to_string().contains("over 64 KiB"), "{refused}");
    }
}
