/**
 * Measures import, open, payload and parse beside the conversion alone, and beside what frameworks and SDKs need to convert as
 * many tools. With a package, also its parts, and the time from its installation to the first payload.
 *
 *     node bindings/node/measure.mjs [PACKAGE]
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { gzipSync } from "node:zlib";

import { open, tool } from "toolcrib";
import { z } from "zod";

import { native } from "./dist/native.js";

const here = import.meta.dirname;
const github = resolve(here, "../../examples/github");

const names = Array.from({ length: 1000 }, (_, at) => `get_thing_${at}`);
const fields = Array.from({ length: 6 }, (_, at) => `p${at}`);
const schema = {
  type: "object",
  properties: Object.fromEntries(fields.map((name) => [name, { type: "string", description: "A value." }])),
};
const definitions = names.map((name) => ({ name, description: "Gets the thing.", inputSchema: schema }));
const zodSchema = () => z.object(Object.fromEntries(fields.map((name) => [name, z.string().describe("A value.")])));
/** Schemas that no framework has seen: some of them keep what they have converted. */
const described = () => names.map((name) => ({ name, description: "Gets the thing.", parameters: zodSchema() }));

async function milliseconds(work, { times = 20, given = () => undefined } = {}) {
  const taken = [];
  for (let run = 0; run < times; run += 1) {
    const input = given();
    const began = performance.now();
    await work(input);
    taken.push(performance.now() - began);
  }
  return taken.sort((one, other) => one - other)[Math.floor(times / 2)];
}

function elapsed(program, args, folder = here) {
  const began = performance.now();
  execFileSync(program, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return performance.now() - began;
}

const started = (code, folder) => elapsed(process.execPath, ["--input-type=module", "--eval", code], folder);
const least = (work) => Math.min(...Array.from({ length: 7 }, work));

function told(subject, value, note = "") {
  console.log(`${subject.padEnd(44)}${value.toFixed(3).padStart(10)} ms  ${note}`.trimEnd());
}

async function beside(subject, whole, rust, conversion) {
  const took = await milliseconds(whole, { times: 200 });
  const core = await milliseconds(rust, { times: 200 });
  const converted = await milliseconds(conversion, { times: 200 });
  const times = (took / (core + converted)).toFixed(2);
  told(subject, took, `${times} times Rust (${core.toFixed(3)}) and the conversion of the result (${converted.toFixed(3)})`);
}

async function ours() {
  told("import toolcrib", least(() => started('import "toolcrib"')) - least(() => started("")));
  told("open 1,000 definitions", await milliseconds(() => open(definitions), { times: 5 }));
  const functions = () => described().map((one) => tool({ ...one, run: () => "" }));
  told("open 1,000 functions", await milliseconds(() => open(functions()), { times: 5 }));
  const catalog = open(definitions);
  const core = native.open(JSON.stringify(definitions));
  const { text } = catalog.payload("anthropic", { mode: "full" });
  await beside(
    "payload of 1,000 tools",
    () => catalog.payload("anthropic", { mode: "full" }),
    () => core.payload("anthropic", "full", undefined, []),
    () => JSON.parse(text),
  );
  const response = JSON.stringify({ content: [{ type: "tool_use", id: "1", name: "get_thing_7", input: { p1: "x" } }] });
  const entries = core.parse("anthropic", response);
  await beside(
    "parse of one call",
    () => catalog.parse("anthropic", response),
    () => core.parse("anthropic", response),
    () => JSON.parse(entries),
  );
}

async function langchain() {
  const { convertToOpenAITool } = await import("@langchain/core/utils/function_calling");
  const { tool } = await import("langchain");
  const given = () => described().map((one) => tool(() => "", { ...one, schema: one.parameters }));
  const convert = (tools) => tools.map((one) => convertToOpenAITool(one));
  told("LangChain: 1,000 schemas of zod", await milliseconds(convert, { times: 5, given }));
}

async function aiSdk() {
  const { generateText, tool } = await import("ai");
  const { MockLanguageModelV4 } = await import("ai/test");
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const answer = { content: [{ type: "text", text: "" }], finishReason: { unified: "stop" }, usage, warnings: [] };
  const model = new MockLanguageModelV4({ doGenerate: async () => answer });
  const entry = ({ name, description, parameters }) => [name, tool({ description, inputSchema: parameters })];
  const given = () => Object.fromEntries(described().map(entry));
  const send = (tools) => generateText({ model, prompt: "4 + 2?", tools });
  told("AI SDK: a request with 1,000 schemas of zod", await milliseconds(send, { times: 5, given }));
}

async function openaiAgents() {
  const { tool } = await import("@openai/agents");
  const convert = (some) => some.map((one) => tool({ ...one, execute: () => "" }));
  told("OpenAI Agents SDK: 1,000 schemas of zod", await milliseconds(convert, { times: 5, given: described }));
}

async function openai() {
  const { zodFunction } = await import("openai/helpers/zod");
  const convert = (some) => some.map((one) => zodFunction(one));
  told("OpenAI SDK: 1,000 schemas of zod", await milliseconds(convert, { times: 5, given: described }));
}

async function anthropic() {
  const { betaZodTool } = await import("@anthropic-ai/sdk/helpers/beta/zod");
  const convert = (some) => some.map((one) => betaZodTool({ ...one, inputSchema: one.parameters, run: () => "" }));
  told("Anthropic SDK: 1,000 schemas of zod", await milliseconds(convert, { times: 5, given: described }));
}

function installed(file) {
  for (const part of ["toolcrib.node", "bin/toolcrib"]) {
    const bytes = readFileSync(join(here, part));
    const [packed, whole] = [gzipSync(bytes, { level: 9 }), bytes].map(({ length }) => (length / 1e6).toFixed(1));
    console.log(`${part.padEnd(44)}${packed} MB in the package, ${whole} MB installed`);
  }
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-"));
  writeFileSync(join(folder, "package.json"), '{"private": true}');
  const install = elapsed("npm", ["install", "--loglevel=error", "--offline", "--no-audit", "--no-fund", resolve(file)], folder);
  told("install the package", install);
  const first = `import { open } from "toolcrib"; open(${JSON.stringify(github)}).payload("anthropic", { profile: "core" })`;
  told("and to the first payload", install + started(first, folder));
  rmSync(folder, { recursive: true });
}

await ours();
for (const measure of [langchain, aiSdk, openaiAgents, openai, anthropic]) await measure();
if (process.argv[2]) installed(process.argv[2]);
