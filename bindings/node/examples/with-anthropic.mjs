/** A loop over the Anthropic SDK. Without `baseURL` and `apiKey` the client asks the real API. */

import Anthropic from "@anthropic-ai/sdk";
import { anthropicLoop } from "toolcrib/adapters/loop";

import { anthropicBodies, withApi } from "./scripted.mjs";
import { catalog, question, script } from "./tickets.mjs";

const messages = await withApi(anthropicBodies(script), (baseURL) => {
  const client = new Anthropic({ baseURL, apiKey: "none" });
  return anthropicLoop(client, catalog, [{ role: "user", content: question }], { model: "scripted", max_tokens: 1000 });
});

console.log(messages.at(-1).content[0].text);
