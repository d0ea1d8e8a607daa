/** A program in TypeScript as a CommonJS module. */

import { open, Session, type Call } from "toolcrib";
import { tools } from "toolcrib/adapters/langchain";
import toolcrib = require("toolcrib");

const catalog = open([{ name: "get_me", description: "Who I am.", inputSchema: { type: "object" } }]);
const calls: Call[] = toolcrib.open("tools").parse("openai", "{}");
const bound = tools(catalog, { session: new Session(catalog) });

export = { calls, bound };
