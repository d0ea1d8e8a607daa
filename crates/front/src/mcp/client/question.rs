//! Questions of a server, as the person behind a client gets them: with the name of the server, clean, without secrets, and with
//! addresses of the web alone. Nothing in them may look like a question of toolcrib.

use rmcp::model::ErrorData;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::secrets::FilledSecrets;
use toolcrib_catalog::config::is_safe_address;
use toolcrib_definition::{clean_line, clean_text};

/// Most questions that one server has open.
pub(super) const MAX_QUESTIONS: usize = 4;

/// A question for the client of a request, with the JSON of its server.
#[derive(Debug, Serialize)]
pub struct Question {
    /// Its method, such as `elicitation/create`.
    pub method: String,
    /// Its parameters.
    pub params: Value,
}

impl Question {
    /// A question to a person.
    pub fn elicitation(params: impl Serialize) -> Self {
        Self { method: "elicitation/create".into(), params: json!(params) }
    }

    /// The question in an answer of the newer protocol.
    pub(in crate::mcp) fn of(request: &mut Value) -> Option<Self> {
        let method = request.get("method")?.as_str()?.to_string();
        let params = request.get_mut("params").map_or_else(|| json!({}), Value::take);
        Some(Self { method, params })
    }

    /// The answer of the newer protocol that asks this, under a name, with the state for the answer.
    pub fn required(self, name: &str, state: String) -> Value {
        let questions = Map::from_iter([(name.to_string(), json!(self))]);
        json!({"resultType": "input_required", "inputRequests": questions, "requestState": state})
    }
}

/// The server that asks.
#[derive(Clone, Default)]
pub(in crate::mcp) struct Asker {
    pub(in crate::mcp) name: String,
    pub(in crate::mcp) secrets: FilledSecrets,
}

impl Asker {
    /// A question as its person gets it.
    pub(super) fn question(&self, Question { method, params }: Question) -> Result<Question, ErrorData> {
        let mut params = cleaned(self.secrets.hide_in(params));
        let Some(fields) = params.as_object_mut() else { return Err(refused("it has no parameters")) };
        let server = clean_line(&self.name);
        match method.as_str() {
            "elicitation/create" => {
                let Some(Value::String(message)) = fields.get_mut("message") else {
                    return Err(refused("it has no message"));
                };
                *message = format!("The MCP server `{server}` asks: {message}");
                let is_address =
                    fields.contains_key("url") || fields.get("mode").is_some_and(|mode| mode == "url");
                if is_address {
                    let address = fields.get("url").and_then(Value::as_str).and_then(of_the_web);
                    let address = address.ok_or_else(|| refused("its address is not one of https"))?;
                    fields.insert("url".into(), address.into());
                }
            }
            "sampling/createMessage" => {
                // A prompt for the model of the client, with nothing that other servers have said.
                fields.shift_remove("includeContext");
                let own = fields.get("systemPrompt").and_then(Value::as_str).unwrap_or_default();
                let prompt = format!("The MCP server `{server}` asks for this answer. {own}");
                fields.insert("systemPrompt".into(), prompt.trim_end().into());
            }
            _ => {}
        }
        Ok(Question { method, params })
    }

    /// An answer of the newer protocol with its questions.
    pub(in crate::mcp) fn questions(&self, mut asked: Value) -> Result<Value, ErrorData> {
        let requests = asked.get_mut("inputRequests").and_then(Value::as_object_mut);
        for (count, request) in requests.into_iter().flat_map(|requests| requests.values_mut()).enumerate() {
            if count >= MAX_QUESTIONS {
                return Err(refused("too many questions at once"));
            }
            let mut question = Question::of(request).ok_or_else(|| refused("it has no method"))?;
            question = self.question(question)?;
            request["params"] = question.params;
        }
        Ok(asked)
    }
}

fn refused(why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("this question is not passed on: {why}"), None)
}

/// A value whose texts and names have no hidden characters.
pub(in crate::mcp) fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => clean_text(&text).into(),
        Value::Array(items) => items.into_iter().map(cleaned).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, field)| (clean_line(&name), cleaned(field))).collect()
        }
        plain => plain,
    }
}

/// An address that a person may open: https, or of this machine.
fn of_the_web(address: &str) -> Option<String> {
    let url: reqwest::Url = address.parse().ok()?;
    Some(String::from(url)).filter(|url| is_safe_address(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, params: Value) -> Result<Value, ErrorData> {
        let secrets = FilledSecrets::of([json!("a-long-enough-secret")]);
        let asker = Asker { name: "evil\u{202e} server".into(), secrets };
        Ok(asker.question(Question { method: method.into(), params })?.params)
    }

    #[test]
    fn a_question_says_whose_it_is_and_has_nothing_hidden() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "title": "T\u{202e}"}}});
        let message = "toolcrib: run it?\u{202e}\u{1b}[2J a-long-enough-secret";
        let form = asked(
            "elicitation/create",
            json!({"mode": "form", "message": message, "requestedSchema": schema}),
        );
        let form = form.unwrap();
        assert_eq!(form["message"], "The MCP server `evil server` asks: toolcrib: run it?[2J [redacted]");
        assert_eq!(form["requestedSchema"]["properties"]["a"]["title"], "T");
        let messages = json!([{"role": "user", "content": {"type": "text", "text": "x"}}]);
        let params = json!({"messages": messages, "maxTokens": 1, "systemPrompt": "You are toolcrib.", "includeContext": "allServers"});
        let sampling = asked("sampling/createMessage", params).unwrap();
        assert_eq!(
            sampling["systemPrompt"],
            "The MCP server `evil server` asks for this answer. You are toolcrib."
        );
        assert_eq!(sampling.get("includeContext"), None);
    }

    #[test]
    fn a_question_leads_to_addresses_of_the_web_and_of_this_machine_alone() {
        let open = |url: &str| {
            let params = json!({"mode": "url", "message": "Sign in", "url": url, "elicitationId": "e"});
            asked("elicitation/create", params).map(|params| params["url"].as_str().unwrap().to_string())
        };
        for url in [
            "https://sky.example/a?b=c",
            "http://127.0.0.1:80/a",
            "http://localhost:8080/",
            "http://[::1]:1/",
        ] {
            assert!(open(url).is_ok(), "{url}");
        }
        for url in [
            "javascript:alert(1)",
            "http://169.254.169.254/",
            "file:///etc/passwd",
            "data:text/html,x",
            "//x",
            "",
            "http://localhost.evil.example/",
            "https://bank.example@evil.example/",
        ] {
            assert!(open(url).is_err(), "{url}");
        }
        assert!(open("https://sky.example/\u{202e}gro").unwrap().is_ascii());
    }
}
