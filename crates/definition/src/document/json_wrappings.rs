//! JSON in a wrapping: with comments, one value a line, or in a capture of server-sent events. The wrapping is replaced
//! with spaces, so that every place stays the same.

/// The text without its wrapping, if it has one.
pub(super) fn unwrapped(text: &str) -> Option<String> {
    let events = text.lines().any(|line| line.starts_with("data:")).then(|| data_of_events(text));
    let text = events.as_deref().unwrap_or(text);
    let plain = without_comments(text);
    let has_comments = plain.bytes().zip(text.bytes()).any(|(plain, byte)| plain != byte && byte != b',');
    if has_comments { Some(plain) } else { events }
}

/// The `data` of server-sent events alone.
fn data_of_events(text: &str) -> String {
    let line = |line: &str| {
        let data = line.strip_prefix("data:").filter(|data| data.trim() != "[DONE]");
        let kept = data.unwrap_or_default();
        let blank = &line[..line.len() - kept.len()];
        let blank =
            blank.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' });
        blank.collect::<String>() + kept
    };
    text.split_inclusive('\n').map(line).collect()
}

/// JSON with its comments, and commas before a closing bracket, replaced with spaces: every place stays the same.
pub fn without_comments(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    let mut comma = None;
    let blank = |out: &mut Vec<u8>, from: usize, to: usize| {
        out[from..to].iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    };
    if text.starts_with('\u{feff}') {
        blank(&mut out, 0, '\u{feff}'.len_utf8());
    }
    while at < out.len() {
        match (out[at], out.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at += 1;
                while at < out.len() && out[at] != b'"' {
                    at += if out[at] == b'\\' { 2 } else { 1 };
                }
            }
            (b'/', Some(b'/')) => {
                let end = text.as_bytes()[at..].iter().position(|byte| *byte == b'\n');
                let end = end.map_or(out.len(), |end| at + end);
                blank(&mut out, at, end);
                at = end;
                continue;
            }
            (b'/', Some(b'*')) => {
                let end = text.as_bytes()[at + 2..].windows(2).position(|pair| pair == b"*/");
                let end = end.map_or(out.len(), |end| at + 2 + end + 2);
                blank(&mut out, at, end);
                at = end;
                continue;
            }
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
            }
            (byte, _) if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn comments_and_last_commas_are_blank_and_texts_are_not() {
        let text = "{ // a, }\n \"a\": \"// \\\" /* x */,}\", /* é\n */ \"b\": [1, 2, ],\n}";
        let plain = without_comments(text);
        assert_eq!(plain.len(), text.len());
        let value: Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, serde_json::json!({"a": "// \" /* x */,}", "b": [1, 2]}));
        for broken in ["/*", "//", "\"", "\"\\", "/", "{,", ",}"] {
            assert_eq!(without_comments(broken).len(), broken.len());
        }
    }

    #[test]
    fn the_data_of_events_keeps_its_place() {
        let text = ": note\r\nevent: message\r\nid: é\r\ndata: {\"a\":\ndata: 1}\n\ndata: [DONE]\n";
        let plain = unwrapped(text).unwrap();
        assert_eq!(plain.len(), text.len());
        assert_eq!(serde_json::from_str::<Value>(&plain).unwrap(), serde_json::json!({"a": 1}));
        assert_eq!(unwrapped("[1,]"), None);
        assert_eq!(unwrapped("{\"a\": \"// data:\"}"), None);
    }
}
