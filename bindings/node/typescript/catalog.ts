/** The catalog and its jobs, as objects. The work is done by the core, which gives and takes JSON text. */

import { fileURLToPath } from "node:url";

import { FindingsError } from "./errors.js";
import { FunctionTool } from "./functions.js";
import { asked, awaited, native, type NativeCatalog } from "./native.js";
import { Payload } from "./payload.js";
import { jsonText, plain } from "./plain.js";
import { callsOf, findingsOf, findingText, foundOf, toolOf } from "./read.js";
import type { Binding, Call, Finding, Found, JsonObject, Provider, Mode, Tool, Written } from "./types.js";

/** A path, one definition, or several definitions, functions and answers of an MCP client's `listTools()`. */
export type Source = string | URL | FunctionTool | Iterable<FunctionTool | object> | object;

/** An entry of `results`: a call and its answer, or an entry of `toolcrib results`. */
export type Answered = readonly [call: Call, answer: unknown] | JsonObject;

/** A checked catalog of tools. It never changes: open it again after an edit. */
export class Catalog {
  /** @internal */
  readonly core: NativeCatalog;
  #tools: readonly Tool[] | undefined;
  /** The JavaScript functions among the tools, by canonical name. */
  readonly functions: ReadonlyMap<string, FunctionTool>;

  /** @internal */
  constructor(core: NativeCatalog, functions: readonly FunctionTool[] = []) {
    this.core = core;
    this.functions = new Map(functions.map((one) => [one.name, one]));
  }

  /** The hash of all content; the same content has the same version. */
  get version(): string {
    return this.core.version();
  }

  /** Whether all input could be read. */
  get isComplete(): boolean {
    return this.core.isComplete();
  }

