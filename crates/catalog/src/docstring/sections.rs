//! Sections of a docstring: the headings and fields that open them, and the lines on which they end.

use super::lines::{indent, is_name};
use toolcrib_definition::markdown::{Fences, bullet};

/// The section that a heading opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Arguments,
    Returns,
    Examples,
    Notes,
    Raises,
}

/// Notation of a heading. It decides where the block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `Args:` or `**Args**`.
    Plain,
    /// `Note: text`, which ends with its paragraph.
    Inline,
    /// `## Args`, or a line of dashes below.
    Markdown,
}

/// A heading and the place of its content.
pub(super) struct Heading<'a> {
    pub(super) section: Section,
    pub(super) inline: &'a str,
    /// The first line after the heading.
    pub(super) content: usize,
    style: Style,
}

/// A field: `:param name: text` of Sphinx, `@param name: text` of Epytext.
pub(super) enum Field<'a> {
    Argument { name: &'a str, kind: &'a str, about: &'a str },
    Returns(&'a str),
    ReturnType(&'a str),
    Raises(&'a str),
}

const HEADINGS: [(Section, &[&str]); 5] = [
    (Section::Arguments, &["args", "arguments", "parameters", "params", "input parameters", "keyword args"]),
    (Section::Returns, &["return", "returns", "yields", "yield"]),
    (Section::Raises, &["raises", "raise", "throws"]),
    (
        Section::Examples,
        &["example", "examples", "example usage", "usage example", "usage examples", "usage"],
    ),
    (Section::Notes, &["note", "notes", "tip", "tips"]),
];

/// The heading at a line, if there is one.
pub(super) fn heading<'a>(lines: &[&'a str], at: usize) -> Option<Heading<'a>> {
    let line = lines[at].trim();
    let below = lines.get(at + 1).map_or("", |line| line.trim());
    let underlined =
        below.len() >= 3 && (below.bytes().all(|b| b == b'-') || below.bytes().all(|b| b == b'='));
    let hashed = line.trim_start_matches('#');
    let is_hashed = hashed.len() < line.len() && hashed.starts_with(' ');
    if let Some(section) = section_of(hashed) {
        let marked = line.trim_end_matches(['*', '_']).ends_with(':') || line.starts_with("**");
        let style = if underlined || is_hashed { Style::Markdown } else { Style::Plain };
        let content = at + 1 + usize::from(underlined);
        let heading = Heading { section, inline: "", content, style };
        return (marked || style == Style::Markdown).then_some(heading);
    }
    let (word, inline) = line.split_once(':').filter(|(_, text)| text.starts_with([' ', '*']))?;
    let inline = inline.trim_start_matches('*').trim_start();
    let section = section_of(word).filter(|section| matches!(section, Section::Returns | Section::Notes))?;
    let starts_paragraph = at.checked_sub(1).is_none_or(|above| lines[above].trim().is_empty());
    let heading = Heading { section, inline, content: at + 1, style: Style::Inline };
    (starts_paragraph && !inline.is_empty()).then_some(heading)
}

fn section_of(text: &str) -> Option<Section> {
    let word = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ':'));
    let is_capital = word.starts_with(|c: char| c.is_ascii_uppercase());
    let has_it = |(_, names): &&(Section, &[&str])| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    is_capital.then(|| HEADINGS.iter().find(has_it))?.map(|(section, _)| *section)
}

/// The line after the block of a heading.
pub(super) fn block_end(lines: &[&str], at: usize, heading: &Heading<'_>) -> usize {
    let outer = indent(lines[at]);
    let first = lines[heading.content..].iter().find(|line| !line.trim().is_empty());
    let indented = first.is_some_and(|line| indent(line) > outer);
    let bulleted = first.is_some_and(|line| bullet(line).is_some());
    let mut fences = Fences::default();
    let mut blank =
        heading.style == Style::Inline && lines.get(heading.content).is_none_or(|l| l.trim().is_empty());
    let mut any = heading.style == Style::Inline;
    let mut end = heading.content;
    for (index, line) in lines.iter().enumerate().skip(heading.content) {
        if line.trim().is_empty() {
            blank = any;
            continue;
        }
        let starts_section = self::heading(lines, index).is_some() || field(line).is_some();
        let outdented = match heading.style {
            Style::Markdown => line.starts_with('#'),
            Style::Inline => blank,
            Style::Plain if indented => indent(line) <= outer,
            Style::Plain => (blank && !(bulleted && bullet(line).is_some())) || line.starts_with('#'),
        };
        if !fences.are_open() && (starts_section || outdented) {
            break;
        }
        fences.holds(line);
        (blank, any, end) = (false, true, index + 1);
    }
    end
}

/// A field at a line.
pub(super) fn field(line: &str) -> Option<Field<'_>> {
    let line = line.trim().strip_prefix([':', '@'])?;
    let (words, about) = line.split_once(':')?;
    let about = about.trim();
    let (tag, rest) = words.split_once(' ').unwrap_or((words, ""));
    let (kind, name) = rest.trim().rsplit_once(' ').unwrap_or(("", rest.trim()));
    let kind = kind.trim();
    match tag {
        "return" | "returns" | "yields" if rest.is_empty() && !about.is_empty() => {
            Some(Field::Returns(about))
        }
        "rtype" if rest.is_empty() => Some(Field::ReturnType(about)),
        "param" | "parameter" | "arg" | "key" | "keyword" if is_name(name) => {
            Some(Field::Argument { name, kind, about })
        }
        "type" if is_name(name) && kind.is_empty() => Some(Field::Argument { name, kind: about, about: "" }),
        "raises" | "raise" | "except" if !rest.is_empty() => Some(Field::Raises(line.split_once(' ')?.1)),
        _ => None,
    }
}
