//! JSON Pointers (RFC 6901), put together and taken apart.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashMap;

/// A pointer with one more segment.
pub fn pointer_join(pointer: &str, segment: impl std::fmt::Display) -> String {
    let segment = segment.to_string();
    let mut joined = String::with_capacity(pointer.len() + 1 + segment.len());
    joined.push_str(pointer);
    pointer_push(&mut joined, &segment);
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

/// The pointer of the parent, and the last segment as the name that it stands for; the whole document has neither.
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

/// A node of the tree: one place that is wanted, or leads to one.
pub(super) type NodeId = usize;

/// The whole document.
pub(super) const ROOT: NodeId = 0;

/// Pointers that share a beginning share the nodes of it; a parent comes before its children.
pub(super) struct PointerTree<'p> {
    nodes: Vec<Node<'p>>,
}

#[derive(Default)]
struct Node<'p> {
    parent: NodeId,
    segment: Cow<'p, str>,
    members: HashMap<Cow<'p, str>, NodeId>,
    elements: HashMap<usize, NodeId>,
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
    /// Where to point people at: the key of a member, otherwise the value.
    pub(super) fn start(&self) -> usize {
        self.key.unwrap_or(self.value.start)
    }
}

impl<'p> PointerTree<'p> {
    /// The tree, and the node of each pointer; none for what is no pointer.
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
            if let Some(index) = element_index(&segment) {
                node.elements.insert(index, child);
            }
            node.members.insert(segment.clone(), child);
        }
        self.nodes.push(Node { parent, segment, ..Node::default() });
        child
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing is wanted below this node.
    pub(super) fn is_leaf(&self, node: NodeId) -> bool {
        self.nodes.get(node).is_none_or(|node| node.members.is_empty())
    }

    /// The child of this name.
    pub(super) fn member(&self, node: NodeId, name: &str) -> Option<NodeId> {
        self.nodes.get(node)?.members.get(name).copied()
    }

    /// The child of this index.
    pub(super) fn element(&self, node: NodeId, index: usize) -> Option<NodeId> {
        self.nodes.get(node)?.elements.get(&index).copied()
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

/// The index that a segment means in an array: digits without a sign or a leading zero.
pub(super) fn element_index(segment: &str) -> Option<usize> {
    let canonical = segment == "0" || !segment.starts_with(['0', '+']);
    segment.parse().ok().filter(|_| canonical)
}
