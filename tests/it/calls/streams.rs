//! Streams of responses: recorded shapes of each provider, cut into chunks anywhere. The SDKs' types check the recordings
//! (`conformance/sdks/streams.py`).

use std::fs;

use serde_json::{Value, json};
use toolcrib::provider::call::{CallEntry, ParseError, Parser};
use toolcrib::provider::{Provider, ResponseStream};

use super::checked;
use crate::fixture;

/// The recordings, in `tests/golden/streams`.
const RECORDED: [(&str, Provider); 13] = [
    ("openai.sse", Provider::OpenAi),
    ("openai-responses.sse", Provider::OpenAiResponses),
    ("anthropic.sse", Provider::Anthropic),
    ("gemini.sse", Provider::Gemini),
    ("gemini.json", Provider::Gemini),
    ("gemini-interactions.sse", Provider::GeminiInteractions),
    ("bedrock.frames", Provider::Bedrock),
    ("bedrock.jsonl", Provider::Bedrock),
    ("ollama.jsonl", Provider::Ollama),
    ("mistral.sse", Provider::Mistral),
    ("cohere.sse", Provider::Cohere),
    ("mcp.jsonl", Provider::Mcp),
    ("langchain.jsonl", Provider::LangChain),
];

fn recorded(name: &str) -> Vec<u8> {
    fs::read(fixture::package().join("tests/golden/streams").join(name)).unwrap()
}

fn parser(provider: Provider) -> Parser<'static> {
    Parser::new(&checked().catalog, provider)
}

fn streamed<'c>(
    provider: Provider,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Result<Vec<CallEntry<'static>>, ParseError> {
    let mut response = ResponseStream::new(provider);
    chunks.into_iter().for_each(|chunk| response.push(chunk));
    parser(provider).parse(&response.body()?)
}

