//! The `id` of a message, found in bytes that need not be JSON.

use serde_json::{Map, Value};

/// Bytes of a field that may be the id of a message: no client sends a longer one.
const MAX_ID_FIELD: usize = 512;

/// Looks for the `id` of a message in bytes that need not be JSON, in a few hundred bytes of memory.
#[derive(Default)]
pub struct IdScanner {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// The field that is being read, without values that are objects or lists.
    field: Vec<u8>,
    pub(super) id: Option<Value>,
    has_method: bool,
}

impl IdScanner {
    /// What a whole text shows of its id.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut scanner = Self::default();
        scanner.read(text);
        scanner
    }

    /// Whether the message is a request or a notification.
    pub(super) fn has_method(&self) -> bool {
        self.has_method
    }

    /// The id of the request that a message answers.
    pub(super) fn answered(self) -> Option<Value> {
        if self.has_method { None } else { self.id }
    }

    pub(super) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let is_text = self.is_in_string;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if is_text => self.is_escaped = true,
                b'"' => self.is_in_string = !is_text,
                _ if is_text => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    if self.depth == 1 {
                        continue;
                    }
                }
                b'}' | b']' => {
                    if self.depth == 1 {
                        self.end_field();
                    }
                    self.depth = self.depth.saturating_sub(1);
                }
                b',' if self.depth == 1 => {
                    self.end_field();
                    continue;
                }
                _ => {}
            }
            if self.depth == 1 && self.field.len() <= MAX_ID_FIELD {
                self.field.push(*byte);
            }
        }
    }

    fn end_field(&mut self) {
        let field = std::mem::take(&mut self.field);
        if field.len() <= MAX_ID_FIELD {
            let object = [b"{", field.as_slice(), b"}"].concat();
            let fields: Map<String, Value> = serde_json::from_slice(&object).unwrap_or_default();
            let id = fields.get("id").filter(|id| id.is_string() || id.is_number());
            self.id = self.id.take().or_else(|| id.cloned());
            self.has_method |= fields.contains_key("method");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Option<Value>) {
        let mut scanner = IdScanner::default();
        // In pieces, as lines that are too long come.
        line.as_bytes().chunks(3).for_each(|piece| scanner.read(piece));
        assert_eq!(scanner.id, expect, "{line}");
    }

    #[test]
    fn the_id_of_a_message_is_found_wherever_it_stands() {
        check(r#"{"id":7,"method":"x","params":{"a":1e999}}"#, Some(json!(7)));
        check(
            r#"{"method":"x","params":{"id":1,"a":["\ud83d","}"]}, "id" : "a,b\"" }"#,
            Some(json!("a,b\"")),
        );
        check(r#" { "params" : [[[[ "id": 3 ]]]] , "jsonrpc":"2.0", "id":-4}"#, Some(json!(-4)));
        check(r#"{"params":{"id":7}}"#, None);
        check(r#"{"id":null,"a":1}"#, None);
        check(r#"[{"id":7}]"#, None);
        check("not json", None);
    }
}
