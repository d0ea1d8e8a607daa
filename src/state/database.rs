//! What both databases do: transactions of statements. The text of a statement is the same for both: its values are
//! `?1`, `?2`, ..., and `NOW_MS` is the database's clock in milliseconds of Unix time.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rusqlite::types::Value;
use serde::de::DeserializeOwned;

use super::{StateError, StateStore};

/// Version of the schema.
pub(super) const VERSION: i64 = 1;

/// The whole schema.
pub(super) const SCHEMA: &str = include_str!("schema.sql");

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
    fn run(&self, access: Access, transaction: Transaction<'_>) -> Result<(), StateError>;

    /// Whether its content is lost when the process ends.
    fn is_volatile(&self) -> bool {
        false
    }
}

/// The statements of a transaction.
pub type Transaction<'a> = &'a mut dyn FnMut(&mut dyn Sql) -> Result<(), StateError>;

/// A transaction in progress.
pub trait Sql {
    /// Runs a statement, and returns its rows.
    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StateError>;

    /// Waits until no other transaction that locks the same name is in progress.
    fn lock(&mut self, name: &str) -> Result<(), StateError>;
}

impl dyn Sql + '_ {
    /// The first row of a statement.
    pub(super) fn row(&mut self, sql: &str, values: &[Value]) -> Result<Option<Row>, StateError> {
        Ok(self.rows(sql, values)?.into_iter().next())
    }
}

/// The values of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$(rusqlite::types::Value::from($value.to_owned())),*] };
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
    pub(super) fn json<T: DeserializeOwned>(&mut self) -> Result<T, StateError> {
        serde_json::from_str(&self.string())
            .map_err(|error| StateError::Failed(format!("stored data is not JSON: {error}")))
    }
}

// Opens state from its configured place.

/// Opens the state at `at`: a file, relative to `root`, or `postgres://...`, in which `${NAME}` stands for the value
/// of `variable` for `NAME`. Without a place it is in memory.
pub fn open(
    at: Option<&str>,
    root: &Path,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Arc<StateStore>, StateError> {
    let Some(at) = at.map(str::trim).filter(|at| !at.is_empty()) else {
        return Ok(Arc::new(StateStore::in_memory()));
    };
    let at = filled(at, variable)?;
    if at.starts_with("postgres://") || at.starts_with("postgresql://") {
        return postgres(&at);
    }
    match at.split_once("://") {
        Some((scheme, _)) => Err(StateError::Failed(format!(
            "state is stored in a file or in `postgres://...`, not in `{}://`",
            crate::tool::clean_line(scheme)
        ))),
        None => Ok(Arc::new(StateStore::open(&root.join(at))?)),
    }
}

#[cfg(feature = "postgres")]
fn postgres(url: &str) -> Result<Arc<StateStore>, StateError> {
    Ok(Arc::new(StateStore::postgres(url)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &str) -> Result<Arc<StateStore>, StateError> {
    Err(StateError::Failed("this toolcrib was built without PostgreSQL (feature `postgres`)".into()))
}

/// The URL with its variables filled in. Errors name variables, never their values.
fn filled(at: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, StateError> {
    let (mut filled, mut rest) = (String::with_capacity(at.len()), at);
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) =
            after.split_once('}').ok_or_else(|| StateError::Failed("`${` without a `}`".into()))?;
        let value = variable(name).ok_or_else(|| {
            StateError::Failed(format!(
                "the environment variable {} is not set",
                crate::tool::clean_line(name)
            ))
        })?;
        filled.push_str(before);
        filled.push_str(&value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}
