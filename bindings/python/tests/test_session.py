"""A session checks, runs and answers calls."""

import asyncio
import contextvars
import dataclasses
import datetime
import json
import threading
from typing import NamedTuple

import pytest
import toolcrib
from toolcrib import FunctionTool, Session

calls = []


@dataclasses.dataclass
class Node:
    next: "Node | None" = None


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")

    __repr__ = __str__


class Point(NamedTuple):
    x: int
    y: object


def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    calls.append((a, b))
    return a + b


def fail(text: str) -> str:
    """Creates something, in vain."""
    calls.append(text)
    raise RuntimeError("no disk")


async def later(text: str) -> str:
    """Gets a text, later."""
    return text.upper()


def session(*functions, **settings):
    calls.clear()
    return Session(toolcrib.open(list(functions)), **settings)


def error_of(envelope):
    assert envelope["ok"] is False
    return envelope["error"]


def test_only_arguments_that_fit_reach_a_function():
    agent = session(add)
    assert agent.run(agent.call("add", {"a": "4"})) == {"ok": True, "result": 6}
    refused = error_of(agent.run(agent.call("add", {"a": "four"})))
    assert refused["field_errors"][0]["pointer"] == "/a" and calls == [(4, 2)]
    assert error_of(agent.run(agent.call("ad", {})))["nearest"]


def test_the_doc_is_read_before_the_first_call():
    agent = session(FunctionTool.of(add, effect="write"), require_docs=True)
    call = agent.call("add", {"a": 1})
    refused = error_of(agent.run(call))
    assert refused["code"] == "DOC_REQUIRED" and refused["help"]["args"] and not calls
    assert agent.run(call)["result"] == 3
    reader = session(add, require_docs=True)
    assert reader.run(reader.call("read_tool_doc", {"name": "add"}))["result"].startswith("# add")
    assert reader.run(reader.call("add", {"a": 1}))["ok"]


