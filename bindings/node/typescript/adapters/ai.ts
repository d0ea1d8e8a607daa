/**
 * Vercel AI SDK: the tools of a catalog, and the instructions that go with them.
 *
 * ```js
 * const { text } = await generateText({ model, prompt, stopWhen: isStepCount(20), ...bind(catalog, { mode: "hybrid" }) });
 * ```
 */

import { dynamicTool, jsonSchema, type Tool } from "ai";

import { boundTools, contentOf, joined, type BindOptions, type BoundFunction } from "../bound.js";
import type { Catalog } from "../catalog.js";
import { ToolcribError } from "../errors.js";
import type { Session } from "../session.js";

/** The tools that a mode binds. Their calls are checked and answered in one session. */
export function tools(catalog: Catalog, options: BindOptions = {}): Record<string, Tool> {
  return bind(catalog, options).tools;
}

/** The same tools, and instructions: those of the agent, and the section of the system prompt that goes with the mode. */
export function bind(
  catalog: Catalog,
  { instructions, ...options }: BindOptions & { instructions?: string } = {},
): { tools: Record<string, Tool>; instructions: string } {
  const { session, functions, prompt } = boundTools(catalog, "openai", options);
  const bound = functions.map((one) => [one.name, toolOf(session, one)]);
  return { tools: Object.fromEntries(bound), instructions: joined(instructions, prompt) };
}

function toolOf(session: Session, { name, description, parameters }: BoundFunction): Tool {
  return dynamicTool({
    description,
    // The session checks arguments: it tells a model more than a validator would.
    inputSchema: jsonSchema(parameters),
    async execute(args) {
      const envelope = await session.run(session.call(name, args as object));
      if (envelope.ok) return envelope.result;
      throw new ToolcribError(contentOf(envelope), envelope.error["code"]);
    },
  });
}