  /** The tools, in the order of their sources. */
  get tools(): readonly Tool[] {
    return (this.#tools ??= Object.freeze(JSON.parse(asked(() => this.core.tools())).map(toolOf)) as readonly Tool[]);
  }

  /** The names of the profiles. */
  get profiles(): string[] {
    return this.core.profiles();
  }

  /** Findings on the definitions, the worst first. */
  get findings(): Finding[] {
    return findingsOf(JSON.parse(asked(() => this.core.findings())));
  }

  /** Throws a {@link FindingsError} where a definition has an error. */
  check(): void {
    const errors = this.findings.filter((finding) => finding.severity === "error");
    if (errors.length > 0) throw new FindingsError(errors.map(findingText).join("\n"), errors);
  }

  /** The part of a request body with the tools: `client.messages.create({ ..., ...payload })`. */
  payload(provider: Provider, { profile, mode }: Binding = {}): Payload {
    const { body, facts } = asked(() => this.core.payload(provider, mode, profile));
    return new Payload(body, JSON.parse(facts));
  }

  /** The section of the system prompt that goes with a payload of the same options. */
  prompt(provider: Provider, { profile, mode }: Binding = {}): string {
    return asked(() => this.core.prompt(provider, mode, profile));
  }

  /**
   * The calls of a response, each with arguments that fit or with what is wrong with it. The response is JSON text, or
   * an object of the provider's SDK or of `JSON.parse`: of a stream, the final message. With `fromText`, calls that the
   * model left in its text are read too; without it, a warning of the process says that there are some.
   */
  parse(
    provider: Provider,
    response: unknown,
    { profile, fromText = false }: { profile?: string; fromText?: boolean } = {},
  ): Call[] {
    const text = jsonText(response);
    const calls = callsOf(asked(() => this.core.parse(provider, text, profile, fromText)));
    const left = fromText ? 0 : asked(() => this.core.leftInText(provider, text, profile));
    if (left > 0) process.emitWarning(`the text holds calls that are not read (${left}); read them with { fromText: true }`);
    return calls;
  }

  /**
   * The message, or the list of messages, that takes results back to the model. The answer to a call is any JSON value, or
   * an envelope `{ ok: false, error }`. For a call with an error, the error is sent.
   */
  results(provider: Provider, results: Iterable<Answered>, { profile }: { profile?: string } = {}): any {
    const answered = Array.from(results, (one) => (isPair(one) ? entryOf(one[0], one[1]) : one));
    return JSON.parse(asked(() => this.core.results(provider, jsonText(answered), profile)));
  }

  /** The tools, of a profile or of all, that fit what somebody wants, by words. The first search makes the index. */
  search(query: string, limit = 5, { profile }: { profile?: string } = {}): Found {
    return foundOf(JSON.parse(asked(() => this.core.search(query, limit, profile))));
  }

  /** The doc of one tool, in markdown, by any name that means one tool; of a profile, where one is named. */
  doc(name: string, { profile }: { profile?: string } = {}): string {
    return asked(() => this.core.doc(name, profile));
  }

  /** Whether the doc of a tool has to be read before a call, and the receipt that only its readers know. */
  receipt(name: string): { isRequired: boolean; receipt: string } {
    return asked(() => this.core.receipt(name));
  }

  /**
   * Help on one tool: `summary`, `usage`, `args`, and a `call` that fits. On a group of tools, such as `issues`: its `groups`
   * and `ops`, one line each; `root` has all. Of a profile, where one is named.
   */
  help(name: string, { profile }: { profile?: string } = {}): JsonObject {
    return JSON.parse(asked(() => this.core.help(name, profile)));
  }

  /** The tokens that tools cost, as `toolcrib tokens --json` prints them; of all profiles unless one is named. */
  async tokens(
    provider: Provider = "openai",
    options: { profile?: string; mode?: Mode; budget?: number } = {},
  ): Promise<JsonObject> {
    const { profile, mode, budget } = options;
    return JSON.parse(await awaited(() => this.core.tokens(provider, profile, mode, budget)));
  }

  /** Writes docs into a folder, which must be toolcrib's or not exist. */
  async render(folder: string, { profile }: { profile?: string } = {}): Promise<Written> {
    return JSON.parse(await awaited(() => this.core.render(folder, profile)));
  }

  /**
   * Seeds the workspace of an agent: docs below `tools/`, and an `AGENTS.md`. `vars` are the values of the job that files of
   * the template name.
   */
  async seed(
    workspace: string,
    { profile, template, vars = {} }: { profile?: string; template?: string; vars?: JsonObject } = {},
  ): Promise<Written> {
    return JSON.parse(await awaited(() => this.core.seed(workspace, profile, template, jsonText(vars))));
  }
}

/** Settings of {@link open}: a `toolcrib.toml` for definitions that a program holds. */
export interface OpenOptions {
  config?: string;
}

/** Opens a catalog: a folder, a `toolcrib.toml`, a file of definitions in any known format, or what a program holds. */
export function open(source: Source, { config }: OpenOptions = {}): Catalog {
  const { definitions, path, functions } = given(source, config);
  return new Catalog(asked(() => native.open(definitions, path)), functions);
}

/** The same beside the event loop. */
export async function openAsync(source: Source, { config }: OpenOptions = {}): Promise<Catalog> {
  const { definitions, path, functions } = given(source, config);
  return new Catalog(await awaited(() => native.openAsync(definitions, path)), functions);
}

function given(source: Source, config: string | undefined) {
  if (typeof source === "string") return { path: source, functions: [] };
  if (source instanceof URL) return { path: fileURLToPath(source), functions: [] };
  const tools: unknown[] = Symbol.iterator in source ? [...(source as Iterable<unknown>)] : [source];
  const functions = tools.filter((one) => one instanceof FunctionTool);
  return { definitions: jsonText(tools.flatMap(definitionsOf)), path: config, functions };
}

function definitionsOf(tool: unknown): unknown {
  if (tool instanceof FunctionTool) return tool.definition;
  const found = plain(tool) as JsonObject | null;
  return Array.isArray(found?.["tools"]) ? found["tools"] : found;
}

function isPair(entry: Answered): entry is readonly [Call, unknown] {
  return Array.isArray(entry);
}

function entryOf(call: Call, answer: unknown): JsonObject {
  return call.error ? call.entry : { ...call.entry, envelope: plain(answer) };
}
