/** One job of an agent: the core checks and answers its calls, and asks for the functions that are run here. */

import type { Catalog } from "./catalog.js";
import { ConversionError, ToolcribError } from "./errors.js";
import type { FunctionTool } from "./functions.js";
import { asked, type NativeJob, type NativeSession } from "./native.js";
import { plain } from "./plain.js";
import { callsOf } from "./read.js";
import type { Call, Envelope, JsonObject, Provider } from "./types.js";

/** Runs a call with checked arguments. */
export type Run = (args: JsonObject) => unknown;

/** Settings of a session. */
export interface SessionOptions {
  /** What runs tools that are not functions of the catalog, by name. */
  run?: Readonly<Record<string, Run>>;
  profile?: string;
  /** Whether docs have to be read before calls; decides in place of the configuration. */
  requireDocs?: boolean;
}

/**
 * Runs the calls of one agent. A call runs only with arguments that fit. The doc of a tool that `[exec] require_doc` covers
 * has to be read first: the error carries it, and the next call passes.
 * The functions `read_tool_doc`, `tool_search`, `tool_help`, `tool_exec` and `tool_batch` are answered here.
 */
export class Session {
  readonly profile: string | undefined;
  readonly #core: NativeSession;
  readonly #runs: ReadonlyMap<string, Run | FunctionTool>;

  constructor(
    readonly catalog: Catalog,
    { run = {}, profile, requireDocs }: SessionOptions = {},
  ) {
    this.profile = profile;
    const given = Object.entries(run).map(([name, one]) => [asked(() => catalog.core.runnable(name)), one] as const);
    this.#runs = new Map<string, Run | FunctionTool>([...catalog.functions, ...given]);
    this.#core = asked(() => catalog.core.session([...this.#runs.keys()], profile, requireDocs));
  }

  /** The calls of a response, and the message or messages with their results; without calls, none. */
  async turn(provider: Provider, response: unknown): Promise<{ calls: Call[]; message: any }> {
    const { profile } = this;
    const calls = this.catalog.parse(provider, response, profile === undefined ? {} : { profile });
    return { calls, message: await this.answer(provider, calls) };
  }

  /** Runs calls one after the other; gives the message or messages with their results, and without calls nothing. */
  async answer(provider: Provider, calls: readonly Call[]): Promise<any> {
    if (calls.length === 0) return undefined;
    return this.#drive(asked(() => this.#core.answer(provider, JSON.stringify(calls.map(({ entry }) => entry)))));
  }

  /** A call of a tool by name, checked; `args` may be the JSON text of a model. */
  call(name: string, args: JsonObject | string): Call {
    const text = typeof args === "string" ? args || "{}" : JSON.stringify(plain(args));
    const [call] = callsOf(`[${asked(() => this.#core.call(name, text))}]`);
    return call as Call;
  }

  /** The envelope of a call: `{ ok: true, result }`, or `{ ok: false, error }`. */
  async run(call: Call): Promise<Envelope> {
    return this.#drive(asked(() => this.#core.run(JSON.stringify(call.entry))));
  }

  /** Runs the functions that a job asks for, until it is done. */
  async #drive(job: NativeJob): Promise<any> {
    let step: JsonObject = JSON.parse(asked(() => job.next()));
    while (step["run"]) {
      const answer = JSON.stringify(await this.#answered(step["run"].name, step["run"].arguments));
      step = JSON.parse(asked(() => job.next(answer)));
    }
    return step["done"];
  }

  async #answered(name: string, args: JsonObject): Promise<JsonObject> {
    try {
      const run = this.#runs.get(name) as Run | FunctionTool;
      return { result: plain(await (typeof run === "function" ? run(args) : run.run(args))) };
    } catch (error) {
      return { error: failure(error) };
    }
  }
}

function failure(error: unknown): JsonObject {
  if (error instanceof ConversionError) {
    const { code, message, fieldErrors } = error;
    return { code, message: `the arguments do not fit: ${message}`, field_errors: fieldErrors, nearest: [] };
  }
  const code = error instanceof ToolcribError ? error.code : "tool_error";
  return { code, message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}
