//! The items in a section of a docstring: arguments, the result, errors, bullets and paragraphs.

use super::described::{Described, is_type, kind};
use super::lines::{dedent, indent, is_name, is_name_char};
use toolcrib_definition::markdown::{Fences, bullet};
use toolcrib_definition::schema::type_words::parts;

/// The result in a section of its own: `dict: text`, or NumPy's type with the text below it, after a name or none.
pub(super) fn result(text: &str) -> Described {
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
pub(super) fn arguments(block: &str) -> Option<Vec<(String, Described)>> {
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
    if bullet(line).is_none()
        && let Some((names, kind)) = line.split_once(" : ")
    {
        let names: Vec<&str> = names.split(',').map(|name| name.trim().trim_start_matches('*')).collect();
        let first = parts(kind, ',').next().unwrap_or(kind).trim();
        let is_kind = is_type(first) || !first.contains(' ') || first.starts_with('{');
        let described = Described { kind: kind.trim().into(), about: String::new() };
        let named = |name: &str| (name.to_string(), described.clone());
        if is_kind && names.iter().all(|name| is_name(name)) {
            return Some(names.into_iter().map(named).collect());
        }
    }
    argument(line).map(|one| vec![one])
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
    let about = match [":", "- ", "\u{2013} "].into_iter().find_map(|mark| rest.strip_prefix(mark)) {
        Some(about) => about.trim_start_matches('*').trim(),
        None if rest.is_empty() && !kind.is_empty() => "",
        None => return None,
    };
    is_name(name).then(|| (name.to_string(), Described::of(format!("{kind} {about}").trim())))
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
        if indent(line) > 0
            && let Some(error) = found.last_mut()
        {
            error.push_str(if error.ends_with(':') || error.contains(' ') { " " } else { ": " });
            error.push_str(line.trim());
        } else {
            found.push(line.trim().to_string());
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
    let mut fences = Fences::default();
    for line in block.lines() {
        if !fences.holds(line) && line.trim().is_empty() {
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
