//! The lines of a docstring: headings, the ends of their blocks, and the items in them.

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

/// A Sphinx field: `:param name: text`.
pub(super) enum Field<'a> {
    Argument { name: &'a str, kind: &'a str, about: &'a str },
    Returns(&'a str),
    Raises(&'a str),
}

const HEADINGS: [(&str, Section); 22] = [
    ("args", Section::Arguments),
    ("arguments", Section::Arguments),
    ("parameters", Section::Arguments),
    ("params", Section::Arguments),
    ("input parameters", Section::Arguments),
    ("return", Section::Returns),
    ("returns", Section::Returns),
    ("yields", Section::Returns),
    ("yield", Section::Returns),
    ("raises", Section::Raises),
    ("raise", Section::Raises),
    ("throws", Section::Raises),
    ("example", Section::Examples),
    ("examples", Section::Examples),
    ("example usage", Section::Examples),
    ("usage example", Section::Examples),
    ("usage examples", Section::Examples),
    ("usage", Section::Examples),
    ("note", Section::Notes),
    ("notes", Section::Notes),
    ("tip", Section::Notes),
    ("tips", Section::Notes),
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
        return (marked || style == Style::Markdown).then_some(Heading {
            section,
            inline: "",
            content,
            style,
        });
    }
    let (word, inline) = line.split_once(':').filter(|(_, text)| text.starts_with([' ', '*']))?;
    let inline = inline.trim_start_matches('*').trim_start();
    let section = section_of(word).filter(|section| matches!(section, Section::Returns | Section::Notes))?;
    let starts_paragraph = at.checked_sub(1).is_none_or(|above| lines[above].trim().is_empty());
    (starts_paragraph && !inline.is_empty()).then_some(Heading {
        section,
        inline,
        content: at + 1,
        style: Style::Inline,
    })
}

fn section_of(text: &str) -> Option<Section> {
    let word = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ':'));
    let is_capital = word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_it = |(name, _): &&(&str, Section)| is_capital && name.eq_ignore_ascii_case(word);
    HEADINGS.iter().find(is_it).map(|(_, section)| *section)
}

/// The line after the block of a heading.
pub(super) fn block_end(lines: &[&str], at: usize, heading: &Heading<'_>) -> usize {
    let outer = indent(lines[at]);
    let first = lines[heading.content..].iter().find(|line| !line.trim().is_empty());
    let indented = first.is_some_and(|line| indent(line) > outer);
    let bulleted = first.is_some_and(|line| bullet(line).is_some());
    let mut fenced = false;
    let mut blank =
        heading.style == Style::Inline && lines.get(heading.content).is_none_or(|l| l.trim().is_empty());
    let mut any = heading.style == Style::Inline;
    let mut end = heading.content;
    for (index, line) in lines.iter().enumerate().skip(heading.content) {
        if line.trim().is_empty() {
            blank = any;
            continue;
        }
        let starts_section = !fenced && (self::heading(lines, index).is_some() || field(line).is_some());
        let outdented = match heading.style {
            Style::Markdown => line.starts_with('#'),
            Style::Inline => blank,
            Style::Plain if indented => indent(line) <= outer,
            Style::Plain => (blank && !(bulleted && bullet(line).is_some())) || line.starts_with('#'),
        };
        if !fenced && (starts_section || outdented) {
            break;
        }
        fenced ^= line.trim_start().starts_with("```");
        (blank, any, end) = (false, true, index + 1);
    }
    end
}

/// A Sphinx field at a line.
pub(super) fn field(line: &str) -> Option<Field<'_>> {
    let line = line.trim().strip_prefix(':')?;
    let (words, about) = line.split_once(':')?;
    let about = about.trim();
    let (tag, rest) = words.split_once(' ').unwrap_or((words, ""));
    let (kind, name) = rest.trim().rsplit_once(' ').unwrap_or(("", rest.trim()));
    match tag {
        "return" | "returns" | "rtype" | "yields" if rest.is_empty() && !about.is_empty() => {
            Some(Field::Returns(about))
        }
        "param" | "parameter" | "arg" if is_name(name) => {
            Some(Field::Argument { name, kind: kind.trim(), about })
        }
        "type" if is_name(name) && kind.is_empty() => Some(Field::Argument { name, kind: about, about: "" }),
        "raises" | "raise" | "except" if !rest.is_empty() => Some(Field::Raises(line.split_once(' ')?.1)),
        _ => None,
    }
}

