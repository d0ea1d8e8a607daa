//! The call on the page of a tool, for programs to copy.

use serde_json::{Value, json};

use super::context::Connect;
use super::text::cut;
use super::try_it::{Attempt, MAX_RAW};
use toolcrib_catalog::Tool;
use toolcrib_definition::clean_text;

/// The same call for programs to copy, each with a title.
pub(super) fn same_calls(tool: &Tool, connect: &Connect, attempt: Option<(&str, &Attempt)>) -> Vec<Value> {
    let arguments = attempt.map_or_else(
        || tool.input.call.clone().unwrap_or_default().into(),
        |(_, attempt)| attempt.filling(tool),
    );
    let url = format!("{}/v1/tools/{}", connect.http, tool.names.safe);
    let args = arguments.to_string();
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let token = |text: &'static str| if connect.needs_token { text } else { "" };
    let call = json!({"op": tool.names.op, "args": arguments}).to_string();
    let texts = [
        (
            "curl",
            format!(
                "curl {url} -H 'Content-Type: application/json'{} -d {}",
                token(" -H 'Authorization: Bearer TOKEN'"),
                quoted(&args)
            ),
        ),
        (
            "Python",
            format!(
                "import requests\n\nanswer = requests.post(\"{url}\"{}, json={})\nprint(answer.json())",
                token(", headers={\"Authorization\": \"Bearer TOKEN\"}"),
                python(&arguments)
            ),
        ),
        (
            "TypeScript",
            format!(
                "const answer = await fetch(\"{url}\", {{\n  method: \"POST\",\n  headers: {{ \"Content-Type\": \"application/json\"{} }},\n  body: JSON.stringify({args}),\n}});\nconsole.log(await answer.json());",
                token(", Authorization: \"Bearer TOKEN\"")
            ),
        ),
        ("CLI", format!("toolcrib call tool_exec {} /path/to/catalog", quoted(&call))),
    ];
    let shown = |(title, text): (&str, String)| json!({"title": title, "text": cut(clean_text(&text).into(), MAX_RAW)});
    texts.into_iter().map(shown).collect()
}

/// A value as Python writes it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", json!(name), python(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
