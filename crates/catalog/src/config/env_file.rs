//! Files of environment variables: `NAME=value` on each line, with comments, `export` and quotes.

use toolcrib_definition::document::from_json;

/// The variables of a file. Lines of any other form are skipped.
pub fn env_variables(text: &str) -> Vec<(String, String)> {
    text.trim_start_matches('\u{feff}').lines().filter_map(variable).collect()
}

fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| (name.to_string(), unquoted(value.trim())))
}

/// A value in double quotes is a JSON string; one in single quotes is taken verbatim.
fn unquoted(value: &str) -> String {
    let quoted = || match from_json(value) {
        Ok(serde_json::Value::String(text)) => Some(text),
        _ => None,
    };
    let plain = || value.strip_prefix('\'')?.strip_suffix('\'').map(str::to_string);
    let begins = value.chars().next();
    let read = if begins == Some('"') { quoted() } else { plain() };
    read.unwrap_or_else(|| value.to_string())
}

/// The line for a variable, without a line break.
pub fn env_line(name: &str, value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'#');
    if value.bytes().all(is_plain) {
        format!("{name}={value}")
    } else {
        format!("{name}={}", serde_json::Value::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_it_was_written() {
        for value in ["", "abc", "a b", "a=b", "\"a\" 'b' \\", "line\nline", "é # x", "${X}"] {
            let text = format!("# a comment\n\n{}\nno variable\n", env_line("NAME", value));
            assert_eq!(env_variables(&text), [("NAME".to_string(), value.to_string())], "{text}");
        }
        assert_eq!(
            env_variables("export A='b c'\r\nB = \"x"),
            [("A".into(), "b c".into()), ("B".into(), "\"x".into())]
        );
    }
}
