/** A session checks, runs and answers calls. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ResponseError, Session, UnknownTool, open, tool } from "toolcrib";
import { z } from "zod";

const text = z.object({ text: z.string() });
let calls = [];

function addTool(effect) {
  return tool({
    name: "add",
    description: "Adds two numbers.",
    parameters: z.object({ a: z.int(), b: z.int().default(2) }),
    ...(effect && { effect }),
    run({ a, b }) {
      calls.push([a, b]);
      return a + b;
    },
  });
}

const later = tool({
  name: "later",
  description: "Gets a text, later.",
  parameters: text,
  run: async ({ text }) => text.toUpperCase(),
});

function session(functions, options) {
  calls = [];
  return new Session(open(functions), options);
}

async function errorOf(envelope) {
  const { ok, error } = await envelope;
  assert.equal(ok, false);
  return error;
}

test("only arguments that fit reach a function", async () => {
  const agent = session([addTool()]);
  assert.deepEqual(await agent.run(agent.call("add", { a: "4" })), { ok: true, result: 6 });
  const refused = await errorOf(agent.run(agent.call("add", { a: "four" })));
  assert.equal(refused.field_errors[0].pointer, "/a");
  assert.deepEqual(calls, [[4, 2]]);
  assert.ok((await errorOf(agent.run(agent.call("ad", {})))).nearest.length > 0);
  assert.equal((await errorOf(agent.run(agent.call("add", '{"a": ')))).code, "PARSE");
});

test("the doc is read before the first call", async () => {
  const agent = session([addTool("write")], { requireDocs: true });
  const call = agent.call("add", { a: 1 });
  const refused = await errorOf(agent.run(call));
  assert.equal(refused.code, "DOC_REQUIRED");
  assert.ok(refused.help.args);
  assert.deepEqual(calls, []);
  assert.equal((await agent.run(call)).result, 3);
  const reader = session([addTool()], { requireDocs: true });
  assert.match((await reader.run(reader.call("read_tool_doc", { name: "add" }))).result, /^# add/);
  assert.ok((await reader.run(reader.call("add", { a: 1 }))).ok);
});

test("a turn answers every call in the message of the provider", async () => {
  const agent = session([addTool(), later]);
  const part = { type: "tool_use", id: "1", name: "add", input: { a: 1 } };
  const { message } = await agent.turn("anthropic", { content: [part, { ...part, id: "2", input: {} }] });
  assert.deepEqual(message.content.map((block) => block.tool_use_id), ["1", "2"]);
  assert.equal(message.content[0].content, "3");
  assert.ok(message.content[1].is_error);
  const done = await agent.turn("anthropic", { content: [{ type: "text", text: "done" }] });
  assert.deepEqual(done, { calls: [], message: undefined });
  const wait = { type: "tool_use", id: "3", name: "later", input: { text: "a" } };
  assert.equal((await agent.turn("anthropic", { content: [wait] })).message.content[0].content, "A");
  await assert.rejects(agent.turn("anthropic", "{"), ResponseError);
});

test("the functions of the gateway are answered", async () => {
  const agent = session([addTool()]);
  const result = async (name, args) => (await agent.run(agent.call(name, args))).result;
  assert.equal((await result("tool_search", { query: "add two numbers" })).results[0].name, "add");
  assert.equal(await result("tool_exec", { op: "add", args: { a: 5 } }), 7);
  assert.ok((await errorOf(agent.run(agent.call("tool_exec", { op: "add", args: {} })))).field_errors);
  assert.ok((await result("tool_help", { path: "add" })).args);
});

test("a batch runs calls in order, and passes on results", async () => {
  const agent = session([addTool()]);
  const exec = (a, id) => ({ function: "tool_exec", input: { op: "add", args: { a } }, ...(id && { id }) });
  const calls = [exec(1, "one"), { op: "add", args: { a: { $from: "one.result" } } }, exec({ $from: 7 }), exec("x"), exec({ $from: 3 }), exec({ $from: "0.result.a" })];
  const { result } = await agent.run(agent.call("tool_batch", { calls }));
  assert.deepEqual(result.results.map((one) => one.result ?? one.error.code), [
    3, 5, "VALIDATION_ERROR", "SCHEMA", "NOT_RUN", "VALIDATION_ERROR",
  ]);
  assert.deepEqual([result.failed, result.results[0].id, result.results[1].function], [4, "one", "tool_exec"]);
});

test("several queries have an answer each", async () => {
  const agent = session([addTool()]);
  const { result } = await agent.run(agent.call("tool_search", { queries: ["add two numbers", "water the plants"] }));
  assert.deepEqual(result.results.map((one) => [one.query, one.no_match ?? false]), [
    ["add two numbers", false], ["water the plants", true],
  ]);
});

test("functions run tools that are no functions of the catalog", async () => {
  const catalog = open([{ name: "get_me", description: "Who I am.", inputSchema: { type: "object", properties: {} } }]);
  const agent = new Session(catalog, { run: { get_me: () => new Map([["login", "octocat"]]) } });
  assert.deepEqual(await agent.run(agent.call("get_me", {})), { ok: true, result: { login: "octocat" } });
  const nobody = new Session(catalog);
  assert.equal((await errorOf(nobody.run(nobody.call("get_me", {})))).code, "NOT_FOUND");
});

test("a name that no tool has is an error", () => {
  assert.throws(() => new Session(open([addTool()]), { run: { ad: () => 1 } }), (error) => {
    assert.equal(error.nearest[0], "add");
    return error instanceof UnknownTool;
  });
});

test("what a schema of zod refuses has its place", async () => {
  const parameters = z.object({ range: z.object({ from: z.int(), to: z.int() }).refine(({ from, to }) => from < to, { path: ["to"], message: "it ends before it begins" }) });
  const count = tool({ name: "count", description: "Counts.", parameters, run: ({ range }) => range.to - range.from });
  const agent = session([count]);
  assert.equal((await agent.run(agent.call("count", { range: { from: 1, to: 3 } }))).result, 2);
  const refused = await errorOf(agent.run(agent.call("count", { range: { from: 3, to: 1 } })));
  assert.deepEqual([refused.code, refused.field_errors], ["SCHEMA", [{ pointer: "/range/to", message: "it ends before it begins" }]]);
});
