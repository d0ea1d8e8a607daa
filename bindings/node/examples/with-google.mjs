/** A loop over Google's SDK. Without `httpOptions` and `apiKey` the client asks the real API. */

import { GoogleGenAI } from "@google/genai";
import { googleLoop } from "toolcrib/adapters/loop";

import { geminiBodies, withApi } from "./scripted.mjs";
import { catalog, question, script } from "./tickets.mjs";

const contents = await withApi(geminiBodies(script), (baseUrl) => {
  const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } });
  return googleLoop(client, catalog, [{ role: "user", parts: [{ text: question }] }], { model: "scripted" });
});

console.log(contents.at(-1).parts[0].text);
