//! The search for calls, which reads a bounded number of them.

use rusqlite::types::Value;

use super::callers::Callers;
use super::database::{Access, StateError};
use super::event::{Event, WAITING};
use super::event_rows::{OF_CALLS, SHARED, event};
use super::store::StateStore;

/// Most calls that one search reads.
const WINDOW: i64 = 10_000;

/// Search for calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallQuery {
    pub callers: Callers,
    pub tool: Option<String>,
    /// `failed`, or an outcome.
    pub outcome: Option<String>,
    /// The number of calls to skip.
    pub skip: usize,
    /// Most calls.
    pub limit: usize,
}

impl StateStore {
    /// The newest calls of a query, newest first, and whether there are older ones that were not read.
    pub async fn calls(&self, wanted: &CallQuery) -> Result<(Vec<Event>, bool), StateError> {
        let _ = self.flush().await;
        let is_one = matches!(wanted.callers, Callers::Only(_));
        let mut values = Vec::new();
        let of_tool = |values: &mut Vec<Value>| {
            let tool = wanted.tool.clone()?;
            values.push(tool.into());
            Some(format!("tool = ?{}", values.len()))
        };
        // The window follows one index: of the caller, of the tool, or of failures.
        let (window, in_window) = match (is_one, &wanted.tool, wanted.outcome.as_deref()) {
            (true, ..) => (wanted.callers.condition(&mut values), None),
            (_, Some(_), _) => (of_tool(&mut values).unwrap_or_default(), wanted.tool.as_ref()),
            (_, None, Some(outcome)) if outcome != "ok" => ("outcome <> 'ok'".to_string(), None),
            _ => ("TRUE".to_string(), None),
        };
        let window = format!(
            "(SELECT id, caller, tool, outcome FROM tool_executions WHERE {window} ORDER BY id DESC LIMIT {WINDOW}) AS newest"
        );
        let end = format!("SELECT count(*) FROM {window}");
        let end_values = values.clone();
        let mut rest = Vec::new();
        if !is_one {
            rest.push(wanted.callers.condition(&mut values));
        }
        if in_window.is_none() {
            rest.extend(of_tool(&mut values));
        }
        match wanted.outcome.as_deref() {
            None => {}
            Some("failed") => rest.push(format!("outcome <> 'ok' AND outcome <> '{WAITING}'")),
            Some(outcome) => {
                values.push(outcome.to_string().into());
                rest.push(format!("outcome = ?{}", values.len()));
            }
        }
        let rest = rest.iter().map(|part| format!(" AND {part}")).collect::<String>();
        let select = format!(
            "SELECT {SHARED}, {OF_CALLS}, 'call', '[]' FROM tool_executions WHERE id IN (SELECT id FROM {window} \
             WHERE TRUE{rest} ORDER BY id DESC LIMIT {} OFFSET {}) ORDER BY id DESC",
            wanted.limit, wanted.skip
        );
        self.ask(Access::Read, move |sql| {
            let found = sql.rows(&select, &values)?.into_iter().map(event).collect::<Result<Vec<_>, _>>()?;
            let read = sql.row(&end, &end_values)?.map_or(0, |mut row| row.int());
            Ok((found, read >= WINDOW))
        })
        .await
    }
}