/// The arguments of a block, or `None` when one of its lines is something else.
pub(super) fn arguments(block: &str) -> Option<Vec<(String, String)>> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut of_line = 0;
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        if indent(line) == 0 {
            let more = arguments_of(line)?;
            of_line = more.len();
            found.extend(more);
        } else {
            let start = found.len().checked_sub(of_line.max(1))?;
            for (_, about) in &mut found[start..] {
                if !about.is_empty() {
                    about.push(' ');
                }
                about.push_str(line.trim());
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The arguments of a line; NumPy lists several of one type, `x, y : float`.
fn arguments_of(line: &str) -> Option<Vec<(String, String)>> {
    if let Some(one) = argument(line) {
        return Some(vec![one]);
    }
    let (names, kind) = line.split_once(" : ")?;
    let names: Vec<&str> = names.split(',').map(|name| name.trim().trim_start_matches('*')).collect();
    names
        .iter()
        .all(|name| is_name(name))
        .then(|| names.iter().map(|name| (name.to_string(), kind.trim().to_string())).collect())
}

/// `name: text`, `name (type): text`, `- name - text`, with or without code or bold marks.
fn argument(line: &str) -> Option<(String, String)> {
    let line = bullet(line).unwrap_or(line.trim());
    let quote = ["**`", "`", "**", "\""].into_iter().find(|mark| line.starts_with(mark)).unwrap_or("");
    let bare = line.strip_prefix(quote)?;
    // Python marks arguments of any number by stars.
    let bare = if quote.is_empty() { bare.trim_start_matches('*') } else { bare };
    let name_end = bare.find(|c: char| !is_name_char(c)).unwrap_or(bare.len());
    let (name, rest) = bare.split_at(name_end);
    let rest = rest.trim_start_matches(['`', '"', '*']);
    let (kind, rest) = kind(rest.trim_start())?;
    let rest = rest.trim_start_matches('*').trim_start();
    let about = match rest
        .strip_prefix(':')
        .or_else(|| rest.strip_prefix("- "))
        .or_else(|| rest.strip_prefix("\u{2013} "))
    {
        Some(about) => about.trim_start_matches('*').trim(),
        None if rest.is_empty() && !kind.is_empty() => "",
        None => return None,
    };
    is_name(name).then(|| (name.to_string(), format!("{kind} {about}").trim().to_string()))
}

/// A type in parentheses at the start, and the text after it; `None` when the parentheses never close.
fn kind(text: &str) -> Option<(&str, &str)> {
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

fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'))
        && name.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '[' | ']')
}

/// The items of a block in which each outermost line is a bullet; deeper lines belong to the item above.
pub(super) fn items(block: &str) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        match bullet(line) {
            Some(item) if indent(line) == 0 => found.push(item.to_string()),
            _ if indent(line) > 0 => {
                let item = found.last_mut()?;
                item.push('\n');
                item.push_str(line.trim());
            }
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The errors of a block: each of its outermost lines begins one, and deeper lines belong to the one above.
pub(super) fn errors(block: &str) -> Option<Vec<String>> {
    let is_error =
        |line: &&str| indent(line) > 0 || is_error_name(line.split(':').next().unwrap_or(line).trim());
    if !block.lines().filter(|line| !line.trim().is_empty()).all(|line| is_error(&line)) {
        return None;
    }
    let mut found: Vec<String> = Vec::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        match found.last_mut().filter(|_| indent(line) > 0) {
            Some(error) => {
                error.push_str(if error.ends_with(':') || error.contains(' ') { " " } else { ": " });
                error.push_str(line.trim());
            }
            None => found.push(line.trim().to_string()),
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Whether a text is the name of a class of errors: `ValueError`, `requests.HTTPError`.
fn is_error_name(text: &str) -> bool {
    let last = text.rsplit('.').next().unwrap_or(text);
    is_name(text) && last.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The paragraphs of a block; code fences stay whole.
pub(super) fn paragraphs(block: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut fenced = false;
    for line in block.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if line.trim().is_empty() && !fenced {
            found.push(String::new());
        } else if let Some(paragraph) = found.last_mut() {
            if !paragraph.is_empty() {
                paragraph.push('\n');
            }
            paragraph.push_str(line);
        }
    }
    found.retain(|paragraph| !paragraph.trim().is_empty());
    found
}

/// The text of a bulleted line.
pub(super) fn bullet(line: &str) -> Option<&str> {
    let line = line.trim();
    let text = ["- ", "* ", "\u{2022} ", "\u{2013} ", "\u{2022}"]
        .into_iter()
        .find_map(|mark| line.strip_prefix(mark))?
        .trim();
    (!text.is_empty()).then_some(text)
}

/// Indent of a line, in spaces.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Takes away the indent that all lines share.
pub(super) fn dedent(text: &str) -> String {
    let shared = text.lines().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let lines: Vec<&str> = text.lines().map(|line| line.get(shared..).unwrap_or("")).collect();
    lines.join("\n")
}

/// Takes away the indent that all lines after the first share, as Python does with its docstrings.
/// After a first line that introduces the others, their indent has a meaning and stays.
pub(super) fn dedent_docstring(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, rest)) if !first.trim_end().ends_with(':') => {
            format!("{}\n{}", first.trim(), dedent(rest))
        }
        _ => dedent(text),
    }
}
