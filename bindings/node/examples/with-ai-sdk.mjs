/** An agent of the AI SDK. The request has a name and a line of each tool; `read_tool_doc` has the rest. */

import { generateText, isStepCount } from "ai";
import { bind } from "toolcrib/adapters/ai";

import { languageModel } from "./scripted.mjs";
import { catalog, question, readingScript } from "./tickets.mjs";

const { text } = await generateText({
  model: await languageModel(readingScript), // for example "anthropic/claude-sonnet-4.5"
  prompt: question,
  stopWhen: isStepCount(20),
  ...bind(catalog, { mode: "hybrid" }),
});

console.log(text);
