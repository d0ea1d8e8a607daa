/** The part of a request body with the tools. */

import { findingsOf } from "./read.js";
import type { Finding, JsonObject, Mode } from "./types.js";

/**
 * The part of a request body with the tools, as a plain object to be spread: `{ model, messages, ...payload }`. The facts
 * beside it are not spread. Where the wire is a list, as that of LangChain's `bindTools`, it is under `tools`.
 */
export class Payload {
  [field: string]: any;
  /** The mode that it has. */
  declare readonly mode: Exclude<Mode, "auto">;
  /** Headers that the request needs for what is bound. */
  declare readonly headers: Record<string, string>;
  /** Notes for a person. */
  declare readonly notes: string[];
  /** Findings on what this provider's schemas cannot say. */
  declare readonly findings: Finding[];
  /** The same body as the JSON text that `toolcrib payload` prints. */
  declare readonly text: string;

  constructor(text: string, facts: JsonObject) {
    const body: unknown = JSON.parse(text);
    Object.assign(this, Array.isArray(body) ? { tools: body } : body);
    const { mode, headers, notes } = facts;
    const beside = { mode, headers, notes, findings: findingsOf(facts["findings"]), text };
    for (const [name, value] of Object.entries(beside)) Object.defineProperty(this, name, { value });
  }
}
