//! Opens state from its configured place.

use std::path::Path;
use std::sync::Arc;

use super::{StateError, StateStore};

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