def test_a_turn_answers_every_call_in_the_message_of_the_provider():
    agent = session(add, later)
    part = {"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}}
    made, message = agent.turn("anthropic", {"content": [part, {**part, "id": "2", "input": {}}]})
    assert [block["tool_use_id"] for block in message["content"]] == ["1", "2"]
    assert message["content"][0]["content"] == "3" and message["content"][1]["is_error"]
    assert agent.turn("anthropic", {"content": [{"type": "text", "text": "done"}]}) == ([], None)
    wait = {"type": "tool_use", "id": "3", "name": "later", "input": {"text": "a"}}
    assert asyncio.run(agent.aturn("anthropic", {"content": [wait]}))[1]["content"][0]["content"] == "A"
    with pytest.raises(toolcrib.Error, match="aturn"):
        agent.turn("anthropic", {"content": [wait]})


def test_the_gateway_functions_are_answered():
    agent = session(add)
    found = agent.run(agent.call("tool_search", {"query": "add two numbers"}))["result"]
    assert found["results"][0]["name"] == "add"
    assert agent.run(agent.call("tool_exec", {"op": "add", "args": {"a": 5}}))["result"] == 7
    assert error_of(agent.run(agent.call("tool_exec", {"op": "add", "args": {}})))["field_errors"]
    assert agent.run(agent.call("tool_help", {"path": "add"}))["result"]["args"]


def test_a_batch_runs_calls_in_order_and_passes_on_results():
    agent = session(add)

    def execution(a, **more):
        return {"function": "tool_exec", "input": {"op": "add", "args": {"a": a}}, **more}

    sources = [1, {"$from": "one"}, {"$from": 7}, "x", {"$from": 3}, {"$from": "0.result.a"}]
    items = [execution(source, **({"id": "one"} if source == 1 else {})) for source in sources]
    items[1] = {"op": "add", "args": {"a": {"$from": "one.result"}}}
    call = agent.call("tool_batch", {"calls": items})
    for envelope in agent.run(call), asyncio.run(agent.arun(call)):
        results = envelope["result"]["results"]
        codes = [result["result"] if result["ok"] else result["error"]["code"] for result in results]
        assert codes == [3, 5, "VALIDATION_ERROR", "SCHEMA", "NOT_RUN", "VALIDATION_ERROR"]
        assert envelope["result"]["failed"] == 4
        assert results[0]["id"] == "one" and results[1]["function"] == "tool_exec"


def test_a_function_that_is_not_answered_here_is_a_refusal():
    agent = session(add)


def test_a_write_with_a_result_of_any_kind_is_told_as_run():
    cycle = []
    cycle.append(cycle)
    node = Node()
    node.next = node
    results = [
        b"sent", b"\xff", {(1, 2): {3, "x"}}, float("nan"), "\ud800", cycle, object, node, 10**5000, -(2**70), Mute(), {}.keys(),
        Point(1, node), {10**5000: Mute()},
    ]
    for result in results:

        def send(to: str):
            """Sends a parcel."""
            return result

        agent = session(FunctionTool.of(send, effect="write"))
        response = {"content": [{"type": "tool_use", "id": "1", "name": "send", "input": {"to": "x"}}]}
        (call,), message = agent.turn("anthropic", response)
        assert call.error is None and not message["content"][0].get("is_error"), result
    assert agent.run(agent.call("send", {"to": "x"}))["ok"]


def test_several_queries_have_an_answer_each():
    agent = session(add, fail)
    found = agent.run(agent.call("tool_search", {"queries": ["add two numbers", "water the plants"]}))["result"]["results"]
    assert found[0]["query"] == "add two numbers" and found[0]["results"][0]["name"] == "add"
    assert found[1]["no_match"]


def test_arguments_that_are_no_json_are_a_refusal():
    agent = session(add)
    assert error_of(agent.run(agent.call("add", '{"a": [')))


@pytest.mark.parametrize("error", [Mute(), RuntimeError("\ud800"), RecursionError(), StopIteration(3), KeyError(10)])
def test_an_error_of_any_kind_is_told(error):
    def get(a: int):
        """Gets a thing."""
        raise error

    agent = session(get)
    part = {"type": "tool_use", "id": "1", "name": "get", "input": {"a": 1}}
    for _, message in agent.turn("anthropic", {"content": [part]}), asyncio.run(agent.aturn("anthropic", {"content": [part]})):
        assert message["content"][0]["is_error"] and type(error).__name__ in str(message["content"][0]["content"])


def test_an_interrupt_goes_through():
    def get(a: int):
        """Gets a thing."""
        raise KeyboardInterrupt

    agent = session(get)
    with pytest.raises(KeyboardInterrupt):
        agent.run(agent.call("get", {"a": 1}))


def test_a_model_that_sends_half_a_character_is_answered():
    agent = session(later)
    part = {"type": "tool_use", "id": "1", "name": "later\ud800", "input": {"text": "\udfff"}}
    for name in "later\ud800", "later":
        _, message = asyncio.run(agent.aturn("anthropic", {"content": [{**part, "name": name}]}))
        assert message["content"][0]["tool_use_id"] == "1"


def test_results_have_the_form_of_the_arguments():
    def get(a: int):
        """Gets things."""
        return {"point": Point(1, {2}), "took": datetime.timedelta(days=1, seconds=1.5), "big": 2**70}

    agent = session(get)
    result = agent.run(agent.call("get", {"a": 1}))["result"]
    assert result == {"point": [1, [2]], "took": "P1DT1.5S", "big": str(2**70)}


def test_the_items_of_a_generator_are_its_result():
    def count(to: int):
        """Gets the numbers up to one."""
        yield from range(to)

    async def acount(to: int):
        """Gets the numbers up to one, later."""
        for one in range(to):
            yield one

    agent = session(count, acount)
    assert agent.run(agent.call("count", {"to": 3}))["result"] == [0, 1, 2]
    assert asyncio.run(agent.arun(agent.call("acount", {"to": 3})))["result"] == [0, 1, 2]
    with pytest.raises(toolcrib.Error, match="arun"):
        agent.run(agent.call("acount", {"to": 3}))


DEFINITION = {
    "name": "put.day", "description": "Puts a day.", "inputSchema": {"properties": {"day": {"type": "string", "format": "date"}}}
}


def test_functions_for_definitions_are_given_by_any_of_their_names():
    def put(day: datetime.date) -> int:
        return day.year

    catalog = toolcrib.open([DEFINITION])
    [tool] = catalog
    for name in tool.name, tool.safe_name:
        agent = Session(catalog, {name: FunctionTool.of(put)})
        assert agent.run(agent.call("put.day", {"day": "2024-05-17"}))["result"] == 2024
        agent = Session(catalog, {name: lambda given: given["day"]})
        assert agent.run(agent.call("put.day", {"day": "2024-05-17"}))["result"] == "2024-05-17"


def test_a_session_for_names_that_are_not_there_is_an_error():
    catalog = toolcrib.open([DEFINITION])
    with pytest.raises(toolcrib.UnknownTool) as unknown:
        Session(catalog, {"put.dya": print})
    assert unknown.value.nearest[0] == "put.day"
    with pytest.raises(toolcrib.UnknownProfile):
        Session(catalog, profile="nobody")


def test_for_a_session_of_a_profile_no_other_tool_exists(tmp_path):
    schema = {"type": "object"}
    tools = [{"name": name, "description": text, "inputSchema": schema} for name, text in (("send_mail", "Sends a mail."), ("read_mail", "Reads a mail."))]
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    (tmp_path / "toolcrib.toml").write_text('[profile.reader]\ninclude = ["read_mail"]\n', encoding="utf-8")
    catalog = toolcrib.open(tmp_path)
    agent = Session(catalog, profile="reader")
    assert {hit["name"] for hit in agent.run(agent.call("tool_search", {"query": "send a mail"}))["result"].get("results", [])} <= {"read_mail"}
    assert agent.run(agent.call("read_tool_doc", {"name": "read_mail"}))["ok"]
    for function, given in (("read_tool_doc", {"name": "send_mail"}), ("tool_help", {"path": "send_mail"})):
        assert not agent.run(agent.call(function, given))["ok"], function
    assert catalog.doc("send_mail").startswith("# send_mail")


def test_functions_that_block_do_not_hold_up_an_awaited_job():
    where = contextvars.ContextVar("where", default="nowhere")
    both = threading.Barrier(2, timeout=10)

    def meet(a: int):
        """Gets on when another call has come."""
        both.wait()
        return where.get()

    async def job():
        where.set("here")
        agent = session(meet)
        return await asyncio.gather(*[agent.arun(agent.call("meet", {"a": at})) for at in range(2)])

    assert [envelope["result"] for envelope in asyncio.run(job())] == ["here", "here"]


def test_results_of_mcp_servers_are_told_as_what_they_say():
    types = pytest.importorskip("mcp.types")

    def result(**fields):
        return types.CallToolResult.model_validate({"content": [{"type": "text", "text": "so it is"}], **fields})

    async def call_tool(name, arguments):
        return arguments["give"]

    tools = [{"name": "ask", "description": "Asks somebody.", "inputSchema": {"type": "object"}}]
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    agent = Session(toolcrib.open(tools), {"ask": lambda given: call_tool("ask", {"give": answers.pop(0)})})
    answers = [result(), result(structuredContent={"a": 1}), result(content=[image]), result(isError=True)]
    text, structured, shown, failed = (asyncio.run(agent.arun(agent.call("ask", {}))) for _ in range(4))
    assert text["result"] == "so it is" and structured["result"] == {"a": 1}
    assert shown["result"]["content"][0]["data"] == "aGk="
    assert error_of(failed)["code"] == "TOOL_ERROR" and error_of(failed)["message"] == "so it is"
