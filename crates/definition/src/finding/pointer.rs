//! Joins and splits JSON Pointers (RFC 6901), and finds the lines and columns that they lead to.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashMap;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::{Document, Finding};

/// A pointer with one more segment.
pub fn pointer_join(pointer: &str, segment: impl std::fmt::Display) -> String {
    let segment = segment.to_string();
    let mut joined = String::with_capacity(pointer.len() + 1 + segment.len());
    joined.push_str(pointer);
    pointer_push(&mut joined, &segment);
    joined
}

/// A pointer with several more segments.
pub fn pointer_to(pointer: &str, segments: &[&str]) -> String {
    let mut joined = pointer.to_string();
    segments.iter().for_each(|segment| pointer_push(&mut joined, segment));
    joined
}

/// Appends a segment to a pointer in place; for walks that visit every value.
pub fn pointer_push(pointer: &mut String, segment: &str) {
    pointer.push('/');
    if !segment.contains(['~', '/']) {
        return pointer.push_str(segment);
    }
    for c in segment.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// The pointer of the parent, and the name in the last segment; `None` for the whole document.
pub fn pointer_split(pointer: &str) -> Option<(&str, Cow<'_, str>)> {
    pointer.rsplit_once('/').map(|(parent, last)| (parent, pointer_unescape(last)))
}

/// The name that a segment stands for: `~1` is `/` and `~0` is `~`.
pub fn pointer_unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') { segment.replace("~1", "/").replace("~0", "~").into() } else { segment.into() }
}

// Many JSON pointers as one tree, so that one pass over a text finds them all.

/// Pointers with more segments than this lead nowhere: no document is that deep.
const MAX_SEGMENTS: usize = 256;

/// A node of the tree: a wanted place, or one on the way to it.
pub(super) type NodeId = usize;

/// The whole document.
pub(super) const ROOT: NodeId = 0;

/// Pointers as a tree. Those with a common beginning share its nodes; a parent comes before its children.
pub(super) struct PointerTree<'p> {
    nodes: Vec<Node<'p>>,
}

#[derive(Default)]
struct Node<'p> {
    parent: NodeId,
    segment: Cow<'p, str>,
    children: HashMap<Cow<'p, str>, NodeId>,
}

/// Where a value is in its text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Where its key starts, for a member of an object.
    pub(super) key: Option<usize>,
    /// The value itself.
    pub(super) value: Range<usize>,
}

impl Span {
    /// The place to show people: the key of a member, otherwise the value.
    pub(super) fn start(&self) -> usize {
        self.key.unwrap_or(self.value.start)
    }
}

impl<'p> PointerTree<'p> {
    /// The tree, and the node of each pointer; `None` for an invalid pointer.
    pub(super) fn new(pointers: impl Iterator<Item = &'p str>) -> (Self, Vec<Option<NodeId>>) {
        let mut tree = Self { nodes: vec![Node::default()] };
        let ends = pointers.map(|pointer| tree.insert(pointer)).collect();
        (tree, ends)
    }

    fn insert(&mut self, pointer: &'p str) -> Option<NodeId> {
        if pointer.is_empty() {
            return Some(ROOT);
        }
        let segments = pointer.strip_prefix('/')?.split('/');
        if segments.clone().nth(MAX_SEGMENTS).is_some() {
            return None;
        }
        let mut node = ROOT;
        for segment in segments.map(pointer_unescape) {
            node = match self.member(node, &segment) {
                Some(child) => child,
                None => self.add(node, segment),
            };
        }
        Some(node)
    }

