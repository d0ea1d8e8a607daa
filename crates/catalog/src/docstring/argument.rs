//! What a docstring says of one value: its type, in the words of the docstring, and a text.

use serde_json::{Map, Value};

use toolcrib_definition::schema::type_words::{parts, standard_type};

/// Words of types, and words between them.
const WORDS: [&str; 55] = [
    "a", "an", "and", "any", "array", "array-like", "bool", "boolean", "bytes", "callable", "class",
    "collection", "dict", "dictionary", "double", "enum", "float", "frozenset", "function", "generator",
    "int", "integer", "iterable", "iterator", "list", "long", "map", "mapping", "none", "nonetype", "null",
    "num", "number", "numeric", "obj", "object", "of", "optional", "or", "path", "promise", "record",
    "sequence", "set", "str", "string", "to", "tuple", "type", "undefined", "union", "unknown", "void", "py",
    "awaitable",
];

/// The type and the text of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// The type as written, such as `int, optional`; may be empty.
    pub kind: String,
    pub about: String,
}

impl Described {
    /// A text with a type in parentheses in front, if there is one.
    pub(super) fn of(text: &str) -> Self {
        let (kind, about) = super::kind(text).unwrap_or(("", text));
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
    pub fn beside(&self, property: &Map<String, Value>) -> String {
        let has = |keys: &[&str]| keys.iter().any(|key| property.contains_key(*key));
        let is_typed = has(&["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"]);
        let is_format = |part: &str| has(&["format"]) && standard_type(part).is_some();
        let more = |part: &str| {
            let values = values(part);
            let is_said = match part.to_lowercase() {
                _ if values.is_some() => has(&["enum", "const"]),
                part if part.contains("default") => {
                    has(&["default"]) || self.about.to_lowercase().contains("default")
                }
                part => {
                    matches!(part.as_str(), "" | "optional" | "required")
                        || is_type(&part)
                        || is_format(&part)
                }
            };
            (!is_said).then(|| values.map_or_else(|| part.to_string(), |values| format!("one of {values}")))
        };
        let said: Vec<String> = match is_typed {
            true => parts(&self.kind, ',').map(str::trim).filter_map(more).collect(),
            false => Some(self.kind.clone()).filter(|kind| !kind.is_empty()).into_iter().collect(),
        };
        if said.is_empty() {
            self.about.clone()
        } else {
            format!("({}) {}", said.join(", "), self.about).trim().into()
        }
    }
}

/// The values that a type lists: `{'a', 'b'}`, `Literal['a', 'b']`.
fn values(part: &str) -> Option<&str> {
    let braced = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
    braced.or_else(|| part.split_once("Literal[")?.1.split(']').next())
}

/// Whether a text is nothing but the name of a type: `Optional[List[str]]`, `list of str`, `:obj:`int` or None`.
pub(super) fn is_type(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut words = text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some()
        && words.all(|word| {
            let word = word.rsplit('.').next().unwrap_or(word).to_lowercase();
            [&*word, word.trim_end_matches('s')].iter().any(|word| WORDS.contains(word))
        })
}
