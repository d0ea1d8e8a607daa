/** JSON of the core as the objects of `types.ts`. */

import type { Call, CallError, Finding, Found, JsonObject, Tool } from "./types.js";

function present<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined)) as T;
}

export function findingsOf(report: JsonObject): Finding[] {
  return (report["findings"] as JsonObject[]).map(({ code, severity, message, tool, help, file, path, line, column }) => {
    const place = file ? present({ file, pointer: path ?? "", line, column }) : undefined;
    return present({ code, severity, message, tool, place, help });
  });
}

/** A finding in one line, with its place. */
export function findingText({ severity, code, message, place }: Finding): string {
  const where = place ? `${[place.file, place.line, place.column].filter(Boolean).join(":")}: ` : "";
  return `${severity}[${code}] ${where}${message}`;
}

export function toolOf<T extends Tool>({ safe_name: safeName, name, ...rest }: JsonObject): T {
  return { name, safeName, ...rest } as unknown as T;
}

export function foundOf({ verdict, unmet, hits }: JsonObject): Found {
  return { verdict, unmet, hits: hits.map(toolOf) };
}

export function callsOf(text: string): Call[] {
  return (JSON.parse(text) as JsonObject[]).map((entry) =>
    present({
      name: entry["name"],
      callId: entry["call_id"],
      arguments: entry["args"],
      error: entry["error"] && errorOf(entry["error"]),
      repaired: entry["repaired"] ?? [],
      isSearch: Boolean(entry["search"]),
      entry,
    }),
  );
}

function errorOf(entry: JsonObject): CallError {
  const { code, message, field_errors: fieldErrors, nearest } = entry;
  return { code, message, fieldErrors, nearest, entry };
}
