/** An agent of LangChain. The middleware binds a name and a line of each tool; `read_tool_doc` has the rest. */

import { createAgent } from "langchain";
import { toolcribMiddleware } from "toolcrib/adapters/langchain";

import { chatModel } from "./scripted.mjs";
import { catalog, question, readingScript } from "./tickets.mjs";

const model = await chatModel(readingScript); // for example "anthropic:claude-sonnet-4-5"
const agent = createAgent({ model, tools: [], middleware: [toolcribMiddleware(catalog, { mode: "hybrid" })] });
const { messages } = await agent.invoke({ messages: [{ role: "user", content: question }] });

console.log(messages.at(-1).content);
