/**
 * Builds the package: with cargo the program and the module of Node, with TypeScript `dist`. `npm pack` and `npm install` run it.
 *
 * `TOOLCRIB_NODE_PROFILE` is the profile of both: `quick` from a checkout, `small` for what is released, or any other of
 * Cargo.toml. `TOOLCRIB_NODE_PROGRAM` is a program that is built already.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const here = import.meta.dirname;
const root = resolve(here, "../..");
const profile = process.env.TOOLCRIB_NODE_PROFILE ?? "quick";
const target = resolve(process.env.CARGO_TARGET_DIR ?? join(root, "target"));
const isWindows = process.platform === "win32";

function run(folder, program, ...args) {
  execFileSync(program, args, { cwd: folder, stdio: ["ignore", 2, 2], shell: isWindows && program === "npm" });
}

function cargo(workspace, ...what) {
  run(workspace, "cargo", "build", "--locked", "--profile", profile, "--target-dir", target, ...what);
  return join(target, profile === "dev" ? "debug" : profile);
}

function program() {
  const name = isWindows ? "toolcrib.exe" : "toolcrib";
  return process.env.TOOLCRIB_NODE_PROGRAM ?? join(cargo(root, "--bin", "toolcrib", "--features", "otel,postgres"), name);
}

function library() {
  const names = { win32: "toolcrib_node.dll", darwin: "libtoolcrib_node.dylib" };
  return join(cargo(join(root, "bindings"), "--package", "toolcrib-node"), names[process.platform] ?? "libtoolcrib_node.so");
}

/** Replaces a file: a process that has the old one open keeps it. */
function placed(file, place) {
  rmSync(place, { force: true });
  copyFileSync(file, place);
}

function compiled() {
  const compiler = join(here, "node_modules/typescript/bin/tsc");
  // npm installs no development dependencies of a folder that it links or packs.
  if (!existsSync(compiler)) run(here, "npm", "ci", "--prefix", here, "--ignore-scripts", "--no-audit", "--no-fund");
  rmSync(join(here, "dist"), { recursive: true, force: true });
  run(here, process.execPath, compiler, "--project", here);
}

mkdirSync(join(here, "bin"), { recursive: true });
placed(program(), join(here, "bin/toolcrib"));
placed(library(), join(here, "toolcrib.node"));
compiled();
