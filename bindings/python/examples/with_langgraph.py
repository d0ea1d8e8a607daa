"""A graph of LangGraph with a node for the model and a node for its calls."""

import scripted
import tickets
import toolcrib
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from toolcrib.adapters.langchain import tools

bound = tools(toolcrib.open(tickets.TOOLS))
model = scripted.chat_model(tickets.SCRIPT).bind_tools(bound)

graph = StateGraph(MessagesState)
graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode(bound))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
messages = graph.compile().invoke({"messages": [("user", tickets.QUESTION)]})["messages"]

print(messages[-1].content)
