"""The adapters, against the real frameworks with scripted models."""

import asyncio
import json
from types import SimpleNamespace

import pytest
import toolcrib


def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b


@pytest.fixture
def catalog():
    return toolcrib.open([add])


def test_langchain_agents_run_tools_that_a_middleware_binds(catalog):
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from toolcrib.adapters.langchain import ToolcribMiddleware, tools

    bound = []

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools, **settings):
            bound.append([tool["function"]["name"] if isinstance(tool, dict) else tool.name for tool in tools])
            return self

    def script():
        def call(name, args):
            return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}])

        return Scripted(messages=iter([call("read_tool_doc", {"name": "add"}), call("add", {"a": "4"}), AIMessage("6")]))

    middleware = ToolcribMiddleware(catalog, mode="full")
    agent = create_agent(script(), tools=[], middleware=[middleware])
    messages = agent.invoke({"messages": [("user", "4 + 2?")]})["messages"]
    assert bound[0] == ["add"]
    assert messages[2].content.startswith("# add") and messages[4].content == "6"
    assert messages[-1].content == "6"
    [tool] = tools(catalog)
    assert tool.invoke({"a": 1}) == "3"


def test_openai_agents_run_tools(catalog):
    pytest.importorskip("agents")
    from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
    from toolcrib.adapters.openai_agents import tools

    set_tracing_disabled(True)
    seen = []

    class Scripted(Model):
        def __init__(self):
            call = ResponseFunctionToolCall(arguments='{"a": "4"}', call_id="1", name="add", type="function_call")
            text = ResponseOutputText(text="6", type="output_text", annotations=[])
            done = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
            self.script = iter([call, done])

        async def get_response(self, system_instructions, input, model_settings, tools, *rest, **settings):
            seen.append((input, [tool.name for tool in tools]))
            return ModelResponse(output=[next(self.script)], usage=Usage(), response_id=None)

        def stream_response(self, *rest, **settings):
            raise NotImplementedError

    agent = Agent(name="adder", model=Scripted(), tools=tools(catalog, mode="full"))
    assert Runner.run_sync(agent, "4 + 2?").final_output == "6"
    assert seen[0][1] == ["add"] and seen[1][0][-1]["output"] == "6"


def test_pydantic_ai_agents_run_tools(catalog):
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from toolcrib.adapters.pydantic_ai import toolset

    def script(messages, info):
        assert [tool.name for tool in info.function_tools] == ["add"]
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("add", {"a": "4"})])
        return ModelResponse(parts=[TextPart(str(messages[-1].parts[0].content))])

    agent = Agent(FunctionModel(script), toolsets=[toolset(catalog, mode="full")])
    assert asyncio.run(agent.run("4 + 2?")).output == "6"


def scripted(*responses):
    """A function that answers with each of these, and the requests that it has seen."""
    requests, script = [], iter(responses)

    def create(**request):
        requests.append(json.loads(json.dumps(request, default=str)))
        return next(script)

    return create, requests


def test_a_loop_over_anthropic_runs_functions(catalog):
    types = pytest.importorskip("anthropic").types
    from toolcrib.adapters.loop import anthropic_loop

    def message(part):
        usage = {"input_tokens": 1, "output_tokens": 1}
        head = {"id": "m", "type": "message", "role": "assistant", "model": "m", "usage": usage}
        return types.Message.model_validate({**head, "stop_reason": None, "stop_sequence": None, "content": [part]})

    call = {"type": "tool_use", "id": "1", "name": "add", "input": {"a": "4"}}
    create, requests = scripted(message(call), message({"type": "text", "text": "6"}))
    client = SimpleNamespace(messages=SimpleNamespace(create=create))
    asked = [{"role": "user", "content": "4 + 2?"}]
    messages = anthropic_loop(client, catalog, asked, mode="full", model="m", max_tokens=10)
    assert messages[2]["content"][0]["content"] == "6" and messages[-1]["content"][0]["text"] == "6"
    assert requests[0]["tools"][0]["name"] == "add" and len(requests) == 2


