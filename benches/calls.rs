//! Calls parsed and validated, beside the floor in the same run: `serde_json` for the body and for each text of
//! arguments, and the bare validator. One response for each ready-made call of `examples/github`, and one with all of
//! them. Figures are medians of several rounds; the ratio is the share of the floor's speed that is left.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use jsonschema::Validator;
use serde_json::{Value, json};
use toolcrib::providers::Provider;
use toolcrib::providers::call::Parser;
use toolcrib::{catalog, config};

/// A function's name, the arguments of a call of it, and what checks them.
type Call<'a> = (&'a str, Value, &'a Validator);

const ROUNDS: usize = 15;
const REPEATS: usize = 50;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/github/tools.json");
    let checked = catalog::open(config::read(&file));
    let calls: Vec<Call<'_>> = checked
        .catalog
        .tools
        .iter()
        .filter_map(|tool| {
            Some((
                tool.names.safe.as_str(),
                Value::Object(tool.input.call.clone()?),
                tool.input.parameters.validator()?,
            ))
        })
        .collect();
    println!("{:<28}  {:>12}  {:>12}  {:>6}", "responses", "ours /s", "floor /s", "ratio");
    for provider in [Provider::OpenAi, Provider::Anthropic] {
        let parser = Parser::new(&checked.catalog, provider);
        let single: Vec<String> =
            calls.iter().map(|call| response(provider, std::slice::from_ref(call))).collect();
        let lone: Vec<(&str, &[Call<'_>])> =
            single.iter().zip(calls.chunks(1)).map(|(body, call)| (body.as_str(), call)).collect();
        report(&format!("{}, one call each", provider.as_str()), provider, &parser, &lone, calls.len());
        let together = response(provider, &calls);
        report(
            &format!("{}, all calls in one", provider.as_str()),
            provider,
            &parser,
            &[(&together, &calls)],
            calls.len(),
        );
    }
}

fn report(what: &str, provider: Provider, parser: &Parser<'_>, bodies: &[(&str, &[Call<'_>])], calls: usize) {
    let mut rounds: Vec<(Duration, Duration)> = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let ours = timed(|| {
            for (body, _) in bodies {
                let entries = parser.parse(black_box(body)).expect("a response");
                assert!(black_box(entries).iter().all(|entry| entry.outcome.is_ok()));
            }
        });
        let floor = timed(|| {
            for (body, calls) in bodies {
                let response: Value = serde_json::from_str(black_box(body)).expect("JSON");
                for (index, (_, _, validator)) in calls.iter().enumerate() {
                    assert!(bare(provider, &response, index, validator));
                }
                black_box(response);
            }
        });
        rounds.push((ours, floor));
    }
    let ours = median(rounds.iter().map(|round| round.0));
    let floor = median(rounds.iter().map(|round| round.1));
    let speed = |time: Duration| (calls * REPEATS) as f64 / time.as_secs_f64();
    let ratio = floor.as_secs_f64() / ours.as_secs_f64();
    println!("{what:<28}  {:>12.0}  {:>12.0}  {ratio:>6.2}", speed(ours), speed(floor));
}

/// The work that no reader of calls can avoid.
fn bare(provider: Provider, response: &Value, index: usize, validator: &Validator) -> bool {
    match provider {
        Provider::OpenAi => {
            let text =
                response["choices"][0]["message"]["tool_calls"][index]["function"]["arguments"].as_str();
            let arguments: Value = serde_json::from_str(text.expect("a text")).expect("JSON");
            validator.is_valid(black_box(&arguments))
        }
        _ => validator.is_valid(black_box(&response["content"][index]["input"])),
    }
}

fn response(provider: Provider, calls: &[Call<'_>]) -> String {
    let blocks = calls.iter().enumerate().map(|(index, (name, args, _))| match provider {
        Provider::OpenAi => {
            let function = json!({"name": name, "arguments": args.to_string()});
            json!({"id": format!("call_{index:024}"), "type": "function", "function": function})
        }
        _ => json!({"type": "tool_use", "id": format!("toolu_{index:024}"), "name": name, "input": args}),
    });
    let blocks: Vec<Value> = blocks.collect();
    match provider {
        Provider::OpenAi => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000, "model": "gpt-5.4",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "logprobs": null,
                "message": {"role": "assistant", "content": null, "refusal": null, "tool_calls": blocks}}],
            "usage": {"prompt_tokens": 812, "completion_tokens": 41, "total_tokens": 853}
        }),
        _ => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus", "content": blocks,
            "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 812, "output_tokens": 41}
        }),
    }
    .to_string()
}

fn timed(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..REPEATS {
        work();
    }
    start.elapsed()
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}
