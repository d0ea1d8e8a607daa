/** The package as programs get it: both kinds of modules, types, the command line, and the code of the tutorial. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import * as imported from "toolcrib";

import { command, root } from "./checkout.mjs";

const here = import.meta.dirname;
const require = createRequire(import.meta.url);

test("CommonJS has the same verbs, of the same instance", () => {
  const required = require("toolcrib");
  for (const [name, verb] of Object.entries(imported)) assert.equal(required[name], verb, name);
  for (const adapter of ["ai", "langchain", "loop", "openai-agents"]) assert.ok(require(`toolcrib/adapters/${adapter}`));
});

test("a program of CommonJS runs without a warning", () => {
  const code = `console.log(Object.keys(require("toolcrib").open([]).tools).length)`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=commonjs", "--eval", code], { cwd: here, encoding: "utf8" });
  assert.deepEqual([stdout, stderr], ["0\n", ""]);
});

for (const [module, resolution] of [["node20", "node16"], ["nodenext", "nodenext"], ["preserve", "bundler"]]) {
  for (const program of ["esm.mts", "commonjs.cts"]) {
    test(`${program} has types with the module setting ${module}`, () => {
      const compiler = join(require.resolve("typescript/package.json"), "../bin/tsc");
      const settings = ["--module", module, "--moduleResolution", resolution, "--target", "es2023", "--types", "node"];
      const args = [compiler, "--ignoreConfig", "--noEmit", "--strict", ...settings, "--skipLibCheck", join(here, "types", program)];
      const { status, stdout } = spawnSync(process.execPath, args, { cwd: here, encoding: "utf8" });
      assert.equal(status, 0, stdout);
    });
  }
}

test("the program is in the package", () => {
  assert.match(command(["--version"]).stdout, /^toolcrib \d/);
});

test("the code of the tutorial runs", async () => {
  const page = readFileSync(join(root, "docs/node.md"), "utf8");
  const blocks = [...page.matchAll(/^```js\n([^]*?)^```/gm)].map(([, block]) => block);
  assert.ok(blocks.length > 2);
  const given = `import { client, mcp, model, run } from ${JSON.stringify(join(here, "tutorial.mjs"))};`;
  const checked = "if (!message.content[0].content.includes('octocat')) throw new Error(JSON.stringify(message));";
  const code = [given, ...blocks, checked].join("\n");
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], { cwd: here, encoding: "utf8" });
  assert.equal(status, 0, stderr);
});
