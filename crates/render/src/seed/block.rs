//! Our block in a file of the user: only the text between two marker lines is ours.

use std::ops::Range;
use std::path::Path;

use super::obstacles::refuse_others;

/// The change that seeding makes to one file.
#[derive(Debug, PartialEq)]
pub(super) enum Change {
    Write(Vec<u8>),
    /// It is the user's, and the template has no block for it.
    Keep,
    /// The markers of our block do not pair.
    Unclear,
    None,
}

impl Change {
    /// A file is written where none is, and our block in one of the user's is renewed unless that has to `wait`.
    pub(super) fn of(workspace: &Path, name: &str, content: Vec<u8>, wait: bool) -> std::io::Result<Self> {
        let target = workspace.join(name);
        refuse_others(&target)?;
        let existing = match std::fs::read(&target) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::Write(content)),
            existing => existing?,
        };
        if existing == content {
            return Ok(Self::None);
        }
        let (Ok(existing), Ok(content)) = (std::str::from_utf8(&existing), std::str::from_utf8(&content))
        else {
            return Ok(Self::Keep);
        };
        Ok(match renew(existing, content) {
            Self::Write(_) if wait => Self::Keep,
            change => change,
        })
    }
}

const BEGIN: &str = "<!-- toolcrib:begin -->";
const END: &str = "<!-- toolcrib:end -->";

/// Renews the block of the template in the user's text, with line breaks as the text has them. Outside of one well-formed
/// block no byte changes.
fn renew(existing: &str, template: &str) -> Change {
    let Block::One(ours) = find(template) else { return Change::Keep };
    let line_break = if existing.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) {
        "\r\n"
    } else {
        "\n"
    };
    let block = &template[ours].replace("\r\n", "\n").replace('\n', line_break);
    let renewed = match find(existing) {
        Block::One(old) => format!("{}{block}{}", &existing[..old.start], &existing[old.end..]),
        Block::None => format!("{existing}{}{block}{line_break}", line_break.repeat(gap(existing))),
        Block::Unclear => return Change::Unclear,
    };
    // A block at the end of a code fence that is still open would not be found again.
    match find(&renewed) {
        Block::One(range) if renewed[range.clone()] == *block => {
            if renewed == existing {
                Change::None
            } else {
                Change::Write(renewed.into_bytes())
            }
        }
        _ => Change::Unclear,
    }
}

/// Whether values hide the block of a template: where it was clear which part of a file is ours, it no longer is.
pub(super) fn hides_block(template: &str, rendered: &str) -> bool {
    matches!(find(template), Block::One(_)) && matches!(find(rendered), Block::Unclear)
}

/// Number of line breaks that put one blank line after a text.
fn gap(text: &str) -> usize {
    let mut ends = text.rsplit('\n').map(|line| line.trim_end_matches('\r').is_empty());
    match (ends.next(), ends.next()) {
        _ if text.is_empty() => 0,
        (Some(true), Some(true)) => 0,
        (Some(true), _) => 1,
        _ => 2,
    }
}

enum Block {
    None,
    One(Range<usize>),
    Unclear,
}

fn find(text: &str) -> Block {
    let mut fence: Option<(char, usize)> = None;
    let mut begin = None;
    let mut end = None;
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
    use super::{Change, renew};

    const TEMPLATE: &str = "# T\n\n<!-- toolcrib:begin -->\nnew\n<!-- toolcrib:end -->\n";

    #[track_caller]
    fn check(existing: &str, expect: &str) {
        let [existing, expect] = [existing, expect]
            .map(|text| text.replace("[[", "<!-- toolcrib:begin -->").replace("]]", "<!-- toolcrib:end -->"));
        assert_eq!(renew(&existing, TEMPLATE), Change::Write(expect.clone().into_bytes()));
        assert_eq!(renew(&expect, TEMPLATE), Change::None, "not stable");
    }

    #[test]
    fn only_our_block_of_the_users_file_changes() {
        check("Mine.\n", "Mine.\n\n[[\nnew\n]]\n");
        check("Mine.", "Mine.\n\n[[\nnew\n]]\n");
        check("Mine.\r\n", "Mine.\r\n\r\n[[\r\nnew\r\n]]\r\n");
        check("Mine.\n\r\n\n", "Mine.\n\r\n\n[[\nnew\n]]\n");
        check("", "[[\nnew\n]]\n");
        check("\n", "\n[[\nnew\n]]\n");
        check("a\n[[\nold\n]]\nb\n", "a\n[[\nnew\n]]\nb\n");
        check("\u{feff}  [[ \r\nold\r\n]]\t\r\nb", "\u{feff}  [[\r\nnew\r\n]]\t\r\nb");
        assert_eq!(renew("Mine.\n", "no block"), Change::Keep);
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
            assert_eq!(renew(&text, TEMPLATE), Change::Unclear, "{existing:?}");
        }
    }
}
