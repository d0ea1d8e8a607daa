/** The core, as `src/catalog.rs` gives it: names and JSON text go in, JSON text comes out. */

import { createRequire } from "node:module";

import { errorOf } from "./errors.js";

type Name = string | undefined;

export interface NativeCatalog {
  version(): string;
  isComplete(): boolean;
  findings(): string;
  tools(): string;
  profiles(): string[];
  runnable(name: string): string;
  session(runnable: string[], profile: Name, requireDocs: boolean | undefined): NativeSession;
  payload(provider: string, mode: Name, profile: Name): { body: string; facts: string };
  prompt(provider: string, mode: Name, profile: Name): string;
  parse(provider: string, response: string, profile: Name, fromText: boolean): string;
  leftInText(provider: string, response: string, profile: Name): number;
  results(provider: string, answered: string, profile: Name): string;
  search(query: string, limit: number, profile?: Name): string;
  doc(name: string, profile?: Name): string;
  receipt(name: string): { isRequired: boolean; receipt: string };
  help(name: string, profile?: Name): string;
  tokens(provider: string, profile: Name, mode: Name, budget: number | undefined): Promise<string>;
  render(folder: string, profile: Name): Promise<string>;
  seed(workspace: string, profile: Name, template: Name, values: string): Promise<string>;
}

export interface NativeSession {
  call(name: string, args: string): string;
  run(call: string): NativeJob;
  answer(provider: string, calls: string): NativeJob;
}

export interface NativeJob {
  next(answer?: string): string;
}

interface Native {
  open(definitions: Name, path: Name): NativeCatalog;
  openAsync(definitions: Name, path: Name): Promise<NativeCatalog>;
}

export const native: Native = createRequire(import.meta.url)("../toolcrib.node") as Native;

/** Asks the core; what it throws becomes an error of `errors.ts`. */
export function asked<T>(job: () => T): T {
  try {
    return job();
  } catch (thrown) {
    throw errorOf(thrown);
  }
}

/** The same for a promise. */
export async function awaited<T>(job: () => Promise<T>): Promise<T> {
  try {
    return await job();
  } catch (thrown) {
    throw errorOf(thrown);
  }
}
