//! The responses of each provider (docs/reference/formats.md), bodies of other providers, round trips of real calls, and bodies
//! cut short.

use serde_json::{Value, json};
use toolcrib_providers::Provider;
use toolcrib_providers::call::{ParseError, Parser};

use super::{check, checked, parsed};
use crate::fixture;

fn read(call_id: Value) -> Value {
    json!({"name": "files.read", "call_id": call_id, "args": {"path": "a"}})
}

fn ping(call_id: Value) -> Value {
    json!({"name": "ping", "call_id": call_id, "args": {}})
}

#[test]
fn openai() {
    let calls = json!([
        {"id": "call_1", "type": "function", "function": {"name": "files_read", "arguments": "{\"path\":\"a\"}"}},
        {"id": "call_2", "type": "function", "function": {"name": "ping", "arguments": ""}}
    ]);
    let message = json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": calls});
    let both = json!([read(json!("call_1")), ping(json!("call_2"))]);
    let body = json!({"id": "chatcmpl-1", "object": "chat.completion", "usage": {"total_tokens": 9},
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]});
    check(Provider::OpenAi, body, both.clone());
    check(Provider::OpenAi, message.clone(), both.clone());
    check(Provider::OpenAi, json!([{"role": "user", "content": "hi"}, message]), both);
    let legacy = json!({"choices": [{"message": {"role": "assistant", "content": null, "function_call": {"name": "ping", "arguments": "{}"}}}]});
    check(Provider::OpenAi, legacy, json!([ping(Value::Null)]));
    check(
        Provider::OpenAi,
        json!({"choices": [{"message": {"role": "assistant", "content": "Hello."}}]}),
        json!([]),
    );
    check(
        Provider::OpenAi,
        json!({"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": null}}]}),
        json!([]),
    );
}

#[test]
fn openai_responses() {
    let body = json!({"id": "resp_1", "object": "response", "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "files_read", "namespace": "files", "arguments": "{\"path\":\"a\"}", "status": "completed"},
        {"type": "tool_search_call", "call_id": null, "execution": "server", "arguments": {"paths": ["files"]}, "status": "completed"},
        {"type": "tool_search_output", "call_id": null, "execution": "server", "tools": []},
        {"type": "tool_search_call", "call_id": "call_2", "execution": "client", "arguments": {"query": "read"}, "status": "completed"},
        {"type": "mcp_call", "id": "mcp_1", "name": "files_read", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    ]});
    let mut first = read(json!("call_1"));
    first["namespace"] = json!("files");
    let second =
        json!({"name": "tool_search", "call_id": "call_2", "args": {"query": "read"}, "search": true});
    check(Provider::OpenAiResponses, body.clone(), json!([first, second]));
    check(Provider::OpenAiResponses, body["output"].clone(), json!([first, second]));
    check(Provider::OpenAiResponses, json!({"output": []}), json!([]));
}

