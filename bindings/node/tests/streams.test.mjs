/** Streams: bytes, events, and the events that each SDK makes of the bytes of a scripted API. */

import assert from "node:assert/strict";
import { test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { ArgumentError, ResponseError, open } from "toolcrib";

import { withApi } from "../examples/scripted.mjs";
import { add } from "./functions.mjs";

const catalog = open([add]);
const messages = [{ role: "user", content: "4 + 2?" }];

function assertIsAdded([call, ...rest]) {
  assert.deepEqual([call.name, call.arguments, call.error, rest.length], ["add", { a: 4 }, undefined, 0]);
}

function anthropicEvents() {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const head = { id: "m", type: "message", role: "assistant", model: "m", stop_reason: null, stop_sequence: null };
  const delta = (text) => ({
    type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: text },
  });
  return [
    { type: "message_start", message: { ...head, content: [], usage } },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "1", name: "add", input: {} } },
    delta('{"a"'),
    delta(": 4}"),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

function openaiEvents() {
  const chunk = (delta, finish_reason = null) => ({
    id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason }],
  });
  const call = (fields) => ({ tool_calls: [{ index: 0, ...fields }] });
  return [
    chunk({ role: "assistant", ...call({ id: "1", type: "function", function: { name: "add", arguments: "" } }) }),
    ...['{"a"', ": 4}"].map((text) => chunk(call({ function: { arguments: text } }))),
    chunk({}, "tool_calls"),
    "[DONE]",
  ];
}

function responsesEvents() {
  const call = { type: "function_call", id: "f", call_id: "1", name: "add", arguments: "", status: "in_progress" };
  const done = { ...call, arguments: '{"a": 4}', status: "completed" };
  const response = { id: "r", object: "response", created_at: 0, model: "m", output: [], status: "in_progress" };
  const at = { item_id: "f", output_index: 0 };
  const events = [
    { type: "response.created", response },
    { type: "response.output_item.added", output_index: 0, item: call },
    { type: "response.function_call_arguments.delta", ...at, delta: '{"a"' },
    { type: "response.function_call_arguments.delta", ...at, delta: ": 4}" },
    { type: "response.function_call_arguments.done", ...at, name: "add", arguments: '{"a": 4}' },
    { type: "response.output_item.done", output_index: 0, item: done },
    { type: "response.completed", response: { ...response, output: [done], status: "completed" } },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function geminiEvents() {
  const chunk = (part, end) => ({ candidates: [{ index: 0, content: { role: "model", parts: [part] }, ...end }] });
  return [chunk({ text: "Adding." }), chunk({ functionCall: { name: "add", args: { a: 4 } } }, { finishReason: "STOP" })];
}

test("events and bytes give the calls", async () => {
  assertIsAdded(catalog.parse("anthropic", new Set(anthropicEvents())));
  assertIsAdded(await catalog.parseStream("anthropic", anthropicEvents()));
  const stream = catalog.stream("anthropic");
  const text = anthropicEvents().map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const bytes = Buffer.from(text.join(""));
  for (let at = 0; at < bytes.length; at += 7) stream.push(bytes.subarray(at, at + 7));
  assertIsAdded(stream.finish());
  assert.throws(() => stream.finish(), ArgumentError);
});

test("a stream that was cut short is an error", async () => {
  await assert.rejects(catalog.parseStream("anthropic", anthropicEvents().slice(0, 3)), ResponseError);
  assert.throws(() => catalog.parse("anthropic", (async function* () {})()), { name: "ArgumentError", message: /parseStream/ });
  await withApi([openaiEvents().slice(0, 2)], async (baseURL) => {
    const client = new OpenAI({ baseURL, apiKey: "none" });
    const stream = await client.chat.completions.create({ model: "m", messages, stream: true });
    await assert.rejects(catalog.parseStream("openai", stream), ResponseError);
  });
});

test("events of the Anthropic SDK", () =>
  withApi([anthropicEvents(), anthropicEvents()], async (baseURL) => {
    const client = new Anthropic({ baseURL, apiKey: "none" });
    const request = { model: "m", max_tokens: 10, messages };
    assertIsAdded(await catalog.parseStream("anthropic", await client.messages.create({ ...request, stream: true })));
    assertIsAdded(catalog.parse("anthropic", await client.messages.stream(request).finalMessage()));
  }));

test("events of the OpenAI SDK", () =>
  withApi([openaiEvents(), responsesEvents()], async (baseURL) => {
    const client = new OpenAI({ baseURL, apiKey: "none" });
    const chunks = await client.chat.completions.create({ model: "m", messages, stream: true });
    assertIsAdded(await catalog.parseStream("openai", chunks));
    const events = await client.responses.create({ model: "m", input: "4 + 2?", stream: true });
    assertIsAdded(await catalog.parseStream("openai-responses", events));
  }));

test("events of Google's SDK", () =>
  withApi([geminiEvents()], async (baseUrl) => {
    const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } });
    const events = await client.models.generateContentStream({ model: "m", contents: "4 + 2?" });
    assertIsAdded(await catalog.parseStream("gemini", events));
  }));

test("the body of a fetch is a stream", () =>
  withApi([anthropicEvents()], async (url) => {
    const { body } = await fetch(url);
    assertIsAdded(await catalog.parseStream("anthropic", body));
  }));
