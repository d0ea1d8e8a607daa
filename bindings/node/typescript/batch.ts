/** `tool_batch`: several calls in order, each with its own answer. */

import { refusal } from "./refusal.js";
import type { Envelope, JsonObject } from "./types.js";

interface Item {
  function: string;
  input: JsonObject;
  id?: string;
}

type Answers = (Envelope & Omit<Item, "input"> & { index: number })[];

/** Answers the calls of a batch. In an input, `{ $from: 0, pointer: "/result/id" }` is that part of an earlier answer. */
export async function batched(
  items: readonly Item[],
  run: (name: string, input: JsonObject) => Promise<Envelope>,
): Promise<JsonObject> {
  const results: Answers = [];
  for (const [index, { function: name, input, id }] of items.entries()) {
    const envelope = await answered(() => run(name, filled(input, results) as JsonObject));
    results.push({ index, ...(id && { id }), function: name, ...envelope });
  }
  return { results, failed: results.filter(({ ok }) => !ok).length };
}

/** A value that an earlier answer does not have. */
class Missing {
  constructor(readonly refused: Envelope) {}
}

async function answered(call: () => Promise<Envelope>): Promise<Envelope> {
  try {
    return await call();
  } catch (missing) {
    if (missing instanceof Missing) return missing.refused;
    throw missing;
  }
}

function filled(value: unknown, results: Answers): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, results));
  if (typeof value !== "object" || value === null) return value;
  if ("$from" in value) return fetched(value, results);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, results)]));
}

function fetched({ $from: from, pointer = "/result" }: JsonObject, results: Answers): unknown {
  const answer = results.find(({ index, id }) => from === id || from === index);
  if (!answer) {
    const message = `${JSON.stringify(from)} is no earlier call; \`$from\` is the index, from 0, or the \`id\` of one`;
    throw new Missing(refusal("VALIDATION_ERROR", message, "correct `$from`"));
  }
  if (!answer.ok) {
    const message = `this call was not run: it uses the result of call ${answer.index}, which has no result`;
    throw new Missing(refusal("NOT_RUN", message, `correct call ${answer.index}, then send both again`));
  }
  const part = partOf(answer, String(pointer));
  if (part !== undefined) return part;
  const message = `the answer of call ${answer.index} has nothing at \`${pointer}\``;
  throw new Missing(refusal("VALIDATION_ERROR", message, "correct `pointer`: `/result/id` is the `id` in a result"));
}

function partOf(answer: unknown, pointer: string): unknown {
  const names = pointer.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce<any>((value, name) => (Object.hasOwn(Object(value), name) ? value[name] : undefined), answer);
}
