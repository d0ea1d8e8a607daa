//! What a docstring says of one value: its type, in the words of the docstring, and a text.

use toolcrib_definition::schema::Node;
use toolcrib_definition::schema::type_words::{parts, standard_type};

/// Words of types that JSON does not have, and words between types.
const WORDS: [&str; 20] = [
    "a", "an", "and", "any", "array-like", "awaitable", "bytes", "callable", "collection", "iterable",
    "iterator", "mapping", "nonetype", "numeric", "of", "optional", "or", "promise", "union", "undefined",
];

/// The type and the text of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// The type as written, such as `int, optional`; may be empty.
    pub kind: String,
    pub about: String,
}

impl Described {
    /// A text alone.
    pub(super) fn text(about: String) -> Self {
        Self { about, ..Self::default() }
    }

    /// A text with a type in parentheses in front, if there is one.
    pub(super) fn of(text: &str) -> Self {
        let (kind, about) = kind(text).unwrap_or(("", text));
        let kind = kind.strip_prefix('(').and_then(|kind| kind.strip_suffix(')')).unwrap_or_default();
        Self { kind: kind.trim().into(), about: about.trim_start_matches(':').trim().into() }
    }

    /// Adds a type, a text, or both.
    pub(super) fn add(&mut self, more: &Self) {
        for (known, more) in [(&mut self.kind, &more.kind), (&mut self.about, &more.about)] {
            if !known.is_empty() && !more.is_empty() {
                known.push(' ');
            }
            known.push_str(more);
        }
    }

    /// The text for a property: of the type only what its schema does not say.
    pub fn beside(&self, property: &Node<'_>) -> String {
        let has_values = property.values.is_some() || property.only.is_some();
        let has_type = property.is_typed() || has_values || property.is_reference || property.is_composed;
        let is_said = |part: &&str| match part.to_lowercase().as_str() {
            "" | "optional" | "required" => true,
            part if part.starts_with('{') || part.contains("literal[") => has_values,
            part if part.contains("default") => property.default.is_some() || self.about.contains("efault"),
            part => is_type(part) || property.limits.format.is_some() && standard_type(part).is_some(),
        };
        let more: Vec<&str> = if has_type {
            parts(&self.kind, ',').map(str::trim).filter(|part| !is_said(part)).collect()
        } else {
            vec![&*self.kind]
        };
        let more = more.join(", ");
        if more.is_empty() { self.about.clone() } else { format!("({more}) {}", self.about).trim().into() }
    }
}

/// Whether a text is nothing but the name of a type: `Optional[List[str]]`, `list of str`, `:obj:`int` or None`.
pub(super) fn is_type(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_known = |word: &str| match standard_type(word) {
        Some("string") => word.starts_with("str"),
        known => known.is_some() || WORDS.contains(&word),
    };
    let mut words = text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some()
        && words.all(|word| {
            let word = word.rsplit('.').next().unwrap_or(word).to_lowercase();
            is_known(&word) || is_known(word.trim_end_matches('s'))
        })
}

/// A type in parentheses at the start, and the text after it; `None` when the parentheses never close.
pub(super) fn kind(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with('(') {
        return Some(("", text));
    }
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some((&text[..=at], text[at + 1..].trim_start())),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}
