//! Texts that stand for the bytes of a file: what a schema says of them.

use super::Node;
use crate::media_type::{essence, is_text};

/// Deepest unions and lists in which a schema says that its values are files.
const MAX_DEPTH: usize = 8;

/// What a schema says of the files that are its values.
#[derive(Clone, Copy, Debug)]
pub struct FileContent<'s> {
    /// Whether a value is base64, and never text.
    pub is_encoded: bool,
    /// The media type of the content.
    pub media: Option<&'s str>,
}

impl<'s> FileContent<'s> {
    /// What a schema says, if its values, or the items of its lists, are files.
    pub fn of(node: &Node<'s>) -> Option<Self> {
        Self::within(node, 0)
    }

    fn within(node: &Node<'s>, depth: usize) -> Option<Self> {
        let limits = &node.limits;
        let is_encoded = limits.encoding.is_some_and(|encoding| encoding.starts_with("base64"))
            || matches!(limits.format, Some("byte" | "base64" | "base64url"));
        let is_binary = [limits.format, limits.encoding].contains(&Some("binary"));
        // The content of a text may be JSON or HTML, and is no file then.
        let media = limits.media.filter(|media| !is_text(&essence(media)));
        if is_encoded || is_binary || media.is_some() {
            return Some(Self { is_encoded, media: limits.media });
        }
        let inner = |node: &Node<'s>| if depth < MAX_DEPTH { Self::within(node, depth + 1) } else { None };
        let items = node.items();
        items.as_ref().and_then(inner).or_else(|| node.variants().find_map(|variant| inner(&variant)))
    }
}