def test_a_loop_over_openai_runs_functions(catalog):
    chat = pytest.importorskip("openai.types.chat")
    from toolcrib.adapters.loop import TurnsExceeded, openai_loop

    def completion(message):
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
        head = {"id": "c", "object": "chat.completion", "created": 0, "model": "m"}
        return chat.ChatCompletion.model_validate({**head, "choices": [choice]})

    function = {"name": "add", "arguments": '{"a": "4"}'}
    call = completion({"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]})
    create, _ = scripted(call, completion({"content": "6"}))
    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    messages = openai_loop(client, catalog, [{"role": "user", "content": "4 + 2?"}], mode="full", model="m")
    assert messages[2]["content"] == "6" and messages[-1]["content"] == "6"
    create, _ = scripted(call, call)
    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    with pytest.raises(TurnsExceeded) as exceeded:
        openai_loop(client, catalog, [], mode="full", model="m", max_turns=2)
    assert [message["role"] for message in exceeded.value.messages] == ["assistant", "tool"] * 2


def test_a_loop_over_google_runs_functions(catalog):
    types = pytest.importorskip("google.genai").types
    from toolcrib.adapters.loop import google_loop

    def response(part):
        content = {"role": "model", "parts": [part]}
        return types.GenerateContentResponse.model_validate({"candidates": [{"content": content}]})

    call = {"functionCall": {"name": "add", "args": {"a": 4}}}
    create, requests = scripted(response(call), response({"text": "6"}))
    client = SimpleNamespace(models=SimpleNamespace(generate_content=create))
    contents = google_loop(client, catalog, [{"role": "user", "parts": [{"text": "4 + 2?"}]}], mode="full", model="m")
    assert contents[2]["parts"][0]["functionResponse"]["response"]
    assert contents[-1]["parts"][0]["text"] == "6"
    types.GenerateContentConfig.model_validate(requests[0]["config"])


def test_langchain_binds_few_tools_of_many_by_default():
    pytest.importorskip("langchain")
    from toolcrib.adapters.langchain import ToolcribMiddleware

    definition = {"description": "Gets a thing.", "inputSchema": {"type": "object", "properties": {}}}
    many = toolcrib.open([{"name": f"get_thing_{number}", **definition} for number in range(400)])
    names = [tool["function"]["name"] for tool in ToolcribMiddleware(many)._payload["tools"]]
    assert "tool_search" in names and len(names) < 10


def test_loops_keep_the_instructions_and_tools_of_their_caller(catalog):
    types = pytest.importorskip("google.genai").types
    from toolcrib.adapters.loop import anthropic_loop, google_loop

    create, requests = scripted(types.GenerateContentResponse.model_validate({"candidates": []}))
    client = SimpleNamespace(models=SimpleNamespace(generate_content=create))
    config = {"system_instruction": {"parts": [{"text": "BE POLITE"}]}, "tools": [{"google_search": {}}]}
    asked = [{"role": "user", "parts": [{"text": "?"}]}]
    google_loop(client, catalog, asked, mode="hybrid", model="m", config=config)
    sent = requests[0]["config"]
    assert sent["system_instruction"][0] == {"text": "BE POLITE"} and "read_tool_doc" in sent["system_instruction"][1]
    assert len(sent["tools"]) == 2
    types.GenerateContentConfig.model_validate(sent)

    create, requests = scripted({"content": [{"type": "text", "text": "6"}]})
    client = SimpleNamespace(messages=SimpleNamespace(create=create))
    system, own = [{"type": "text", "text": "BE POLITE"}], {"name": "own", "input_schema": {"type": "object"}}
    anthropic_loop(client, catalog, [{"role": "user", "content": "?"}], mode="hybrid", system=system, tools=[own])
    assert requests[0]["system"][0] == system[0] and len(requests[0]["system"]) == 2
    assert [tool["name"] for tool in requests[0]["tools"]][-1] == "own" and len(requests[0]["tools"]) > 1


def test_agents_are_told_how_deferred_tools_are_reached(catalog):
    pytest.importorskip("agents")
    pytest.importorskip("pydantic_ai")
    from toolcrib.adapters.openai_agents import instructions
    from toolcrib.adapters.pydantic_ai import toolset

    told = instructions(catalog, "You add.", mode="hybrid")
    assert told.startswith("You add.\n\n") and "read_tool_doc" in told
    assert "read_tool_doc" in asyncio.run(toolset(catalog, mode="hybrid").get_instructions(None))


def test_an_agent_of_pydantic_ai_has_toolsets_of_several_catalogs(catalog):
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel
    from toolcrib.adapters.pydantic_ai import toolset

    def twice(a: int) -> int:
        """Doubles a number."""
        return 2 * a

    both = [toolset(catalog, mode="full", id="sums"), toolset(toolcrib.open([twice]), mode="full", id="products")]
    answer = asyncio.run(Agent(TestModel(), toolsets=both).run("?")).output
    assert "add" in answer and "twice" in answer
