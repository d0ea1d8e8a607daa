//! Runs the loop of an agent against a provider that follows a script: tools out, calls in, results out, until the model
//! answers in words. A real loop sends the same bodies over HTTP.

use serde_json::{Map, Value, json};
use toolcrib::{Catalog, PayloadOptions, Provider};

/// A provider that answers each request with the next line of its script.
struct ScriptedProvider(std::vec::IntoIter<Value>);

impl ScriptedProvider {
    fn answer(&mut self, request: &Value) -> Value {
        assert!(request["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
        self.0.next().unwrap_or_else(|| json!({ "content": [] }))
    }
}

/// The tools of this program; only calls whose arguments fit get here.
fn run_tool(name: &str, arguments: &Map<String, Value>) -> Value {
    match name {
        "create_branch" => {
            json!({ "ref": format!("refs/heads/{}", arguments["branch"].as_str().unwrap_or_default()) })
        }
        _ => json!({ "error": format!("{name} does nothing here") }),
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::open("examples/github")?;
    let options = PayloadOptions::new(Provider::Anthropic).profile("core");
    let tools = catalog.payload(&options)?.body;
    let system = catalog.prompt(&options)?;

    let call = |id: &str, input: Value| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "create_branch", "input": input }] });
    let script = vec![
        call("1", json!({ "owner": "rust-lang", "repo": "rust" })),
        call("2", json!({ "owner": "rust-lang", "repo": "rust", "branch": "fix" })),
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "The branch is there." }] }),
    ];
    let mut provider = ScriptedProvider(script.into_iter());
    let mut messages = vec![json!({ "role": "user", "content": "Make a branch for the fix." })];
    let mut ran = 0;
    loop {
        let mut request = json!({ "system": system, "messages": messages });
        request
            .as_object_mut()
            .into_iter()
            .for_each(|request| request.extend(tools.as_object().cloned().unwrap_or_default()));
        let response = provider.answer(&request);
        let calls = catalog.parse(Provider::Anthropic, &response.to_string())?;
        messages.push(response);
        if calls.is_empty() {
            break;
        }
        let mut answered = Vec::new();
        for call in calls {
            // A call that does not fit goes back as an error with the expected arguments; the model tries again.
            let result = match (&call.name, &call.arguments) {
                (Some(name), Ok(arguments)) => Some(run_tool(name, arguments)),
                (_, Err(error)) => {
                    println!("refused: {}", error.message);
                    None
                }
                (None, Ok(_)) => None,
            };
            ran += usize::from(result.is_some());
            answered.push((call, result));
        }
        match catalog.results(Provider::Anthropic, &answered) {
            Value::Array(several) => messages.extend(several),
            one => messages.push(one),
        }
    }
    assert_eq!(ran, 1, "one of the two calls fits");
    println!("{} messages, the last: {}", messages.len(), messages[messages.len() - 1]);
    Ok(())
}
