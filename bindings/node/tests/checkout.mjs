/** The checkout and the program, as the tests need them. */

import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

/** The root of the repository: tests run in place, or in the folder where the package was installed. */
export const root = resolve(process.env.TOOLCRIB_CHECKOUT ?? join(import.meta.dirname, "../../.."));

const library = realpathSync(createRequire(import.meta.url).resolve("toolcrib"));

/** The program in the package. */
export const program = join(dirname(library), "../bin/toolcrib");

/** The output of a command of the package. */
export function command(args, input = "") {
  return spawnSync(program, args, { input, cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
}
