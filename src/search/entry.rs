//! What can be found: a tool or a category, as texts with a field each.

/// Where in an entry a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Its name.
    Name,
    /// Other names: op, aliases, title.
    Alias,
    /// What it does, in one line.
    Short,
    /// All else that its author says of it.
    Long,
    /// Names of parameters.
    Parameter,
    /// What parameters are, and values that they may have.
    ParameterText,
    /// Labels, categories, server.
    Label,
    /// Examples, notes, policy.
    Example,
}

/// What can be found.
#[derive(Clone, Debug, Default)]
pub struct IndexEntry {
    /// Names that are meant when a query is one of them.
    pub exact: Vec<String>,
    /// Its texts.
    pub texts: Vec<(Field, String)>,
}
