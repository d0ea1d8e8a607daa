/** An agent of the OpenAI Agents SDK. Without a client of its own, a model is a name, as in `model: "gpt-5"`. */

import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from "@openai/agents";
import OpenAI from "openai";
import { bind } from "toolcrib/adapters/openai-agents";

import { openaiBodies, withApi } from "./scripted.mjs";
import { catalog, question, script } from "./tickets.mjs";

setTracingDisabled(true);
const answer = await withApi(openaiBodies(script), async (baseURL) => {
  const model = new OpenAIChatCompletionsModel(new OpenAI({ baseURL, apiKey: "none" }), "scripted");
  const agent = new Agent({ name: "desk", model, ...bind(catalog, { instructions: "You keep a desk of tickets." }) });
  return (await run(agent, question)).finalOutput;
});

console.log(answer);
