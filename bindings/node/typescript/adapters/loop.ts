/**
 * Plain loops over the SDKs of OpenAI, Anthropic and Google: tools out, calls in, results out, until the model answers in
 * words.
 *
 * ```js
 * const messages = await anthropicLoop(client, catalog, [{ role: "user", content: "..." }], { model, max_tokens: 1000 });
 * ```
 */

import { joined } from "../bound.js";
import type { Catalog } from "../catalog.js";
import { ToolcribError } from "../errors.js";
import type { Payload } from "../payload.js";
import { plain } from "../plain.js";
import { Session } from "../session.js";
import type { JsonObject, Provider, Mode } from "../types.js";

/** The model still calls tools after the last turn. */
export class TurnsExceeded extends ToolcribError {}

/** Settings of a loop. */
export interface LoopOptions {
  session?: Session;
  mode?: Mode;
  /** Turns after which a loop gives up; 20 unless set. */
  maxTurns?: number;
}

/** A loop's ends: a request to the model, and the messages of the model in its response. */
export interface Wire {
  provider: Provider;
  /** Sends messages with a payload and the section of the system prompt. */
  send: (messages: unknown[], payload: Payload, prompt: string) => PromiseLike<unknown>;
  replyOf: (response: any) => unknown[];
}

/** Sends messages and runs calls until a response has none; gives all messages. */
export async function loop(
  { provider, send, replyOf }: Wire,
  session: Session,
  messages: readonly unknown[],
  { mode, maxTurns = 20 }: LoopOptions = {},
): Promise<any[]> {
  const { catalog, profile } = session;
  const payload = catalog.payload(provider, { profile, mode });
  const prompt = catalog.prompt(provider, { profile, mode });
  const sent = [...messages];
  for (let turn = 0; turn < maxTurns; turn += 1) {
    const response = await send(sent, payload, prompt);
    sent.push(...replyOf(plain(response)));
    const { calls, message } = await session.turn(provider, response);
    if (calls.length === 0) return sent;
    sent.push(...[message].flat());
  }
  throw new TurnsExceeded(`the model still calls tools after ${maxTurns} turns`, "turns_exceeded");
}

type Send = (body: any, options?: any) => PromiseLike<unknown>;

/** Runs a job on an `OpenAI` client with Chat Completions; gives all messages. */
export function openaiLoop(
  client: { chat: { completions: { create: Send } } },
  catalog: Catalog,
  messages: readonly unknown[],
  { session = new Session(catalog), mode, maxTurns, ...request }: LoopOptions & JsonObject,
): Promise<any[]> {
  const wire: Wire = {
    provider: "openai",
    send(sent, payload, prompt) {
      const system = prompt ? [{ role: "system", content: prompt }] : [];
      return client.chat.completions.create({ messages: [...system, ...sent], ...payload, ...request, ...tools(payload, request) });
    },
    replyOf: (response) => [response.choices[0].message],
  };
  return loop(wire, session, messages, { mode, maxTurns });
}

/** Runs a job on an `Anthropic` client; gives all messages. */
export function anthropicLoop(
  client: { messages: { create: Send } },
  catalog: Catalog,
  messages: readonly unknown[],
  { session = new Session(catalog), mode, maxTurns, system, ...request }: LoopOptions & JsonObject,
): Promise<any[]> {
  const wire: Wire = {
    provider: "anthropic",
    send(sent, payload, prompt) {
      const block = prompt ? [{ type: "text", text: prompt }] : [];
      const texts = Array.isArray(system) ? [...system, ...block] : joined(system, prompt);
      const body = { messages: sent, ...payload, ...request, ...tools(payload, request), ...(texts && { system: texts }) };
      return client.messages.create(body, { headers: payload.headers });
    },
    replyOf: (response) => [{ role: "assistant", content: response.content }],
  };
  return loop(wire, session, messages, { mode, maxTurns });
}

/** Runs a job on a `GoogleGenAI` client; gives all contents. */
export function googleLoop(
  client: { models: { generateContent: Send } },
  catalog: Catalog,
  contents: readonly unknown[],
  { session = new Session(catalog), mode, maxTurns, config, ...request }: LoopOptions & JsonObject,
): Promise<any[]> {
  const wire: Wire = {
    provider: "gemini",
    send(sent, payload, prompt) {
      const system = [config?.systemInstruction?.parts ?? config?.systemInstruction, prompt].flat().filter(Boolean);
      const settings = { ...config, ...payload, ...tools(payload, config), ...(system.length > 0 && { systemInstruction: system }) };
      return client.models.generateContent({ contents: sent, ...request, config: settings });
    },
    replyOf: (response) => [response.candidates?.[0]?.content].filter(Boolean),
  };
  return loop(wire, session, contents, { mode, maxTurns });
}

/** The tools of the catalog, then those that the caller has beside them. */
function tools(payload: Payload, given: JsonObject | undefined): { tools?: unknown[] } {
  const both = [...(payload["tools"] ?? []), ...(given?.["tools"] ?? [])];
  return both.length > 0 ? { tools: both } : {};
}
