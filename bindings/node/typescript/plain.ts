/** Values of programs as JSON. */

import { ArgumentError } from "./errors.js";

/** A value as JSON text; text and bytes are JSON already. */
export function jsonText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  return encoded(value);
}

/** A value as JSON values: what `toJSON`, maps, sets, dates and bytes say. Nothing becomes `null`. */
export function plain(value: unknown): unknown {
  return JSON.parse(encoded(value)) as unknown;
}

function encoded(value: unknown): string {
  try {
    return (JSON.stringify(value, replaced) as string | undefined) ?? "null";
  } catch (error) {
    throw new ArgumentError(`the value is not JSON: ${(error as Error).message}`, "argument_invalid");
  }
}

/** What JSON has no form for. `this` has the value as it was before its `toJSON`. */
function replaced(this: unknown, key: string, value: unknown): unknown {
  const given = (this as Record<string, unknown>)[key];
  if (given instanceof Uint8Array) return Buffer.from(given).toString("base64");
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return value.message;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value;
}
