//! Questions of a server, as the person behind a client gets them: with the name of the server, clean, without secrets, and with
//! addresses of the web alone. Nothing in them may look like a question of toolcrib.

use rmcp::model::{ErrorData, InputRequest, InputRequiredResult, ServerRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::secrets::FilledSecrets;
use toolcrib_catalog::config::is_safe_address;
use toolcrib_definition::{clean_line, clean_text};

/// Most questions that one server has open.
pub(super) const MAX_QUESTIONS: usize = 4;

/// The server that asks.
#[derive(Clone, Default)]
pub(in crate::mcp) struct Asker {
    pub(in crate::mcp) name: String,
    pub(in crate::mcp) secrets: FilledSecrets,
}

impl Asker {
    /// A question as its person gets it.
    pub(super) fn question(&self, mut request: ServerRequest) -> Result<ServerRequest, ErrorData> {
        match &mut request {
            ServerRequest::ElicitRequest(request) => request.params = self.asked(&request.params)?,
            ServerRequest::CreateMessageRequest(request) => request.params = self.asked(&request.params)?,
            _ => {}
        }
        Ok(request)
    }

    /// The questions in an answer of the newer protocol.
    pub(in crate::mcp) fn questions(
        &self,
        mut asked: InputRequiredResult,
    ) -> Result<InputRequiredResult, ErrorData> {
        let requests = asked.input_requests.iter_mut().flat_map(|requests| requests.values_mut());
        for (count, request) in requests.enumerate() {
            match request {
                _ if count >= MAX_QUESTIONS => return Err(refused("too many questions at once")),
                InputRequest::Elicitation(request) => request.params = self.asked(&request.params)?,
                InputRequest::CreateMessage(request) => request.params = self.asked(&request.params)?,
                _ => {}
            }
        }
        Ok(asked)
    }

    fn asked<T: Serialize + DeserializeOwned>(&self, params: &T) -> Result<T, ErrorData> {
        let params = serde_json::to_value(params).map_err(|_| refused("it cannot be read"))?;
        let mut params = cleaned(self.secrets.hide_in(params));
        let server = clean_line(&self.name);
        if let Some(Value::String(address)) = params.get_mut("url") {
            *address = of_the_web(address).ok_or_else(|| refused("its address is not one of https"))?;
        }
        if let Some(Value::String(message)) = params.get_mut("message") {
            *message = format!("The MCP server `{server}` asks: {message}");
        } else if let Some(fields) = params.as_object_mut() {
            // A prompt for the model of the client, with nothing that other servers have said.
            fields.remove("includeContext");
            let own = fields.get("systemPrompt").and_then(Value::as_str).unwrap_or_default();
            let prompt = format!("The MCP server `{server}` asks for this answer. {own}");
            fields.insert("systemPrompt".into(), prompt.trim_end().into());
        }
        serde_json::from_value(params).map_err(|_| refused("it cannot be read"))
    }
}

fn refused(why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("this question is not passed on: {why}"), None)
}

/// A value whose texts and names have no hidden characters.
fn cleaned(value: Value) -> Value {
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
    use serde_json::json;

    use super::*;

    fn asked(method: &str, params: Value) -> Result<Value, ErrorData> {
        let secrets = FilledSecrets::of([json!("a-long-enough-secret")]);
        let asker = Asker { name: "evil\u{202e} server".into(), secrets };
        let request = serde_json::from_value(json!({"method": method, "params": params})).unwrap();
        Ok(serde_json::to_value(asker.question(request)?).unwrap()["params"].take())
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
