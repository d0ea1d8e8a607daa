/**
 * A model that follows a script, so that the examples run without a key: an API on this machine for the SDKs of providers, and
 * the test models of LangChain and the AI SDK. With a real model an example has neither. A step is a call, as its name and its
 * arguments, or the text of the last answer.
 */

import { createServer } from "node:http";

/** Does a job with an API that answers each request with the next of `answers`. */
export async function withApi(answers, job) {
  const script = [...answers];
  const server = createServer((request, response) => {
    const answer = script.shift();
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    return await job(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Bodies of Anthropic's Messages. */
export function anthropicBodies(steps) {
  return steps.map((step, at) => {
    const isText = typeof step === "string";
    const part = isText ? { type: "text", text: step } : { type: "tool_use", id: `call_${at}`, name: step[0], input: step[1] };
    return {
      id: `m_${at}`, type: "message", role: "assistant", model: "scripted", content: [part],
      stop_reason: isText ? "end_turn" : "tool_use", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 },
    };
  });
}

/** Bodies of OpenAI's Chat Completions. */
export function openaiBodies(steps) {
  return steps.map((step, at) => {
    const isText = typeof step === "string";
    const call = { id: `call_${at}`, type: "function", function: { name: step[0], arguments: JSON.stringify(step[1]) } };
    const message = { role: "assistant", ...(isText ? { content: step } : { content: null, tool_calls: [call] }) };
    return {
      id: `c_${at}`, object: "chat.completion", created: 0, model: "scripted",
      choices: [{ index: 0, finish_reason: isText ? "stop" : "tool_calls", message }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  });
}

/** Bodies of Gemini's `generateContent`. */
export function geminiBodies(steps) {
  return steps.map((step) => {
    const part = typeof step === "string" ? { text: step } : { functionCall: { name: step[0], args: step[1] } };
    return { candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts: [part] } }] };
  });
}

/** A model of the AI SDK. */
export async function languageModel(steps) {
  const { MockLanguageModelV4 } = await import("ai/test");
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const doGenerate = steps.map((step, at) => {
    const isText = typeof step === "string";
    const call = { type: "tool-call", toolCallId: `call_${at}`, toolName: step[0], input: JSON.stringify(step[1]) };
    const finishReason = { unified: isText ? "stop" : "tool-calls", raw: undefined };
    return { content: [isText ? { type: "text", text: step } : call], finishReason, usage, warnings: [] };
  });
  return new MockLanguageModelV4({ doGenerate });
}

/** A chat model of LangChain. */
export async function chatModel(steps) {
  const { AIMessage, fakeModel } = await import("langchain");
  const model = fakeModel();
  for (const [at, step] of steps.entries()) {
    if (typeof step === "string") model.respond(new AIMessage(step));
    else model.respondWithTools([{ id: `call_${at}`, name: step[0], args: step[1] }]);
  }
  return model;
}
