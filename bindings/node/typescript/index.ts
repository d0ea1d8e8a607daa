/**
 * Tool definitions for agents: documentation on disk, the smallest payload, and the rest on demand.
 *
 * ```js
 * const catalog = open("examples/github");
 * const tools = catalog.payload("anthropic", { profile: "core" });
 * const calls = catalog.parse("anthropic", response);
 * const reply = catalog.results("anthropic", calls.map((call) => [call, run(call)]));
 * ```
 */

export { Catalog, open, openAsync } from "./catalog.js";
export type { Answered, OpenOptions, Source } from "./catalog.js";
export {
  ArgumentError, CatalogMissing, ConversionError, FindingsError, PayloadError, ResponseError, ResultsError, TemplateError, ToolcribError,
  UnknownProfile, UnknownTool, WriteError,
} from "./errors.js";
export { FunctionTool, tool } from "./functions.js";
export type { Arguments, FunctionSettings, StandardSchema } from "./functions.js";
export { Payload } from "./payload.js";
export { Session } from "./session.js";
export type { Run, SessionOptions } from "./session.js";
export type {
  Binding, Call, CallError, Effect, Envelope, FieldError, Finding, Found, FoundTool, JsonObject, Place, Provider, Mode,
  Tool, Written,
} from "./types.js";
