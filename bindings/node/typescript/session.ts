/** One job of an agent: its calls are checked, run, and answered in envelopes, as the gateway answers them. */

import { batched } from "./batch.js";
import type { Catalog } from "./catalog.js";
import { ToolcribError } from "./errors.js";
import { plain } from "./plain.js";
import { refusal } from "./refusal.js";
import type { Call, Envelope, JsonObject, Provider } from "./types.js";

/** Runs a call with checked arguments. */
export type Run = (args: JsonObject) => unknown;

/** Settings of a session. */
export interface SessionOptions {
  /** What runs tools that are not functions of the catalog, by canonical name. */
  run?: Readonly<Record<string, Run>>;
  profile?: string;
  /** Whether docs have to be read before calls; decides in place of the configuration. */
  requireDocs?: boolean;
}

interface Running {
  name: string;
  args: JsonObject;
  run: Run;
}

/**
 * Runs the calls of one agent. A call runs only with arguments that fit. The doc of a tool that `[exec] require_doc` covers
 * has to be read first: the refusal carries it, and the next call passes.
 * The functions `read_tool_doc`, `tool_search`, `tool_help`, `tool_exec` and `tool_batch` are answered here.
 */
export class Session {
  readonly profile: string | undefined;
  readonly #requireDocs: boolean | undefined;
  readonly #runs: Map<string, Run>;
  readonly #read = new Map<string, string>();
  readonly #ours: ReadonlyMap<string, Run>;

  constructor(
    readonly catalog: Catalog,
    { run = {}, profile, requireDocs }: SessionOptions = {},
  ) {
    this.profile = profile;
    this.#requireDocs = requireDocs;
    this.#runs = new Map([...catalog.functions].map(([name, one]) => [name, (args: JsonObject) => one.run(args)]));
    for (const [name, one] of Object.entries(run)) this.#runs.set(name, one);
    this.#ours = new Map<string, Run>([
      ["read_tool_doc", (given) => this.#readToolDoc(given)],
      ["tool_search", (given) => this.#toolSearch(given)],
      ["tool_help", (given) => this.catalog.help(String(given["path"] ?? ""), this.#ofProfile())],
      ["tool_batch", (given) => batched(given["calls"], (name, input) => this.run(this.call(name, input)))],
    ]);
  }

  /** The calls of a response, and the message or messages with their results; without calls, none. */
  async turn(provider: Provider, response: unknown): Promise<{ calls: Call[]; message: any }> {
    const calls = this.catalog.parse(provider, response, this.#ofProfile());
    return { calls, message: await this.answer(provider, calls) };
  }

  /** Runs calls one after the other; gives the message or messages with their results, and without calls nothing. */
  async answer(provider: Provider, calls: readonly Call[]): Promise<any> {
    if (calls.length === 0) return undefined;
    const entries: JsonObject[] = [];
    for (const call of calls) {
      const { error: _, ...entry } = call.entry;
      entries.push({ ...entry, envelope: await this.run(call) });
    }
    return this.catalog.results(provider, entries, this.#ofProfile());
  }

  /** A call of a tool by name, checked; `args` may be the JSON text of a model. */
  call(name: string, args: JsonObject | string): Call {
    const text = typeof args === "string" ? args || "{}" : JSON.stringify(plain(args));
    const call = { id: "call", type: "function", function: { name, arguments: text } };
    const [checked] = this.catalog.parse("openai", { choices: [{ message: { tool_calls: [call] } }] }, this.#ofProfile());
    if (!checked) throw new ToolcribError(`there is no call of \`${name}\``);
    return checked;
  }

  /** The envelope of a call: `{ ok: true, result }`, or `{ ok: false, error }`. */
  async run(call: Call): Promise<Envelope> {
    const begun = this.#begin(call);
    if ("ok" in begun) return begun;
    try {
      return { ok: true, result: plain(await begun.run(begun.args)) };
    } catch (error) {
      return failed(error);
    }
  }

  #ofProfile(): { profile?: string } {
    return this.profile === undefined ? {} : { profile: this.profile };
  }

  #begin(call: Call, receipt?: string): Envelope | Running {
    const { name = "", arguments: args = {} } = call;
    if (call.error) return misfit(call.error.entry);
    if (name === "tool_exec") {
      return this.#begin(this.call(String(args["op"] ?? ""), args["args"] ?? {}), args["receipt"]);
    }
    const run = this.#runs.get(name);
    const ours = this.#ours.get(name);
    if (ours && !run) return { name, args, run: ours };
    const tool = this.catalog.tools.find((one) => one.name === name);
    if (!tool) return withoutFunction(name);
    const unread = this.#withoutDoc(name, receipt);
    if (unread) return unread;
    return run ? { name, args, run } : withoutFunction(name);
  }

  #withoutDoc(name: string, receipt: string | undefined): Envelope | undefined {
    const { isRequired, receipt: current } = this.catalog.receipt(name);
    if (!(this.#requireDocs ?? isRequired) || current === receipt || current === this.#read.get(name)) return undefined;
    this.#read.set(name, current);
    const message = `the doc of \`${name}\` has to be read before it is called`;
    return refusal("DOC_REQUIRED", message, "read `help` here, then send the call again", { help: this.catalog.help(name, this.#ofProfile()) });
  }

  #readToolDoc(given: JsonObject): string {
    const names = [given["name"], ...(given["names"] ?? [])].filter(Boolean).map(String);
    return names
      .map((name) => {
        const doc = this.catalog.doc(name, this.#ofProfile());
        this.#read.set(this.call(name, {}).name ?? name, this.catalog.receipt(name).receipt);
        return doc;
      })
      .join("\n\n");
  }

  #toolSearch(given: JsonObject): JsonObject {
    const queries: unknown[] = given["queries"] ?? [];
    if (queries.length > 0) return { results: queries.map((query) => ({ query, ...this.#found(query, given) })) };
    return this.#found(given["query"] ?? "", given);
  }

  #found(query: unknown, given: JsonObject): JsonObject {
    const found = this.catalog.search(String(query), Number(given["limit"] || 5), this.#ofProfile());
    const hits = found.hits.map(({ name, op, summary, reason }) => ({ name, op, summary, reason }));
    return found.isMatch ? { results: hits } : { no_match: true, nearest: hits, unmet: found.unmet };
  }
}

function misfit(error: JsonObject): Envelope {
  const { code, message, ...hints } = error;
  return refusal(String(code).toUpperCase(), String(message), "correct the call, and send it again", hints);
}

function withoutFunction(name: string): Envelope {
  return refusal("NOT_FOUND", `nothing runs \`${name}\` here`, anotherWay(name));
}

function failed(error: unknown): Envelope {
  const code = error instanceof ToolcribError ? error.code.toUpperCase() : "TOOL_ERROR";
  const told = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return refusal(code, told, "correct the call, or try another way");
}

function anotherWay(name: string): string {
  return `do not send it again. Try another way, or tell the user that \`${name}\` does not work, and its error`;
}
