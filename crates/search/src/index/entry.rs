//! Entries of an index: a tool or a category, as texts with a field each.

use toolcrib_definition::Effect;

/// Field of a text in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    Name,
    /// Other names: op, aliases, title.
    Alias,
    /// Purpose, in one line.
    Short,
    /// The rest of the author's text about it.
    Long,
    /// Names of parameters.
    Parameter,
    /// Descriptions of parameters, and their allowed values.
    ParameterText,
    /// Labels, categories, server.
    Label,
    /// Examples, notes, policy.
    Example,
}

impl Field {
    pub(crate) const fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// The fields that show what an entry is about, one bit each.
pub(crate) const SHOWN: u8 = Field::Name.bit() | Field::Alias.bit() | Field::Short.bit() | Field::Label.bit();

/// A tool or a category that can be found.
#[derive(Clone, Debug, Default)]
pub struct IndexEntry {
    /// Names that match a query as a whole.
    pub exact: Vec<String>,
    pub texts: Vec<(Field, String)>,
    /// Strongest change that it may make.
    pub effect: Option<Effect>,
    /// The server it belongs to.
    pub server: Option<String>,
    /// The categories it belongs to.
    pub categories: Vec<String>,
    /// Values of its argument that selects an action.
    pub actions: Vec<String>,
}
