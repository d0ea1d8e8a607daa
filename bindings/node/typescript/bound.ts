/** The bound tools of a catalog, and the session that runs their calls: the part that adapters share. */

import type { Catalog } from "./catalog.js";
import { Session, type SessionOptions } from "./session.js";
import type { Binding, Envelope, JsonObject, Provider } from "./types.js";

/** Settings of an adapter: what is bound, and what runs calls. A `session` has its own `run`, `profile` and `requireDocs`. */
export interface BindOptions extends Binding, SessionOptions {
  session?: Session;
}

/** A tool as the model sees it. */
export interface BoundFunction {
  name: string;
  description: string;
  parameters: JsonObject;
  strict: boolean;
}

/** The bound tools, the section of the system prompt that goes with them, and the session of their calls. */
export interface Bound {
  session: Session;
  tools: JsonObject[];
  functions: BoundFunction[];
  prompt: string;
}

/** Binds tools in OpenAI's form. */
export function boundTools(catalog: Catalog, provider: Provider, options: BindOptions): Bound {
  const { mode, session = new Session(catalog, options) } = options;
  const binding = { mode, profile: session.profile };
  const tools: JsonObject[] = catalog.payload(provider, binding)["tools"] ?? [];
  return { session, tools, functions: tools.map(functionOf), prompt: catalog.prompt(provider, binding) };
}

function functionOf(entry: JsonObject): BoundFunction {
  const { name, description = "", parameters = { type: "object", properties: {} }, strict = false } = entry["function"];
  return { name, description, parameters, strict };
}

/** The texts that are there, as one system prompt. */
export function joined(...texts: (string | undefined)[]): string {
  return texts.filter(Boolean).join("\n\n");
}

/** The result or the error of an envelope, as text for a model. */
export function contentOf(envelope: Envelope): string {
  const content = envelope.ok ? envelope.result : envelope.error;
  return typeof content === "string" ? content : JSON.stringify(content);
}
