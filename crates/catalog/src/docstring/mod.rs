//! Lifts the sections of a docstring (arguments, returns, examples ...) out of a long description.

mod described;
mod items;
mod lines;
mod sections;

pub(crate) use described::Described;

use indexmap::IndexMap;

use items::{arguments, errors, items, paragraphs, result};
use lines::{dedent, dedent_docstring, indent};
use sections::{Field, Section, block_end, field, heading};
use toolcrib_definition::markdown::Fences;

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
    let mut fences = Fences::default();
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        let known = parts.arguments.len();
        let end = if fences.holds(line) { None } else { parts.lift(&lines, at) };
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

#[cfg(test)]
mod tests;
