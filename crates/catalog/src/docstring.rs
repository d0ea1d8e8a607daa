//! Lifts the sections of a docstring (arguments, returns, examples ...) out of a long description.

mod argument;

use indexmap::IndexMap;

pub use argument::Described;
use argument::is_type;
use toolcrib_definition::schema::type_words::parts;

/// A long description, taken apart. Text that is not clearly a section stays in the body, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Docstring {
    /// Everything that belongs to no section.
    pub body: String,
    /// Everything but the descriptions of arguments.
    pub without_arguments: String,
    /// Type of and text about each argument.
    pub arguments: IndexMap<String, Described>,
    /// Type and description of the result of a call.
    pub returns: Described,
    /// Examples, as written.
    pub examples: Vec<String>,
    /// Notes and tips.
    pub notes: Vec<String>,
    /// Errors that a call may end in.
    pub raises: Vec<String>,
}

/// Takes a description apart: Google, NumPy and Sphinx docstrings, and the same in markdown.
pub fn split(text: &str) -> Docstring {
    let text = dedent_docstring(&text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    "));
    let lines: Vec<&str> = text.lines().collect();
    let mut parts = Docstring::default();
    let mut body: Vec<&str> = Vec::new();
    let mut without_arguments: Vec<&str> = Vec::new();
    let mut fenced = false;
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        fenced ^= line.trim_start().starts_with("```");
        let known = parts.arguments.len();
        let end = if fenced { None } else { parts.lift(&lines, at) };
        if end.is_none() {
            body.push(line);
        }
        let end = end.unwrap_or(at + 1);
        if parts.arguments.len() == known {
            without_arguments.extend(&lines[at..end]);
        }
        at = end;
    }
    parts.body = tidy(&body);
    parts.without_arguments = tidy(&without_arguments);
    parts
}

impl Docstring {
    /// Lifts the section that starts at a line and returns the line after it, or `None` when no section starts there.
    fn lift(&mut self, lines: &[&str], at: usize) -> Option<usize> {
        if let Some(field) = field(lines[at]) {
            let deeper = |line: &&&str| !line.trim().is_empty() && indent(line) > indent(lines[at]);
            let more: Vec<&str> = lines[at + 1..].iter().take_while(deeper).map(|line| line.trim()).collect();
            self.add_field(field, &more.join(" "));
            return Some(at + 1 + more.len());
        }
        let heading = heading(lines, at)?;
        let end = block_end(lines, at, &heading);
        let mut block: Vec<&str> = lines[heading.content..end].to_vec();
        if !heading.inline.is_empty() {
            block.insert(0, heading.inline);
        }
        let text = dedent(&block.join("\n")).trim_matches('\n').trim_end().to_string();
        (!text.is_empty() && self.add_section(heading.section, &text)).then_some(end)
    }

    /// The description of the result. Its type is left out where a schema has it, and where it says nothing.
    pub fn result(&self, has_schema: bool) -> Option<String> {
        let Described { kind, about } = &self.returns;
        let text = match kind.to_lowercase().as_str() {
            _ if about.is_empty() => kind.clone(),
            "" | "dict" | "object" | "none" => about.clone(),
            _ if has_schema => about.clone(),
            _ => format!("({kind}) {about}"),
        };
        Some(text).filter(|text| !text.is_empty())
    }

    fn add_section(&mut self, section: Section, text: &str) -> bool {
        match section {
            Section::Arguments => match arguments(text) {
                Some(found) => found.into_iter().for_each(|(name, about)| self.add_argument(name, &about)),
                None => return false,
            },
            Section::Returns => self.add_returns(&result(text)),
            Section::Examples => self.examples.extend(items(text).unwrap_or_else(|| vec![text.to_string()])),
            Section::Notes => self.notes.extend(items(text).unwrap_or_else(|| paragraphs(text))),
            Section::Raises => {
                self.raises.extend(items(text).or_else(|| errors(text)).unwrap_or_else(|| paragraphs(text)))
            }
        }
        true
    }

    fn add_field(&mut self, field: Field<'_>, more: &str) {
        let with_more = |text: &str| format!("{text} {more}").trim().to_string();
        match field {
            Field::Argument { name, kind, about } => {
                let described = Described { kind: kind.into(), about: with_more(about) };
                self.add_argument(name.to_string(), &described);
            }
            Field::Returns(text) => self.add_returns(&Described::text(with_more(text))),
            Field::ReturnType(kind) => {
                self.add_returns(&Described { kind: with_more(kind), ..Described::default() })
            }
            Field::Raises(text) => self.raises.push(with_more(text)),
        }
    }

    fn add_argument(&mut self, name: String, about: &Described) {
        self.arguments.entry(name).or_default().add(about);
    }

