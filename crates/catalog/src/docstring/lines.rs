//! Lines of a docstring: their indents and names.

pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'))
        && name.chars().all(is_name_char)
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '[' | ']')
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
