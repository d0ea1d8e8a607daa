"""A model that follows a script, so that the examples run without a key: an API on this machine for the SDKs of providers,
and a chat model for LangChain. With a real model an example has neither."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = tuple[str, dict[str, Any]] | str
"""A call, as its name and its arguments, or the text of the last answer."""


class ScriptedApi:
    """Answers each request with the next of ``answers``. ``requests`` are what was sent."""

    def __init__(self, answers: Iterable[dict[str, Any]]) -> None:
        self.requests: list[dict[str, Any]] = []
        script, requests = iter(answers), self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                body = json.dumps(next(script))
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ScriptedApi:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def anthropic(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Bodies of Anthropic's Messages."""

    def body(at: int, step: Step) -> dict[str, Any]:
        part: dict[str, Any] = {"type": "text", "text": step}
        if not isinstance(step, str):
            part = {"type": "tool_use", "id": f"call_{at}", "name": step[0], "input": step[1]}
        reason = "end_turn" if isinstance(step, str) else "tool_use"
        head = {"id": f"m_{at}", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": reason}
        return {**head, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [part]}

    return [body(at, step) for at, step in enumerate(steps)]


def openai(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Bodies of OpenAI's Chat Completions."""

    def body(at: int, step: Step) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": step}
        if not isinstance(step, str):
            function = {"name": step[0], "arguments": json.dumps(step[1])}
            calls = [{"id": f"call_{at}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "finish_reason": "stop" if isinstance(step, str) else "tool_calls", "message": message}
        head = {"id": f"c_{at}", "object": "chat.completion", "created": 0, "model": "scripted"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {**head, "choices": [choice], "usage": usage}

    return [body(at, step) for at, step in enumerate(steps)]


def gemini(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Bodies of Gemini's ``generateContent``."""

    def body(step: Step) -> dict[str, Any]:
        part: dict[str, Any] = {"text": step}
        if not isinstance(step, str):
            part = {"functionCall": {"name": step[0], "args": step[1]}}
        content = {"role": "model", "parts": [part]}
        return {"candidates": [{"index": 0, "finishReason": "STOP", "content": content}]}

    return [body(step) for step in steps]


def chat_model(steps: Sequence[Step]) -> Any:
    """A chat model for LangChain and LangGraph."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **settings: Any) -> Any:
            return self

    def message(at: int, step: Step) -> AIMessage:
        if isinstance(step, str):
            return AIMessage(step)
        return AIMessage("", tool_calls=[{"name": step[0], "args": step[1], "id": f"call_{at}"}])

    return Scripted(messages=iter([message(at, step) for at, step in enumerate(steps)]))