fn shown(entries: &[CallEntry<'_>]) -> Value {
    serde_json::to_value(entries).unwrap()
}

#[test]
fn the_stream_of_each_provider_gives_its_calls_with_every_digit() {
    for (name, provider) in RECORDED {
        let entries =
            streamed(provider, [&recorded(name)[..]]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let calls: Vec<_> = entries.iter().map(|entry| entry.outcome.as_ref().unwrap()).collect();
        assert_eq!(calls.len(), 2, "{name}: {}", shown(&entries));
        let names: Vec<_> = entries.iter().map(|entry| entry.name.as_deref().unwrap()).collect();
        assert_eq!(names, ["files.read", "ping"], "{name}");
        assert_eq!(calls[0].arguments()["path"], "Zürich/🌍 \"x\".txt", "{name}");
        assert!(calls[0].json().contains("12345678901234567890.10"), "{name}: {}", calls[0].json());
        assert_eq!(calls[1].json(), "{}", "{name}");
        assert!(entries.iter().all(|entry| entry.repaired.is_empty()), "{name}: {}", shown(&entries));
        let ids: Vec<_> = entries.iter().map(|entry| entry.call_id.as_deref()).collect();
        match provider {
            Provider::Ollama => assert_eq!(ids, [None, None]),
            Provider::Mistral => assert_eq!(ids, [Some("call00001"), Some("call00002")]),
            _ => assert_eq!(ids, [Some("call_1"), Some("call_2")], "{name}"),
        }
    }
}

/// The same body gives the same calls.
fn body<'c>(provider: Provider, chunks: impl IntoIterator<Item = &'c [u8]>) -> Result<String, ParseError> {
    let mut response = ResponseStream::new(provider);
    chunks.into_iter().for_each(|chunk| response.push(chunk));
    response.body()
}

#[test]
fn chunks_may_end_at_any_byte() {
    for (name, provider) in RECORDED {
        let bytes = recorded(name);
        let whole = body(provider, [&bytes[..]]);
        assert!(whole.is_ok(), "{name}");
        for cut in 0..=bytes.len() {
            let (first, rest) = bytes.split_at(cut);
            assert_eq!(body(provider, [first, rest]), whole, "{name} cut at {cut}");
        }
        for size in [1, 2, 3, 5, 7, 64] {
            assert_eq!(body(provider, bytes.chunks(size)), whole, "{name} by {size}");
        }
    }
}

#[test]
fn lines_may_end_in_any_way() {
    for (name, provider) in RECORDED.into_iter().filter(|(name, _)| name.ends_with(".sse")) {
        let text = String::from_utf8(recorded(name)).unwrap().replace("\r\n", "\n");
        let whole = shown(&streamed(provider, [text.as_bytes()]).unwrap());
        let spaced = text.replace("data: ", "data:").replace("\n\n", "\n: a comment\nid: 7\nretry: 3\n\n");
        let marked = format!("\u{feff}{text}");
        let forms = [
            text.replace('\n', "\r\n"),
            text.replace('\n', "\r"),
            spaced,
            marked,
            text.trim_end().to_string(),
        ];
        for form in forms {
            for size in [1, form.len()] {
                let chunks = form.as_bytes().chunks(size);
                assert_eq!(shown(&streamed(provider, chunks).unwrap()), whole, "{name}: {form}");
            }
        }
    }
}

/// A stream that is cut is an error, or has all calls: the rest of a response is never dropped unseen.
#[test]
fn a_stream_that_is_cut_never_loses_a_call_unseen() {
    for (name, provider) in RECORDED {
        let bytes = recorded(name);
        let whole = body(provider, [&bytes[..]]).unwrap();
        for length in 0..bytes.len() {
            match body(provider, [&bytes[..length]]) {
                Err(error) => {
                    assert!(matches!(error, ParseError::Stream { .. }), "{name} of {length}: {error}")
                }
                // Their wires have no end; a call that is cut there is an error of that call.
                Ok(_) if matches!(provider, Provider::Mcp | Provider::LangChain) => {}
                Ok(cut) => assert_eq!(cut, whole, "{name} of {length}"),
            }
        }
    }
    let bytes = recorded("langchain.jsonl");
    let whole = shown(&streamed(Provider::LangChain, [&bytes[..]]).unwrap());
    for length in (0..bytes.len()).step_by(40) {
        let entries = streamed(Provider::LangChain, [&bytes[..length]]).unwrap_or_default();
        for entry in entries.iter().filter(|entry| entry.name.as_deref() == Some("files.read")) {
            let is_cut = entry.outcome.is_err();
            assert!(is_cut || serde_json::to_value(entry).unwrap() == whole[0], "of {length}");
        }
    }
}

/// Chunks make no difference, whichever byte is damaged.
#[test]
fn a_damaged_stream_reads_the_same_in_any_chunks() {
    for (name, provider) in RECORDED {
        let bytes = recorded(name);
        for (index, byte) in (0..bytes.len()).step_by(13).zip(b"\"{}[]\n\r:\\\x00\xff,d".iter().cycle()) {
            let mut damaged = bytes.clone();
            damaged[index] = *byte;
            assert_eq!(
                body(provider, damaged.chunks(1)),
                body(provider, [&damaged[..]]),
                "{name}: {byte} at {index}"
            );
        }
    }
}

#[test]
fn a_stream_of_another_provider_is_told() {
    for (name, provider) in RECORDED {
        for &other in Provider::ALL {
            let alike = [Provider::OpenAi, Provider::Mistral];
            if other == provider || alike.contains(&other) && alike.contains(&provider) {
                continue;
            }
            match streamed(other, [&recorded(name)[..]]) {
                Err(ParseError::Shape { looks_like, .. }) => {
                    assert!(looks_like.contains(&provider), "{name} as {}: {looks_like:?}", other.as_str());
                }
                unexpected => panic!("{name} as {}: {unexpected:?}", other.as_str()),
            }
        }
    }
}

#[test]
fn errors_within_a_stream_are_the_providers() {
    let refused = |provider, text: &str| match streamed(provider, [text.as_bytes()]) {
        Err(ParseError::Refused { message, .. }) => message,
        other => panic!("{text}: {other:?}"),
    };
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let anthropic = format!(
        "event: message_start\ndata: {{\"type\":\"message_start\"}}\n\nevent: error\ndata: {overloaded}\n\n"
    );
    assert_eq!(refused(Provider::Anthropic, &anthropic), "Overloaded");
    assert_eq!(refused(Provider::OpenAi, "data: {\"error\":{\"message\":\"no\"}}\n\n"), "no");
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "no"}, "output": []}});
    assert_eq!(refused(Provider::OpenAiResponses, &format!("data: {failed}\n\n")), "no");
    let flat = json!({"type": "error", "code": "x", "message": "no", "param": null});
    assert_eq!(refused(Provider::OpenAiResponses, &format!("data: {flat}\n\n")), "no");
    assert_eq!(refused(Provider::Ollama, "{\"error\":\"no model\"}\n"), "no model");
    let throttled = "{\"throttlingException\":{\"message\":\"slow down\"}}\n";
    assert_eq!(refused(Provider::Bedrock, throttled), "throttlingException: slow down");
}

