/** Each example is run as its reader runs it, and ends with the ticket closed. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "../examples");

for (const example of readdirSync(folder).filter((name) => name.startsWith("with-"))) {
  test(`${example} ends with the ticket closed`, () => {
    const code = `await import("./${example}"); console.log((await import("./tickets.mjs")).desk[7].state);`;
    const args = ["--input-type=module", "--eval", code];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    assert.deepEqual([status, stdout], [0, "Ticket 7 is closed.\nclosed as done\n"], stderr);
  });
}
