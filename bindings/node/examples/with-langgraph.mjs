/** A graph of LangGraph with a node for the model and a node for its calls. */

import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { tools } from "toolcrib/adapters/langchain";

import { chatModel } from "./scripted.mjs";
import { catalog, question, script } from "./tickets.mjs";

const bound = tools(catalog);
const model = (await chatModel(script)).bindTools(bound);

const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async (state) => ({ messages: [await model.invoke(state.messages)] }))
  .addNode("tools", new ToolNode(bound))
  .addEdge(START, "model")
  .addConditionalEdges("model", toolsCondition)
  .addEdge("tools", "model")
  .compile();
const { messages } = await graph.invoke({ messages: [{ role: "user", content: question }] });

console.log(messages.at(-1).content);