    fn add(&mut self, parent: NodeId, segment: Cow<'p, str>) -> NodeId {
        let child = self.nodes.len();
        if let Some(node) = self.nodes.get_mut(parent) {
            node.children.insert(segment.clone(), child);
        }
        self.nodes.push(Node { parent, segment, ..Node::default() });
        child
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing is wanted below this node.
    pub(super) fn is_leaf(&self, node: NodeId) -> bool {
        self.nodes.get(node).is_none_or(|node| node.children.is_empty())
    }

    /// The child of this name.
    pub(super) fn member(&self, node: NodeId, name: &str) -> Option<NodeId> {
        self.nodes.get(node)?.children.get(name).copied()
    }

    /// The child of this index.
    pub(super) fn element(&self, node: NodeId, index: usize) -> Option<NodeId> {
        self.member(node, &index.to_string())
    }

    /// Every node but the root with its parent and its segment; parents first.
    pub(super) fn children(&self) -> impl Iterator<Item = (NodeId, NodeId, &str)> {
        self.nodes.iter().enumerate().skip(1).map(|(id, node)| (id, node.parent, node.segment.as_ref()))
    }

    /// The span of a node, or of its nearest ancestor that has one.
    pub(super) fn nearest<'s>(&self, mut node: NodeId, spans: &'s [Option<Span>]) -> Option<&'s Span> {
        loop {
            match spans.get(node) {
                Some(Some(span)) => return Some(span),
                _ if node == ROOT => return None,
                _ => node = self.nodes.get(node)?.parent,
            }
        }
    }
}

// The lines and columns of findings, in one pass per document.

/// Fills in missing lines and columns of all findings whose file is among the documents.
///
/// A member of an object is shown at its key, an element of an array at its value, and a missing field at the nearest
/// existing value around it.
pub fn locate(documents: &[Document], findings: &mut [Finding]) {
    let mut by_file: std::collections::HashMap<&str, Vec<usize>> = Default::default();
    for (index, finding) in findings.iter().enumerate() {
        if let Some(place) = finding.place.as_ref().filter(|place| place.line.is_none()) {
            by_file.entry(&place.file).or_default().push(index);
        }
    }
    let mut located = Vec::new();
    for document in documents {
        if let Some(wanted) = by_file.remove(document.file.as_str()) {
            locate_in(document, findings, &wanted, &mut located);
        }
    }
    for (index, (line, column)) in located {
        if let Some(place) = findings.get_mut(index).and_then(|finding| finding.place.as_mut()) {
            (place.line, place.column) = (Some(line), Some(column));
        }
    }
}

fn locate_in(
    document: &Document,
    findings: &[Finding],
    wanted: &[usize],
    located: &mut Vec<(usize, (usize, usize))>,
) {
    let pointer = |index: &usize| findings.get(*index)?.place.as_ref().map(|place| place.pointer.as_str());
    let (tree, ends) = PointerTree::new(wanted.iter().map(|index| pointer(index).unwrap_or_default()));
    let spans = document.spans(&tree);
    let start = |end: &Option<usize>| Some(tree.nearest((*end)?, &spans)?.start());
    let mut starts: Vec<(usize, usize)> =
        ends.iter().zip(wanted).map(|(end, index)| (start(end).unwrap_or(0), *index)).collect();
    starts.sort_unstable();
    let mut cursor = Cursor::new(&document.text);
    located.extend(starts.into_iter().map(|(offset, index)| (index, cursor.seek(offset))));
}

// Byte offsets to lines and columns and back, in one pass over the text.

/// A place in a text that only moves forward, so that many look-ups in order take one pass.
pub(super) struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
    column: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, offset: 0, line: 1, column: 1 }
    }

    /// Line and column, from 1, of a byte offset that is not before the last one.
    pub(super) fn seek(&mut self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        if let Some(passed) = self.text.get(self.offset..end) {
            match passed.rfind('\n') {
                Some(last) => {
                    self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
                    self.column = 1 + passed.get(last + 1..).map_or(0, |rest| rest.chars().count());
                }
                None => self.column += passed.chars().count(),
            }
            self.offset = end;
        }
        (self.line, self.column)
    }

    /// The byte offset of a line and column that are not before the last ones; the end of the line if it is shorter.
    pub(super) fn find(&mut self, line: usize, column: usize) -> Option<usize> {
        while self.line < line {
            self.offset += self.text.get(self.offset..)?.find('\n')? + 1;
            self.line += 1;
            self.column = 1;
        }
        let rest = self.text.get(self.offset..)?;
        for c in rest.chars().take_while(|c| *c != '\n').take(column.saturating_sub(self.column)) {
            self.offset += c.len_utf8();
            self.column += 1;
        }
        Some(self.offset)
    }
}

// References (`$ref`), resolved within their document. Nothing is ever fetched.

/// The value that a reference leads to by a pointer into the same document.
pub fn resolve_local<'a>(reference: &str, root: &'a Value) -> Option<&'a Value> {
    root.pointer(&percent_decoded(reference.strip_prefix('#')?))
}

