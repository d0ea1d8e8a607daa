/**
 * LangChain and LangGraph: a middleware that binds tools by mode, and checks and answers their calls.
 *
 * ```js
 * const agent = createAgent({ model, tools: [], middleware: [toolcribMiddleware(catalog, { mode: "hybrid" })] });
 * ```
 */

import { createMiddleware, tool, ToolMessage, type AgentMiddleware, type DynamicStructuredTool } from "langchain";

import { boundTools, contentOf, joined, type BindOptions, type BoundFunction } from "../bound.js";
import type { Catalog } from "../catalog.js";
import type { Session } from "../session.js";
import type { Envelope } from "../types.js";

/** The tools of a profile, bound in full, for `createAgent({ tools })` and a `ToolNode` of LangGraph. */
export function tools(catalog: Catalog, options: Omit<BindOptions, "mode"> = {}): DynamicStructuredTool[] {
  const { session, functions } = boundTools(catalog, "langchain", { ...options, mode: "full" });
  return functions.map((one) => toolOf(session, one));
}

/**
 * Binds the tools of a catalog for each request, and runs their calls in a session. Tools of the agent itself stay bound, and
 * are run by the agent.
 */
export function toolcribMiddleware(catalog: Catalog, options: BindOptions = {}): AgentMiddleware {
  // What `auto` defers natively, LangChain would send in full: it reads no `extras` of a plain object.
  const { mode, profile = options.session?.profile } = options;
  const isNative = mode !== "native" && catalog.payload("langchain", { mode, profile }).mode === "native";
  const { session, tools, prompt } = boundTools(catalog, "langchain", isNative ? { ...options, mode: "gateway" } : options);
  return createMiddleware({
    name: "toolcrib",
    wrapModelCall(request, handler) {
      const { tools: own = [], systemPrompt } = request;
      return handler({ ...request, tools: [...own, ...tools], systemPrompt: joined(systemPrompt, prompt) });
    },
    async wrapToolCall(request, handler) {
      if (request.tool) return handler(request);
      const { name, args, id = "" } = request.toolCall;
      return messageOf(name, id, await session.run(session.call(name, args)));
    },
  }) as AgentMiddleware;
}

function toolOf(session: Session, { name, description, parameters }: BoundFunction): DynamicStructuredTool {
  const run = async (args: unknown) => contentOf(await session.run(session.call(name, args as object)));
  return tool(run, { name, description, schema: parameters as any }) as unknown as DynamicStructuredTool;
}

function messageOf(name: string, id: string, envelope: Envelope): ToolMessage {
  return new ToolMessage({ content: contentOf(envelope), name, tool_call_id: id, status: envelope.ok ? "success" : "error" });
}
