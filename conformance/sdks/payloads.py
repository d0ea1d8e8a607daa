"""Payloads as the official SDKs see them: each function raises when its SDK would not take the tools."""

import importlib
import importlib.util
from typing import List


def strictly(kind, value):
    """Validates against TypedDicts, and rejects undeclared keys, which pydantic ignores by default."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(kind, config={"extra": "forbid"})  # kept: what is read late needs it
    exhaust(adapter.validate_python(value))


def exhaust(value):
    """Iterables are validated when they are read."""
    if isinstance(value, dict):
        for inner in value.values():
            exhaust(inner)
    elif hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        for inner in value:
            exhaust(inner)


def unchanged(model, value, **options):
    """A model that drops or keeps what it does not know must give back what it was given, and know all of it."""
    made = model.model_validate(value)
    given_back = made.model_dump(exclude_unset=True, by_alias=True, mode="json", **options)
    if given_back != value:
        raise ValueError(f"{model.__name__} makes {given_back} of {value}"[:600])
    unknown = getattr(made, "model_extra", None)
    if unknown:
        raise ValueError(f"{model.__name__} does not know {sorted(unknown)}")
    return made


def openai(body):
    from openai.types.chat import ChatCompletionToolUnionParam

    strictly(List[ChatCompletionToolUnionParam], body.get("tools", []))


def openai_responses(body):
    from openai.types.responses import ToolParam

    strictly(List[ToolParam], body.get("tools", []))


def anthropic(body):
    from anthropic.types import ToolUnionParam

    strictly(List[ToolUnionParam], body.get("tools", []))


def gemini(body):
    """Models forbid what they do not know; the request that is sent has the same declarations."""
    from google import genai
    from google.genai import models, types

    client = genai.Client(api_key="none")
    config = types.GenerateContentConfig(tools=[types.Tool.model_validate(tool) for tool in body.get("tools", [])])
    contents = [types.Content(role="user", parts=[types.Part(text="Hello.")])]
    parameters = types._GenerateContentParameters(model="gemini-3-pro", contents=contents, config=config)
    request = models._GenerateContentParameters_to_mldev(client._api_client, parameters)
    sent = [
        {key: [each.model_dump(by_alias=True, exclude_none=True) for each in listed] for key, listed in tool.items()}
        for tool in request.get("tools", [])
    ]
    if sent != body.get("tools", []):
        raise ValueError(f"the request has {sent}"[:600])


def gemini_interactions(body):
    from google.genai.interactions import Function, ToolParam, ToolSearch

    strictly(List[ToolParam], body.get("tools", []))
    models = {"function": Function, "tool_search": ToolSearch}
    for tool in body.get("tools", []):
        unchanged(models[tool["type"]], tool)


def bedrock_shape(name, side="input_shape"):
    """The shape of an operation's input, or output, in botocore's own model of the service."""
    import botocore.session

    loader = botocore.session.get_session().get_component("data_loader")
    from botocore.model import ServiceModel

    model = ServiceModel(loader.load_service_model("bedrock-runtime", "service-2"), "bedrock-runtime")
    return getattr(model.operation_model(name), side)


def bedrock(body, messages=None):
    from botocore.validate import ParamValidator

    messages = messages or [{"role": "user", "content": [{"text": "Hello."}]}]
    request = {"modelId": "amazon.nova-pro-v1:0", "messages": messages, **body}
    report = ParamValidator().validate(request, bedrock_shape("Converse"))
    if report.has_errors():
        raise ValueError(report.generate_report()[:600])


def ollama(body):
    """Its parameters are of fewer words than the server's, so only the function is held to be unchanged."""
    from ollama import Tool

    for tool in body.get("tools", []):
        made = Tool.model_validate(tool)
        unknown = set(tool["function"]) - set(Tool.Function.model_fields) or set(tool) - set(Tool.model_fields)
        if unknown or set(made.function.parameters.properties or {}) != set(tool["function"]["parameters"]["properties"]):
            raise ValueError(f"does not keep {unknown or tool['function']['name']}")


def mistral(body):
    from mistralai.client.models import Tool

    for tool in body.get("tools", []):
        unchanged(Tool, tool)


def cohere(body):
    from cohere import ToolV2

    for tool in body.get("tools", []):
        made = unchanged(ToolV2, tool)
        if made.function.model_extra:
            raise ValueError(f"ToolV2Function does not know {sorted(made.function.model_extra)}")


def mcp(body):
    from mcp.types import ListToolsResult, Tool

    ListToolsResult.model_validate(body)
    for tool in body["tools"]:
        unchanged(Tool, tool)


def langchain(body):
    """Dicts pass unchanged, and reach OpenAI's types as they are and Anthropic's converted; `extras` go through tool objects."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    deferred = [tool for tool in body if "extras" in tool]
    if deferred:
        return langchain_extras(deferred)
    for tool in body:
        if convert_to_openai_tool(tool) != tool:
            raise ValueError(f"convert_to_openai_tool changes {tool['function']['name']}")
    if importlib.util.find_spec("langchain_openai"):
        from langchain_openai import ChatOpenAI

        bound = ChatOpenAI(model="gpt-5.4", api_key="none").bind_tools(body).kwargs.get("tools", [])
        if bound != body:
            raise ValueError("ChatOpenAI binds something else")
        openai({"tools": bound})
    if importlib.util.find_spec("langchain_anthropic") and body:
        from langchain_anthropic import ChatAnthropic

        model = ChatAnthropic(model="claude-sonnet-4-5", api_key="none")
        anthropic({"tools": model.bind_tools(body).kwargs["tools"]})


def langchain_extras(body):
    """Tool objects made of the entries are deferred at both providers."""
    from langchain_core.tools import StructuredTool

    tools = [StructuredTool(**tool) for tool in body]
    bound = []
    if importlib.util.find_spec("langchain_openai"):
        from langchain_openai import ChatOpenAI

        model = ChatOpenAI(model="gpt-5.4", api_key="none", use_responses_api=True)
        bound += model.bind_tools(tools).kwargs["tools"]
    if importlib.util.find_spec("langchain_anthropic"):
        from langchain_anthropic import ChatAnthropic

        model = ChatAnthropic(model="claude-sonnet-4-5", api_key="none")
        bound += model.bind_tools(tools).kwargs["tools"]
        anthropic({"tools": bound[-len(tools):]})
    if not all(tool.get("defer_loading") for tool in bound):
        raise ValueError("a deferred tool is not deferred")


# Provider, the module that must be there, what it checks.
CHECKS = [
    ("openai", "openai", openai),
    ("openai-responses", "openai", openai_responses),
    ("anthropic", "anthropic", anthropic),
    ("gemini", "google.genai", gemini),
    ("gemini-interactions", "google.genai", gemini_interactions),
    ("bedrock", "botocore", bedrock),
    ("ollama", "ollama", ollama),
    ("mistral", "mistralai", mistral),
    ("cohere", "cohere", cohere),
    ("mcp", "mcp", mcp),
    ("langchain", "langchain_core", langchain),
]


def installed(module):
    """Whether an SDK is there, and what is wrong with it when it cannot be imported."""
    try:
        importlib.import_module(module)
        return True
    except ImportError:
        return False


def refusal(check, *arguments):
    """Why an SDK does not take something, in one line; nothing when it does."""
    try:
        check(*arguments)
    except Exception as error:  # every SDK has its own
        return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
    return None
