//! YAML: reads it, and locates values in its text.

use serde::de::{Deserialize, DeserializeSeed, Deserializer};
use serde_json::Value;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle};
use serde_saphyr::{
    Error, ExternalMessageSource, MessageFormatter, NonFiniteFloatPolicy, Options, UserMessageFormatter,
};

use super::any_value::{MAX_VALUES, Meter, Node, TWICE};
use super::document_error::DocumentError;
use super::line_columns::Cursor;
use super::pointer_tree::{NodeId, PointerTree, ROOT, Span};

/// Levels of nesting at which a text is refused: the stack has room for no more.
const MAX_LEVELS: usize = 128;
/// Most values that aliases may expand to.
const ALIASED_VALUES: usize = 250_000;
/// Most bytes of scalars beyond the text itself, through aliases.
const ALIASED_BYTES: usize = 16 << 20;

/// The reader takes up to 25 KiB of stack a level in a build without optimisations, more than a thread has for 128.
const STACK: usize = 16 << 20;

/// Reads a YAML stream: an empty one is null, one document is itself, several are an array.
pub(super) fn parse(text: &str) -> Result<Value, DocumentError> {
    let read = || {
        let documents: Result<Vec<Tree>, Error> =
            serde_saphyr::from_multiple_with_options(text, options(text));
        documents.map_err(|error| document_error(text, &error))
    };
    let own_stack = std::thread::Builder::new().stack_size(STACK);
    let documents = std::thread::scope(|scope| match own_stack.spawn_scoped(scope, read) {
        Ok(reader) => reader.join().unwrap_or_else(|_| Err(DocumentError::new(0, "the YAML reader gave up"))),
        Err(error) => Err(DocumentError::new(0, format!("cannot start a reader: {error}"))),
    });
    let mut documents = documents?;
    Ok(match documents.len() {
        0 | 1 => documents.pop().map_or(Value::Null, |Tree(value)| value),
        _ => documents.into_iter().map(|Tree(value)| value).collect(),
    })
}

/// YAML 1.2, so `no` and `1_000` are text. Aliases are limited by the values they expand to, not by their number.
fn options(text: &str) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_LEVELS - 1,
            flow_nesting_limit: MAX_LEVELS - 1,
            max_nodes: MAX_VALUES,
            max_events: 4 * MAX_VALUES,
            max_total_scalar_bytes: text.len() + ALIASED_BYTES,
            max_documents: MAX_VALUES,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: ALIASED_VALUES },
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        ignore_binary_tag_for_string: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    }
}

struct Tree(Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The parser's own budget keeps the limits, over all documents and aliases.
        Node::root(&Meter::new(usize::MAX)).deserialize(deserializer).map(Tree)
    }
}

fn document_error(text: &str, error: &Error) -> DocumentError {
    let offset = error.location().map_or(0, |location| {
        let line = location.line().max(1) as usize;
        let column = location.column().max(1) as usize;
        let bytes = location.span().byte_offset().map(|offset| offset as usize);
        bytes.or_else(|| Cursor::new(text).find(line, column)).unwrap_or(text.len())
    });
    let error = match error.without_snippet() {
        Error::AliasError { error, .. } => error.as_ref(),
        error => error,
    };
    match error {
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            DocumentError::too_deep(offset, MAX_LEVELS)
        }
        Error::Budget { breach: BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. }, .. } => {
            DocumentError::too_many(offset)
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => {
            DocumentError::new(offset, "too many aliases, or aliases of too much")
                .help("write the values out")
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            DocumentError::new(offset, format!("the key `{key}` is there twice"))
                .help("remove one of the two")
        }
        Error::UnknownAnchor { .. } => {
            DocumentError::new(offset, "an alias without an anchor of its name before it")
        }
        error => {
            let message = UserMessageFormatter.format_message(error);
            // Two keys with one text, such as `1` and `"1"`.
            if let Some((key, _)) = message.split_once(TWICE) {
                return DocumentError::new(offset, format!("{key}{TWICE}")).help("remove one of the two");
            }
            if matches!(parser_error(error), Some(ErrorKind::RecursionLimitExceeded)) {
                return DocumentError::too_deep(offset, MAX_LEVELS);
            }
            let invalid = DocumentError::new(offset, format!("not valid YAML: {message}"));
            match advice(error, text.get(..offset).unwrap_or_default()) {
                Some(help) => invalid.help(help),
                None => invalid,
            }
        }
    }
}

/// The error of the parser, where an error comes from there.
fn parser_error(error: &Error) -> Option<&ErrorKind> {
    let Error::ExternalMessage { source, .. } = error else { return None };
    match &**source {
        ExternalMessageSource::Parser(error) => Some(error.kind()),
        _ => None,
    }
}