    fn add_returns(&mut self, more: &Described) {
        match self.returns.about.as_str() {
            known if known.is_empty() || more.about.is_empty() => self.returns.add(more),
            known => self.returns.about = format!("{known}\n\n{}", more.about),
        }
    }
}

/// Joins lines; a run of blank ones outside code becomes a single one.
fn tidy(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        if !(line.trim().is_empty() && (text.is_empty() || text.ends_with("\n\n"))) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text.trim_end().to_string()
}

// The lines of a docstring: headings, the ends of their blocks, and the items in them.

/// The section that a heading opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
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
struct Heading<'a> {
    section: Section,
    inline: &'a str,
    /// The first line after the heading.
    content: usize,
    style: Style,
}

/// A field: `:param name: text` of Sphinx, `@param name: text` of Epytext.
enum Field<'a> {
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
fn heading<'a>(lines: &[&'a str], at: usize) -> Option<Heading<'a>> {
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
    let has_it = |(_, names): &&(Section, &[&str])| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    HEADINGS.iter().find(has_it).filter(|_| is_capital).map(|(section, _)| *section)
}

/// The line after the block of a heading.
fn block_end(lines: &[&str], at: usize, heading: &Heading<'_>) -> usize {
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

/// A field at a line.
fn field(line: &str) -> Option<Field<'_>> {
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

/// The result in a section of its own: `dict: text`, or NumPy's type with the text below it, after a name or none.
fn result(text: &str) -> Described {
    let first = text.lines().next().unwrap_or(text);
    let (kind, about) = match text.split_once(": ").or_else(|| text.split_once(":\n")) {
        Some((kind, about)) if is_type(kind) => (kind, about),
        _ => (first.rsplit(" : ").next().unwrap_or(first), &text[first.len()..]),
    };
    let about = dedent(about.trim_matches('\n'));
    let is_list = about.lines().any(|line| indent(line) == 0 && line.contains(" : "));
    if is_type(kind) && !is_list {
        return Described { kind: kind.trim().into(), about };
    }
    Described::text(text.to_string())
}

/// The arguments of a block, or `None` when one of its lines is something else.
fn arguments(block: &str) -> Option<Vec<(String, Described)>> {
    let mut found: Vec<(String, Described)> = Vec::new();
    let mut of_line = 0;
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        if indent(line) == 0 {
            let more = arguments_of(line)?;
            of_line = more.len();
            found.extend(more);
        } else {
            let start = found.len().checked_sub(of_line.max(1))?;
            let more = Described::text(line.trim().into());
            found[start..].iter_mut().for_each(|(_, described)| described.add(&more));
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The arguments of a line; NumPy lists several of one type, `x, y : float`.
fn arguments_of(line: &str) -> Option<Vec<(String, Described)>> {
    let of_numpy = line.split_once(" : ").filter(|_| bullet(line).is_none()).and_then(|(names, kind)| {
        let names: Vec<&str> = names.split(',').map(|name| name.trim().trim_start_matches('*')).collect();
        let first = parts(kind, ',').next().unwrap_or(kind).trim();
        let is_kind = is_type(first) || !first.contains(' ') || first.starts_with('{');
        let described = Described { kind: kind.trim().into(), about: String::new() };
        let named = |name: &str| (name.to_string(), described.clone());
        (is_kind && names.iter().all(|name| is_name(name))).then(|| names.into_iter().map(named).collect())
    });
    of_numpy.or_else(|| argument(line).map(|one| vec![one]))
}

/// `name: text`, `name (type): text`, `- name - text`, with or without code or bold marks.
fn argument(line: &str) -> Option<(String, Described)> {
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
    is_name(name).then(|| (name.to_string(), Described::of(format!("{kind} {about}").trim())))
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
fn items(block: &str) -> Option<Vec<String>> {
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
fn errors(block: &str) -> Option<Vec<String>> {
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
fn paragraphs(block: &str) -> Vec<String> {
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
fn bullet(line: &str) -> Option<&str> {
    let line = line.trim();
    let text = ["- ", "* ", "\u{2022} ", "\u{2013} ", "\u{2022}"]
        .into_iter()
        .find_map(|mark| line.strip_prefix(mark))?
        .trim();
    (!text.is_empty()).then_some(text)
}

/// Indent of a line, in spaces.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Takes away the indent that all lines share.
fn dedent(text: &str) -> String {
    let shared = text.lines().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let lines: Vec<&str> = text.lines().map(|line| line.get(shared..).unwrap_or("")).collect();
    lines.join("\n")
}

/// Takes away the indent that all lines after the first share, as Python does with its docstrings.
/// After a first line that introduces the others, their indent has a meaning and stays.
fn dedent_docstring(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, rest)) if !first.trim_end().ends_with(':') => {
            format!("{}\n{}", first.trim(), dedent(rest))
        }
        _ => dedent(text),
    }
}

#[cfg(test)]
mod tests;
