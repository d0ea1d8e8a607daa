/**
 * OpenAI Agents SDK: the tools of a catalog as function tools of an agent.
 *
 * ```js
 * const agent = new Agent({ name: "helper", ...bind(catalog, { mode: "hybrid", instructions: "You help." }) });
 * ```
 */

import type { FunctionTool } from "@openai/agents";

import { boundTools, contentOf, joined, type BindOptions, type BoundFunction } from "../bound.js";
import type { Catalog } from "../catalog.js";
import type { Session } from "../session.js";

/** The tools that a mode binds. Their calls are checked and answered in one session. */
export function tools(catalog: Catalog, options: BindOptions = {}): FunctionTool[] {
  return bind(catalog, options).tools;
}

/** The same tools, and instructions: those of the agent, and the section of the system prompt that goes with the mode. */
export function bind(
  catalog: Catalog,
  { instructions, ...options }: BindOptions & { instructions?: string } = {},
): { tools: FunctionTool[]; instructions: string } {
  const { session, functions, prompt } = boundTools(catalog, "openai", options);
  return { tools: functions.map((one) => toolOf(session, one)), instructions: joined(instructions, prompt) };
}

function toolOf(session: Session, { name, description, parameters, strict }: BoundFunction): FunctionTool {
  return {
    type: "function",
    name,
    description,
    parameters: parameters as FunctionTool["parameters"],
    strict,
    invoke: async (_context, args) => contentOf(await session.run(session.call(name, args))),
    needsApproval: async () => false,
    isEnabled: async () => true,
  };
}