/// `before` is the text before the mistake.
fn advice(error: &Error, before: &str) -> Option<&'static str> {
    let Some(kind) = parser_error(error) else {
        let is_key = matches!(error, Error::Unexpected { expected: "string scalar", .. });
        return is_key.then_some("keys are text, numbers or booleans");
    };
    // A single word before the colon is a key at a wrong indentation, rather than a text.
    let line = before.rsplit('\n').next().unwrap_or_default().trim().trim_start_matches("- ");
    let is_key = !line.trim_matches(['"', '\'']).contains(|c: char| c.is_whitespace() || c == ':');
    Some(match kind {
        ErrorKind::MappingValueNotAllowed if is_key && before.contains('\n') => {
            "indent this key like the keys next to it; text that holds `: ` belongs in quotes"
        }
        ErrorKind::MappingValueNotAllowed => "put text that holds `: ` in quotes",
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInPlainScalar => {
            "indent with spaces instead of tabs"
        }
        ErrorKind::ExpectedBlockSequenceEntry => "indent the keys of an item like its first key",
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::InvalidFlowScalarIndent => "indent every line of the text deeper than its key",
        ErrorKind::UnexpectedCharacter { .. } => "put text that holds special characters in quotes",
        ErrorKind::ExpectedBlockMappingKey => "indent all keys of a mapping alike",
        _ => return None,
    })
}

/// Spans of the nodes of the tree. A place behind an alias or a merge is that of the alias or the merge.
pub(super) fn spans(text: &str, tree: &PointerTree<'_>) -> Vec<Option<Span>> {
    let scan = |several| {
        Scan { tree, found: vec![None; tree.len()], open: Vec::new(), several, documents: 0 }.run(text)
    };
    scan(false).or_else(|| scan(true)).unwrap_or_default()
}

/// Follows the events of the parser through the tree.
struct Scan<'a> {
    tree: &'a PointerTree<'a>,
    found: Vec<Option<Span>>,
    open: Vec<Open>,
    /// Whether the value of the stream is the array of its documents.
    several: bool,
    documents: usize,
}

/// A collection whose end is still to come.
struct Open {
    spot: Spot,
    start: usize,
    inside: Inside,
}

enum Inside {
    Sequence { next: usize },
    Mapping { value: Option<Spot> },
}

/// Target of a value: its node, if it is wanted, and the start of its key.
#[derive(Clone, Copy, Default)]
struct Spot {
    node: Option<NodeId>,
    key: Option<usize>,
}

impl Scan<'_> {
    /// Returns `None` when the stream has several documents and only one was expected.
    fn run(mut self, text: &str) -> Option<Vec<Option<Span>>> {
        let options = serde_saphyr::granit_parser::options! { emit_comments: false };
        for step in Parser::new_from_str_with_options(text, options) {
            let Ok((event, span)) = step else { break };
            let start = span.start.byte_offset().unwrap_or_default();
            let end = span.end.byte_offset().unwrap_or(start);
            match event {
                Event::Scalar(value, style, _, tag) => {
                    let plain = style == ScalarStyle::Plain && tag.is_none();
                    let null = plain && matches!(&*value, "" | "~" | "null" | "Null" | "NULL");
                    if let Some(spot) = self.spot(start, Some(&value), null)? {
                        self.record(spot, start, end);
                    }
                }
                Event::Alias(_) => {
                    if let Some(spot) = self.spot(start, None, false)? {
                        self.record(spot, start, end);
                    }
                }
                Event::SequenceStart(..) => self.begin(start, Inside::Sequence { next: 0 })?,
                Event::MappingStart(..) => self.begin(start, Inside::Mapping { value: None })?,
                Event::SequenceEnd | Event::MappingEnd => {
                    if let Some(open) = self.open.pop() {
                        self.record(open.spot, open.start, end);
                    }
                }
                _ => {}
            }
        }
        if self.several {
            self.record(Spot { node: Some(ROOT), key: None }, 0, text.len());
        }
        Some(self.found)
    }

    fn begin(&mut self, start: usize, inside: Inside) -> Option<()> {
        let spot = self.spot(start, None, false)?.unwrap_or_default();
        self.open.push(Open { spot, start, inside });
        Some(())
    }

    /// The spot of the node that starts here. The inner option is `None` for a key, the outer one for a second
    /// document too many.
    fn spot(&mut self, start: usize, text: Option<&str>, null: bool) -> Option<Option<Spot>> {
        let Some(open) = self.open.last_mut() else {
            // A document that is null does not count.
            if null {
                return Some(None);
            }
            self.documents += 1;
            if !self.several && self.documents > 1 {
                return None;
            }
            let node = if self.several { self.tree.element(ROOT, self.documents - 1) } else { Some(ROOT) };
            return Some(Some(Spot { node, key: None }));
        };
        let parent = open.spot.node;
        match &mut open.inside {
            Inside::Sequence { next } => {
                *next += 1;
                let node = parent.and_then(|parent| self.tree.element(parent, *next - 1));
                Some(Some(Spot { node, key: None }))
            }
            Inside::Mapping { value: value @ Some(_) } => Some(value.take()),
            Inside::Mapping { value } => {
                let node = parent.zip(text).and_then(|(parent, name)| self.tree.member(parent, name));
                *value = Some(Spot { node, key: Some(start) });
                Some(None)
            }
        }
    }

    fn record(&mut self, spot: Spot, start: usize, end: usize) {
        if let Some(slot) = spot.node.and_then(|node| self.found.get_mut(node)) {
            *slot = Some(Span { key: spot.key, value: start..end });
        }
    }
}

#[cfg(test)]
#[path = "tests/yaml.rs"]
mod tests;
