//! The callers whose events and approvals somebody may see.

use rusqlite::types::Value;

/// The callers whose events somebody may see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Callers {
    /// All.
    #[default]
    All,
    /// One caller.
    Only(String),
    /// The callers of one tenant: their names have this beginning and this end.
    Tenant(String, String),
    Nobody,
}

impl Callers {
    /// Returns true if this caller is one of them.
    pub fn have(&self, caller: &str) -> bool {
        match self {
            Callers::All => true,
            Callers::Nobody => false,
            Callers::Only(name) => name == caller,
            Callers::Tenant(begin, end) => {
                caller.strip_prefix(begin.as_str()).is_some_and(|rest| rest.ends_with(end.as_str()))
            }
        }
    }

    /// The condition on a row; adds its values.
    pub(super) fn condition(&self, values: &mut Vec<Value>) -> String {
        let mut place = |text: &String| {
            values.push(text.clone().into());
            values.len()
        };
        match self {
            Callers::All => "TRUE".into(),
            Callers::Nobody => "FALSE".into(),
            Callers::Only(name) => format!("caller = ?{}", place(name)),
            Callers::Tenant(begin, end) => {
                let long = begin.chars().count();
                let short = end.chars().count();
                let first = place(begin);
                let last = place(end);
                format!(
                    "length(caller) >= {long} + {short} AND substr(caller, 1, {long}) = ?{first} \
                     AND substr(caller, length(caller) - {short} + 1) = ?{last}"
                )
            }
        }
    }
}
