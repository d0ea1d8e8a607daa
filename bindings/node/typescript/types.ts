/** What catalogs give, as plain objects. */

export type Provider =
  | "openai" | "openai-responses" | "anthropic" | "gemini" | "gemini-interactions" | "bedrock" | "ollama" | "mistral"
  | "cohere" | "mcp" | "langchain";

export type Mode = "auto" | "full" | "hybrid" | "native" | "gateway" | "files";

export type Effect = "read" | "write" | "destructive";

/** A JSON object, such as the arguments of a call. */
export type JsonObject = Record<string, any>;

/** The place of a finding: a file, a JSON Pointer into it, and where known a line and a column from 1. */
export interface Place {
  file: string;
  pointer: string;
  line?: number;
  column?: number;
}

/** One mistake in the definitions, or one fact about them. */
export interface Finding {
  code: string;
  severity: "error" | "warning" | "info";
  message: string;
  tool?: string;
  place?: Place;
  help?: string;
}

/** A tool of a catalog, in short. */
export interface Tool {
  name: string;
  safeName: string;
  op: string;
  summary: string;
  effect: Effect;
}

/** A tool that a search found. */
export interface FoundTool extends Tool {
  confidence: number;
  reason: string;
}

/** The tools that fit a query, best first; without a match, the nearest. */
export interface Found {
  verdict: "match" | "unsure" | "no_match";
  unmet: string[];
  hits: FoundTool[];
}

/** The files that a run wrote or left alone. */
export interface Written {
  created: number;
  updated: number;
  removed: number;
  unchanged: number;
  kept: string[];
  replaced: string[];
}

/** An error of one argument. */
export interface FieldError {
  pointer: string;
  message: string;
  expected?: string;
  given?: unknown;
  nearest?: string;
}

/** The reason why a call cannot be run. */
export interface CallError {
  code: string;
  message: string;
  fieldErrors: FieldError[];
  nearest: string[];
  /** What goes back to the model. */
  entry: JsonObject;
}

/** One call of a response: with `arguments` that fit the schema of the tool, or with an `error`. */
export interface Call {
  name?: string;
  callId?: string;
  arguments?: JsonObject;
  error?: CallError;
  repaired: JsonObject[];
  /** Whether the call is the provider's own form of a search for tools. */
  isSearch: boolean;
  /** The entry as `toolcrib parse` prints it. */
  entry: JsonObject;
}

/** Which tools are bound, and how. */
export interface Binding {
  profile?: string;
  /** Without one, the mode in which a whole task is estimated to cost least. */
  mode?: Mode;
}

/** The envelope of an answer. */
export type Envelope = { ok: true; result: unknown } | { ok: false; error: JsonObject };
