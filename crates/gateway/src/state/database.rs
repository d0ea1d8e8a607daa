//! Databases run transactions of statements. The text of a statement is the same for SQLite and for PostgreSQL: its values are
//! `?1`, `?2`, ..., and `NOW_MS` is the database's clock in milliseconds of Unix time.

use std::fmt;

use rusqlite::types::Value;
use serde::de::DeserializeOwned;

/// Version of the schema.
pub(super) const VERSION: i64 = 3;

/// The whole schema.
pub(super) const SCHEMA: &str = include_str!("schema.sql");

/// The answer of state.
pub type Result<T, E = StateError> = std::result::Result<T, E>;

/// Reason why state did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It is not ours, or was emptied, so that waiting does not help.
    #[error("{0}")]
    Other(String),
    /// Nobody may write to it, or it cannot be opened.
    #[error("{0}")]
    ReadOnly(String),
    /// An idempotency key that another call has by now.
    #[error("the idempotency key is no longer ours")]
    NotOurs,
    /// Another process holds it.
    #[error("{0}")]
    Busy(String),
    /// Any other failure.
    #[error("{0}")]
    Failed(String),
}

impl StateError {
    /// State with a schema that is not ours.
    pub(super) fn newer(version: i64, own: i64) -> Self {
        let (age, step) =
            if version > own { ("a newer", "update toolcrib, or use") } else { ("an older", "use") };
        Self::Other(format!(
            "it was written by {age} toolcrib (schema {version}, this one knows {own}); {step} another place"
        ))
    }

    /// A database without our tables.
    pub(super) fn foreign() -> Self {
        Self::Other("it is a database of another program; use another place".into())
    }

    /// The error with the place of the state.
    pub(super) fn at(self, place: &str) -> Self {
        match self {
            Self::NotOurs => self,
            Self::Other(problem) => Self::Other(format!("{place}: {problem}")),
            Self::Busy(problem) | Self::Failed(problem) | Self::ReadOnly(problem) => {
                Self::Failed(format!("{place}: {problem}"))
            }
        }
    }
}

/// Use of the database by a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads only.
    Read,
    /// Writes, and ends when the changes are on the disk.
    Write,
    /// Writes, and removes the old content from all files.
    Erase,
}

/// A database. Its methods block.
pub trait Database: Send + Sync + fmt::Debug {
    /// Runs a transaction: all of its changes are made, or none.
    fn run(&self, access: Access, transaction: Transaction<'_>) -> Result<()>;

    /// Whether its content is lost when the process ends.
    fn is_volatile(&self) -> bool {
        false
    }
}

/// The statements of a transaction.
pub type Transaction<'a> = &'a mut dyn FnMut(&mut dyn Sql) -> Result<()>;

/// A transaction in progress.
pub trait Sql {
    /// Runs a statement, and returns its rows.
    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>>;

    /// Waits until no other transaction that locks the same name is in progress.
    fn lock(&mut self, name: &str) -> Result<()>;
}

impl dyn Sql + '_ {
    /// The first row of a statement.
    pub(super) fn row(&mut self, sql: &str, values: &[Value]) -> Result<Option<Row>> {
        Ok(self.rows(sql, values)?.into_iter().next())
    }
}

/// The values of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { [$(rusqlite::types::Value::from($value.to_owned())),*] };
}

pub(super) use values;

/// A row, whose columns are taken in their order.
#[derive(Debug)]
pub struct Row(std::vec::IntoIter<Value>);

impl Row {
    /// A row of these columns.
    pub fn new(columns: Vec<Value>) -> Self {
        Self(columns.into_iter())
    }

    /// The next column, if it is a number or a truth value.
    pub(super) fn number(&mut self) -> Option<i64> {
        match self.0.next() {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        }
    }

    pub(super) fn int(&mut self) -> i64 {
        self.number().unwrap_or_default()
    }

    /// The next column, if it is a text.
    pub(super) fn text(&mut self) -> Option<String> {
        match self.0.next() {
            Some(Value::Text(text)) => Some(text),
            Some(Value::Blob(bytes)) => String::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    pub(super) fn string(&mut self) -> String {
        self.text().unwrap_or_default()
    }

    /// The next column, a text of JSON.
    pub(super) fn json<T: DeserializeOwned>(&mut self) -> Result<T> {
        serde_json::from_str(&self.string())
            .map_err(|error| StateError::Failed(format!("stored data is not JSON: {error}")))
    }
}

/// Most rows in one statement. Several rows share a statement, because each statement waits for a database that may
/// be far away.
const ROWS: usize = 16;

/// Inserts rows, with what is done about known ones.
pub(super) fn insert(sql: &mut dyn Sql, into: &str, rows: Vec<Vec<Value>>, conflict: &str) -> Result<()> {
    for some in rows.chunks(ROWS) {
        let mut numbers = (1..).map(|number| format!("?{number}"));
        let places = some.iter().map(|row| {
            let places: Vec<String> = numbers.by_ref().take(row.len()).collect();
            format!("({})", places.join(", "))
        });
        let places: Vec<String> = places.collect();
        sql.rows(&format!("INSERT INTO {into} VALUES {}{conflict}", places.join(", ")), &some.concat())?;
    }
    Ok(())
}
