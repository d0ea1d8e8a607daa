"""An agent of LangChain. The middleware binds a name and a line of each tool; ``read_tool_doc`` has the rest."""

import scripted
import tickets
import toolcrib
from langchain.agents import create_agent
from toolcrib.adapters.langchain import ToolcribMiddleware

reads_first = [("read_tool_doc", {"name": "close_ticket"}), *tickets.SCRIPT]
model = scripted.chat_model(reads_first)  # for example "anthropic:claude-sonnet-4-5"
middleware = ToolcribMiddleware(toolcrib.open(tickets.TOOLS), mode="hybrid")
agent = create_agent(model, tools=[], middleware=[middleware])
messages = agent.invoke({"messages": [("user", tickets.QUESTION)]})["messages"]

print(messages[-1].content)
