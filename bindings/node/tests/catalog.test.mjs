/** The binding gives the same bytes as the command, and its own readings hold. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import * as toolcrib from "toolcrib";
import { open, openAsync, tool } from "toolcrib";
import { z } from "zod";

import { command, root } from "./checkout.mjs";
import { add } from "./functions.mjs";

const PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "ollama", "mistral", "mcp", "langchain"];
const github = open(join(root, "examples/github"));

function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

for (const example of ["examples/github", "examples/universal-agent", "examples/buildos"]) {
  for (const mode of ["full", "hybrid", "gateway"]) {
    test(`payloads of ${example} on ${mode} have the bytes of the command`, () => {
      const catalog = open(join(root, example));
      for (const provider of PROVIDERS) {
        const printed = command(["payload", example, "--provider", provider, "--mode", mode]);
        try {
          const { text } = catalog.payload(provider, { mode });
          if (printed.status === 0) assert.equal(`${text}\n`, printed.stdout);
        } catch (error) {
          assert.ok(error instanceof toolcrib.PayloadError, error);
          assert.notEqual(printed.status, 0);
          assert.ok(printed.stderr.includes(error.message));
        }
      }
    });
  }
}

test("calls and results are those of the command", () => {
  const response = readFileSync(join(root, "examples/github/response.json"), "utf8");
  const printed = command(["parse", "examples/github", "--provider", "anthropic"], response);
  const entries = github.parse("anthropic", response).map((call) => call.entry);
  assert.deepEqual(entries, JSON.parse(printed.stdout));
  const answered = JSON.parse(readFileSync(join(root, "examples/github/results.json"), "utf8"));
  const replied = command(["results", "examples/github", "--provider", "anthropic"], JSON.stringify(answered));
  assert.deepEqual(github.results("anthropic", answered), JSON.parse(replied.stdout));
});

test("findings and tokens are those of the command", async () => {
  assert.deepEqual(await github.tokens(), JSON.parse(command(["tokens", "examples/github", "--json"]).stdout));
  const checked = JSON.parse(command(["check", "examples/buildos", "--json"]).stdout);
  const { findings } = open(join(root, "examples/buildos"));
  assert.deepEqual(findings.map(({ code }) => code), checked.findings.map(({ code }) => code));
});

test("a workspace has the bytes of the command", async (t) => {
  const folder = scratch(t);
  const [ours, its] = [join(folder, "ours"), join(folder, "its")];
  await open(join(root, "examples/universal-agent")).seed(ours, { profile: "creator", vars: { job_id: "42" } });
  assert.equal(command(["seed", its, "examples/universal-agent", "--profile", "creator"]).status, 0);
  const files = (place) => {
    const all = readdirSync(place, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const paths = all.map((one) => join(one.parentPath, one.name)).sort();
    return Object.fromEntries(paths.map((path) => [path.slice(place.length), readFileSync(path, "utf8")]));
  };
  assert.deepEqual(files(ours), files(its));
  assert.ok(existsSync(join(ours, "AGENTS.md")));
});

test("errors have classes, codes and near names", () => {
  assert.throws(() => github.help("create_isue"), (error) => {
    assert.ok(error instanceof toolcrib.UnknownTool && error instanceof toolcrib.ToolcribError);
    assert.equal(error.code, "unknown_tool");
    return error.nearest.includes("create_issue");
  });
  assert.throws(() => open("/nowhere"), toolcrib.CatalogMissing);
  assert.throws(() => github.payload("openai", { profile: "nobody" }), toolcrib.UnknownProfile);
  assert.throws(() => github.payload("openai", { profile: "cor" }), (error) => error.nearest[0] === "core");
  assert.throws(() => github.parse("anthropic", "{"), toolcrib.ResponseError);
  assert.throws(() => github.payload("opena"), { name: "ArgumentError", message: /providers are: openai/ });
  assert.throws(() => github.payload(7), toolcrib.ArgumentError);
  assert.throws(() => github.results("anthropic", []), toolcrib.ResultsError);
});

test("what is done beside the event loop fails as what is done on it", async () => {
  await assert.rejects(openAsync("/nowhere"), toolcrib.CatalogMissing);
  await assert.rejects(github.tokens("openai", { profile: "nobody" }), toolcrib.UnknownProfile);
  const opened = await openAsync(pathToFileURL(join(root, "examples/github")));
  assert.equal(opened.version, github.version);
});

test("help is there for tools and for groups", () => {
  assert.ok(github.help("create_issue").call.args);
  assert.ok("github.create_issue" in github.help("issues").write);
  assert.ok(github.help("root").groups);
});

test("values of a job have names that templates can say", async (t) => {
  const workspace = join(scratch(t), "w");
  for (const name of ["profile", "job-id", ""]) {
    await assert.rejects(github.seed(workspace, { vars: { [name]: "42" } }), toolcrib.TemplateError);
  }
  assert.ok(!existsSync(workspace));
});

test("findings of definitions in memory have places", () => {
  const catalog = open([{ name: "f", description: "F.", inputSchema: { type: "string" } }]);
  const errors = catalog.findings.filter(({ severity }) => severity === "error");
  assert.ok(errors[0].place.pointer.startsWith("/0"));
  assert.throws(() => catalog.check(), (refused) => {
    assert.deepEqual(refused.findings, errors);
    return refused instanceof toolcrib.FindingsError;
  });
});

test("a function is a tool by its schema", () => {
  const paint = tool({
    name: "paint",
    description: "Paints a box.",
    parameters: z.object({
      box: z.object({ width: z.number(), label: z.string().optional() }).describe("The box to paint."),
      how: z.enum(["fast", "well"]).default("well"),
    }),
    effect: "write",
    run: ({ how }) => how,
  });
  const plain = tool({ name: "get_time", description: "Gets the time.", run: () => 12 });
  const catalog = open([paint, plain]);
  const [{ function: bound }] = catalog.payload("openai", { mode: "full" }).tools;
  const { box, how } = bound.parameters.properties;
  assert.equal(bound.description, "Paints a box.");
  assert.equal(box.description, "The box to paint.");
  assert.deepEqual([box.required, bound.parameters.required], [["width"], ["box"]]);
  assert.deepEqual([how.enum, how.default], [["fast", "well"], "well"]);
  assert.deepEqual(catalog.tools.map(({ name, effect }) => [name, effect]), [["paint", "write"], ["get_time", "read"]]);
  catalog.check();
});

test("lists of MCP clients are read", () => {
  const listed = { tools: [{ name: "get", description: "Gets it.", inputSchema: { type: "object", properties: {} } }] };
  assert.deepEqual(open([listed, add]).tools.map(({ name }) => name), ["get", "add"]);
  assert.deepEqual(open(listed).tools.map(({ name }) => name), ["get"]);
});

test("a payload is spread without the facts beside it", () => {
  const payload = github.payload("anthropic", { mode: "full" });
  assert.deepEqual(Object.keys({ ...payload }), Object.keys(JSON.parse(payload.text)));
  assert.equal(payload.mode, "full");
  assert.ok(Array.isArray(github.payload("langchain", { mode: "gateway" }).tools));
});

test("numbers that JavaScript cannot hold stay as they are", () => {
  const schema = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
  const catalog = open([{ name: "get", description: "Gets it.", inputSchema: schema }]);
  const part = { type: "tool_use", id: "1", name: "get", input: { id: 9007199254740991n } };
  const [call] = catalog.parse("anthropic", { content: [part] });
  assert.equal(call.arguments.id, Number.MAX_SAFE_INTEGER);
});

test("workers share the library", async () => {
  const { Worker } = await import("node:worker_threads");
  const code = `import("toolcrib").then(({ open }) =>
    require("node:worker_threads").parentPort.postMessage(open(${JSON.stringify(join(root, "examples/github"))}).version))`;
  const versions = await Promise.all(
    Array.from({ length: 4 }, () => new Promise((told, failed) => {
      const worker = new Worker(code, { eval: true });
      worker.once("message", told).once("error", failed);
    })),
  );
  assert.deepEqual(new Set(versions), new Set([github.version]));
});
