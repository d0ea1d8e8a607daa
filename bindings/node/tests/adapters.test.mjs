/** The adapters, against the real frameworks with scripted models. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from "@openai/agents";
import { generateText, isStepCount } from "ai";
import { createAgent } from "langchain";
import OpenAI from "openai";
import { Session, open } from "toolcrib";
import * as ai from "toolcrib/adapters/ai";
import * as langchain from "toolcrib/adapters/langchain";
import { TurnsExceeded, anthropicLoop, googleLoop, openaiLoop } from "toolcrib/adapters/loop";
import * as agents from "toolcrib/adapters/openai-agents";

import * as scripted from "../examples/scripted.mjs";
import { add } from "./functions.mjs";

const catalog = open([add]);
const messages = [{ role: "user", content: "4 + 2?" }];
/** A doc, a call with a mistake that is corrected, a call with a mistake that is reported, and the answer. */
const script = [["read_tool_doc", { name: "add" }], ["add", { a: "4" }], ["add", { a: "four" }], "6"];

test("agents of the AI SDK run tools", async () => {
  const model = await scripted.languageModel(script);
  const bound = ai.bind(catalog, { mode: "hybrid", instructions: "You add." });
  const { text, steps } = await generateText({ model, prompt: "4 + 2?", stopWhen: isStepCount(9), ...bound });
  const [first] = model.doGenerateCalls;
  const outcome = ({ content }) => content.find(({ type }) => type === "tool-result" || type === "tool-error");
  assert.equal(text, "6");
  assert.ok(first.tools.some(({ name }) => name === "add"));
  assert.match(first.prompt[0].content, /^You add\.\n\n[^]*read_tool_doc/);
  assert.match(outcome(steps[0]).output, /^# add/);
  assert.equal(outcome(steps[1]).output, 6);
  assert.match(outcome(steps[2]).error.message, /"pointer":"\/a"/);
  assert.deepEqual(Object.keys(ai.tools(catalog)), ["add"]);
});

test("agents of the OpenAI Agents SDK run tools", async () => {
  setTracingDisabled(true);
  const { finalOutput, history } = await scripted.withApi(scripted.openaiBodies(script), (baseURL) => {
    const model = new OpenAIChatCompletionsModel(new OpenAI({ baseURL, apiKey: "none" }), "scripted");
    return run(new Agent({ name: "adder", model, ...agents.bind(catalog, { mode: "hybrid" }) }), "4 + 2?");
  });
  const outputs = history.filter(({ type }) => type === "function_call_result").map(({ output }) => output.text);
  assert.equal(finalOutput, "6");
  assert.match(outputs[0], /^# add/);
  assert.equal(outputs[1], "6");
  assert.match(outputs[2], /"pointer":"\/a"/);
  assert.deepEqual(agents.tools(catalog).map(({ name }) => name), ["add"]);
});

test("agents of LangChain run tools that a middleware binds", async () => {
  const model = await scripted.chatModel(script);
  const bound = [];
  const { bindTools } = model;
  model.bindTools = function (tools) {
    bound.push(...tools);
    return bindTools.call(this, tools);
  };
  const middleware = langchain.toolcribMiddleware(catalog, { mode: "hybrid" });
  const agent = createAgent({ model, tools: [], systemPrompt: "You add.", middleware: [middleware] });
  const { messages: sent } = await agent.invoke({ messages });
  const answers = sent.filter((message) => message.type === "tool");
  assert.ok(bound.some((entry) => entry.function.name === "add"));
  assert.match(model.calls[0].messages[0].text, /^You add\.\n\n[^]*read_tool_doc/);
  assert.match(answers[0].text, /^# add/);
  assert.equal(answers[1].text, "6");
  assert.deepEqual([answers[2].status, sent.at(-1).text], ["error", "6"]);
});

test("tools of LangChain run in a session", async () => {
  const session = new Session(catalog, { requireDocs: true });
  const [tool] = langchain.tools(catalog, { session });
  assert.match(await tool.invoke({ a: 1 }), /DOC_REQUIRED/);
  assert.equal(await tool.invoke({ a: 1 }), "3");
  const agent = createAgent({ model: await scripted.chatModel([["add", { a: 5 }], "7"]), tools: [tool] });
  const { messages: sent } = await agent.invoke({ messages });
  assert.deepEqual([sent.at(-2).text, sent.at(-1).text], ["7", "7"]);
});

function clientOf(place, bodies) {
  const requests = [];
  const create = async (body) => {
    requests.push(structuredClone(body));
    return bodies.shift();
  };
  return [place(create), requests];
}

const steps = [["add", { a: 4 }], "6"];

test("a loop over Anthropic runs functions", async () => {
  const [client, requests] = clientOf((create) => ({ messages: { create } }), scripted.anthropicBodies(steps));
  const sent = await anthropicLoop(client, catalog, messages, { mode: "full", model: "m", max_tokens: 10, system: "Add." });
  assert.deepEqual([sent[2].content[0].content, sent.at(-1).content[0].text], ["6", "6"]);
  assert.deepEqual([requests.length, requests[0].tools[0].name], [2, "add"]);
  assert.match(requests[0].system, /^Add\.\n\n## Tools/);
  assert.deepEqual(messages, requests[0].messages);
});

test("a loop over OpenAI runs functions, and gives up in time", async () => {
  const place = (create) => ({ chat: { completions: { create } } });
  const [client] = clientOf(place, scripted.openaiBodies(steps));
  const sent = await openaiLoop(client, catalog, messages, { mode: "full", model: "m" });
  assert.deepEqual([sent[2].content, sent.at(-1).content], ["6", "6"]);
  const [again] = clientOf(place, scripted.openaiBodies([steps[0], steps[0]]));
  await assert.rejects(openaiLoop(again, catalog, [], { mode: "full", model: "m", maxTurns: 2 }), TurnsExceeded);
});

test("a loop over Google runs functions", async () => {
  const [client, requests] = clientOf((generateContent) => ({ models: { generateContent } }), scripted.geminiBodies(steps));
  const contents = await googleLoop(client, catalog, [{ role: "user", parts: [{ text: "4 + 2?" }] }], { model: "m" });
  assert.ok(contents[2].parts[0].functionResponse.response);
  assert.equal(contents.at(-1).parts[0].text, "6");
  assert.equal(requests[0].config.tools[0].functionDeclarations[0].name, "add");
});

test("LangChain binds few tools of many by default, and loops keep what their caller has beside them", async () => {
  const definition = { description: "Gets a thing.", inputSchema: { type: "object", properties: {} } };
  const many = open(Array.from({ length: 400 }, (_, number) => ({ name: `get_thing_${number}`, ...definition })));
  const { wrapModelCall } = langchain.toolcribMiddleware(many);
  const { tools } = await wrapModelCall({ tools: [] }, (request) => request);
  assert.ok(tools.length < 10);

  const requests = [];
  const client = { messages: { create: async (body) => (requests.push(body), { content: [{ type: "text", text: "6" }] }) } };
  const own = { name: "own", input_schema: { type: "object" } };
  const system = [{ type: "text", text: "You add." }];
  await anthropicLoop(client, catalog, messages, { mode: "hybrid", model: "m", max_tokens: 9, system, tools: [own] });
  assert.deepEqual([requests[0].system[0], requests[0].system.length], [system[0], 2]);
  assert.ok(requests[0].tools.length > 1 && requests[0].tools.at(-1) === own);
});
