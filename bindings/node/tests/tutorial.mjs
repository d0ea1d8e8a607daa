/** Stand-ins for what the reader of docs/node.md has: a client of MCP, an SDK, and functions. */

import { root } from "./checkout.mjs";

process.chdir(root);

export const model = "scripted";
export const mcp = { listTools: async () => ({ tools: [{ name: "get", description: "Gets it.", inputSchema: { type: "object" } }] }) };
export const run = () => ({ login: "octocat" });
export const client = {
  messages: { create: async () => ({ content: [{ type: "tool_use", id: "1", name: "get_me", input: {} }] }) },
};