#[test]
fn calls_are_kept_apart_however_an_api_numbers_them() {
    let chunk = |calls: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": {"tool_calls": calls}, "finish_reason": finish});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let call = |index: Value, id: &str, arguments: &str| json!({"index": index, "id": id, "function": {"name": "files_read", "arguments": arguments}});
    let rest =
        |index: Value, arguments: &str| json!([{"index": index, "function": {"arguments": arguments}}]);
    let done = chunk(json!([]), json!("tool_calls"));
    let streams = [
        // All with the number 0, or with none.
        chunk(
            json!([call(json!(0), "1", "{\"path\":\"a\"}"), call(json!(0), "2", "{\"path\":\"b\"}")]),
            Value::Null,
        ),
        chunk(json!([call(Value::Null, "1", "{\"path\"")]), Value::Null)
            + &chunk(rest(Value::Null, ":\"a\"}"), Value::Null)
            + &chunk(json!([call(Value::Null, "2", "{\"path\":\"b\"}")]), Value::Null),
        // In turns, with the id again.
        chunk(json!([call(json!(0), "1", "{\"path\""), call(json!(1), "2", "{\"path\"")]), Value::Null)
            + &chunk(rest(json!(1), ":\"b\"}"), Value::Null)
            + &chunk(json!([call(json!(0), "1", ":\"a\"}")]), Value::Null),
    ];
    for stream in streams {
        let entries = streamed(Provider::OpenAi, [(stream.clone() + &done).as_bytes()]).unwrap();
        let paths: Vec<_> =
            entries.iter().map(|entry| entry.outcome.as_ref().unwrap().arguments()["path"].clone()).collect();
        assert_eq!(paths, ["a", "b"], "{stream}");
    }
}

#[test]
fn arguments_that_come_in_parts_are_no_call() {
    let part = json!({"functionCall": {"name": "ping", "partialArgs": [{"jsonPath": "$.path", "stringValue": "a"}], "willContinue": true}});
    let chunk = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
    let entries = streamed(Provider::Gemini, [format!("data: {chunk}\n\n").as_bytes()]).unwrap();
    assert!(entries[0].outcome.as_ref().unwrap_err().message.contains("streamFunctionCallArguments"));
}

#[test]
fn the_program_reads_streams() {
    let folder = fixture::folder(&[("tools.json", super::TOOLS)]);
    let catalog = fixture::text(folder.path());
    for (name, provider) in RECORDED {
        let parse = ["parse", catalog, "--provider", provider.as_str(), "--stream"];
        let run = fixture::run_with_bytes(&parse, &recorded(name), &[]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        let calls: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&calls[0]["name"], &calls[1]["name"]), (&json!("files.read"), &json!("ping")), "{name}");
    }
    let cut = fixture::run_with(
        &["parse", catalog, "--provider", "openai", "--stream"],
        "data: {\"choices\":[]}\n\n",
        &[],
    );
    assert_eq!((cut.code, cut.stdout.as_str()), (1, ""));
    assert!(cut.stderr.contains("it ends before the response does"), "{}", cut.stderr);
}
