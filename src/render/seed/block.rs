//! Our block in a file of the user: only the text between two marker lines is ours.

use std::ops::Range;

const BEGIN: &str = "<!-- toolcrib:begin -->";
const END: &str = "<!-- toolcrib:end -->";

/// Result of an update.
#[derive(Debug, PartialEq)]
pub(super) enum BlockUpdate {
    /// The text with our block renewed, or added at the end.
    Text(String),
    /// The template has no block.
    NoBlock,
    /// The markers do not show which part of the text is ours.
    Unclear,
}

/// The user's text with the block of the template. Outside of one well-formed block no byte changes.
pub(super) fn renew(existing: &str, template: &str) -> BlockUpdate {
    let Block::One(ours) = find(template) else { return BlockUpdate::NoBlock };
    let block = &template[ours];
    let renewed = match find(existing) {
        Block::One(old) => format!("{}{block}{}", &existing[..old.start], &existing[old.end..]),
        Block::None if existing.is_empty() => format!("{block}\n"),
        Block::None => format!("{existing}{}{block}\n", gap(existing)),
        Block::Unclear => return BlockUpdate::Unclear,
    };
    // A block at the end of a code fence that is still open would not be found again.
    match find(&renewed) {
        Block::One(range) if renewed[range.clone()] == *block => BlockUpdate::Text(renewed),
        _ => BlockUpdate::Unclear,
    }
}

/// Whether values hide the block of a template: where it was clear which part of a file is ours, it no longer is.
pub(super) fn hides_block(template: &str, rendered: &str) -> bool {
    matches!(find(template), Block::One(_)) && matches!(find(rendered), Block::Unclear)
}

/// Line breaks that put one blank line after a text.
fn gap(text: &str) -> &'static str {
    let mut ends = text.rsplit('\n').map(|line| line.trim_end_matches('\r').is_empty());
    match (ends.next(), ends.next()) {
        (Some(true), Some(true)) => "",
        (Some(true), _) => "\n",
        _ => "\n\n",
    }
}

enum Block {
    None,
    One(Range<usize>),
    Unclear,
}

fn find(text: &str) -> Block {
    let mut fence: Option<(char, usize)> = None;
    let (mut begin, mut end) = (None, None);
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let inner = line.trim_start_matches('\u{feff}').trim();
        let start = offset + line.find(inner).unwrap_or_default();
        offset += line.len();
        if inner == BEGIN || inner == END {
            let place = if inner == BEGIN { &mut begin } else { &mut end };
            if fence.is_some() || is_code(line) || place.replace(start..start + inner.len()).is_some() {
                return Block::Unclear;
            }
        } else if !is_code(line) {
            fence = after(fence, inner);
        }
    }
    match (begin, end) {
        (None, None) => Block::None,
        (Some(begin), Some(end)) if begin.end < end.start => Block::One(begin.start..end.end),
        _ => Block::Unclear,
    }
}

/// Whether markdown takes the line for code because of its indent.
fn is_code(line: &str) -> bool {
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    indent.len() > 3 || indent.contains('\t')
}

/// The code fence that is open after a line: its character and its length.
fn after(open: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let Some(mark) = line.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return open };
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    match open {
        None if length >= 3 && !(mark == '`' && rest.contains('`')) => Some((mark, length)),
        Some((opened, least)) if mark == opened && length >= least && rest.is_empty() => None,
        _ => open,
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockUpdate, renew};

    const TEMPLATE: &str = "# T\n\n<!-- toolcrib:begin -->\nnew\n<!-- toolcrib:end -->\n";

    #[track_caller]
    fn check(existing: &str, expect: &str) {
        let [existing, expect] = [existing, expect]
            .map(|text| text.replace("[[", "<!-- toolcrib:begin -->").replace("]]", "<!-- toolcrib:end -->"));
        assert_eq!(renew(&existing, TEMPLATE), BlockUpdate::Text(expect.clone()));
        assert_eq!(renew(&expect, TEMPLATE), BlockUpdate::Text(expect), "not stable");
    }

    #[test]
    fn only_our_block_of_the_users_file_changes() {
        check("Mine.\n", "Mine.\n\n[[\nnew\n]]\n");
        check("Mine.", "Mine.\n\n[[\nnew\n]]\n");
        check("Mine.\r\n\r\n\n", "Mine.\r\n\r\n\n[[\nnew\n]]\n");
        check("", "[[\nnew\n]]\n");
        check("\n", "\n[[\nnew\n]]\n");
        check("a\n[[\nold\n]]\nb\n", "a\n[[\nnew\n]]\nb\n");
        check("\u{feff}  [[ \r\nold\r\n]]\t\r\nb", "\u{feff}  [[\nnew\n]]\t\r\nb");
        assert_eq!(renew("Mine.\n", "no block"), BlockUpdate::NoBlock);
    }

    #[test]
    fn a_line_that_only_mentions_a_marker_is_the_users_text() {
        check(
            "Keep `[[` as it is.\nMine.\n- [[\n> ]]\n\n[[\nold\n]]\n",
            "Keep `[[` as it is.\nMine.\n- [[\n> ]]\n\n[[\nnew\n]]\n",
        );
        check("Mind the [[ line.\n", "Mind the [[ line.\n\n[[\nnew\n]]\n");
    }

    #[test]
    fn markers_that_do_not_pair_or_are_code_leave_the_file_alone() {
        for existing in [
            "[[\nold\n\nMine.\n",
            "Mine.\n]]\n",
            "]]\nMine.\n[[\n",
            "[[\nold\n\nMine.\n\n[[\nold\n]]\n",
            "[[\nold\n]]\nMine.\n[[\nold\n]]\n",
            "[[\nold\n]]\nMine.\n]]\n",
            "```html\n[[\n]]\n```\n",
            "~~~~\n~~~\n[[\n]]\n",
            "Like this:\n\n    [[\n    ]]\n",
            "\t[[\n\t]]\n",
            "[[\nold\n]]\n```\n[[\n]]\n```\n",
            "[[\nold\n```\nopen\n]]",
            "```\na fence that is never closed\n",
        ] {
            let text = existing.replace("[[", super::BEGIN).replace("]]", super::END);
            assert_eq!(renew(&text, TEMPLATE), BlockUpdate::Unclear, "{existing:?}");
        }
    }
}