#[test]
fn anthropic() {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "…", "signature": "s"},
        {"type": "text", "text": "I read it."},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "read"}},
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {"type": "tool_search_tool_search_result", "tool_references": []}},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "files_read", "server_name": "x", "input": {}},
        {"type": "tool_use", "id": "toolu_1", "name": "files_read", "input": {"path": "a"}},
        {"type": "tool_use", "id": "toolu_2", "name": "ping", "input": ""}
    ]});
    let both = json!([read(json!("toolu_1")), ping(json!("toolu_2"))]);
    check(Provider::Anthropic, message.clone(), both.clone());
    check(Provider::Anthropic, json!([{"role": "user", "content": "hi"}, message]), both);
    check(
        Provider::Anthropic,
        json!({"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}),
        json!([]),
    );
}

#[test]
fn gemini() {
    let content = json!({"role": "model", "parts": [
        {"text": "I read it.", "thought": true},
        {"functionCall": {"id": "x1", "name": "files_read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "ping"}}
    ]});
    let mut first = read(json!("x1"));
    first["thought_signature"] = json!("c2ln");
    let both = json!([first, ping(Value::Null)]);
    let body = json!({"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": {}});
    check(Provider::Gemini, body.clone(), both.clone());
    check(Provider::Gemini, json!([body, {"usageMetadata": {}}]), both.clone());
    check(Provider::Gemini, content, both.clone());
    let sdk = json!({"candidates": [{"finish_reason": "STOP", "content": {"role": "model", "parts": [
        {"text": null, "function_call": {"id": "x1", "name": "files_read", "args": {"path": "a"}}, "thought_signature": "c2ln"},
        {"function_call": {"id": null, "name": "ping", "args": null}}
    ]}}]});
    check(Provider::Gemini, sdk, both);
    let malformed = json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: ping(", "index": 0}]});
    let error = json!({"code": "parse", "message": "Malformed function call: ping(", "field_errors": [], "help_path": "root", "nearest": []});
    check(Provider::Gemini, malformed, json!([{"name": null, "call_id": null, "error": error}]));
    check(Provider::Gemini, json!({"promptFeedback": {"blockReason": "SAFETY"}}), json!([]));
}

#[test]
fn a_stub_of_gemini_takes_arguments_below_args() {
    for provider in [Provider::Gemini, Provider::GeminiInteractions] {
        let call = |name: &str, args: Value| match provider {
            Provider::Gemini => {
                json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": name, "args": args}}]}}]})
            }
            _ => json!({"outputs": [{"type": "function_call", "name": name, "arguments": args}]}),
        };
        check(provider, call("files_read", json!({"args": {"path": "a"}})), json!([read(Value::Null)]));
        check(
            provider,
            call("ping", json!({"args": {"x": 1}})),
            json!([{"name": "ping", "call_id": null, "args": {"x": 1}}]),
        );
        let own = json!([{"name": "list-items", "call_id": null, "args": {"args": {"x": 1}}}]);
        check(provider, call("list-items", json!({"args": {"x": 1}})), own);
    }
}

#[test]
fn gemini_interactions() {
    let items = json!([
        {"type": "thought", "signature": "c2ln"},
        {"type": "function_call", "id": "f1", "name": "files_read", "arguments": {"path": "a"}},
        {"type": "tool_search_call", "id": "s1", "arguments": {"function_names": ["files_read"]}},
        {"type": "tool_search_call", "id": "s2", "arguments": {"query": "x"}},
        {"type": "tool_search_result", "call_id": "s2", "result": []},
        {"type": "tool_search_call", "id": "s3", "arguments": {"query": "read"}},
        {"type": "text", "text": "x"}
    ]);
    let search = json!({"name": "tool_search", "call_id": "s3", "args": {"query": "read"}, "search": true});
    for key in ["outputs", "steps"] {
        check(
            Provider::GeminiInteractions,
            json!({"id": "i1", key: items}),
            json!([read(json!("f1")), search]),
        );
    }
}

#[test]
fn bedrock() {
    let message = json!({"role": "assistant", "content": [
        {"text": "I read it."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "files_read", "input": {"path": "a"}}},
        {"toolUse": {"toolUseId": "tooluse_2", "name": "ping", "input": ""}},
        {"toolUse": {"toolUseId": "srv_1", "name": "ping", "input": {}, "type": "server_tool_use"}}
    ]});
    let both = json!([read(json!("tooluse_1")), ping(json!("tooluse_2"))]);
    let body = json!({"output": {"message": message}, "stopReason": "tool_use", "usage": {}});
    check(Provider::Bedrock, body, both.clone());
    check(Provider::Bedrock, message, both);
}

#[test]
fn ollama() {
    let body = json!({"model": "qwen3", "done": true, "message": {"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "files_read", "arguments": {"path": "a"}}},
        {"function": {"name": "files_read", "arguments": "{\"path\":\"a\"}"}},
        {"function": {"name": "ping", "arguments": {}}}
    ]}});
    let expected = json!([read(Value::Null), read(Value::Null), ping(Value::Null)]);
    check(Provider::Ollama, body.clone(), expected.clone());
    check(Provider::Ollama, body["message"].clone(), expected);
}

#[test]
fn mistral() {
    let body = json!({"object": "chat.completion", "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": "", "tool_calls": [
        {"id": "D681PevKs", "function": {"name": "files_read", "arguments": {"path": "a"}}},
        {"id": "null", "function": {"name": "files_read", "arguments": "{\"path\":\"a\"}"}}
    ]}}]});
    check(Provider::Mistral, body, json!([read(json!("D681PevKs")), read(Value::Null)]));
}

