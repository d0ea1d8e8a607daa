/** Real catalogs: each is opened, bound for every provider, and calls of its tools come back from each wire as they were. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { PayloadError, open } from "toolcrib";

import { root } from "./checkout.mjs";

const TOOLS = {
  "bfcl-functions.json": 1853,
  "box-openapi.json": 294,
  "discord-openapi.json": 242,
  "docker-registry-tools.json": 755,
  "livemcpbench-servers.json": 527,
  "notion-openapi.json": 24,
  "toucan-nasty-servers.json": 851,
};
const PROVIDERS = [
  "openai", "openai-responses", "anthropic", "gemini", "gemini-interactions", "bedrock", "ollama", "mistral", "cohere", "mcp",
  "langchain",
];

/** Calls of a catalog that are sent over each wire, of tools from its first to its last. */
const CALLS = 100;

const json = JSON.stringify;
const toolUses = (calls) => calls.map(([name, input], at) => ({ type: "tool_use", id: `${at}`, name, input }));
const functions = (calls) =>
  calls.map(([name, args], at) => ({ id: `${at}`, type: "function", function: { name, arguments: json(args) } }));
const openai = (calls) => ({ choices: [{ message: { role: "assistant", tool_calls: functions(calls) } }] });

/** A response of each provider with these calls. */
const WIRES = {
  openai,
  mistral: openai,
  anthropic: (calls) => ({ content: toolUses(calls) }),
  cohere: (calls) => ({ message: { role: "assistant", tool_calls: functions(calls) } }),
  "openai-responses": (calls) => ({
    output: calls.map(([name, args], at) => ({ type: "function_call", call_id: `${at}`, name, arguments: json(args) })),
  }),
  gemini: (calls) => ({
    candidates: [{ content: { role: "model", parts: calls.map(([name, args]) => ({ functionCall: { name, args } })) } }],
  }),
  bedrock: (calls) => {
    const content = calls.map(([name, input], at) => ({ toolUse: { toolUseId: `${at}`, name, input } }));
    return { output: { message: { role: "assistant", content } } };
  },
  ollama: (calls) => {
    const parts = calls.map(([name, args]) => ({ function: { name, arguments: args } }));
    return { message: { role: "assistant", tool_calls: parts }, done: true };
  },
  langchain: (calls) => ({ tool_calls: calls.map(([name, args], at) => ({ id: `${at}`, name, args })) }),
};

for (const [file, count] of Object.entries(TOOLS)) {
  const path = join(root, "tests/data/catalogs", file);
  describe(file, { skip: !existsSync(path) && "it is not in this checkout" }, () => {
    const catalog = open(path);
    const step = 1 + Math.floor(catalog.tools.length / CALLS);
    const made = catalog.tools
      .filter((_, at) => at % step === 0)
      .map((tool) => ({ tool, call: catalog.help(tool.name).call }))
      .filter(({ call }) => call);

    test("is read as a whole", () => {
      assert.deepEqual([catalog.tools.length, catalog.isComplete], [count, true]);
      assert.ok(made.length > 0);
    });

    for (const provider of PROVIDERS) {
      test(`is bound for ${provider}`, () => {
        const payload = catalog.payload(provider);
        const body = JSON.parse(payload.text);
        assert.deepEqual({ ...payload }, Array.isArray(body) ? { tools: body } : body);
        try {
          const { text } = catalog.payload(provider, { mode: "full" });
          for (const { tool } of made) {
            const names = [tool.name, tool.safeName, tool.safeName.replaceAll("-", "_")];
            // MCP clients put a prefix before names, so that long ones are cut.
            const shown = (name) => (provider === "mcp" && name.length > 49 ? json(name).slice(0, 38) : json(name));
            assert.ok(names.some((name) => text.includes(shown(name))), tool.name);
          }
        } catch (refused) {
          assert.ok(refused instanceof PayloadError && refused.message.includes("too many"), refused);
        }
      });
    }

    for (const [provider, responseOf] of Object.entries(WIRES)) {
      test(`calls of tools come back from ${provider} as they were`, () => {
        const response = responseOf(made.map(({ tool, call }) => [tool.safeName, call.args]));
        const calls = catalog.parse(provider, response);
        assert.deepEqual(
          calls.map((call) => [call.name, call.arguments]),
          made.map(({ tool, call }) => [tool.name, call.args]),
        );
        const answered = json(catalog.results(provider, calls.map((call) => [call, { ok: true, result: call.name }])));
        assert.ok(made.every(({ tool }) => answered.includes(tool.name)));
      });
    }
  });
}
