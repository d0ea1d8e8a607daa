//! The fingerprint of a call, by which keys and approvals recognize the same call.

use serde_json::Value;

/// The hash of an op, its arguments, and a further text that distinguishes calls.
pub(super) fn fingerprint(op: &str, arguments: &Value, also: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(op.as_bytes()).update(b"\0").update(also.as_bytes()).update(b"\0");
    add(&mut hasher, arguments);
    hasher.finalize().to_hex()[..32].to_string()
}

fn add(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            hasher.update(b"{").update(&fields.len().to_le_bytes());
            for (name, field) in fields {
                hasher.update(&name.len().to_le_bytes()).update(name.as_bytes());
                add(hasher, field);
            }
        }
        Value::Array(items) => {
            hasher.update(b"[").update(&items.len().to_le_bytes());
            items.iter().for_each(|item| add(hasher, item));
        }
        Value::String(text) => {
            hasher.update(b"\"").update(&text.len().to_le_bytes()).update(text.as_bytes());
        }
        plain => {
            hasher.update(b"=").update(plain.to_string().as_bytes()).update(b"\0");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fingerprint;

    #[test]
    fn the_order_of_arguments_does_not_matter_and_everything_else_does() {
        let one = fingerprint("a.b", &json!({"x": 1, "y": [1, "2"]}), "");
        assert_eq!(one, fingerprint("a.b", &json!({"y": [1, "2"], "x": 1}), ""));
        for other in
            [json!({"x": 1, "y": [1, 2]}), json!({"x": 1, "y": ["2", 1]}), json!({"x": 1}), json!({})]
        {
            assert_ne!(one, fingerprint("a.b", &other, ""));
        }
        assert_ne!(one, fingerprint("a.c", &json!({"x": 1, "y": [1, "2"]}), ""));
        assert_ne!(one, fingerprint("a.b", &json!({"x": 1, "y": [1, "2"]}), "NOT_FOUND"));
    }
}
