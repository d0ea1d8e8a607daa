//! What works otherwise behind toolcrib than in the direct connection of a client to its server, one value for each difference.

/// A difference to the direct connection of a client to its server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// A key of the entry is not used, and this is what changes.
    #[error("`{key}` is not used: {change}")]
    Key { key: String, change: &'static str },
    /// A value that the client asks its person for is a variable here.
    #[error("`${{input:{input}}}` is the environment variable {variable} here")]
    Input { input: String, variable: String },
    /// A setting of the client allows the server or its tools, by names that change.
    #[error("`{place}` allows it by a name that changes: allow toolcrib there, or approve again")]
    Allowed { place: String },
    /// A time limit is a whole number of seconds here.
    #[error("`{key}` is {given}, and {seconds} seconds here")]
    Time { key: String, given: String, seconds: u64 },
    /// A rule that switches tools off has a `?`, which stands for any text here.
    #[error("`{rule}` switches off more tools here: `?` stands for any text")]
    Wider { rule: String },
    /// A tool says that it only reads, and counts as one that changes something.
    #[error(
        "`{tool}` says that it only reads, which its name does not confirm: it counts as one that changes something"
    )]
    Hint { tool: String },
    /// A tool has another name than the one that its server gives it.
    #[error("`{tool}` is called `{name}`")]
    Name { tool: String, name: String },
}

impl Difference {
    /// The key of the entry that it is about; empty for the whole entry.
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Key { key, .. } | Self::Time { key, .. } => key,
            _ => "",
        }
    }
}
