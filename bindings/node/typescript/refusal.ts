/** Refusals of calls: an agent reads the code, the message and the next step. */

import type { Envelope, JsonObject } from "./types.js";

/** An envelope without a result. */
export type Refused = Envelope & { ok: false };

export function refusal(code: string, message: string, nextAction: string, hints: JsonObject = {}): Refused {
  return { ok: false, error: { code, message, next_action: nextAction, ...hints } };
}
