/** A program in TypeScript as an ECMAScript module. */

import { open, Session, tool, UnknownTool, type Call, type Payload, type Tool } from "toolcrib";
import { bind as bindAgents } from "toolcrib/adapters/openai-agents";
import { bind } from "toolcrib/adapters/ai";
import { toolcribMiddleware } from "toolcrib/adapters/langchain";
import { anthropicLoop, googleLoop, openaiLoop } from "toolcrib/adapters/loop";
import { Agent } from "@openai/agents";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { ToolLoopAgent } from "ai";
import { createAgent } from "langchain";
import OpenAI from "openai";
import { z } from "zod";

const add = tool({
  name: "add",
  description: "Adds two numbers.",
  parameters: z.object({ a: z.number(), b: z.number().default(2) }),
  run: ({ a, b }) => a + b,
});
// @ts-expect-error: the schema has no `c`
tool({ name: "f", description: "F.", parameters: z.object({ a: z.number() }), run: ({ c }) => c });

const catalog = open([add], { config: "toolcrib.toml" });
const payload: Payload = catalog.payload("anthropic", { mode: "hybrid" });
const calls: Call[] = catalog.parse("anthropic", {});
const names: string[] = catalog.tools.map((one: Tool) => one.safeName);
// @ts-expect-error: there is no such provider
catalog.payload("opena");

new Session(catalog, { run: { add: async ({ a }) => a } });
new Agent({ name: "adder", ...bindAgents(catalog) });
new ToolLoopAgent({ model: "a/b", ...bind(catalog) });
createAgent({ model: "a:b", tools: [], middleware: [toolcribMiddleware(catalog)] });
await anthropicLoop(new Anthropic(), catalog, [], { model: "m", max_tokens: 1 });
await openaiLoop(new OpenAI(), catalog, [], { model: "m" });
await googleLoop(new GoogleGenAI({}), catalog, [], { model: "m" });

export const known: [string, string[], Payload, Call[]] = [new UnknownTool("x").code, names, payload, calls];
