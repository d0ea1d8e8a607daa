//! The input that tools are picked for: text, or any JSON as text.

use serde_json::Value;

/// Most characters of an input that count.
const MAX_INPUT: usize = 4_000;

/// The text of any JSON: of a conversation the user's last message, of anything else its keys and values in their order.
pub fn input_text(input: &Value) -> String {
    let mut text = String::new();
    words(said(input).unwrap_or(input), &mut text);
    text.trim().chars().take(MAX_INPUT).collect()
}

/// The user's last message in a list of messages, or in an object with such a list.
fn said(value: &Value) -> Option<&Value> {
    let messages = value.get("messages").unwrap_or(value).as_array()?;
    let is_message = |message: &Value| message.get("role").is_some() && message.get("content").is_some();
    if messages.is_empty() || !messages.iter().all(is_message) {
        return None;
    }
    let by_user = |message: &&Value| message.get("role").and_then(Value::as_str) == Some("user");
    messages.iter().rev().find(by_user).or(messages.last())?.get("content")
}

fn words(value: &Value, text: &mut String) {
    // A character takes four bytes at most.
    if text.len() > 4 * MAX_INPUT {
        return;
    }
    match value {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => text.extend([&*value.to_string(), " "]),
        Value::String(word) => text.extend([word, " "]),
        Value::Array(values) => values.iter().for_each(|value| words(value, text)),
        // A part of a message.
        Value::Object(fields) if fields.get("type").is_some_and(|kind| kind == "text") => {
            fields.get("text").into_iter().for_each(|value| words(value, text));
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                text.extend([key, " "]);
                words(value, text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_becomes_words() {
        let text = |value: Value| input_text(&value);
        assert_eq!(text(json!("refund a customer")), "refund a customer");
        assert_eq!(
            text(json!({"task": "refund", "amount": 5, "who": [null, "Ada"]})),
            "task refund amount 5 who Ada"
        );
        let parts = json!([{"type": "text", "text": "now this"}]);
        let messages = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": parts}]);
        assert_eq!(text(messages.clone()), "now this");
        assert_eq!(text(json!({"messages": messages})), "now this");
        for nothing in [json!(null), json!({}), json!([]), json!("  ")] {
            assert_eq!(text(nothing), "");
        }
        assert_eq!(text(json!("é".repeat(9_000))).chars().count(), MAX_INPUT);
    }
}
