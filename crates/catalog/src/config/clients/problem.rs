//! Why toolcrib cannot use a server of a client's file as its client does.

use std::path::PathBuf;

use serde_json::Value;

#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum EntryProblem {
    #[error("expected an object")]
    NoObject,
    #[error("`{key}` {expected}")]
    WrongType { key: String, expected: &'static str },
    #[error("it speaks HTTP with SSE, the transport that streamable HTTP has replaced")]
    Sse,
    #[error("it speaks `{0}`, which toolcrib does not")]
    Transport(String),
    #[error(
        "only the client knows the value of `{0}`: write the value itself, or `${{NAME}}` with an environment variable that has it"
    )]
    PlaceholderOfClient(String),
    #[error(
        "`{0}` is not supported; without it, the server could lack a credential or a safety measure, so it is for its client alone"
    )]
    Uncarried(String),
    #[error("{} cannot be read, which can switch it off", .0.display())]
    Settings(PathBuf),
    /// A rule of opencode, with the setting and the name of tools that have it.
    #[error("`{key}` has {rule} for `{name}`; expected true or false, or one of allow, ask and deny")]
    Rule { key: &'static str, name: String, rule: Value },
    /// The first mistake in the settings of the server.
    #[error("{0}")]
    Server(&'static str),
}

impl EntryProblem {
    pub(super) fn wrong(key: &str, expected: &'static str) -> Self {
        Self::WrongType { key: key.to_string(), expected }
    }
}
