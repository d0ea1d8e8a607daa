/** A loop over the OpenAI SDK, with Chat Completions. Without `baseURL` and `apiKey` the client asks the real API. */

import OpenAI from "openai";
import { openaiLoop } from "toolcrib/adapters/loop";

import { openaiBodies, withApi } from "./scripted.mjs";
import { catalog, question, script } from "./tickets.mjs";

const messages = await withApi(openaiBodies(script), (baseURL) => {
  const client = new OpenAI({ baseURL, apiKey: "none" });
  return openaiLoop(client, catalog, [{ role: "user", content: question }], { model: "scripted" });
});

console.log(messages.at(-1).content);