#[test]
fn cohere() {
    let body = json!({"id": "c1", "finish_reason": "TOOL_CALL", "message": {"role": "assistant", "tool_plan": "I read it.", "tool_calls": [
        {"id": "files_read0", "type": "function", "function": {"name": "files_read", "arguments": "{\"path\":\"a\"}"}},
        {"id": "list_items0", "type": "function", "function": {"name": "list_items", "arguments": "{\"page\":1}"}}
    ]}});
    let second = json!({"name": "list-items", "call_id": "list_items0", "args": {"page": 1}});
    check(Provider::Cohere, body, json!([read(json!("files_read0")), second]));
}

#[test]
fn mcp() {
    let call = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "files.read", "arguments": {"path": "a"}, "_meta": {}}});
    check(Provider::Mcp, call(json!(7)), json!([read(json!("7"))]));
    check(Provider::Mcp, call(json!("7")), json!([read(json!("\"7\""))]));
    let bare = json!({"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "ping"}});
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    check(Provider::Mcp, json!([list, call(json!("a")), bare]), json!([read(json!("a")), ping(json!("b"))]));
    check(Provider::Mcp, list, json!([]));
}

#[test]
fn langchain() {
    let fields = json!({"content": "", "additional_kwargs": {}, "tool_calls": [
        {"name": "files_read", "args": {"path": "a"}, "id": "call_1", "type": "tool_call"},
        {"name": "ping", "args": null, "id": null}
    ], "invalid_tool_calls": [
        {"name": "files_read", "args": "{\"path\":\"a\"", "id": "call_3", "error": "JSONDecodeError", "type": "invalid_tool_call"},
        {"name": "files_read", "args": null, "id": "call_4", "error": "no arguments"}
    ]});
    let mut dumped = fields.clone();
    dumped["type"] = json!("ai");
    let constructor = json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": fields});
    let wrapped = json!({"type": "ai", "data": fields});
    for body in [
        dumped.clone(),
        constructor,
        wrapped.clone(),
        fields,
        json!([{"type": "human", "data": {"content": "hi"}}, wrapped]),
    ] {
        let entries = parsed(Provider::LangChain, &body.to_string()).unwrap();
        assert_eq!(entries.as_array().unwrap()[..2], [read(json!("call_1")), ping(Value::Null)]);
        assert_eq!(entries[2]["error"]["code"], "parse");
        assert_eq!(
            (&entries[3]["error"]["code"], &entries[3]["error"]["message"]),
            (&json!("parse"), &json!("no arguments"))
        );
    }
}

/// One call as the provider's response.
fn response(provider: Provider, name: &str, args: &Value) -> Value {
    let text = args.to_string();
    let function = |arguments: Value| json!({"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}});
    let message =
        |arguments: Value| json!({"role": "assistant", "content": null, "tool_calls": [function(arguments)]});
    match provider {
        Provider::OpenAi => json!({"choices": [{"message": message(text.into())}]}),
        Provider::Mistral => json!({"choices": [{"message": message(args.clone())}]}),
        Provider::Cohere => json!({"message": message(text.into())}),
        Provider::Ollama => json!({"message": message(args.clone())}),
        Provider::OpenAiResponses => {
            json!({"output": [{"type": "function_call", "call_id": "1", "name": name, "arguments": text}]})
        }
        Provider::Anthropic => {
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": name, "input": args}]})
        }
        Provider::Gemini => {
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"id": "1", "name": name, "args": args}}]}}]})
        }
        Provider::GeminiInteractions => {
            json!({"outputs": [{"type": "function_call", "id": "1", "name": name, "arguments": args}]})
        }
        Provider::Bedrock => {
            json!({"output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": name, "input": args}}]}}})
        }
        Provider::Mcp => {
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": args}})
        }
        Provider::LangChain => {
            json!({"type": "ai", "content": "", "tool_calls": [{"name": name, "args": args, "id": "1"}]})
        }
    }
}

