/** The functions that tests call. */

import { tool } from "toolcrib";
import { z } from "zod";

export const add = tool({
  name: "add",
  description: "Adds two numbers.",
  parameters: z.object({ a: z.int(), b: z.int().default(2) }),
  run: ({ a, b }) => a + b,
});