/// Decodes the percent signs in a fragment of a URI.
pub fn percent_decoded(fragment: &str) -> Cow<'_, str> {
    percent_decode_str(fragment).decode_utf8_lossy()
}

/// The names of the schemas in a document, with their pointers. Of equal names, the first wins.
#[derive(Debug, Default)]
pub struct SchemaNames {
    pointers: HashMap<String, String>,
    /// Pointers to the schemas below the root that have an `$id`.
    bases: Vec<String>,
}

impl SchemaNames {
    /// Reads the names given by anchors and by these keywords: `$id`, and `id` in old drafts.
    pub fn of(document: &Value, id_keywords: &[&str]) -> Self {
        let mut names = Self::default();
        if has_names(document, id_keywords) {
            names.read(document, &mut String::new(), id_keywords);
        }
        names
    }

    /// The schema that has this name: an id as it is written, or `#` and an anchor.
    pub fn pointer(&self, name: &str) -> Option<&str> {
        self.pointers.get(name).map(String::as_str)
    }

    /// The pointer of the innermost schema with an `$id` around a place; empty for the root.
    pub fn base(&self, place: &str) -> &str {
        let holds = |base: &&String| {
            place.strip_prefix(base.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.bases.iter().filter(holds).max_by_key(|base| base.len()).map_or("", String::as_str)
    }

    fn read(&mut self, value: &Value, at: &mut String, id_keywords: &[&str]) {
        match value {
            Value::Object(object) => {
                for (key, child) in object {
                    match child {
                        Value::String(id) if id_keywords.contains(&key.as_str()) => {
                            self.pointers.entry(id.clone()).or_insert_with(|| at.clone());
                            if key == "$id" && !at.is_empty() && !id.starts_with('#') {
                                self.bases.push(at.clone());
                            }
                        }
                        Value::String(anchor) if is_anchor(key) => {
                            self.pointers.entry(format!("#{anchor}")).or_insert_with(|| at.clone());
                        }
                        _ => self.step(key, child, at, id_keywords),
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.step(&index.to_string(), item, at, id_keywords);
                }
            }
            _ => {}
        }
    }

    fn step(&mut self, segment: &str, value: &Value, at: &mut String, id_keywords: &[&str]) {
        if value.is_object() || value.is_array() {
            let before = at.len();
            pointer_push(at, segment);
            self.read(value, at, id_keywords);
            at.truncate(before);
        }
    }
}

fn is_anchor(key: &str) -> bool {
    matches!(key, "$anchor" | "$dynamicAnchor")
}

/// Whether a value, which may be a schema, contains the name of a schema.
fn has_names(value: &Value, id_keywords: &[&str]) -> bool {
    let is_name = |key: &str| is_anchor(key) || id_keywords.contains(&key);
    match value {
        Value::Object(object) => object
            .iter()
            .any(|(key, child)| is_name(key) && child.is_string() || has_names(child, id_keywords)),
        Value::Array(items) => items.iter().any(|item| has_names(item, id_keywords)),
        _ => false,
    }
}

#[cfg(test)]
#[path = "tests/place.rs"]
mod place_tests;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_is_followed_through_percent_signs_and_escapes() {
        let root = json!({ "$defs": { "a b/c": 1, "50%": 2 } });
        assert_eq!(resolve_local("#/$defs/a%20b~1c", &root), Some(&json!(1)));
        assert_eq!(resolve_local("#/%24defs/50%25", &root), Some(&json!(2)));
        assert_eq!(resolve_local("#/$defs/50%", &root), Some(&json!(2)));
        assert_eq!(resolve_local("other.json#/$defs/50%", &root), None);
    }

    #[test]
    fn the_first_schema_of_a_name_has_it() {
        let root = json!({ "a": { "$id": "x", "b": { "$anchor": "y" } }, "c": [{ "$id": "x" }], "d": { "id": "z" } });
        let names = SchemaNames::of(&root, &["$id"]);
        assert_eq!(
            (names.pointer("x"), names.pointer("#y"), names.pointer("z")),
            (Some("/a"), Some("/a/b"), None)
        );
        assert_eq!((names.base("/a/b/e"), names.base("/ab"), names.base("/c/0")), ("/a", "", "/c/0"));
    }
}
