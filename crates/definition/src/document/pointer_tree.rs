//! Many JSON pointers as one tree, so that one pass over a text finds them all.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashMap;

use super::pointer::pointer_unescape;

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
    pub(super) fn nearest<'s>(&self, node: NodeId, spans: &'s [Option<Span>]) -> Option<&'s Span> {
        let parent = |node: &NodeId| if *node == ROOT { None } else { Some(self.nodes.get(*node)?.parent) };
        std::iter::successors(Some(node), parent).find_map(|node| spans.get(node)?.as_ref())
    }
}
