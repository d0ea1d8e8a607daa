//! Why a provider cannot take a schema, or cannot hold calls to it.

/// Why a tool has no schema, or no strict one, on a provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("it cannot be called, since {0}")]
    NotCallable(String),
    #[error("its schema accepts nothing")]
    AcceptsNothing,
    #[error("arguments are always an object, and its root is of another type")]
    NoObject,
    #[error("this provider holds no single function to its schema")]
    NeverStrict,
    #[error("the root has more than this provider takes, and a strict root would mean something else")]
    LooserRoot,
    /// A part of a schema that no strict one has.
    #[error("{what} at {} cannot be strict", place(pointer))]
    NotStrict { what: String, pointer: String },
    #[error("`{0}` contains itself, which cannot be strict")]
    ContainsItself(String),
    #[error("the schema refers to itself, which cannot be strict")]
    RefersToRoot,
    #[error("it has {count} {what}, and strict schemas at most {most}")]
    TooMany { what: &'static str, count: usize, most: usize },
    #[error("a request has at most {most} strict tools, and has them already")]
    TooManyTools { most: usize },
    #[error("the strict tools of one request have at most {most} {what} together, and these are taken")]
    TooManyTogether { what: &'static str, most: usize },
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the root".into() } else { format!("`{pointer}`") }
}