#[test]
fn every_ready_made_call_comes_back() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    let calls: Vec<(&str, Value)> = checked
        .catalog
        .tools
        .iter()
        .filter_map(|tool| Some((tool.names.canonical.as_str(), Value::Object(tool.input.call.clone()?))))
        .collect();
    assert!(calls.len() > 50);
    for &provider in Provider::ALL {
        let parser = Parser::new(&checked.catalog, provider);
        for (name, args) in &calls {
            let entries = parser.parse(&response(provider, &parser.emitted(name), args).to_string()).unwrap();
            let expected = json!([{"name": name, "call_id": "1", "args": args}]);
            assert_eq!(serde_json::to_value(entries).unwrap(), expected, "{}", provider.as_str());
        }
    }
}

#[test]
fn a_body_of_another_wire_is_an_error_that_says_so() {
    let args = json!({"path": "a"});
    for (provider, other) in
        Provider::ALL.iter().flat_map(|one| Provider::ALL.iter().map(|other| (*one, *other)))
    {
        let body = response(other, "files_read", &args).to_string();
        let same_shape = |pair: [Provider; 2]| pair.contains(&provider) && pair.contains(&other);
        let is_same = provider == other
            || same_shape([Provider::OpenAi, Provider::Mistral])
            || same_shape([Provider::Cohere, Provider::Ollama]);
        match parsed(provider, &body) {
            Ok(entries) => assert!(
                is_same && entries[0]["args"] == args,
                "{} read {body} as {entries}",
                provider.as_str()
            ),
            Err(ParseError::Shape { looks_like, .. }) => {
                assert!(!is_same && looks_like.contains(&other), "{body}")
            }
            Err(error) => panic!("{error}"),
        }
    }
    let error =
        parsed(Provider::Anthropic, &response(Provider::Gemini, "ping", &json!({})).to_string()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a response of anthropic: a message whose `content` is a list of blocks, or a list of messages; this looks like gemini"
    );
    for body in ["", "data: {}", "1", "\"x\"", "null", "{}", "{\"error\":{\"message\":\"x\"}}", "[1]"] {
        for &provider in Provider::ALL {
            assert!(parsed(provider, body).is_err(), "{} takes {body}", provider.as_str());
        }
    }
}

#[test]
fn bodies_cut_short_or_broken_never_panic() {
    let args = json!({"path": "ä\"\\", "price": 1.5, "tags": ["x"]});
    for &provider in Provider::ALL {
        let parser = Parser::new(&checked().catalog, provider);
        let body = response(provider, "files_read", &args).to_string();
        for end in 0..body.len() {
            let cut = String::from_utf8_lossy(&body.as_bytes()[..end]).into_owned();
            assert!(parser.parse(&cut).is_err(), "{} takes {cut}", provider.as_str());
        }
        for odd in ["null", "7", "[]", "{}", "\"\"", "true", "1.5"] {
            let whole: Value = serde_json::from_str(&body).unwrap();
            for broken in replaced(&whole, &serde_json::from_str(odd).unwrap()) {
                drop(parser.parse(&broken.to_string()));
            }
        }
    }
}

/// A value with each of its parts replaced in turn.
fn replaced(value: &Value, odd: &Value) -> Vec<Value> {
    let mut all = vec![odd.clone()];
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let with = |field: Value| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), field);
                    Value::Object(fields)
                };
                all.extend(replaced(field, odd).into_iter().map(with));
                let mut without = fields.clone();
                without.remove(name);
                all.push(Value::Object(without));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                all.extend(replaced(item, odd).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[index] = item;
                    Value::Array(items)
                }));
            }
        }
        _ => {}
    }
    all
}
